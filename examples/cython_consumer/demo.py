"""Use the Cython module on the first position of two games."""

import nardcython

import nardcore as nc

for rules in (nc.BACKGAMMON, nc.LONG_NARDY):
    start = nc.Position.start(rules)
    found = nardcython.most_plays(rules.name, start)
    print(f"{rules.name}: at most {found} results of a roll at the start")
    assert found == max(len(start.plays(roll)) for roll in nc.dice.ROLLS)

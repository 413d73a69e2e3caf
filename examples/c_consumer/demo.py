"""Use the C module: count plays, and let its evaluator play a rollout in native code."""

import nardconsumer

import nardcore as nc
from nardcore.testing import check_evaluator

start = nc.Position.start(nc.LONG_NARDY)
found = nardconsumer.count("long_nardy", start, 3, 1)
print(f"{found} results of 3-1 at the start of long nardy")
assert found == len(start.plays((3, 1)))

few_blots = nc.Evaluator.from_capsule(nardconsumer.evaluator(), "few_blots")
check_evaluator(few_blots)
print(nc.rollout(nc.Position.start(), games=2000, policy=(few_blots, "random"), seed=1))

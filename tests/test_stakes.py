"""Rules 31-33 and 9: dave, the cube, automatic doubles, Jacoby, beavers, Crawford."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nardcore as nc
from nardcore.errors import NotDueError, RulesError
from nardcore.stakes import Stake

GEOMETRIC = nc.SHORT_DAVE
ARITHMETIC = nc.SHORT_DAVE.replace(stake="dave_arithmetic")
CUBE = nc.BACKGAMMON


def raised(rules: nc.Rules, times: int, **more: int) -> Stake:
    """The stake after a number of acceptances, white offering first."""
    stake = Stake.start(rules, **more)
    for k in range(times):
        stake = stake.offer("wb"[k % 2]).accept()
    return stake


def test_dave_after_three_acceptances() -> None:
    assert raised(GEOMETRIC, 3).value == 8
    assert raised(ARITHMETIC, 3).value == 4


@pytest.mark.parametrize("k", range(12))
def test_dave_after_k_acceptances_without_a_limit(k: int) -> None:
    assert raised(GEOMETRIC, k).value == 2**k
    assert raised(ARITHMETIC, k).value == 1 + k
    # a limit of the cube is none of dave's
    assert raised(GEOMETRIC.replace(cube_cap=4), k).value == 2**k


@pytest.mark.parametrize("rules", [GEOMETRIC, ARITHMETIC, CUBE])
def test_a_refusal_pays_the_stake_before_the_offer(rules: nc.Rules) -> None:
    assert raised(rules, 1).offer("b").refuse() == ("b", 2)
    assert raised(rules, 0).offer("w").refuse() == ("w", 1)


def test_at_first_either_side_may_offer_then_only_the_last_acceptor() -> None:
    for rules in (GEOMETRIC, ARITHMETIC, CUBE):
        assert Stake(rules).why_not("w") is None
        assert Stake(rules).why_not("b") is None
        taken = Stake(rules).offer("w").accept()
        assert taken.owner == "b"
        assert taken.why_not("b") is None
        with pytest.raises(NotDueError, match="only black, who accepted last"):
            taken.offer("w")


def test_no_offer_on_top_of_an_offer_and_no_answer_without_one() -> None:
    with pytest.raises(NotDueError, match="awaits its answer"):
        Stake(CUBE).offer("w").offer("b")
    for answer in (Stake.accept, Stake.refuse, Stake.beaver):
        with pytest.raises(NotDueError, match="nothing has been offered"):
            answer(Stake(CUBE))


def test_stake_none_is_never_raised() -> None:
    with pytest.raises(NotDueError, match="never raised in triktrak"):
        Stake(nc.TRIKTRAK).offer("w")


@pytest.mark.parametrize("state", range(5))
def test_dave_knows_no_mars(state: int) -> None:
    rules = GEOMETRIC.replace(scoring="triktrak")
    assert raised(rules, 2).points(state) == 4


@pytest.mark.parametrize("name", sorted(nc.SCORING))
@pytest.mark.parametrize("state", range(5))
def test_the_cube_multiplies_the_table(name: str, state: int) -> None:
    rules = CUBE.replace(scoring=name)
    for k in range(4):
        assert raised(rules, k).points(state) == 2**k * nc.SCORING[name][state]


def test_cube_on_four_and_gammon_is_eight() -> None:
    assert raised(CUBE, 2).points(1) == 8


def test_the_cap() -> None:
    top = raised(CUBE, 6)
    assert top.value == 64
    with pytest.raises(NotDueError, match="highest value, 64"):
        top.offer("w")
    assert raised(CUBE.replace(cube_cap=None), 7).value == 128
    with pytest.raises(NotDueError, match="highest value, 1"):
        Stake(CUBE.replace(cube_cap=1)).offer("w")


def test_jacoby_counts_more_than_a_single_win_only_after_a_double() -> None:
    rules = CUBE.replace(jacoby=True)
    assert [Stake.start(rules).points(state) for state in range(5)] == [1] * 5
    assert [raised(rules, 1).points(state) for state in range(5)] == [2, 4, 4, 6, 6]
    # an automatic double is none that anybody accepted
    auto = Stake.start(rules.replace(auto_doubles=1), equal_throws=1)
    assert [auto.points(state) for state in range(5)] == [2] * 5
    # match play knows no Jacoby, and neither does a game without the cube
    assert Stake.start(rules, length=5).points(1) == 2
    assert Stake.start(nc.TRIKTRAK.replace(jacoby=True)).points(4) == 8


def test_beavers_keep_the_cube_with_the_taker() -> None:
    rules = CUBE.replace(beavers=2)
    beaver = Stake(rules).offer("w").beaver()
    assert (beaver.offered, beaver.by, beaver.refuse()) == (4, "b", ("b", 2))
    assert beaver.accept().owner == "b"
    raccoon = beaver.beaver()
    assert (raccoon.offered, raccoon.by, raccoon.refuse()) == (8, "w", ("w", 4))
    assert (raccoon.accept().value, raccoon.accept().owner) == (8, "b")
    with pytest.raises(NotDueError, match="2 times, not more"):
        raccoon.beaver()


def test_where_there_are_no_beavers() -> None:
    with pytest.raises(NotDueError, match="has no beavers"):
        Stake(CUBE).offer("w").beaver()
    with pytest.raises(NotDueError, match="no beavers in a match"):
        Stake.start(CUBE.replace(beavers=1), length=5).offer("w").beaver()
    with pytest.raises(NotDueError, match="has no beavers"):
        Stake(GEOMETRIC.replace(beavers=1)).offer("w").beaver()
    with pytest.raises(NotDueError, match="highest value, 2"):
        Stake(CUBE.replace(beavers=1, cube_cap=2)).offer("w").beaver()


@pytest.mark.parametrize(("equal", "most", "value"), [(0, 2, 1), (1, 2, 2), (2, 2, 4), (5, 2, 4)])
def test_automatic_doubles(equal: int, most: int, value: int) -> None:
    stake = Stake.start(CUBE.replace(auto_doubles=most), equal_throws=equal)
    assert (stake.value, stake.owner, stake.turned) == (value, None, False)


def test_automatic_doubles_stop_at_the_cap() -> None:
    assert Stake.start(CUBE.replace(auto_doubles=9, cube_cap=4), equal_throws=9).value == 4


def test_automatic_doubles_are_for_the_cube_and_money_play() -> None:
    with pytest.raises(RulesError, match="stake=cube"):
        GEOMETRIC.replace(auto_doubles=1)
    with pytest.raises(RulesError, match="money play"):
        nc.Game(CUBE.replace(auto_doubles=1), length=5)
    with pytest.raises(RulesError, match="money play"):
        nc.Match(CUBE.replace(auto_doubles=1), length=5)
    assert nc.Match(CUBE.replace(auto_doubles=1), games=5).game.stake.value in (1, 2)


def test_crawford_is_the_cubes_alone() -> None:
    with pytest.raises(NotDueError, match="Crawford"):
        Stake.start(CUBE, length=5, crawford=True).offer("w")
    Stake.start(GEOMETRIC, length=5, crawford=True).offer("w")
    Stake.start(CUBE.replace(crawford=False), length=5, crawford=True).offer("w")
    Stake.start(CUBE, length=0, crawford=True).offer("w")


class Model:
    """Rules 32 and 33 once more, from the list of what was said alone."""

    def __init__(self, rules: nc.Rules) -> None:
        self.rules, self.said = rules, list[tuple[str, str]]()

    @property
    def accepted(self) -> int:
        return sum(word in ("accept", "beaver") for word, _ in self.said)

    @property
    def value(self) -> int:
        k = self.accepted
        return 1 + k if self.rules.stake == "dave_arithmetic" else 2**k

    @property
    def waiting(self) -> bool:
        return bool(self.said) and self.said[-1][0] in ("offer", "beaver")

    @property
    def owner(self) -> str | None:
        offers = [side for word, side in self.said if word == "offer"]
        return {"w": "b", "b": "w"}[offers[-1]] if offers else None


@given(
    st.sampled_from(["dave_geometric", "dave_arithmetic", "cube"]),
    st.integers(0, 3),
    st.lists(st.tuples(st.sampled_from(["offer", "accept", "beaver"]), st.sampled_from("wb"))),
)
def test_any_order_of_calls(kind: str, beavers: int, calls: list[tuple[str, str]]) -> None:
    rules = nc.BACKGAMMON.replace(stake=kind, beavers=beavers, cube_cap=None)
    stake, model = Stake.start(rules), Model(rules)
    for word, side in calls:
        run = 0
        for said, _ in reversed(model.said):
            if said != "beaver":
                break
            run += 1
        if word == "offer":
            allowed = not model.waiting and model.owner in (None, side)
        elif word == "accept":
            allowed = model.waiting
        else:
            allowed = model.waiting and kind == "cube" and run < beavers
        if not allowed:
            with pytest.raises(NotDueError):
                stake.offer(side) if word == "offer" else getattr(stake, word)()  # type: ignore[arg-type]
            continue
        if word == "offer":
            stake = stake.offer(side)  # type: ignore[arg-type]
        else:
            stake = getattr(stake, word)()
            side = "?"
        model.said.append((word, side))
        assert (stake.offered is not None) == model.waiting
        if model.waiting:
            assert stake.before == model.value
        else:
            assert (stake.value, stake.owner) == (model.value, model.owner)

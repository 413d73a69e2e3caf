"""Types that mypy must find for rules, arrays and rollouts, and errors that it must report."""

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import nardcore as nc
from nardcore.batch import BatchPlays
from nardcore.policies import linear_evaluator

p = nc.Position.start()

# rules
assert_type(nc.LONG_NARDY, nc.Rules)
assert_type(nc.Rules.parse("long_nardy+block=flat"), nc.Rules)
assert_type(nc.LONG_NARDY.replace(block="flat"), nc.Rules)
assert_type(nc.LONG_NARDY.name, str)
assert_type(nc.PRESETS, Mapping[str, nc.Rules])
nc.Rules(movement="long", block="ahead", head_limit="free")
nc.Rules("short")  # type: ignore[call-arg]
nc.Rules(movement="sideways")  # type: ignore[arg-type]
nc.LONG_NARDY.block = "flat"  # type: ignore[misc]

# batches
boards = nc.batch.start(4)
assert_type(boards, NDArray[np.int8])
found = nc.batch.plays(boards, [(3, 1)] * 4, steps=True)
assert_type(found, BatchPlays)
assert_type(found.indptr, NDArray[np.int64])
assert_type(found.boards, NDArray[np.int8])
assert_type(found.steps, NDArray[np.int8] | None)
assert_type(nc.batch.expand(boards, nc.LONG_NARDY), BatchPlays)
assert_type(nc.batch.flip(boards, out=boards), NDArray[np.int8])
assert_type(nc.batch.pips(boards), NDArray[np.int32])
assert_type(nc.batch.results(boards), NDArray[np.int8])
assert_type(boards.view(nc.POSITION_DTYPE), NDArray[np.void])
nc.batch.pips(boards, out=boards)  # type: ignore[arg-type]
nc.batch.plays(boards)  # type: ignore[call-arg]

# dice
assert_type(nc.dice.rolls(7, 0, 3), NDArray[np.int8])
assert_type(nc.dice.key([1, 2]), NDArray[np.uint64])
assert_type(nc.dice.opening(nc.TRIKTRAK, seed=1).dice, tuple[int, int] | None)


# rollouts
def rate(results: NDArray[np.int8]) -> NDArray[np.float64]:
    return results[:, 26].astype(np.float64)


def halves(done: int, total: int | None) -> None: ...


result = nc.rollout(p, games=10, seed=1, policy=("linear", rate), progress=halves)
assert_type(result, nc.RolloutResult)
assert_type(result.counts, NDArray[np.int64])
assert_type(result.probabilities, NDArray[np.float64])
assert_type(result.equity("single"), float)
assert_type(result.equity([1, 2, 2, 3, 3]), float)
assert_type(result.ci(0.9), tuple[float, float])
assert_type(result.merge(result), nc.RolloutResult)
assert_type(result.replay(0), nc.Replay)
assert_type(result.replay(0).turns[0], nc.Turn)
assert_type(result.replay(0).turns[0].play, nc.Play)
assert_type(nc.RolloutResult.load("result.json"), nc.RolloutResult)
with ProcessPoolExecutor() as pool:
    nc.rollout(p, target_stderr=0.01, executor=pool, dice=(3, 1))
nc.rollout(p, 1000)  # type: ignore[call-arg]
nc.rollout("start")  # type: ignore[arg-type]
nc.rollout(p, policy=7)  # type: ignore[arg-type]
nc.rollout(p, dice="31")  # type: ignore[arg-type]
nc.rollout(p, progress=lambda done: None)  # type: ignore[arg-type, misc]

# evaluators
evaluator = linear_evaluator("long")
assert_type(evaluator, nc.Evaluator)
assert_type(evaluator.name, str)
assert_type(evaluator(p.board, p.plays((3, 1)).boards), NDArray[np.float32])
assert_type(nc.Evaluator.linear("mine", np.zeros((2, 28, 32), np.int16), "short"), nc.Evaluator)
nc.rollout(p, policy=evaluator)
nc.Evaluator()  # type: ignore[call-arg]
nc.Evaluator.linear("mine", [], "both")  # type: ignore[arg-type]
evaluator.name = "other"  # type: ignore[misc]

# errors say what they hold
try:
    nc.Position.parse("?")
except nc.FormatError as error:
    assert_type(error.line, int | None)
except nc.PositionError as error:
    assert_type(error.faults, tuple[str, ...])
assert_type(nc.isa(), str)
assert_type(nc.get_include(), str)

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import CapsuleType, disjoint_base

from nardcore._board import Position
from nardcore.rules import Rules
from nardcore.typing import Boards

LANES: Final[int]

@disjoint_base
class Stop:
    def set(self) -> None: ...

def position_count(points: int, checkers: int) -> int: ...
def rank_batch(counts: NDArray[np.int8], out: NDArray[np.int64]) -> None: ...
def unrank_batch(ranks: NDArray[np.int64], out: NDArray[np.int8]) -> None: ...
def race_ranks(boards: Boards, rules: Rules, points: int, checkers: int) -> NDArray[np.int64]: ...
def program(
    rules: Rules,
    counts: NDArray[np.int8],
    place: NDArray[np.int32],
    first: int,
    last: int,
    stop: Stop,
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]] | None: ...

@disjoint_base
class Program:
    places: Final[int]
    def __init__(
        self, start: NDArray[np.int64], count: NDArray[np.uint8], nexts: NDArray[np.uint16]
    ) -> None: ...

@disjoint_base
class TwoSidedJob:
    def __init__(
        self,
        mover: Program,
        other: Program,
        dtype: int,
        values: int,
        avx2: bool,
        stop: Stop,
        *,
        tables: Sequence[Sequence[NDArray[np.uint8]]] | None = None,
        fd: int = -1,
        offsets: Sequence[Sequence[int]] | None = None,
    ) -> None: ...
    def begin(self) -> None: ...
    def work(
        self,
        m: int,
        lane_first: int,
        lane_last: int,
        first: int,
        last: int,
        low: int,
        high: int,
        chunk: int,
    ) -> int: ...

@disjoint_base
class TwoSidedTable:
    def __init__(
        self,
        checkers: tuple[int, int],
        places: Sequence[NDArray[np.int32]],
        tables: Sequence[Sequence[NDArray[np.uint8]]],
        dtype: int,
        values: int,
    ) -> None: ...
    def one(self, position: Position, value: int, admitted: bool = False) -> float: ...
    def equity(
        self, position: Position, value: int, double: bool, admitted: bool = False
    ) -> float: ...
    def many(self, boards: Boards, rules: Rules, value: int, out: NDArray[np.float64]) -> int: ...

@disjoint_base
class Probe:
    @property
    def capsule(self) -> CapsuleType: ...
    def __call__(self, board: NDArray[np.int8]) -> NDArray[np.float32] | None: ...

@disjoint_base
class TwoSidedProbe(Probe):
    table: Final[TwoSidedTable]
    def __init__(self, table: TwoSidedTable, rules: Rules, single: bool) -> None: ...

def level_order(
    points: int, checkers: int, goal: int
) -> tuple[NDArray[np.uint32], NDArray[np.int8], NDArray[np.int64]]: ...

@disjoint_base
class OneSidedJob:
    def __init__(
        self,
        rules: Rules,
        points: int,
        goal: int,
        plain: bool,
        rank_bits: int,
        order: NDArray[np.uint32],
        counts: NDArray[np.int8],
        levels: NDArray[np.int64],
        at: NDArray[np.uint8],
        near: NDArray[np.uint64],
        far: NDArray[np.uint64],
        choice: NDArray[np.uint32],
        stop: Stop,
    ) -> None: ...
    @property
    def used(self) -> int: ...
    @property
    def level(self) -> int: ...
    def use(self, rows: NDArray[np.float64]) -> None: ...
    def begin(self, end: int, threads: int) -> None: ...
    def work(self) -> int: ...

@disjoint_base
class OneSidedTable:
    def __init__(self, points: int, checkers: int, goals: Sequence[Any]) -> None: ...
    def mean(self, position: Position, side: int, goal: int, admitted: bool = False) -> float: ...
    def distribution(
        self, position: Position, side: int, goal: int, admitted: bool = False
    ) -> NDArray[np.float64] | None: ...
    def outcome(self, position: Position, admitted: bool = False) -> NDArray[np.float64] | None: ...
    def win(self, position: Position, admitted: bool = False) -> float: ...
    def means(self, boards: Boards, rules: Rules, goal: int, out: NDArray[np.float64]) -> None: ...
    def outcomes(self, boards: Boards, rules: Rules, out: NDArray[np.float64]) -> None: ...

@disjoint_base
class ContactJob:
    def __init__(
        self,
        rules: Rules,
        counts: NDArray[np.int8],
        pairs: NDArray[np.int32],
        now: NDArray[np.float64],
        fresh: NDArray[np.float64],
        chosen: NDArray[np.uint32],
        points: Sequence[float],
        room: int,
        stop: Stop,
    ) -> None: ...
    def forget(self) -> None: ...
    def ends(self, chances: NDArray[np.float64] | None = None) -> None: ...
    def begin(self) -> None: ...
    def choose(self, first: int, last: int, take: bool, delta: float) -> float: ...
    def close(self, first: int, last: int, over: NDArray[np.uint8]) -> int: ...
    def follow(self, first: int, last: int, equities: bool) -> tuple[float, float]: ...
    def spread(self, first: int, last: int) -> float: ...
    def settle(self, first: int, last: int, spread: bool) -> None: ...

@disjoint_base
class ContactTable:
    def __init__(self, values: NDArray[np.float32], checkers: int) -> None: ...
    def outcome(self, position: Position, admitted: bool = False) -> NDArray[np.float32] | None: ...
    def mean(
        self, position: Position, points: tuple[int, ...], admitted: bool = False
    ) -> float: ...
    def many(self, boards: Boards, out: NDArray[np.float32]) -> None: ...

@disjoint_base
class ContactProbe(Probe):
    table: Final[ContactTable]
    def __init__(self, table: ContactTable) -> None: ...

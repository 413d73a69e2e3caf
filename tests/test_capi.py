"""Extensions of other packages: one in C by the function table, one in Cython by cimport."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sampling import reached

import nardcore as nc
from nardcore import _capi, testing
from nardcore.policies import linear_evaluator

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

CONSUMERS = Path(__file__).parent / "consumers"
NAMES = ("backgammon", "short_nardy", "long_nardy+block=flat", "fnr_long", "hypergammon")

needs_compiler = pytest.mark.build


def compile_and_load(source: Path, name: str, folder: Path) -> ModuleType:
    """Compile one C file the way setuptools would, and import it."""
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    if not shutil.which(compiler[0]):
        pytest.skip("no C compiler")
    target = folder / f"{name}{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    includes = [sysconfig.get_path("include"), nc.get_include()]
    subprocess.run(
        [
            *compiler,
            "-O1",
            "-fPIC",
            "-shared",
            "-std=c11",
            str(source),
            "-o",
            str(target),
            *(f"-I{include}" for include in includes),
        ],
        check=True,
        capture_output=True,
    )
    spec = importlib.util.spec_from_file_location(name, target)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def consumer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("consumer")
    return compile_and_load(CONSUMERS / "consumer.c", "consumer", folder)


@pytest.fixture(scope="module")
def cimporter(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("Cython")
    folder = tmp_path_factory.mktemp("cimporter")
    source = shutil.copy(CONSUMERS / "cimporter.pyx", folder)
    package = Path(nc.__file__).parent
    subprocess.run(
        [sys.executable, "-P", "-m", "cython", "-3", "-I", str(package.parent), source],
        check=True,
        capture_output=True,
    )
    return compile_and_load(folder / "cimporter.c", "cimporter", folder)


def positions(name: str, n: int = 60) -> list[nc.Position]:
    rules = nc.Rules.parse(name)
    boards = reached(rules, n, np.random.default_rng(1))
    return [nc.Position.from_board(board, rules) for board in boards]


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_c_finds_the_same_plays(consumer: Any, name: str) -> None:
    for position in positions(name):
        for roll in ((6, 5), (1, 3), (2, 2)):
            expected = position.plays(roll).boards.tobytes()
            assert consumer.plays(name, bytes(position), *roll) == expected


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_c_flips_and_judges_alike(consumer: Any, name: str) -> None:
    rules = nc.Rules.parse(name)
    for position in positions(name):
        assert consumer.flip(name, position) == bytes(position.flip())
        assert consumer.outcome(name, position) == -1
    over = nc.Position({"off": rules.checkers}, {20: 1}, rules=rules)
    assert consumer.outcome(name, over) == over.outcome
    assert consumer.outcome(name, over.flip()) == over.flip().outcome


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_c_rates_alike(consumer: Any, name: str) -> None:
    evaluator = linear_evaluator(nc.Rules.parse(name).movement)
    for position in positions(name, 20):
        after = position.plays((4, 1)).boards
        expected = evaluator(position.board, after)
        for board, score in zip(after, expected.tolist(), strict=True):
            assert consumer.linear(name, bytes(position), board.tobytes()) == score


@needs_compiler
def test_errors_reach_c(consumer: Any) -> None:
    assert consumer.isa() == nc.isa()
    with pytest.raises(nc.RulesError):
        consumer.plays("chess", bytes(32), 1, 1)
    with pytest.raises(ValueError, match="32"):
        consumer.flip("backgammon", b"short")


@needs_compiler
def test_an_evaluator_in_c_plays_rollouts(consumer: Any) -> None:
    evaluator = nc.Evaluator.from_capsule(consumer.hitter, name="hitter")
    assert evaluator.name == "hitter"

    def by_hand(boards: NDArray[np.int8]) -> NDArray[np.int64]:
        # all results of a roll have the same bar before them, so it need not be known
        mine = np.maximum(boards[:, :24], 0).astype(int) @ np.arange(1, 25)
        return 20 * boards[:, 25].astype(int) - mine - 25 * boards[:, 24]

    for rules in (nc.BACKGAMMON, nc.LONG_NARDY):
        start = nc.Position.start(rules)
        native = nc.rollout(start, games=300, seed=3, policy=evaluator, threads=2)
        python = nc.rollout(start, games=300, seed=3, policy=by_hand)
        assert native.policies == ("hitter", "hitter")
        assert (native.counts == python.counts).all()
        assert (native.plies == python.plies).all()
        assert native.replay(7).outcome == python.replay(7).outcome
    testing.check_evaluator(evaluator, rolls=50)
    mixed = nc.rollout(nc.Position.start(), games=100, seed=3, policy=(evaluator, by_hand))
    alone = nc.rollout(nc.Position.start(), games=100, seed=3, policy=evaluator)
    assert (mixed.counts == alone.counts).all()


@needs_compiler
def test_classes_from_c_and_from_python_choose_the_same_plays(consumer: Any) -> None:
    evaluator = nc.Evaluator.from_capsule(consumer.classifier)
    one = np.float32(1)

    def by_hand(boards: NDArray[np.int8]) -> NDArray[np.float32]:
        found = np.zeros((len(boards), 10), np.float32)
        held = (boards[:, :24] > 1).sum(axis=1).astype(np.float32)
        off, theirs = boards[:, 26].astype(np.float32), boards[:, 27].astype(np.float32)
        found[:, 0] = off / np.float32(30)
        found[:, 1] = held / np.float32(31)
        found[:, 3] = boards[:, 25].astype(np.float32) / np.float32(70)
        found[:, 5] = theirs / np.float32(40)
        found[:, 6] = one - (found[:, 0] + found[:, 1]) - (found[:, 3] + found[:, 5])
        return found

    for rules in (nc.BACKGAMMON, nc.TRIKTRAK, nc.FNR_LONG):
        start = nc.Position.start(rules)
        after = start.plays((4, 2)).boards
        assert (evaluator(start.board, after) == by_hand(after)).all()
        native = nc.rollout(start, games=150, seed=4, policy=evaluator)
        python = nc.rollout(start, games=150, seed=4, policy=by_hand)
        assert (native.counts == python.counts).all()
        assert (native.plies == python.plies).all()


@needs_compiler
def test_an_evaluator_that_fails_is_told(consumer: Any) -> None:
    broken = nc.Evaluator.from_capsule(consumer.broken)
    with pytest.raises(RuntimeError, match="failed"):
        nc.rollout(nc.Position.start(), games=10_000, seed=1, policy=broken)
    with pytest.raises(RuntimeError, match="failed"):
        broken(nc.Position.start().board, nc.batch.start(2))
    mixed = (broken, lambda boards: boards[:, 26])
    with pytest.raises(RuntimeError, match="failed"):
        nc.rollout(nc.Position.start(), games=10, seed=1, policy=mixed)


@needs_compiler
def test_an_evaluator_of_another_version_is_refused(consumer: Any) -> None:
    with pytest.raises(ValueError, match="version"):
        nc.Evaluator.from_capsule(consumer.newer)
    with pytest.raises(TypeError, match="Capsule"):
        nc.Evaluator.from_capsule(_capi.C_API)


@needs_compiler
def test_cython_reads_positions_and_rules(cimporter: Any) -> None:
    assert cimporter.limits() == (24, 3060)
    start = nc.Position.start(nc.LONG_NARDY)
    assert cimporter.bytes_of(start) == (32, 15, 0, 3)
    assert cimporter.bytes_of(nc.Position.start(nc.HYPERGAMMON).flip()) == (32, 3, 1, 0)
    assert cimporter.rules_of(start) == (1, 15, nc.LONG_NARDY)
    with pytest.raises(TypeError):
        cimporter.bytes_of("position")


def test_what_extensions_compile_against_is_in_the_package() -> None:
    package = Path(nc.__file__).parent
    assert Path(nc.get_include()) == package / "include"
    assert (package / "include" / "nardcore.h").is_file()
    for name in ("_types", "_board", "_rules", "_rollout"):
        assert (package / f"{name}.pxd").is_file()

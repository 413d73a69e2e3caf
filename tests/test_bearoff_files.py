"""Tables as files, built in memory and in their file: what goes wrong, and what must not."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nardcore as nc
from nardcore.bearoff import Contact, OneSided, TwoSided, load

SMALL = nc.BACKGAMMON.replace(checkers=3, start=((6, 3),))
ONE = nc.HYPERGAMMON.replace(checkers=1, start=((24, 1),))


# -------------------------------------------------------------------------------------------- files


KINDS: dict[str, Any] = {
    "two-sided": lambda: TwoSided.build(checkers=3),
    "one-sided": lambda: OneSided.build(
        points=7, rules=nc.BACKGAMMON.replace(checkers=4, start=((6, 4),))
    ),
    "contact": lambda: Contact.build(rules=ONE, tolerance=1e-3),
}


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    return {kind: build() for kind, build in KINDS.items()}


@pytest.fixture(params=list(KINDS))
def saved(request: pytest.FixtureRequest, tables: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "table.nct"
    tables[request.param].save(path)
    return path


def test_saved_tables_open_as_they_were(tmp_path: Path) -> None:
    two = TwoSided.build(checkers=(4, 2), equities="money")
    one = OneSided.build(points=7, checkers=4)
    mars = TwoSided.build(checkers=(3, 2), equities="scoring", rules=SMALL)
    for table in (two, one, mars):
        path = tmp_path / "table.nct"
        table.save(path)
        for verify in (False, True):
            opened = type(table).open(path, verify=verify)
            assert repr(opened) == repr(table)
            for name, array in table.raw.items():
                np.testing.assert_array_equal(array, opened.raw[name])
                assert not opened.raw[name].flags.writeable
    assert [path.name for path in tmp_path.iterdir()] == ["table.nct"]


def test_a_table_built_with_a_path_is_used_from_the_file(tmp_path: Path) -> None:
    table = TwoSided.build(checkers=3, path=tmp_path / "t.nct")
    assert table.path == tmp_path / "t.nct"


@pytest.mark.parametrize("keep", [0, 5, 100, 4095, 4096, 10_000, -1])
def test_cut_files_are_refused(saved: Path, keep: int) -> None:
    raw = saved.read_bytes()
    saved.write_bytes(raw[:keep])
    with pytest.raises(nc.TableError):
        load(saved)


def test_longer_files_are_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"\0")
    with pytest.raises(nc.TableError):
        load(saved)


@pytest.mark.parametrize("at", [0, 9, 50, 300, 4090])
def test_damaged_headers_are_refused(saved: Path, at: int) -> None:
    raw = bytearray(saved.read_bytes())
    raw[at] ^= 1
    saved.write_bytes(bytes(raw))
    with pytest.raises(nc.TableError):
        load(saved)


def test_altered_data_are_refused_on_verify(saved: Path) -> None:
    raw = bytearray(saved.read_bytes())
    raw[6000] ^= 4
    saved.write_bytes(bytes(raw))
    load(saved)
    with pytest.raises(nc.TableError, match="altered"):
        load(saved, verify=True)


def test_files_of_newer_formats_are_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nardcore.bearoff import _file

    monkeypatch.setattr(_file, "VERSION", 0)
    with pytest.raises(nc.TableError, match="newer"):
        load(saved)


def test_files_of_other_rules_and_kinds_are_refused(tables: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.nct"
    for table, other in (
        (tables["two-sided"], nc.TRIKTRAK),
        (tables["one-sided"], nc.TRIKTRAK),
        (tables["contact"], nc.HYPERGAMMON),
    ):
        table.save(path)
        with pytest.raises(nc.TableError, match=other.name):
            load(path, rules=other)
        for kind in (TwoSided, OneSided, Contact):
            if not isinstance(table, kind):
                with pytest.raises(nc.TableError, match=f"not a {kind.KIND} one"):
                    kind.open(path)
    tables["two-sided"].save(path)
    TwoSided.open(path, rules=nc.TRIKTRAK_UA)


def test_an_altered_table_that_is_not_verified_never_reads_beyond_its_data(
    tables: dict[str, Any], tmp_path: Path
) -> None:
    from nardcore.bearoff._file import read_header

    path = tmp_path / "t.nct"
    tables["one-sided"].save(path)
    raw = bytearray(path.read_bytes())
    arrays = {entry["name"]: entry for entry in read_header(path)["arrays"]}
    p = nc.Position({6: 2, 1: 1}, {5: 3}, rules=tables["one-sided"].rules)
    for wild in (b"\xff", b"\x7f", b"\x00\x00\x00\x01"):
        for part in ("start", "first", "length"):
            entry = arrays[f"off {part}"]
            size = np.dtype(entry["dtype"]).itemsize * entry["shape"][0]
            altered = raw.copy()
            altered[entry["offset"] : entry["offset"] + size] = (wild * size)[:size]
            path.write_bytes(altered)
            table = OneSided.open(path)
            table.distribution(p)
            table.outcomes(p)
            table.outcomes_batch(np.repeat(p.board[None], 20, axis=0))
            with pytest.raises(nc.TableError, match="altered"):
                OneSided.open(path, verify=True)


def test_no_file_is_left_where_saving_fails(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = load(saved)
    before = saved.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        table.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


# -------------------------------------------------------------------------------------- out of core

TINY = 1_500_000


@pytest.mark.parametrize(
    "what",
    [
        {"checkers": 6},
        {"checkers": (5, 3)},
        {"checkers": 5, "equities": "money"},
        {"checkers": (3, 4), "equities": "money", "dtype": "float32"},
        {"checkers": 3, "equities": "scoring", "rules": SMALL},
    ],
)
def test_a_table_built_in_its_file_is_the_same(what: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.nct"
    table = TwoSided.build(**what, path=path, max_memory=TINY, threads=2)
    TwoSided.open(path, verify=True)
    for name, array in TwoSided.build(**what).raw.items():
        assert array.tobytes() == table.raw[name].tobytes()
    assert [one.name for one in tmp_path.iterdir()] == ["t.nct"]


SCRIPT = """
import sys, time, nardcore as nc
from nardcore.bearoff import OneSided, TwoSided
path = sys.argv[1]
TwoSided.build(checkers=2)
print("ready", flush=True)
while True:
    {build}
"""
BUILDS: dict[str, str] = {
    "in memory": "TwoSided.build(checkers=6, equities='money', path=path, threads=2)",
    "in its file": "TwoSided.build(checkers=6, path=path, max_memory=1_500_000, threads=2)",
    "one side": "OneSided.build(points=6, checkers=9, path=path, threads=2)",
}


@pytest.mark.parametrize("build", list(BUILDS))
@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_builds_leave_no_wrong_table(build: str, kills: int, tmp_path: Path) -> None:
    """Killed at a random moment, it goes on or begins again, and what opens is right."""
    path = tmp_path / "t.nct"
    expected = {
        "in memory": lambda: TwoSided.build(checkers=6, equities="money"),
        "in its file": lambda: TwoSided.build(checkers=6),
        "one side": lambda: OneSided.build(points=6, checkers=9),
    }[build]()
    script = SCRIPT.format(build=BUILDS[build])
    rng = np.random.default_rng(kills)
    seen = 0
    for _ in range(kills):
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.5 * float(rng.random()) ** 2)
        finally:
            child.kill()
            child.communicate()
        if path.exists():
            seen += 1
            table = load(path, verify=True)
            for name, array in expected.raw.items():
                assert array.tobytes() == table.raw[name].tobytes()
            path.unlink()
    namespace = {"TwoSided": TwoSided, "OneSided": OneSided, "path": path}
    exec(BUILDS[build], namespace)
    load(path, verify=True)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert kills < 50 or seen


def test_processes_that_build_the_same_table_do_not_harm_it(tmp_path: Path) -> None:
    path = tmp_path / "t.nct"
    script = SCRIPT.format(build=BUILDS["in memory"])
    children = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        expected = TwoSided.build(checkers=6, equities="money").raw
        opened = 0
        end = time.monotonic() + 20
        while opened < 10 and time.monotonic() < end:
            if path.exists():
                table = TwoSided.open(path, verify=True)
                assert all((table.raw[name] == array).all() for name, array in expected.items())
                opened += 1
            time.sleep(0.02)
        assert opened == 10
    finally:
        for child in children:
            child.kill()
            child.communicate()


FULL = """
import resource, sys, nardcore as nc
from nardcore.bearoff import TwoSided
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    {build}
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "build",
    [
        "TwoSided.build(checkers=6, path=sys.argv[1])",
        "TwoSided.build(checkers=6, path=sys.argv[1], max_memory=1_500_000)",
        "nc.bearoff.write_gnubg(TwoSided.build(checkers=6), sys.argv[1])",
    ],
)
def test_no_room_on_the_disk_is_a_clear_error(build: str, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    path = tmp_path / "t.nct"
    done = subprocess.run(
        [sys.executable, "-P", "-c", FULL.format(build=build), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "too large" in done.stdout or "no room" in done.stdout
    assert "t.nct" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    seen = never
    for path, error in (
        (tmp_path, IsADirectoryError),
        (tmp_path / "none" / "t.nct", FileNotFoundError),
    ):
        for build in (
            lambda path=path: TwoSided.build(checkers=4, path=path, progress=seen),
            lambda path=path: TwoSided.build(
                checkers=7, path=path, max_memory=3_000_000, progress=seen
            ),
            lambda path=path: OneSided.build(path=path, progress=seen),
            lambda path=path: Contact.build(rules=ONE, path=path, progress=seen),
        ):
            with pytest.raises(error):
                build()
    from nardcore.bearoff import _file

    monkeypatch.setattr(_file.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(OSError, match="no room for the"):
        TwoSided.build(checkers=4, path=tmp_path / "t.nct", progress=seen)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
@pytest.mark.parametrize("kind", ["two", "file", "one", "contact", "save"])
# between the opening of a file and its `with`, the interpreter closes it, and says so
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_moment_leaves_nothing_behind(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "t.nct"
    large = TwoSided.build(checkers=9) if kind == "save" else None
    builds: dict[str, Any] = {
        "two": lambda: TwoSided.build(checkers=9, path=path),
        "file": lambda: TwoSided.build(checkers=7, path=path, max_memory=2_000_000),
        "one": lambda: OneSided.build(points=8, checkers=9, path=path),
        "contact": lambda: Contact.build(rules=ONE, tolerance=1e-9, path=path),
        "save": lambda: large.save(path),
    }
    before = threading.active_count()
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    cut = 0
    try:
        for delay in (0.001, 0.01, 0.03, 0.06, 0.1, 0.2):
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                builds[kind]()
            except KeyboardInterrupt:
                cut += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            end = (
                time.monotonic() + 5
            )  # the interrupt may fall between a thread's start and its note
            while threading.active_count() > before and time.monotonic() < end:
                time.sleep(0.01)
            assert threading.active_count() == before
            left = {one.name for one in tmp_path.iterdir()}
            assert left <= ({"t.nct", ".t.nct.building"} if kind == "file" else {"t.nct"})
            if path.exists():
                load(path, verify=True)
                path.unlink()
    finally:
        signal.signal(signal.SIGALRM, old)
    assert cut
    builds[kind]()
    load(path, verify=True)


def test_threads_build_and_ask_at_the_same_time(tables: dict[str, Any]) -> None:
    table = tables["two-sided"]
    one = nc.bearoff.default()
    boards = {
        rules: nc.Position({6: 1, 2: 1}, {5: 2}, rules=rules)
        for rules in (nc.BACKGAMMON, nc.LONG_NARDY, nc.SHORT_BEGINNER)
    }
    expected = table.win(boards[nc.BACKGAMMON]), one.mean_rolls(boards[nc.BACKGAMMON])
    wrong: list[Any] = []

    def ask(p: nc.Position) -> None:
        try:
            for _ in range(2000):
                assert (table.win(p), one.mean_rolls(p)) == expected
        except BaseException as error:
            wrong.append(error)

    def build() -> None:
        if TwoSided.build(checkers=3).raw["win"].tobytes() != table.raw["win"].tobytes():
            wrong.append("build")

    threads = [threading.Thread(target=ask, args=(p,)) for p in boards.values()]
    threads += [threading.Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_tables_go_to_other_processes(
    tables: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, table in tables.items():
        again = pickle.loads(pickle.dumps(table))
        assert repr(again) == repr(table)
        monkeypatch.chdir(tmp_path)
        table.save(f"{kind}.nct")
        mapped = load(f"{kind}.nct")
        raw = pickle.dumps(mapped)
        assert len(raw) < 1000
        monkeypatch.chdir("/")
        assert pickle.loads(raw).nbytes == table.nbytes


def test_the_build_of_another_table_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "t.nct"

    def cancel(done: int, total: int | None) -> None:
        if total is not None and done > total // 2:
            raise KeyboardInterrupt

    for rules in (nc.BACKGAMMON, nc.TRIKTRAK):
        with pytest.raises(KeyboardInterrupt):
            TwoSided.build(
                checkers=5, path=path, max_memory=TINY, progress=cancel, rules=nc.TRIKTRAK
            )
        table = TwoSided.build(checkers=5, path=path, max_memory=TINY, rules=rules)
        again = TwoSided.build(checkers=5, rules=rules)
        assert table.raw["win"].tobytes() == again.raw["win"].tobytes()


def test_a_build_goes_on_after_the_last_finished_level(tmp_path: Path) -> None:
    path = tmp_path / "t.nct"
    seen: list[int] = []

    def cancel(done: int, total: int | None) -> None:
        seen.append(done)
        if total is not None and done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TwoSided.build(checkers=5, path=path, max_memory=TINY, progress=cancel)
    assert not path.exists()
    levels = len(seen)
    seen.clear()
    table = TwoSided.build(
        checkers=5, path=path, max_memory=TINY, progress=lambda done, _: seen.append(done)
    )
    assert len(seen) == 31
    assert levels < 31
    assert table.raw["win"].tobytes() == TwoSided.build(checkers=5).raw["win"].tobytes()


def test_two_processes_do_not_build_the_same_file_at_once(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "t.nct"

    def meanwhile(done: int, total: int | None) -> None:
        with pytest.raises(nc.TableError, match="another process"):
            TwoSided.build(checkers=4, path=path, max_memory=TINY)
        raise StopIteration

    with pytest.raises(StopIteration):
        TwoSided.build(checkers=4, path=path, max_memory=TINY, progress=meanwhile)
    TwoSided.build(checkers=4, path=path, max_memory=TINY)


def test_too_little_memory_says_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(nc.TableError, match="this build needs"):
        TwoSided.build(checkers=6, path=tmp_path / "t.nct", max_memory=10_000)

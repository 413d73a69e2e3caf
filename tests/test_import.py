"""What importing nardcore does, and says where it cannot be done."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nardcore as nc


def python(*args: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "NARDCORE_ISA"}
    return subprocess.run(
        [sys.executable, *args],
        env={**env, **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


FOREIGN = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import nardcore
after = {name.partition(".")[0] for name in sys.modules}
print(*sorted(after - before - set(sys.stdlib_module_names)))
"""


def test_importing_brings_numpy_and_nothing_else() -> None:
    done = python("-P", "-c", FOREIGN)
    assert done.returncode == 0, done.stderr
    # cython_runtime is a bare module that every Cython extension makes
    found = {name for name in done.stdout.split() if not name.startswith("_")} - {"cython_runtime"}
    assert found == {"nardcore", "numpy"}


def test_importing_leaves_the_leaves_alone() -> None:
    program = "import sys, nardcore; print(*(m for m in sys.modules if m.startswith('nardcore.')))"
    loaded = python("-P", "-c", program).stdout.split()
    assert "nardcore._board" in loaded
    for leaf in ("cli", "formats", "render", "testing"):
        assert f"nardcore.{leaf}" not in loaded


def test_importing_starts_no_thread_and_prints_nothing() -> None:
    done = python(
        "-P",
        "-W",
        "error",
        "-c",
        "import threading, nardcore\nassert threading.active_count() == 1",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def unbuilt(tmp_path: Path) -> Path:
    """A source tree as it is before anything is compiled."""
    package = Path(nc.__file__).parent
    for source in package.rglob("*.py"):
        target = tmp_path / "nardcore" / source.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    return tmp_path


def test_an_unbuilt_tree_says_what_to_do(unbuilt: Path) -> None:
    # -S: without the installed package, which might be found first
    done = subprocess.run(
        [sys.executable, "-S", "-c", "import nardcore"],
        cwd=unbuilt,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: nardcore was imported from its source tree")
    assert "pip install" in last
    assert "python -P" in last


@pytest.mark.parametrize("isa", ["nonsense", "AVX2", "sse", "-1"])
def test_an_unknown_instruction_set_is_a_clear_error(isa: str) -> None:
    done = python("-P", "-c", "import nardcore", NARDCORE_ISA=isa)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: NARDCORE_ISA is {isa!r}")
    assert "portable" in last


def test_the_portable_kernels_can_be_asked_for() -> None:
    done = python("-P", "-c", "import nardcore; print(nardcore.isa())", NARDCORE_ISA="portable")
    assert done.stdout == "portable\n"
    assert nc.isa() in ("portable", "avx2")


def test_everything_that_is_promised_is_there() -> None:
    assert len(nc.__all__) == len(set(nc.__all__))
    for name in nc.__all__:
        assert getattr(nc, name) is not None
    for name in ("batch", "dice"):
        module = getattr(nc, name)
        assert all(hasattr(module, entry) for entry in module.__all__)


def test_strategies_say_what_they_need() -> None:
    program = """
import sys
sys.modules["hypothesis"] = None
from nardcore import testing
testing.check_policy(lambda boards: boards[:, 26] * 1.0)
try:
    testing.positions()
except ImportError as error:
    print(error)
"""
    done = python("-P", "-c", program)
    assert "pip install hypothesis" in done.stdout, done.stderr

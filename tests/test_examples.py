"""Every program in examples/ runs, those in C and Cython after being built."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not here")

GAMES = {"rollout.py": "400", "own_policy.py": "100", "dask_rollout.py": "5000"}


def run(folder: Path, *words: str) -> str:
    """Run Python outside the source tree and give what it wrote; its own failure is the message."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_script_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(GAMES)


def test_rollout(tmp_path: Path) -> None:
    out = run(tmp_path, str(EXAMPLES / "rollout.py"), GAMES["rollout.py"])
    assert "<RolloutResult 400 games" in out
    assert "triktrak" in out


def test_own_policy(tmp_path: Path) -> None:
    out = run(tmp_path, str(EXAMPLES / "own_policy.py"), GAMES["own_policy.py"])
    assert "('careful', 'linear')" in out


def test_dask_rollout(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    out = run(tmp_path, str(EXAMPLES / "dask_rollout.py"), GAMES["dask_rollout.py"])
    assert "<RolloutResult 5,000 games" in out


@pytest.mark.skipif(importlib.util.find_spec("distributed") is not None, reason="Dask is installed")
def test_dask_rollout_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "dask_rollout.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "pip install distributed" in done.stderr


@pytest.mark.build
@pytest.mark.parametrize("name", ["c_consumer", "cython_consumer"])
def test_consumers_build_and_run(name: str, tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    if name == "cython_consumer":
        pytest.importorskip("Cython")
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("build", "*.so", "*.c~"))
    run(folder, "setup.py", "build_ext", "--inplace")
    assert "results of" in run(folder, "demo.py")

"""The order of the native modules, which import-linter does not see, and their .pxd files."""

import ast
import re
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE, SOURCE = ROOT / "nardcore", ROOT / "src"
pytestmark = pytest.mark.skipif(not SOURCE.is_dir(), reason="the native sources are not here")

# a module may name those of lower numbers; see the layers of the Python modules in pyproject.toml
LEVEL = {
    "_types": 0,
    "_simd": 0,
    "_kernels": 1,
    "_dice": 1,
    "_rules": 1,
    "_movegen": 2,
    "_board": 3,
    "_net": 3,
    "_bearoff": 4,
    "_rollout": 4,
    "_search": 5,
    "_train": 5,
    "_labels": 5,
    "_capi": 5,
    "_playout": 6,
}
# _types and _simd are both at the bottom: the second names the structs of the first
SAME_LEVEL = {("_simd", "_types")}
# of the Python modules, those below the native ones
PURE = ("_construct", "_faults", "_terms", "errors", "notation", "rules", "typing")
# headers of our own that a .pxd may name; consumers have only nardcore.h
INTERNAL_HEADERS = {
    "_simd": {"simd.h", "kernels.h"},
    "_dice": {"philox.h"},
}


def cimports(path: Path) -> set[str]:
    """Name the modules of ours that a file cimports."""
    return set(
        re.findall(r"^\s*from nardcore\.(\w+) cimport ", path.read_text("utf-8"), re.MULTILINE)
    )


def headers(path: Path) -> set[str]:
    return set(re.findall(r'^\s*cdef extern from "([^"]+)"', path.read_text("utf-8"), re.MULTILINE))


def native_files() -> list[Path]:
    return sorted(chain(SOURCE.glob("*.pyx"), PACKAGE.glob("*.pxd")))


def test_every_native_file_has_a_level() -> None:
    assert {path.stem for path in native_files()} == set(LEVEL)


@pytest.mark.parametrize("path", native_files(), ids=lambda path: path.name)
def test_native_modules_cimport_from_below(path: Path) -> None:
    for other in cimports(path) - {path.stem}:
        below = LEVEL[other] < LEVEL[path.stem] or (path.stem, other) in SAME_LEVEL
        assert below, f"{path.name} may not cimport {other}"


@pytest.mark.parametrize("path", native_files(), ids=lambda path: path.name)
def test_cimports_are_written_in_the_form_that_is_checked(path: Path) -> None:
    lines = re.findall(r"^.*\bcimport\b.*$", path.read_text("utf-8"), re.MULTILINE)
    ours = [line for line in lines if "nardcore" in line or "from ." in line]
    assert all(re.match(r"\s*from nardcore\.\w+ cimport ", line) for line in ours)


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.pyx")), ids=lambda path: path.name)
def test_native_modules_import_only_pure_python_when_they_are_loaded(path: Path) -> None:
    """What they need of higher modules is imported in the functions that need it."""
    lines = re.findall(r"^(?:from|import) nardcore.*$", path.read_text("utf-8"), re.MULTILINE)
    for line in lines:
        if " cimport " not in line:
            found = re.match(r"from nardcore\.(\w+) import ", line)
            assert found, line
            assert found[1] in PURE, line


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_import_no_native_one(name: str) -> None:
    tree = ast.parse((PACKAGE / f"{name}.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {(node.module or "").removeprefix("nardcore.")}
            names |= {alias.name for alias in node.names if node.module == "nardcore"}
        elif isinstance(node, ast.Import):
            names = {alias.name.removeprefix("nardcore.") for alias in node.names}
        else:
            continue
        assert not names & set(LEVEL), f"{name} imports {names & set(LEVEL)}"


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.pxd")), ids=lambda path: path.name)
def test_public_pxd_files_need_no_header_but_nardcore_h(path: Path) -> None:
    assert headers(path) <= {"nardcore.h"} | INTERNAL_HEADERS.get(path.stem, set())


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.pxd")), ids=lambda path: path.name)
def test_headers_that_pxd_files_name_exist(path: Path) -> None:
    for header in headers(path):
        folder = PACKAGE / "include" if header == "nardcore.h" else SOURCE
        assert (folder / header).is_file()

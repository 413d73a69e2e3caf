"""Every public name is documented, and every example in the package runs."""

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

import nardcore

PUBLIC = (
    "batch",
    "candidates",
    "cube",
    "dice",
    "errors",
    "evaluation",
    "formats",
    "game",
    "match",
    "match_equity",
    "notation",
    "onnx_models",
    "plot",
    "policies",
    "records",
    "render",
    "rollouts",
    "rules",
    "stakes",
    "training",
)
NATIVE = ("_board", "_capi", "_dice", "_movegen", "_rollout")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
EXTRAS = {"click", "rich", "hypothesis", "matplotlib", "onnxruntime"}


def module_names() -> list[str]:
    found = pkgutil.walk_packages(nardcore.__path__, "nardcore.")
    names = {"nardcore"} | {module.name for module in found} | {f"nardcore.{n}" for n in NATIVE}
    # a __main__ runs when it is imported; the kernels hold nothing but a capsule
    return sorted(n for n in names if not n.endswith("__main__") and "._kernels" not in n)


def load(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        pytest.skip(f"{name} needs {error.name}")


@pytest.mark.parametrize("name", module_names())
def test_examples_run(name: str, tmp_path, monkeypatch) -> None:
    module = load(name)
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(module, optionflags=OPTIONS)
    assert result.failed == 0


def test_the_examples_of_native_modules_are_found() -> None:
    """Cython hands its docstrings to doctest by a route of its own, which an option can close."""
    finder = doctest.DocTestFinder()
    board = importlib.import_module("nardcore._board")
    assert sum(len(test.examples) for test in finder.find(board)) > 60


# ------------------------------------------------------------------------------- documentation


def public_objects() -> Iterator[tuple[str, object]]:
    """Yield every public class and function, and the public methods and properties of classes."""
    seen: set[int] = set()
    for name in ("nardcore", *(f"nardcore.{part}" for part in PUBLIC)):
        module = importlib.import_module(name)
        for attribute in module.__all__:
            thing = getattr(module, attribute)
            own = str(getattr(thing, "__module__", "")).startswith("nardcore")
            if not own or not callable(thing) or id(thing) in seen:
                continue
            seen.add(id(thing))
            yield f"{name}.{attribute}", thing
            if inspect.isclass(thing):
                yield from members(f"{name}.{attribute}", thing)


def members(name: str, cls: type) -> Iterator[tuple[str, object]]:
    fields = {*getattr(cls, "__dataclass_fields__", ()), *getattr(cls, "_fields", ())}
    for attribute, member in vars(cls).items():
        if not attribute.startswith("_") and attribute not in fields:
            yield f"{name}.{attribute}", getattr(member, "__func__", member)


OBJECTS = dict(public_objects())
# Cython gives an attribute of a class no docstring; their classes list them under "Attributes"
ATTRIBUTES = {
    "nardcore.Evaluator.name",
    "nardcore.Evaluator.owner",
    "nardcore.Evaluator.rules",
    "nardcore.Play.of",
    "nardcore.Plays.position",
}


@pytest.mark.parametrize("name", sorted(set(OBJECTS) - ATTRIBUTES))
def test_public_names_are_documented(name: str) -> None:
    text = inspect.getdoc(OBJECTS[name]) or ""
    assert text.strip(), f"{name} has no docstring"
    assert ">>>" in text or not callable(OBJECTS[name]), f"{name} has no example"


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_native_attributes_are_listed_by_their_classes(name: str) -> None:
    cls, attribute = name.rsplit(".", 1)
    assert "Attributes\n" in (text := inspect.getdoc(OBJECTS[cls]) or "")
    assert f"\n{attribute} : " in text

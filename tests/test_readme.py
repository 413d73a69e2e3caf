"""What README.md and the pages in docs/ show is what happens: Python, commands and links."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
pytestmark = pytest.mark.skipif(not README.is_file(), reason="the documents are not here")

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^ *```.*$", re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


class Markdown(doctest.DocTestParser):
    """Markdown's fences end an example, as a blank line does."""

    def parse(self, string: str, name: str = "<string>") -> list[str | doctest.Example]:
        return super().parse(FENCE.sub("", string), name)


def pages_with(sign: str) -> list[Path]:
    return [page for page in PAGES if page.is_file() and sign in page.read_text("utf-8")]


@pytest.mark.parametrize("page", pages_with(">>> "), ids=name)
def test_python_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(
        str(page), module_relative=False, parser=Markdown(), optionflags=OPTIONS, encoding="utf-8"
    )
    assert result.attempted
    assert not result.failed


def sessions(page: Path) -> list[tuple[str, str]]:
    """List the commands of the console blocks of a page, with the output shown under each."""
    found = []
    for block in CONSOLE.findall(page.read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


COMMANDS = [
    pytest.param(command, output, id=f"{name(page)}: {command}")
    for page in pages_with("```console")
    for command, output in sessions(page)
    if re.search(r"(^|\s)nardcore ", command)
]


@pytest.mark.parametrize(("command", "output"), COMMANDS)
def test_commands(command: str, output: str, tmp_path: Path) -> None:
    pytest.importorskip("click")
    pytest.importorskip("rich")
    scripts = Path(sys.executable).parent
    if not (scripts / "nardcore").exists():
        pytest.skip("the program nardcore is not beside Python")
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={
            **os.environ,
            "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONIOENCODING": "utf-8",
        },
        timeout=120,
        check=False,
    )
    got = done.stdout + done.stderr
    if not doctest.OutputChecker().check_output(output, got, OPTIONS):
        pytest.fail(f"$ {command}\nshown:\n{output}\ngot:\n{got}")


def anchors(page: Path) -> set[str]:
    """Name the headings of a page as GitHub and MyST do."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", page.read_text("utf-8"), re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(plain.replace(" ", "-"))
    return found


# written beside this page or later; a link to one of them is not yet to be followed
OTHERS = {"bearoff.md", "benchmarks.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.is_file()], ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text("utf-8")):
        if "://" in target or Path(target).name in OTHERS:
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{name(page)} links to {target}"
        if anchor:
            assert anchor in anchors(file), f"{name(page)} links to {target}#{anchor}"

"""``nardcore version``."""

from __future__ import annotations

import click

from nardcore.cli._common import echo_json, examples, json_option

__all__ = ["command", "sentence"]


def sentence() -> str:
    """Say the version and the instruction set in use."""
    from nardcore import __version__, isa

    return f"nardcore {__version__} ({isa()})"


@click.command(
    "version",
    epilog=examples("nardcore version", "NARDCORE_ISA=portable nardcore version --json"),
)
@json_option
def command(as_json: bool) -> None:
    """Tell the version and the instruction set in use."""
    from nardcore import __version__, isa

    if as_json:
        echo_json({"version": __version__, "isa": isa()})
    else:
        click.echo(sentence())

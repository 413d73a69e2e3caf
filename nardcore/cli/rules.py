"""``nardcore rules``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from nardcore._terms import (
    LANGUAGES,
    PRESET_WORDS,
    STATE_WORDS,
    TERMS,
    describe,
    result_names,
    term,
)
from nardcore.cli._common import RULES, console, echo_json, examples, json_option
from nardcore.rules import PRESETS, Rules

if TYPE_CHECKING:
    from rich.table import Table

    from nardcore._terms import Language

__all__ = ["command"]


@click.command(
    "rules",
    epilog=examples(
        "nardcore rules",
        "nardcore rules triktrak --lang ru",
        "nardcore rules long_nardy+block=flat",
        "nardcore rules --json",
    ),
)
@click.argument("name", type=RULES, required=False)
@click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="The language of titles, results and terms.",
)
@json_option
def command(name: Rules | None, lang: Language, as_json: bool) -> None:
    """List the rulesets, or describe one.

    NAME is a preset, or a preset with fields changed, such as long_nardy+block=flat.
    """
    if name is not None:
        data = _one(name, lang)
        if as_json:
            echo_json(data)
        else:
            _write_one(name, data, lang)
        return
    rows = [_row(preset, rules, lang) for preset, rules in PRESETS.items()]
    if as_json:
        echo_json(rows)
    else:
        _write_list(rows, lang)


def _text(value: Any) -> str:
    """Write a field's value as the text form of rules does."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        pairs = [f"{v[0]}:{v[1]}" if isinstance(v, tuple) else str(v) for v in value]
        return (" " if isinstance(value[0], tuple) else "/").join(pairs)
    return "none" if value is None else str(value)


def _row(name: str, rules: Rules, lang: Language) -> dict[str, str]:
    return {
        "name": name,
        "title": PRESET_WORDS[name].title[lang],
        "movement": rules.movement,
        "scoring": _text(rules.scoring),
        "stake": rules.stake,
        "opening": rules.opening,
        "next_starter": rules.next_starter,
        "source": PRESET_WORDS[name].source,
    }


def _one(rules: Rules, lang: Language) -> dict[str, Any]:
    preset, *changes = rules.name.split("+")
    words = describe(preset, lang)
    names = result_names(rules.scoring, lang)
    return {
        "name": rules.name,
        "title": words.title,
        "text": words.text,
        "source": words.source,
        "changed": changes,
        "fields": {field.name: getattr(rules, field.name) for field in dataclasses.fields(rules)},
        "results": [
            {"name": name, "loser": state[lang], "points": points}
            for name, state, points in zip(names, STATE_WORDS, rules.points, strict=True)
        ],
        "terms": {word: term(word, lang) for word in TERMS},
    }


def _table(*headings: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(*headings, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)


def _write_list(rows: list[dict[str, str]], lang: Language) -> None:
    table = _table()
    if lang == "en":  # the names themselves read as titles
        rows = [{key: text for key, text in row.items() if key != "title"} for row in rows]
    for heading in rows[0]:
        # what one has to type is never cut
        typed = heading in ("name", "scoring", "stake", "opening")
        table.add_column(heading.replace("_", " "), no_wrap=typed, overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    console().print(table)


def _write_one(rules: Rules, data: dict[str, Any], lang: Language) -> None:
    out = console()
    out.print(data["name"], style="bold")
    out.print(f"{data['title']}. {data['text']}")
    if data["changed"]:
        out.print(f"Changed here: {', '.join(data['changed'])}.")
    out.print(f"Source: {data['source']}.")
    usual = Rules(movement=rules.movement)
    fields = _table("field", "value", "")
    for field, value in data["fields"].items():
        default = getattr(usual, field)
        note = "" if value == default else f"default {_text(default)}"
        fields.add_row(field, _text(value), note)
    results = _table(term("result", lang), term("loser", lang))
    results.add_column(term("points", lang), justify="right")
    for row in data["results"]:
        results.add_row(row["name"], row["loser"], str(row["points"]))
    tables = [fields, results]
    if lang != "en":
        tables.append(_table("en", lang))
        for english, word in data["terms"].items():
            tables[-1].add_row(english, word)
    for table in tables:
        out.print()
        out.print(table)

"""Broken texts for every reader: `python tests/fuzz_formats.py --minutes 10`.

A text is made of samples by cutting, doubling, swapping and inventing pieces of it. A reader may
give a value or raise `FormatError`, within a bounded time; whatever it gives can be written as JSON
and is read back equal, and no other writer does anything but write or refuse.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import nardcore as nc
from nardcore.errors import FormatError
from nardcore.formats import FORMATS, dumps, loads
from nardcore.formats._text import decode

FILES = Path(__file__).parent / "data" / "files"
PIECES = (
    *("\n", " ", "  ", "\t", "\r\n", "\0", "\ufeff", "\u2028", "é", "😀", "\ud800"),
    *("(", ")", "[", "]", "{", "}", ";", ":", "/", "*", "\\", '"', ",", "=", "-", "%", "..."),
    *("0", "1", "6", "9", "25", "26", "99", "-1", "1e9", "9" * 12, "1" * 400, "٣", "½"),
    *("bar", "off", "8/5", "24/18*", "(4)", "31:", "66:", "5-3", "???", "Cannot Move", "pass"),
    *("Doubles => 2", " Takes", " Drops", "Wins 3 points", "Beavers => 4", "resigns gammon"),
    *(
        "Game 1",
        "7 point match",
        " 1) ",
        "12. ",
        "; [",
        "Rules: long_nardy\n",
        "Numbering: roman\n",
    ),
    *("W[", "B[31", "MI[length:7]", "AE[a:y]", "AW[z]", "PL[B]", "DI[66]", "CV[64]", "C[x", "(;"),
    *('"format": ', "null", "true", "[]", "{}", "1.5", '"steps": [[25, 0]]', "NaN", "Infinity"),
    *(
        "XGID=",
        "Position-ID: ",
        "Match-ID: ",
        "board:",
        "Start: ",
        "Throws: 6-6 1-2\n",
        "Stake: 3\n",
    ),
)


def corpus() -> list[str]:
    """Collect texts of every format."""
    found = [path.read_text("utf-8") for path in sorted(FILES.iterdir()) if path.suffix != ".md"]
    for seed, rules in enumerate((nc.BACKGAMMON, nc.LONG_NARDY, nc.SHORT_DAVE, nc.TRIKTRAK)):
        match = nc.play_out(nc.Match(rules, length=1, seed=seed)).record()
        for form in ("json", "sheet", "mat", "sgf"):
            with contextlib.suppress(FormatError):
                found.append(dumps(match, form))
        for form in ("text", "gnubg", "xgid", "fibs", "json"):
            with contextlib.suppress(FormatError):
                found.append(dumps(match.games[0].final, form))
    analysis = loads((FILES / "synthetic_xg_FR_cube_comma.txt").read_text("utf-8"))
    return [*found, dumps(analysis, "json")]


def broken(rng: random.Random, texts: list[str]) -> str:
    """Make one broken text."""
    text = rng.choice(texts)
    if rng.random() < 0.5 and len(text) > 2000:  # a shorter one is tried more often
        at = rng.randrange(len(text) - 1000)
        text = text[:300] + text[at : at + rng.randrange(1000)]
    for _ in range(1 + int(rng.expovariate(0.5))):
        at, to = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        to = min(to, at + 1 + int(rng.expovariate(0.05)))
        kind = rng.randrange(9)
        if kind == 0:
            text = text[:at] + text[to:]
        elif kind == 1:
            text = text[:to] + text[at:to] * rng.choice([1, 2, 3, 50]) + text[to:]
        elif kind <= 4:
            text = text[:at] + rng.choice(PIECES) + text[at if kind < 4 else to :]
        elif kind == 5:
            other = rng.choice(texts)
            cut = rng.randint(0, len(other))
            text = text[:at] + other[cut : cut + 200] + text[at:]
        elif kind == 6:
            text = text[:at]
        elif kind == 7:
            text = (
                text[:at] + chr(rng.choice([rng.randrange(128), rng.randrange(0x3000)])) + text[to:]
            )
        else:
            lines = text.split("\n")
            rng.shuffle(lines)
            text = "\n".join(lines)
        text = text[:200_000]
    return text


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` where something takes too much processor time."""

    def stop(*_: object) -> None:
        msg = f"more than {seconds} s"
        raise TimeoutError(msg)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def one(rng: random.Random, texts: list[str], limit: int) -> tuple[str, bool]:
    """Try one broken text: the text, and whether it was read."""
    text = broken(rng, texts)
    form = rng.choice([None, None, *FORMATS])
    with at_most(limit):
        if rng.random() < 0.1:
            with contextlib.suppress(FormatError):
                text = decode(text.encode(rng.choice(["utf-8", "utf-16", "latin-1"]), "replace"))
        try:
            value = loads(text, form)
        except FormatError as error:
            if len(str(error)) > 2000:
                raise
            return text, False
        assert loads(dumps(value, "json"), "json") == value
        other = rng.choice([name for name, each in FORMATS.items() if each.written])
        with contextlib.suppress(FormatError):
            dumps(value, other, lossy=rng.random() < 0.5)
    return text, True


def fuzz(seconds: float, seed: int = 0, limit: int = 30) -> dict[str, float]:
    """Try broken texts for some time and count them.

    Raises
    ------
    AssertionError
        With the text that broke a reader.
    """
    texts = corpus()
    tried = read = 0
    slowest = 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        rng = random.Random(f"{seed} {tried}")
        start = time.process_time()
        try:
            read += one(rng, texts, limit)[1]
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            again = random.Random(f"{seed} {tried}")
            msg = f"seed {seed}, text {tried}: {error!r} from {broken(again, texts)!r}"
            raise AssertionError(msg) from error
        slowest = max(slowest, time.process_time() - start)
        tried += 1
    return {"texts": tried, "read": read, "slowest": round(slowest, 3)}


def main() -> None:
    import resource

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    found = fuzz(60 * given.minutes, given.seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(  # noqa: T201
        f"{found['texts']:,} texts, {found['read']:,} of them read, none broke a reader; "
        f"the slowest took {found['slowest']} s; {peak} MB at most"
    )


if __name__ == "__main__":
    main()

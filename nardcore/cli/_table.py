"""The table at which ``nardcore play`` plays: asks, does, tells."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from nardcore._adviser import Adviser
from nardcore.cli._advice import rate
from nardcore.cli._common import console, echo_json, takes_unicode
from nardcore.cli._phrases import COLOUR, HELP, result_name, say
from nardcore.errors import NardcoreError
from nardcore.game import Game
from nardcore.match import choose_play
from nardcore.notation import format_dice, parse_dice
from nardcore.records import state_of
from nardcore.render import board_text
from nardcore.rules import STATES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nardcore._board import Play
    from nardcore._terms import Language
    from nardcore.match import Match
    from nardcore.typing import Numbering, PolicyLike

__all__ = ["Options", "Table"]


@dataclass(frozen=True)
class Options:
    """How to play."""

    humans: str
    policies: tuple[PolicyLike, PolicyLike]
    lang: Language
    numbering: Numbering
    boards: bool
    manual: bool
    as_json: bool
    save: Path | None
    info: dict[str, str] = field(default_factory=dict)


class _LeftError(Exception):
    """Nobody plays on."""


_WORDS = {
    "": "roll",
    "r": "roll",
    "roll": "roll",
    "throw": "roll",
    "d": "offer",
    "double": "offer",
    "redouble": "offer",
    "dave": "offer",
    "offer": "offer",
    "a": "accept",
    "accept": "accept",
    "take": "accept",
    "y": "accept",
    "yes": "accept",
    "refuse": "refuse",
    "drop": "refuse",
    "n": "refuse",
    "no": "refuse",
    "beaver": "beaver",
    "resign": "resign",
    "l": "list",
    "list": "list",
    "plays": "list",
    "moves": "list",
    "h": "hint",
    "hint": "hint",
    "best": "best",
    "u": "undo",
    "undo": "undo",
    "b": "board",
    "board": "board",
    "sheet": "sheet",
    "save": "save",
    "dice": "dice",
    "?": "help",
    "help": "help",
    "q": "quit",
    "quit": "quit",
    "exit": "quit",
}


class Table:
    """A match with those who play it."""

    def __init__(self, match: Match, options: Options) -> None:
        self.match, self.options = match, options
        self.lang: Language = options.lang
        self.adviser = Adviser("linear")
        self.terminal = sys.stdin is not None and sys.stdin.isatty()
        self.shown: object = None  # what the last board showed
        self.seeds = " ".join(map(str, match.seed))

    # ------------------------------------------------------------------------------------ talking

    def tell(self, phrase: str, **values: Any) -> None:
        """Say what has happened."""
        if self.options.as_json:
            echo_json({"event": phrase, **values})
        else:
            click.echo(say(phrase, self.lang, **values))

    def wrong(self, error: Exception | str) -> None:
        """Say what was typed wrongly; it is asked again."""
        if self.options.as_json:
            echo_json({"event": "error", "message": str(error)})
        else:
            click.echo(str(error), err=True)

    def ask(self, question: str) -> str:
        """Read a line; the end of the input leaves the game."""
        if self.terminal and not self.options.as_json:
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401 - gives input() its editing
            try:
                return input(f"{question}> ").strip()
            except EOFError:
                raise _LeftError from None
        line = "" if sys.stdin is None else sys.stdin.readline()
        if not line:
            raise _LeftError
        return line.strip()

    def draw(self, *, anyway: bool = False) -> None:
        """Show the board to whoever is to act."""
        game = self.match.game
        seen = game.position, game.dice
        if self.options.as_json:
            self.state()
            return
        if not anyway and (not self.options.boards or self.shown == seen):
            return
        self.shown = seen
        view = {"w": "white", "b": "black"}.get(self.options.humans, "mover")
        position = game.position
        text = board_text(
            position.board,
            position.rules,
            numbering=self.options.numbering,
            dice=game.dice,
            view=view,
            unicode=takes_unicode(),
        )
        click.echo(f"\n{text}")
        stake = game.stake
        if stake.owner is not None:
            self.tell("stake", value=stake.value, side=stake.owner)

    def state(self) -> None:
        """Write everything a program needs to act."""
        game = self.match.game
        echo_json(
            {
                "event": "state",
                "position": game.position.text(game.dice),
                "turn": game.turn,
                "to_act": game.to_act,
                "due": game.due,
                "dice": game.dice,
                "stake": game.stake.value,
                "owner": game.stake.owner,
                "offered": game.stake.offered,
                "score": self.match.score,
                "plays": [self.text(play) for play in game.plays()],
            }
        )

    def text(self, play: Play) -> str:
        """Write a play as the points are named here."""
        return play.notation(numbering=self.options.numbering)

    # ------------------------------------------------------------------------------------- running

    def run(self) -> None:
        """Play until the match is over or somebody leaves."""
        try:
            self.save()  # what cannot be written is told before the first turn
            self.begin()
            while True:
                game = self.match.game
                if game.over:
                    self.finish()
                    self.save()
                    if self.match.over:
                        return
                    self.match.next_game()
                    self.begin()
                elif game.to_act in self.options.humans:
                    self.human()
                else:
                    self.program()
        except _LeftError:
            self.save()
            if self.options.as_json:
                echo_json({"event": "left"})
            else:
                click.echo(say("left", self.lang))

    def begin(self) -> None:
        """Begin a game, thrown for by hand where that is wanted."""
        match, game = self.match, self.match.game
        if self.options.manual and game.throws and not game.history:
            game = self.throw_by_hand(game)
            match.games[-1] = game
        white, black = game.score
        throws = [[throw.white, throw.black] for throw in game.throws]
        if self.options.as_json:
            echo_json(
                {
                    "event": "game",
                    "number": len(match.games),
                    "rules": game.rules.name,
                    "seed": match.seed,
                    "score": [white, black],
                    "length": match.length,
                    "crawford": game.crawford,
                    "throws": throws,
                    "starter": game.starter,
                    "stake": game.stake.value,
                }
            )
            return
        self.tell("game", n=len(match.games), w=white, b=black, rules=game.rules.name)
        if game.crawford:
            self.tell("crawford")
        if game.history:
            return
        if throws:
            shown = ", ".join(f"{a}-{b}" for a, b in throws)
            self.tell("throws", side=game.starter, throws=shown)
            if game.stake.value > 1:
                self.tell("doubled", value=game.stake.value)
        else:
            self.tell("begins", side=game.starter)

    def throw_by_hand(self, game: Game) -> Game:
        """Ask for the throws for the first move."""
        throws: list[tuple[int, int]] = []
        while not throws or throws[-1][0] == throws[-1][1]:
            line = self.ask(say("ask_throw", self.lang))
            digits = re.findall(r"[0-9]+", line)
            if len(digits) == 1 and len(digits[0]) == 2:
                digits = list(digits[0])
            if len(digits) == 2 and all(d in "123456" for d in digits):
                throws.append((int(digits[0]), int(digits[1])))
            else:
                self.wrong(f"{line!r} is no pair of dice such as 52")
        return Game(
            game.rules,
            seed=game.seed,
            number=game.number,
            throws=throws,
            score=game.score,
            length=game.length,
            crawford=game.crawford,
        )

    def finish(self) -> None:
        """Tell how a game and the match ended."""
        match, result = self.match, self.match.game.result()
        assert result is not None
        if self.options.as_json:
            echo_json(
                {
                    "event": "result",
                    **dataclasses.asdict(result),
                    "name": result_name(match.rules, result.state, self.lang),
                    "score": match.score,
                    "over": match.over,
                    "match_winner": match.winner,
                }
            )
            return
        if self.options.boards:
            self.draw()
        name = result_name(match.rules, result.state, self.lang)
        self.tell("won", side=result.winner, points=result.points, name=name)
        white, black = match.score
        if match.over and (match.length or match.games_to_play > 1):
            if match.winner is None:
                self.tell("drawn", w=white, b=black)
            else:
                self.tell("match", side=match.winner, w=white, b=black)

    def save(self, path: Path | None = None) -> bool:
        """Keep the match in a file; whether there is one."""
        path = path or self.options.save
        if path is None:
            return False
        from nardcore import formats

        own = {"seed": self.seeds, **self.options.info}
        record = self.match.record()
        kept = {key: value for key, value in record.info if key not in own}
        record = dataclasses.replace(record, info=tuple({**kept, **own}.items()))
        known = any(path.suffix in each.extensions for each in formats.FORMATS.values())
        kind = None if known else "json"
        formats.dump(record, path, kind, lossy=kind is None and path.suffix != ".json")
        return True

    # --------------------------------------------------------------------------------- the program

    def program(self) -> None:
        """Act for a side that nobody here plays."""
        game = self.match.game
        due = game.due
        if "push" in due:
            self.push(choose_play(game, self.options.policies["wb".index(game.turn)]))
            return
        said = self.adviser(game)
        if said == "roll":
            self.roll()
        else:
            self.do(said)

    # -------------------------------------------------------------------------- what a side can do

    def do(self, action: str) -> None:
        """Do something about the stake or a resignation, and tell it."""
        game = self.match.game
        side = game.to_act
        getattr(game, action)()
        value = game.stake.offered or game.stake.value
        self.tell(action, side=side, value=value)

    def roll(self) -> None:
        """Throw, or ask what was thrown."""
        game = self.match.game
        opening = game.ply == 0 and bool(game.throws) and game.rules.opening == "use_dice"
        if self.options.manual and not opening:
            while True:
                line = self.ask(say("ask_dice", self.lang, side=game.turn))
                try:
                    game.set_dice(parse_dice(line))
                    break
                except ValueError as error:
                    self.wrong(error)
        else:
            game.roll()
        self.rolled()

    def rolled(self) -> None:
        """Tell what was thrown, where the play does not follow at once."""
        game = self.match.game
        assert game.dice is not None
        if self.options.as_json:
            self.tell("rolled", side=game.turn, dice=game.dice)
        elif game.turn in self.options.humans:
            self.tell("rolled", side=game.turn, dice=format_dice(game.dice))

    def push(self, play: Play) -> None:
        """Make a play."""
        game = self.match.game
        side, dice = game.turn, game.dice
        assert dice is not None
        text = self.text(play)
        game.push(play)
        if self.options.as_json:
            self.tell("played", side=side, dice=dice, play=text)
        else:
            self.tell("played", side=side, dice=format_dice(dice), play=text)
        if self.options.save is not None:
            self.save()

    # ----------------------------------------------------------------------------------- the human

    def human(self) -> None:
        """Let a human act once; what needs no decision is done at once."""
        game = self.match.game
        due = game.due
        if "roll" in due and "offer" not in due:
            self.roll()
            return
        plays = game.plays()
        if len(plays) == 1 and not plays[0].steps:
            self.push(plays[0])
            return
        self.draw()
        line = self.ask(self.question())
        try:
            self.obey(line)
        except (NardcoreError, ValueError, OSError) as error:
            self.wrong(error)

    def question(self) -> str:
        """Say what is to be decided."""
        game, lang = self.match.game, self.lang
        due = game.due
        if "push" in due:
            assert game.dice is not None
            text = say("ask_play", lang, dice=format_dice(game.dice))
        elif "roll" in due:
            word = "double" if game.rules.stake == "cube" else "dave"
            text = say("ask_offer", lang, word=word) if "offer" in due else say("ask_roll", lang)
        else:
            text = say("ask_beaver" if "beaver" in due else "ask_answer", lang)
        both = len(self.options.humans) > 1
        return f"{COLOUR[game.to_act][lang]}: {text}" if both else text

    def obey(self, line: str) -> None:
        """Do what was typed."""
        game = self.match.game
        if self.options.manual and "roll" in game.due and line[:1].isdecimal():
            game.set_dice(parse_dice(line))
            self.rolled()
            return
        if "/" in line.partition(" ")[0] or line.lower() == "pass":
            plays = game.plays()
            if not plays:
                game.push(line)  # says what is due instead
            self.push(
                game.position.plays(plays[0].dice).find(line, numbering=self.options.numbering)
            )
            return
        if line.isascii() and line.isdecimal() and "push" in game.due:
            plays = game.plays()
            if not 1 <= int(line) <= len(plays):
                msg = f"there are plays 1 to {len(plays)}, not {line}"
                raise ValueError(msg)
            self.push(plays[int(line) - 1])
            return
        word, _, rest = line.partition(" ")
        what = _WORDS.get(word.lower())
        if what is None:
            msg = f"{line!r} is neither a play nor a command; try help"
            raise ValueError(msg)
        if what == "roll" and not line and "push" in game.due:
            self.draw(anyway=True)
            return
        own: Callable[[str], None] | None = getattr(self, f"_{what}", None)
        if own is not None:
            own(rest.strip())
        elif what == "roll":
            if "roll" not in game.due:
                game.roll()  # says what is due instead
            self.roll()
        elif what in ("accept", "refuse") and game.resignation is not None:
            self.do(f"{what}_resignation")
        else:
            self.do(what)

    def _resign(self, rest: str) -> None:
        game, lang = self.match.game, self.lang
        state = 0
        if rest:
            word = rest.lower().replace(" ", "_")
            names = [result_name(game.rules, k, lang).replace(" ", "_") for k in range(len(STATES))]
            state = names.index(word) if word in names else state_of(word)
        side = game.turn
        game.resign(state, side=side)
        self.tell("resign", side=side, name=result_name(game.rules, state, lang))

    def _list(self, _: str) -> None:
        plays = self.match.game.plays()
        texts = [self.text(play) for play in plays]
        if self.options.as_json:
            echo_json({"event": "list", "plays": texts})
            return
        click.echo(say("plays", self.lang, n=len(texts)))
        width = len(str(len(texts)))
        for number, text in enumerate(texts, 1):
            click.echo(f"  {number:>{width}}  {text}")

    def _hint(self, rest: str) -> None:
        game = self.match.game
        if "push" not in game.due:
            action = self.adviser(game).removesuffix("_resignation")
            if self.options.as_json:
                echo_json({"event": "hint", "action": action})
            else:
                click.echo(f"  {action}")
            return
        rated = rate(game)[: int(rest) if rest.isdecimal() else 5]
        if self.options.as_json:
            found = [{"play": self.text(one.play), one.unit: one.score} for one in rated]
            echo_json({"event": "hint", "plays": found})
            return
        from rich import box
        from rich.table import Table as Grid

        grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        grid.add_column("")
        grid.add_column(rated[0].unit, justify="right")
        grid.add_column("loss", justify="right")
        for one in rated:
            loss = rated[0].score - one.score
            form = "+.3f" if one.unit == "equity" else ".0f"
            grid.add_row(self.text(one.play), format(one.score, form), f"{-loss:{form}}")
        console().print(grid)

    def _best(self, _: str) -> None:
        game = self.match.game
        if "push" not in game.due:
            game.push("pass")  # says what is due instead
        self.push(rate(game)[0].play)

    def _undo(self, _: str) -> None:
        match = self.match
        kept = [(game, game.copy()) for game in match.games]
        while True:
            try:
                action = match.pop()
            except NardcoreError:
                # nothing of this side's to take back: as it was
                match.games[:] = [copy for _, copy in kept]
                raise
            game = match.game
            if action not in ("roll", "next_game") and game.to_act in self.options.humans:
                plays = game.plays()
                if len(plays) != 1 or plays[0].steps:
                    break
        self.tell("undone")

    def _board(self, _: str) -> None:
        self.draw(anyway=True)

    def _dice(self, _: str) -> None:
        msg = "dice are set with --manual"
        raise ValueError(msg)

    def _sheet(self, _: str) -> None:
        from nardcore.cli._listing import listing

        rows = listing(self.match.game.record(), self.options.numbering, self.lang)
        self._text("sheet", rows)

    def _save(self, rest: str) -> None:
        from pathlib import Path

        path = Path(rest) if rest else None
        if not self.save(path):
            msg = "save needs the name of a file"
            raise ValueError(msg)
        self.tell("saved", file=rest or str(self.options.save))

    def _help(self, _: str) -> None:
        self._text("help", HELP[self.lang].splitlines())

    def _text(self, event: str, lines: list[str]) -> None:
        if self.options.as_json:
            echo_json({"event": event, "lines": lines})
            return
        for line in lines:
            click.echo(line)

    def _quit(self, _: str) -> None:
        raise _LeftError

"""One game: whose turn it is, what is due, what was played, and how it ended.

A `Game` moves from one immutable state to the next, and `Game.pop` goes back to the state before,
whatever was done: a throw, a play, an offer or its answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nardcore import _dice
from nardcore._board import Play, Position
from nardcore._due import ACTIONS, Action, State, due, why_not
from nardcore._entries import check_throws
from nardcore._replay import enter_all
from nardcore.dice import key, opening, seed_words
from nardcore.errors import NotDueError
from nardcore.notation import as_dice
from nardcore.records import (
    CubeAction,
    GameRecord,
    GameResult,
    Move,
    Resignation,
    Throw,
    impossible_score,
    play_of,
    state_of,
)
from nardcore.rules import BACKGAMMON, STATES, Rules
from nardcore.stakes import COLOURS, Stake, other

if TYPE_CHECKING:
    from nardcore._board import Plays
    from nardcore.records import Entry
    from nardcore.typing import Dice, Numbering, Seed, Side

__all__ = ["ACTIONS", "Game"]

_AHEAD = 64  # rolls that are drawn from the stream at a time


class Game:
    """A game being played.

    Whoever is on turn may offer to raise the stake, where the rules have that, then throws and
    plays. Whatever is not due is refused with a `NotDueError` that says what is.

    Parameters
    ----------
    rules : Rules, optional
        Those of the position or backgammon, unless given.
    seed : int or sequence of int, optional
        Of the dice; drawn from the system if None. The same seed gives the same dice, however often
        plays are taken back.
    number : int, optional
        The number of the game; games of one seed have dice of their own.
    first : {"w", "b"}, optional
        Who begins, without a throw for it. The first roll is then one of both dice.
    throws : sequence of (int, int), optional
        White's and black's die of each throw for the first move, where they are not drawn.
    position : Position, optional
        Where the game begins, with the side on roll there; there is no throw for the first move.
    score : pair of int, optional
        Points of white and black in the match before this game.
    length : int, optional
        Points of the match; 0 in money play.
    crawford : bool, optional
        Whether this is the game of the match in which nobody may double.
    stake, owner : optional
        The stake and who alone may raise it, for a game that begins in the middle.

    Attributes
    ----------
    rules : Rules
        What is played.
    seed : tuple of int
        The words of the seed, also where the system drew it.
    number : int
        The number of the game.
    throws : tuple of Throw
        The throws for the first move.
    starter : {"w", "b"}
        Who begins.
    length, score, crawford
        As above.

    Examples
    --------
    >>> import nardcore as nc
    >>> game = nc.Game(nc.LONG_NARDY, seed=1)
    >>> len(game.plays())
    0
    >>> dice = game.roll()
    >>> play = game.push(game.plays()[0])
    >>> game.pop() == "push", game.dice == dice
    (True, True)
    >>> game.result() is None
    True
    """

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        seed: Seed = None,
        number: int = 0,
        first: Side | None = None,
        throws: Iterable[tuple[int, int]] | None = None,
        position: Position | None = None,
        score: tuple[int, int] = (0, 0),
        length: int = 0,
        crawford: bool = False,
        stake: int = 1,
        owner: Side | None = None,
    ) -> None:
        if rules is None:
            rules = position.rules if isinstance(position, Position) else BACKGAMMON
        if not isinstance(rules, Rules):
            msg = f"rules are a Rules, such as nc.BACKGAMMON, not {rules!r}"  # type: ignore[unreachable]
            raise TypeError(msg)
        if sum(given is not None for given in (first, throws, position)) > 1:
            msg = "first, throws and position exclude each other"
            raise ValueError(msg)
        self.rules = rules
        self.seed = seed_words(seed)
        self._key = key(self.seed[0] if len(self.seed) == 1 else self.seed)
        self.number = index(number)
        if not 0 <= self.number < 2**62:
            msg = f"the number of a game is 0 or more, below 2**62, not {number}"
            raise ValueError(msg)
        self._start: Position | None = None
        self.throws: tuple[Throw, ...] = ()
        begin = self._begin(first, throws, position)
        # what the record checks is what a game may begin with
        self._head = GameRecord(
            rules,
            start=self._start,
            first=self.starter,
            throws=self.throws,
            score=score,
            length=length,
            crawford=bool(crawford),
            stake=stake,
            owner=owner,
        )
        self.score = self._head.score
        self.length = length
        self._state = State(
            begin,
            Stake.start(
                rules,
                value=stake,
                owner=owner,
                length=length,
                crawford=bool(crawford),
                equal_throws=self._head.equal_throws,
            ),
        )
        self.crawford = self._state.stake.crawford
        wrong = impossible_score(self.score, length, crawford=self.crawford)
        if wrong is not None:
            raise ValueError(wrong)
        self._head = dataclasses.replace(self._head, crawford=self.crawford)
        self._entries: list[Entry] = []
        self._past: list[tuple[Action, State, int]] = []
        self._rolls: list[list[int]] = []  # larger first
        self._found: tuple[State, Plays] | None = None

    def _begin(
        self, first: Side | None, throws: Iterable[tuple[int, int]] | None, position: Any
    ) -> Position:
        self._opening: Dice | None = None
        if position is not None:
            if not isinstance(position, Position):
                msg = f"position is a Position, not {position!r}"
                raise TypeError(msg)
            if position.outcome is not None:
                msg = "the game is over in this position"
                raise ValueError(msg)
            if position.rules.movement != self.rules.movement:
                msg = f"the position is one of {position.rules.name}, not of {self.rules.name}"
                raise ValueError(msg)
            self._start = position.with_rules(self.rules)
            self.starter: Side = position.turn
            return self._start
        if first is not None:
            if first not in COLOURS:
                msg = f"first is 'w' or 'b', not {first!r}"
                raise ValueError(msg)
            self.starter = first
        else:
            if throws is None:
                throws = opening(self.rules, self.seed, self.number).throws
            self.throws = check_throws(throws)
            white, black = self.throws[-1].white, self.throws[-1].black
            self.starter = "w" if white > black else "b"
            if self.rules.opening == "use_dice":
                self._opening = as_dice((white, black))
        return GameRecord(self.rules, first=self.starter).opening

    # ------------------------------------------------------------------------------- what is seen

    @property
    def position(self) -> Position:
        """The position, seen by the side on turn; after a play that won, by the loser."""
        return self._state.position

    @property
    def turn(self) -> Side:
        """Who is on turn to throw or to play."""
        return self._state.position.turn

    @property
    def to_act(self) -> Side:
        """Who has to do something: the side on turn, or the one that owes an answer."""
        state = self._state
        if state.resignation is not None:
            return other(state.resignation.side)
        if state.stake.by is not None:
            return other(state.stake.by)
        return state.position.turn

    @property
    def dice(self) -> Dice | None:
        """The dice to play, larger first; None before the throw."""
        return self._state.dice

    @property
    def ply(self) -> int:
        """How many turns have been played."""
        return self._state.ply

    @property
    def stake(self) -> Stake:
        """What is played for, and who may raise it."""
        return self._state.stake

    @property
    def resignation(self) -> Resignation | None:
        """The resignation that awaits its answer."""
        return self._state.resignation

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What has been done, the dice to play included."""
        pending: list[Entry] = []
        state = self._state
        if state.dice is not None and state.result is None:
            pending.append(Move(state.position.turn, state.dice))
        return (*self._entries, *pending)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._state.result is not None

    def result(self) -> GameResult | None:
        """Say how the game ended; None while it goes on.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(position=nc.Position({1: 1}, {1: 15}))
        >>> game.set_dice((2, 1))
        (2, 1)
        >>> game.push("1/off")
        <Play 1/off>
        >>> game.result()
        GameResult(winner='w', state=1, points=2, stake=1, reason='played')
        """
        return self._state.result

    @property
    def due(self) -> tuple[Action, ...]:
        """What may be done now, as names of methods; empty after the end.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Game(nc.TRIKTRAK, first="w").due, nc.Game(nc.BACKGAMMON, first="w").due
        (('roll', 'resign'), ('roll', 'offer', 'resign'))
        """
        return due(self._state, self._opening)

    def _refuse(self, what: Action) -> None:
        """Raise unless something is due, and say why it is not."""
        allowed = self.due
        if what not in allowed:
            raise NotDueError(why_not(self._state, self._opening, what), allowed)

    # ----------------------------------------------------------------------------- what is done

    def _go(self, action: Action, state: State, *entries: Entry) -> None:
        self._past.append((action, self._state, len(self._entries)))
        self._entries.extend(entries)
        self._state = state

    def pop(self) -> Action:
        """Take back what was done last, whatever it was.

        Returns
        -------
        str
            The name of the method that had done it.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(seed=2, first="w")
        >>> first = game.roll()
        >>> game.pop()
        'roll'
        >>> game.roll() == first
        True
        """
        if not self._past:
            msg = "nothing has been done that could be taken back"
            raise NotDueError(msg, self.due)
        action, self._state, length = self._past.pop()
        del self._entries[length:]
        return action

    @property
    def history(self) -> tuple[Action, ...]:
        """What has been done, by the names of methods: all that `pop` can take back."""
        return tuple(action for action, _, _ in self._past)

    def roll(self) -> Dice:
        """Throw the dice.

        Where the opening dice are the first roll, this takes them up.

        Returns
        -------
        tuple of int
            Larger first.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(nc.BACKGAMMON, seed=5)
        >>> throw = game.throws[-1]
        >>> game.roll() == (max(throw.white, throw.black), min(throw.white, throw.black))
        True
        """
        self._refuse("roll")
        state = self._state
        dice = self._opening if state.ply == 0 else None
        if dice is None:
            if state.ply >= len(self._rolls):
                drawn = _dice.rolls(self._key, self.number, state.ply + _AHEAD, False)
                self._rolls = np.sort(drawn)[:, ::-1].tolist()
            first, second = self._rolls[state.ply]
            dice = first, second
        self._go("roll", State(state.position, state.stake, state.ply, dice))
        return dice

    def set_dice(self, dice: Dice) -> Dice:
        """Set dice that were thrown by hand.

        Parameters
        ----------
        dice
            A pair, in any order.

        Returns
        -------
        tuple of int
            Larger first.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(first="w")
        >>> game.set_dice((1, 3))
        (3, 1)
        >>> len(game.plays())
        16
        """
        dice = as_dice(dice)
        self._refuse("roll")
        state = self._state
        if state.ply == 0 and self._opening is not None and self._opening != dice:
            larger, smaller = self._opening
            msg = f"the opening dice {larger}-{smaller} are the first roll"
            raise NotDueError(msg, self.due)
        self._go("roll", State(state.position, state.stake, state.ply, dice))
        return dice

    def plays(self) -> Plays | tuple[Play, ...]:
        """List the legal plays; empty before the throw and whenever no play is due.

        Returns
        -------
        Plays
            As `Position.plays` gives them. Where nothing can be moved this is one pass.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(first="w")
        >>> len(game.plays())
        0
        >>> game.set_dice((3, 1))
        (3, 1)
        >>> "8/5 6/5" in game.plays()
        True
        """
        if "push" not in self.due:
            return ()
        return self._plays()

    def _plays(self) -> Plays:
        state = self._state
        if self._found is None or self._found[0] is not state:
            assert state.dice is not None
            self._found = state, state.position.plays(state.dice)
        return self._found[1]

    def push(
        self, play: Play | str | Iterable[tuple[int, int]], *, numbering: Numbering = "own"
    ) -> Play:
        """Make a play.

        Parameters
        ----------
        play
            One of `plays`, its text, or its steps (from, to) in own numbers.
        numbering
            Of the text.

        Returns
        -------
        Play
            What has been played.

        Raises
        ------
        NotDueError
            If no play is due.
        InvalidPlayError, IllegalPlayError, AmbiguousPlayError
            As `Position.play`.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(first="w")
        >>> game.set_dice((3, 1))
        (3, 1)
        >>> game.push("8/5 6/5"), game.turn
        (<Play 8/5 6/5>, 'b')
        """
        self._refuse("push")
        plays, state = self._plays(), self._state
        if isinstance(play, (str, Play)):
            if not (isinstance(play, Play) and play.of is plays):
                play = plays.find(play, numbering=numbering)
        elif isinstance(play, Iterable):
            play = play_of(plays, Move(state.position.turn, None, tuple(play)).steps or ())
        else:
            msg = f"a play is a Play, a text or steps, not {play!r}"  # type: ignore[unreachable]
            raise TypeError(msg)
        side, after = state.position.turn, play.result
        entry = Move(side, state.dice, play.steps)
        result = None
        if after.outcome is not None:
            result = self._won(side, after.outcome - len(STATES), "played")
        self._go("push", State(after, state.stake, state.ply + 1, result=result), entry)
        return play

    def pass_turn(self) -> Play:
        """Play nothing, where nothing can be played.

        Raises
        ------
        NotDueError
            If no play is due.
        IllegalPlayError
            If a die can be played.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(first="w")
        >>> game.set_dice((6, 5))
        (6, 5)
        >>> game.pass_turn()
        Traceback (most recent call last):
            ...
        nardcore.errors.IllegalPlayError: pass is illegal with 6-5: a pass is not allowed while ...
        """
        return self.push("pass")

    def offer(self) -> int:
        """Offer to raise the stake: a dave or a double.

        Returns
        -------
        int
            The stake that is offered.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(nc.SHORT_DAVE, first="w")
        >>> game.offer(), game.accept(), game.stake.owner
        (2, 2, 'b')
        """
        self._refuse("offer")
        side = self._state.position.turn
        stake = self._state.stake.offer(side)
        assert stake.offered is not None
        self._go("offer", self._with(stake), CubeAction(side, "offer", stake.offered))
        return stake.offered

    def accept(self) -> int:
        """Accept what was offered; the side that accepts may raise next.

        Returns
        -------
        int
            The stake from now on.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(first="w")
        >>> game.offer(), game.accept()
        (2, 2)
        """
        self._refuse("accept")
        stake = self._state.stake.accept()
        self._go("accept", self._with(stake), CubeAction(self.to_act, "accept", stake.value))
        return stake.value

    def refuse(self) -> GameResult:
        """Refuse what was offered, and lose the stake as it was before.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(nc.SHORT_DAVE, first="b", stake=2)
        >>> game.offer()
        4
        >>> game.refuse()
        GameResult(winner='b', state=0, points=2, stake=2, reason='refused')
        """
        self._refuse("refuse")
        stake = self._state.stake
        winner, points = stake.refuse()
        result = GameResult(winner, 0, points, points, "refused")
        assert stake.offered is not None
        entry = CubeAction(self.to_act, "refuse", stake.offered)
        self._go("refuse", dataclasses.replace(self._state, result=result), entry)
        return result

    def beaver(self) -> int:
        """Accept a double and raise it again at once, keeping the cube.

        Returns
        -------
        int
            The stake that is offered now.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(nc.BACKGAMMON.replace(beavers=1), first="w")
        >>> game.offer(), game.beaver(), game.accept(), game.stake.owner
        (2, 4, 4, 'b')
        """
        self._refuse("beaver")
        side = self.to_act
        stake = self._state.stake.beaver()
        assert stake.offered is not None
        self._go("beaver", self._with(stake), CubeAction(side, "beaver", stake.offered))
        return stake.offered

    def resign(
        self, state: int | str = 0, *, side: Side | None = None, accepted: bool | None = None
    ) -> None:
        """Offer to give the game up.

        Parameters
        ----------
        state
            The loser's state that is conceded, by number or name: ``"any_off"`` is a single game.
        side
            Who resigns; by default the side on turn.
        accepted
            The other side's answer, where it is known already.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(nc.TRIKTRAK, first="w")
        >>> game.resign("all_home")
        >>> game.accept_resignation()
        GameResult(winner='b', state=1, points=2, stake=1, reason='resigned')
        """
        self._refuse("resign")
        who = self._state.position.turn if side is None else side
        resignation = Resignation(who, state_of(state))
        self._go("resign", dataclasses.replace(self._state, resignation=resignation))
        if accepted is not None:
            if accepted:
                self.accept_resignation()
            else:
                self.refuse_resignation()

    def accept_resignation(self) -> GameResult:
        """Take the other side's resignation.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(nc.SHORT_DAVE, first="w")
        >>> game.resign("bar")
        >>> game.accept_resignation().points
        1
        """
        self._refuse("accept_resignation")
        resignation = self._state.resignation
        assert resignation is not None
        assert resignation.state is not None
        result = self._won(other(resignation.side), resignation.state, "resigned")
        # dice that were thrown and not played are part of what happened
        after = dataclasses.replace(self._state, resignation=None, result=result)
        self._go("accept_resignation", after, *self._unplayed(), resignation)
        return result

    def refuse_resignation(self) -> None:
        """Refuse the other side's resignation; the game goes on.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(nc.TRIKTRAK, first="w")
        >>> game.resign()
        >>> game.refuse_resignation()
        >>> game.due
        ('roll', 'resign')
        """
        self._refuse("refuse_resignation")
        resignation = self._state.resignation
        assert resignation is not None
        entry = dataclasses.replace(resignation, accepted=False)
        self._go("refuse_resignation", dataclasses.replace(self._state, resignation=None), entry)

    def _unplayed(self) -> tuple[Move, ...]:
        state = self._state
        return () if state.dice is None else (Move(state.position.turn, state.dice),)

    def _with(self, stake: Stake) -> State:
        return dataclasses.replace(self._state, stake=stake)

    def _won(self, winner: Side, state: int, reason: Literal["played", "resigned"]) -> GameResult:
        stake = self._state.stake
        return GameResult(winner, state, stake.points(state), stake.value, reason)

    # --------------------------------------------------------------------------------- as a record

    def record(self) -> GameRecord:
        """Write the game down as it stands; a resignation without its answer is left out.

        Returns
        -------
        GameRecord
            `from_record` makes the same game of it.

        Examples
        --------
        >>> import nardcore as nc
        >>> record = nc.play_out(nc.TRIKTRAK, seed=3).record()
        >>> nc.Game.from_record(record).record() == record
        True
        """
        return dataclasses.replace(self._head, entries=self.entries, result=self._state.result)

    @staticmethod
    def from_record(record: GameRecord, *, seed: Seed = None, number: int = 0) -> Game:
        """Play a recorded game up to its last entry.

        Parameters
        ----------
        record
            Every entry must be due and legal; see `nardcore.records.check`.
        seed, number
            For the dice from there on.

        Returns
        -------
        Game

        Raises
        ------
        NotDueError, IllegalPlayError
            If an entry is not allowed; its number stands before the reason.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.records import GameRecord, Move
        >>> wrong = GameRecord(nc.BACKGAMMON, first="w", entries=(Move("w", (3, 1), ((8, 3),)),))
        >>> nc.Game.from_record(wrong)
        Traceback (most recent call last):
            ...
        nardcore.errors.IllegalPlayError: entry 1: 8/3 is illegal with 3-1: ...
        """
        throws = [(throw.white, throw.black) for throw in record.throws]
        begun = bool(throws) and record.start is None and throws[-1][0] != throws[-1][1]
        game = Game(
            record.rules,
            seed=seed,
            number=number,
            first=None if begun or record.start is not None else record.starter,
            throws=throws if begun else None,
            position=None if record.start is None else record.opening,
            score=record.score,
            length=record.length,
            crawford=record.crawford,
            stake=record.stake,
            owner=record.owner,
        )
        game._head = dataclasses.replace(record, entries=(), result=None)
        enter_all(game, record)
        return game

    def copy(self) -> Game:
        """Copy the game with everything that can be taken back.

        Examples
        --------
        >>> import nardcore as nc
        >>> game = nc.Game(seed=1)
        >>> twin = game.copy()
        >>> twin.roll() == game.roll(), twin.history
        (True, ('roll',))
        """
        twin = Game.__new__(Game)
        twin.__dict__.update(self.__dict__)
        twin._entries, twin._past = list(self._entries), list(self._past)
        return twin

    __copy__ = copy

    def draw(self, *, numbering: Numbering = "own") -> str:
        """Draw the board with characters.

        Examples
        --------
        >>> import nardcore as nc
        >>> print(nc.Game(first="w").draw().splitlines()[-1])
        X white   pips 167   off 0   to roll
        """
        return self.position.draw(numbering=numbering, dice=self.dice)

    def __str__(self) -> str:
        return self.draw()

    def _repr_svg_(self) -> str:
        return self.position.svg(dice=self.dice)

    def __repr__(self) -> str:
        state = self._state
        if state.result is not None:
            what = f"{COLOURS[state.result.winner]} won {state.result.points}"
        else:
            what = f"{COLOURS[self.to_act]}: {', '.join(self.due)}"
        return f"<Game {self.rules.name}, turn {state.ply + 1}, stake {state.stake.value}, {what}>"

"""Matches and sessions: who begins the next game, the score, Crawford, the winner; whole games too.

`play_out` lets policies play a game or a match to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

import numpy as np

from nardcore import _dice, _movegen
from nardcore._board import Play, Position
from nardcore._ratings import rater, signed_points
from nardcore._rollout import Stop
from nardcore._trials import Spec, _rate
from nardcore.dice import seed_words
from nardcore.errors import NotDueError
from nardcore.game import Game
from nardcore.match_equity import whole
from nardcore.policies import native, search_of
from nardcore.records import MatchRecord
from nardcore.rules import BACKGAMMON, Rules
from nardcore.stakes import other

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nardcore.records import GameRecord
    from nardcore.typing import Numbering, PolicyLike, Seed, Side


__all__ = ["Match", "choose_play", "play_out"]

Actions: TypeAlias = Callable[[Game], str | None] | Literal["advised"] | None


class Match:
    """A match to a number of points or of games, or a session without an end.

    Parameters
    ----------
    rules : Rules, optional
        Backgammon unless given. `next_starter` says who begins the games after the first, which
        begins with a throw.
    length : int, optional
        Points to win, at most 32,767.
    games : int, optional
        Games to play, at most as many; whoever has more points then has won. Without `length` and
        `games` the session goes on as long as one likes. Both are money play to `games`.
    seed : int or sequence of int, optional
        Of the dice of all games.
    white, black : str, optional
        Names of the players.
    score : pair of int, optional
        Points of white and black before the first game.
    crawford : bool, optional
        Whether the first game is the Crawford game. By default it is where the score has one side,
        and only one, a point from winning.
    info : mapping or pairs of str, optional
        Whatever else belongs into the record.

    Attributes
    ----------
    rules, length, white, black, info
        As above.
    games_to_play : int
        As `games`.
    seed : tuple of int
        The words of the seed.
    games : list of Game
        All games, the last one under way or over.

    Examples
    --------
    >>> import nardcore as nc
    >>> match = nc.Match(nc.BACKGAMMON, length=5, score=(3, 1), seed=1)
    >>> game = match.game
    >>> dice, play = game.roll(), game.push(game.plays()[0])
    >>> game.offer(), game.accept()
    (2, 2)
    >>> game.resign(side="b", accepted=True)
    >>> match.score, match.over, match.winner
    ((5, 1), True, 'w')
    """

    def __init__(
        self,
        rules: Rules = BACKGAMMON,
        *,
        length: int = 0,
        games: int = 0,
        seed: Seed = None,
        white: str = "White",
        black: str = "Black",
        score: tuple[int, int] = (0, 0),
        crawford: bool | None = None,
        info: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    ) -> None:
        self.length, self.games_to_play = whole(length, "length"), whole(games, "games")
        if self.length and self.games_to_play:
            msg = "a match goes to a number of points or to a number of games, not to both"
            raise ValueError(msg)
        # what the record checks is what a match may begin with
        head = MatchRecord(rules, white, black, self.length, self.games_to_play, info=info)  # type: ignore[arg-type]
        self.rules, self.white, self.black, self.info = rules, white, black, head.info
        self.seed = seed_words(seed)
        first = Game(rules, seed=self.seed, score=score, length=self.length)
        if crawford is None:
            away = sorted(self.length - points for points in first.score)
            crawford = self.length > 1 and away[0] == 1 and away[1] > 1
        if crawford:
            first = Game(rules, seed=self.seed, score=score, length=self.length, crawford=True)
        self.games = [first]
        self._post_crawford = not crawford and self.length - max(first.score) == 1

    @property
    def game(self) -> Game:
        """The game under way, or the last one."""
        return self.games[-1]

    @property
    def score(self) -> tuple[int, int]:
        """Points of white and black; those past the length of the match do not count."""
        return self._score(len(self.games))

    def _score(self, games: int) -> tuple[int, int]:
        white, black = self.games[0].score
        for game in self.games[:games]:
            result = game.result()
            if result is not None and result.winner == "w":
                white += result.points
            elif result is not None:
                black += result.points
        if self.length:
            white, black = min(white, self.length), min(black, self.length)
        return white, black

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        if self.length:
            return max(self.score) >= self.length
        return bool(self.games_to_play) and self._finished() >= self.games_to_play

    def _finished(self) -> int:
        return sum(game.over for game in self.games)

    @property
    def winner(self) -> Side | None:
        """Who has won; None before the end, and where both have as many points after all games."""
        white, black = self.score
        if not self.over or white == black:
            return None
        return "w" if white > black else "b"

    @property
    def post_crawford(self) -> bool:
        """Whether the game under way comes after the Crawford game.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Match(length=5, score=(4, 2), crawford=False).post_crawford
        True
        """
        return self._crawford_done(len(self.games) - 1)

    def _crawford_done(self, before: int) -> bool:
        return self._post_crawford or any(game.crawford for game in self.games[:before])

    def next_game(self) -> Game:
        """Begin the next game.

        Returns
        -------
        Game
            Its first side is thrown for, the winner of the last game, or the side that did not
            begin that, as `next_starter` of the rules says.

        Raises
        ------
        NotDueError
            If a game is under way or the match is over.

        Examples
        --------
        >>> import nardcore as nc
        >>> match = nc.Match(nc.LONG_NARDY, games=3, seed=1)
        >>> match.game.resign(side="w", accepted=True)
        >>> match.next_game().starter, match.score
        ('b', (0, 1))
        """
        if not self.game.over:
            msg = "a game is under way"
            raise NotDueError(msg, self.game.due)
        if self.over:
            msg = "the match is over"
            raise NotDueError(msg)
        first: Side | None = None
        result = self.game.result()
        if self.rules.next_starter == "winner" and result is not None:
            first = result.winner
        elif self.rules.next_starter == "alternate":
            first = other(self.game.starter)
        score = self.score
        game = Game(
            self.rules,
            seed=self.seed,
            number=len(self.games),
            first=first,
            score=score,
            length=self.length,
            crawford=self.length > 1
            and max(score) == self.length - 1
            and not self._crawford_done(len(self.games)),
        )
        self.games.append(game)
        return game

    def push(
        self, play: Play | str | Iterable[tuple[int, int]], *, numbering: Numbering = "own"
    ) -> Play:
        """Make a play in the game under way; see `Game.push`.

        Examples
        --------
        >>> import nardcore as nc
        >>> match = nc.Match(length=3, seed=1)
        >>> dice = match.game.roll()
        >>> match.push(match.game.plays()[0]) in match.game.position.plays((1, 1))
        False
        """
        return self.game.push(play, numbering=numbering)

    def pop(self) -> str:
        """Take back what was done last: in the game under way, or the beginning of that game.

        Returns
        -------
        str
            The name of the method that had done it, ``"next_game"`` where a game is taken back.

        Examples
        --------
        >>> import nardcore as nc
        >>> match = nc.Match(nc.TRIKTRAK, games=2, seed=1)
        >>> match.game.resign(accepted=True)
        >>> game = match.next_game()
        >>> match.pop(), match.pop(), match.game.due
        ('next_game', 'accept_resignation', ('accept_resignation', 'refuse_resignation'))
        """
        if not self.game.history and len(self.games) > 1:
            self.games.pop()
            return "next_game"
        return self.game.pop()

    def record(self) -> MatchRecord:
        """Write the match down as it stands.

        Examples
        --------
        >>> import nardcore as nc
        >>> record = nc.play_out(nc.Match(nc.TRIKTRAK, length=3, seed=2)).record()
        >>> nc.Match.from_record(record).record() == record
        True
        """
        return MatchRecord(
            self.rules,
            self.white,
            self.black,
            self.length,
            self.games_to_play,
            tuple(game.record() for game in self.games),
            self.info,
        )

    @staticmethod
    def from_record(record: MatchRecord, *, seed: Seed = None) -> Match:
        """Play a recorded match up to its last entry.

        Parameters
        ----------
        record
            Every entry of its games must be due and legal; see `nardcore.records.check`.
        seed
            For the dice from there on.

        Returns
        -------
        Match

        Raises
        ------
        NotDueError, IllegalPlayError
            If an entry is not allowed; the numbers of game and entry stand before the reason.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore.records import MatchRecord
        >>> nc.Match.from_record(MatchRecord(nc.TRIKTRAK, length=3)).score
        (0, 0)
        """
        games = record.games
        begin = games[0].score if games else (0, 0)
        match = Match(
            record.rules,
            length=record.length,
            games=0 if record.length else record.games_to_play,
            seed=seed,
            white=record.white,
            black=record.black,
            score=begin,
            crawford=games[0].crawford if games else None,
            info=record.info,
        )
        for number, game in enumerate(games):
            if number and not match.game.over:
                msg = f"game {number}: it has no result, but another game follows"
                raise NotDueError(msg, match.game.due)
            if number and match.over:
                msg = f"game {number + 1}: the match is over"
                raise NotDueError(msg)
            played = _replayed(game, match, number)
            if number:
                match.games.append(played)
            else:
                match.games[0] = played
        return match

    def __repr__(self) -> str:
        white, black = self.score
        if self.length:
            to = f"to {self.length}"
        elif self.games_to_play:
            to = f"of {self.games_to_play} games"
        else:
            to = "for money"
        return f"<Match {self.rules.name} {to}, game {len(self.games)}, score {white}-{black}>"


def _replayed(record: GameRecord, match: Match, number: int) -> Game:
    """Play one game of a recorded match again, with the match around it."""
    try:
        return Game.from_record(record, seed=match.seed, number=number)
    except NotDueError as error:
        msg = f"game {number + 1}, {error.args[0]}"
        raise NotDueError(msg, error.due) from error
    except ValueError as error:
        msg = f"game {number + 1}, {error}"
        raise type(error)(msg) from error


@overload
def play_out(
    game: Game | Rules = ...,
    policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None = ...,
    *,
    seed: Seed = ...,
    actions: Actions = ...,
) -> Game: ...
@overload
def play_out(
    game: Match,
    policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None = ...,
    *,
    seed: None = ...,
    actions: Actions = ...,
) -> Match: ...


def play_out(
    game: Game | Match | Rules = BACKGAMMON,
    policy: PolicyLike | tuple[PolicyLike, PolicyLike] | None = None,
    *,
    seed: Seed = None,
    actions: Actions = None,
) -> Game | Match:
    """Let policies play a game or a match to its end.

    Parameters
    ----------
    game : Game, Match or Rules
        A game or match under way, which is played on, or the rules of a new game.
    policy : str, Evaluator or callable, or a pair of them
        Of both sides, or of white and of black, as for `nardcore.rollout`; the net by default.
    seed : optional
        Of a new game.
    actions : callable or "advised", optional
        Asked with the game before every throw and whenever an answer is due; it names one of
        ``game.due``. None, also as its answer, means to throw, to accept whatever is offered and to
        take every resignation. ``"advised"`` does what `nardcore.cube_decision` says, judging each
        position by the net, or by a small rollout where no net knows the rules.

    Returns
    -------
    Game or Match
        What was played, over.

    Raises
    ------
    ValueError
        If the match is a session without an end.

    Examples
    --------
    >>> import nardcore as nc
    >>> game = nc.play_out(nc.LONG_NARDY, ("linear", "random"), seed=1)
    >>> game.over, game.result().winner
    (True, 'w')

    Doubling whenever it is allowed:

    >>> match = nc.Match(length=7, seed=4)
    >>> double = lambda game: "offer" if "offer" in game.due else None
    >>> nc.play_out(match, "linear", actions=double).winner in ("w", "b")
    True
    """
    if isinstance(game, Rules):
        game = Game(game, seed=seed)
    elif not isinstance(game, (Game, Match)):
        msg = f"a Game, a Match or Rules can be played out, not {game!r}"  # type: ignore[unreachable]
        raise TypeError(msg)
    elif seed is not None:
        msg = "what is under way has its own seed"
        raise ValueError(msg)
    # the same policies as a rollout takes, refused for the same reasons
    both = Spec.make(Position.start(game.rules), policy, 0, None, opening=False).policies
    if isinstance(actions, str):
        if actions != "advised":
            msg = f"actions are a function, 'advised' or None, not {actions!r}"  # type: ignore[unreachable]
            raise ValueError(msg)
        from nardcore._adviser import Adviser

        actions = Adviser("linear")
    if isinstance(game, Game):
        _finish(game, both, actions)
        return game
    if not game.length and not game.games_to_play:
        msg = "a session without an end cannot be played out"
        raise ValueError(msg)
    while not game.over:
        if game.game.over:
            game.next_game()
        _finish(game.game, both, actions)
    return game


def _finish(
    game: Game,
    policies: tuple[PolicyLike, PolicyLike],
    actions: Callable[[Game], str | None] | None,
) -> None:
    while not game.over:
        due: tuple[str, ...] = game.due
        if "push" in due:
            game.push(choose_play(game, policies["wb".index(game.turn)]))
            continue
        said = None if actions is None else actions(game)
        if said is None:
            said = due[0]
        if said not in due:
            msg = f"{said!r} is not due"
            raise NotDueError(msg, due)
        getattr(game, said)()


def choose_play(game: Game, policy: PolicyLike) -> Play:
    """Let a policy choose the play of the dice that have been thrown.

    Parameters
    ----------
    game
        With dice to play.
    policy
        As for `play_out`.

    Returns
    -------
    Play
        A random choice depends on the seed, the number and the turn of the game alone.

    Examples
    --------
    >>> import nardcore as nc
    >>> from nardcore.match import choose_play
    >>> game = nc.Game(seed=1)
    >>> dice = game.roll()
    >>> choose_play(game, "linear") in game.plays()
    True
    """
    game._refuse("push")
    plays = game._plays()
    if len(plays) == 1:
        return plays[0]
    rules, boards = game.rules, plays.boards
    search = search_of(policy)
    if search is not None:
        early = game.ply >> 1 < search.early_turns
        depth = search.early_plies if early else search.plies
        if depth:
            made = rater(search.evaluator, rules, signed_points(None, rules), (), search.filters)
            rolls = np.array([plays.dice], np.int8)
            found = made.rolls(game.position.board[None, :], rolls, depth + 1, Stop())
            assert found is not None  # nobody stops it
            return plays[int(found[1][0])]
        policy = search.evaluator
    is_native, evaluator = native(policy, rules)
    if evaluator is not None:
        ends = np.array([0, len(plays)], np.int64)
        board = game.position.board[None, :]
        return plays[int(evaluator.choose(board, ends, boards, rules.points, rules)[0])]
    if is_native:
        trials, counts = np.array([game.number], np.uint64), np.array([len(plays)], np.int64)
        return plays[int(_dice.choices_of_ply(game._key, trials, game.ply, counts)[0])]
    points = np.array(rules.points, np.float64)
    won = boards[:, 26] == rules.checkers
    if won.any():
        scores = np.where(won, points[_movegen.results(boards, rules)], -np.inf)
    else:
        scores = _rate(policy, boards, points)
    return plays[int(scores.argmax())]

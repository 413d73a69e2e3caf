"""Whether to raise the stake, and whether to accept: the doubling cube and dave.

Decisions come from the chances of the ten outcome classes by way of a model of how the stake will
be raised later (see the page on cube and dave), or exactly from a table of money equities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from nardcore._board import Position
from nardcore._cube_model import Line, Owner, Verdict
from nardcore._cube_terms import Terms, as_chances
from nardcore._cubeful import CubefulResult, rollout_cubeful
from nardcore._judge import chances_of
from nardcore.errors import TableError
from nardcore.match_equity import EFFICIENCY, SHARES, MatchEquity, MatchScore
from nardcore.policies import plays_net
from nardcore.rollouts import RolloutResult, rollout
from nardcore.rules import BACKGAMMON, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nardcore._cube_model import Floats
    from nardcore.typing import PolicyLike

__all__ = [
    "GAMES",
    "CubeDecision",
    "CubefulResult",
    "cube_decision",
    "refusal_point",
    "rollout_cubeful",
]

GAMES = 4096
"""How many games a position is rolled out for, where nothing else tells its chances."""

Judged: TypeAlias = "Position | RolloutResult | float | Sequence[float] | NDArray[Any]"


@dataclass(frozen=True)
class CubeDecision:
    """What to do about the stake before a throw, and what it is worth.

    All numbers are those of the side on roll. Worths are points a game in money play, and chances
    to win the match in match play.

    Attributes
    ----------
    win : float
        The chance to win the game.
    probabilities : tuple of float
        The chances of the ten classes that were used.
    stake, cube
        The stake, and whether the right to raise it is ``"centred"``, ``"owned"`` by the side on
        roll or the ``"opponent"``'s.
    match : (int, int) or None
        Points that both sides still need; None for money.
    crawford : bool
        Whether it is the Crawford game.
    allowed : bool
        Whether the side on roll may raise.
    cubeless : float
        Worth if the stake could not be raised any more.
    hold : float
        Worth of not raising now.
    accepted : float
        Worth of raising, if the opponent accepts (or raises again, where that is better for it).
    refused : float
        Worth of raising, if the opponent refuses.
    offer : bool
        Whether to raise.
    accept : bool
        Whether the opponent should accept, were it offered.
    beaver : bool
        Whether the opponent should raise again at once.
    too_good : bool
        Whether the side on roll should play on because its game is worth more than a refusal.
    refusal_point : float
        The opponent's least chance to win at which it should accept, with these shares of dearer
        wins.
    offer_point : float
        The least chance of the side on roll at which raising is right; above 1 where it never is.
    exact : bool
        Whether the worths come from a table of exact values.

    Examples
    --------
    >>> import nardcore as nc
    >>> d = nc.cube_decision(0.77, rules=nc.SHORT_DAVE)
    >>> d.advice, d.offer, d.accept
    ('offer; accept', True, True)
    """

    win: float
    probabilities: tuple[float, ...]
    stake: int
    cube: Owner
    match: tuple[int, int] | None
    crawford: bool
    allowed: bool
    cubeless: float
    hold: float
    accepted: float
    refused: float
    offer: bool
    accept: bool
    beaver: bool
    too_good: bool
    refusal_point: float
    offer_point: float
    exact: bool

    @property
    def value(self) -> float:
        """The worth if both sides do what is best.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.cube_decision(0.9, rules=nc.SHORT_DAVE).value
        1.0
        """
        if not self.offer:
            return self.hold
        return self.accepted if self.accept else self.refused

    @property
    def advice(self) -> str:
        """What both should do, in words such as ``"offer; refuse"``.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.cube_decision(0.5).advice
        'no offer; accept'
        """
        if not self.allowed:
            return "no offer is allowed"
        answer = "refuse" if not self.accept else "raise again" if self.beaver else "accept"
        if self.offer:
            return f"offer; {answer}"
        return f"{'too good to offer' if self.too_good else 'no offer'}; {answer}"


def cube_decision(
    of: Judged,
    *,
    rules: Rules | None = None,
    stake: int = 1,
    cube: Owner = "centred",
    match: tuple[int, int] | MatchScore | None = None,
    crawford: bool = False,
    met: MatchEquity | None = None,
    efficiency: float = EFFICIENCY,
    tables: Sequence[Any] = (),
    evaluator: PolicyLike | None = None,
    games: int = GAMES,
) -> CubeDecision:
    """Advise whether to raise the stake before a throw, and whether to accept.

    Parameters
    ----------
    of
        What is judged, from the side on roll: a position; a rollout of it; the chances of the ten
        outcome classes; or just a chance to win, to which the measured shares of dearer wins are
        added (`nardcore.match_equity.SHARES`).
    rules
        How the stake is raised and results count; the position's, or ``BACKGAMMON`` for numbers.
    stake
        The stake now.
    cube
        Who may raise it: ``"centred"`` for both, ``"owned"`` for the side on roll, ``"opponent"``.
    match
        Points that the side on roll and the other still need, or a `MatchScore`; money play by
        default. Where a side needs one point, the Crawford game is taken to be over.
    crawford
        Whether this is the Crawford game.
    met
        The match equity table; by default that of `nardcore.MatchEquity.compute` for the rules.
    efficiency
        The weight of the live cube in Janowski's interpolation: 0 for a dead, 1 for a live cube.
    tables
        Two-sided bear-off tables (`nardcore.bearoff.TwoSided`): a position that one covers has an
        exact chance to win, and exact worths in money play if it is a table of money equities.
    evaluator
        What gives a position's class chances: a function or an `Evaluator` as for rollouts, with
        ten columns. By default the position is rolled out with the seed 0.
    games
        For how many games.

    Returns
    -------
    CubeDecision
        The advice and its worths.

    Raises
    ------
    RulesError
        If nothing is raised under the rules.
    ValueError
        If the stake, its owner or the score cannot be.

    Examples
    --------
    >>> import nardcore as nc
    >>> d = nc.cube_decision(0.72, rules=nc.SHORT_DAVE)
    >>> d.advice, round(d.hold, 3), round(d.accepted, 3)
    ('offer; accept', 0.645, 0.684)
    >>> nc.cube_decision(0.72, match=(2, 4)).advice
    'no offer; accept'
    """
    position = of if isinstance(of, Position) else None
    if isinstance(of, RolloutResult):
        position = of.position
    if rules is None:
        rules = BACKGAMMON if position is None else position.rules
    terms = Terms.make(rules, stake, cube, match, crawford, met, efficiency)
    if position is not None and position.outcome is not None:
        msg = "the game is over in this position"
        raise ValueError(msg)
    if games < 1:
        msg = f"games is 1 or more, not {games}"
        raise ValueError(msg)
    chances, table = _judge(of, terms, tables, evaluator, games)
    model, p = terms.model(chances)
    verdict = model.decide(stake, terms.owner, p, terms.beavers)
    exact = False
    if table is not None and position is not None and _table_applies(terms, position):
        verdict = _from_table(table, position, terms)
        exact = True
    allowed = terms.allowed and terms.owner != "opponent" and model.step(stake) is not None
    start, end = model.ends(stake, terms.owner)
    hold, accepted, refused = (float(x[0]) for x in (verdict.hold, verdict.taken, verdict.refused))
    offer, accept = allowed and bool(verdict.offer[0]), bool(verdict.accept[0])
    point, offer_point = _points(terms, model, allowed)
    return CubeDecision(
        win=float(p[0]),
        probabilities=tuple(float(x) for x in chances[0]),
        stake=stake,
        cube=terms.owner,
        match=None if terms.match is None else terms.match.away,
        crawford=terms.match is not None and terms.match.crawford,
        allowed=allowed,
        cubeless=float((start + (end - start) * p)[0]),
        hold=hold,
        accepted=accepted,
        refused=refused,
        offer=offer,
        accept=accept,
        beaver=bool(verdict.beaver[0]) and accept,
        too_good=allowed and not offer and hold > refused and accepted >= refused,
        refusal_point=point,
        offer_point=offer_point,
        exact=exact,
    )


def refusal_point(
    rules: Rules = BACKGAMMON,
    *,
    stake: int = 1,
    cube: Owner | None = None,
    match: tuple[int, int] | MatchScore | None = None,
    met: MatchEquity | None = None,
    efficiency: float = EFFICIENCY,
    probabilities: Sequence[float] | None = None,
) -> float:
    """Give the chance to win below which an offer should be refused.

    Parameters
    ----------
    rules
        How the stake is raised and results count.
    stake
        The stake before the offer.
    cube
        Who could raise it, seen by the side that offers: ``"centred"`` or ``"owned"``; centred at
        the stake 1 by default.
    match, met, efficiency
        As `cube_decision` takes them, from the side that offers.
    probabilities
        Class chances, seen by the side that offers, for the shares of dearer wins; by default every
        win is a plain one.

    Returns
    -------
    float
        A chance of the side to which the stake is offered.

    Examples
    --------
    >>> import nardcore as nc
    >>> round(refusal_point(efficiency=0), 6), round(refusal_point(nc.SHORT_DAVE, efficiency=1), 6)
    (0.25, 0.2)
    >>> arithmetic = nc.SHORT_DAVE.replace(stake="dave_arithmetic")
    >>> round(refusal_point(arithmetic, efficiency=1), 6)  # 2 / sqrt(e) - 1
    0.213061
    """
    if cube is None:
        cube = "centred" if stake == 1 else "owned"
    terms = Terms.make(rules, stake, cube, match, False, met, efficiency)
    plain = [0.5, 0, 0, 0, 0] * 2 if probabilities is None else probabilities
    model, _ = terms.model(as_chances(np.asarray(plain, np.float64)[None, :]))
    if cube == "opponent" or model.step(stake) is None:
        msg = "the side may not offer"
        raise ValueError(msg)
    return _points(terms, model, True)[0]


# ------------------------------------------------------------------------------------------- parts


def _judge(
    of: Judged, terms: Terms, tables: Sequence[Any], evaluator: PolicyLike | None, games: int
) -> tuple[Floats, Any]:
    """Give class chances, ``float[1, 10]``, and the table that holds exact worths, if any."""
    if isinstance(of, RolloutResult):
        if not of.games:
            msg = "the rollout holds no games"
            raise ValueError(msg)
        return of.probabilities[None, :], None
    if not isinstance(of, Position):
        values = np.asarray(of, np.float64)
        if values.ndim == 0:
            if not 0 <= values <= 1:
                msg = f"a chance to win is 0 to 1, not {of}"
                raise ValueError(msg)
            shares = np.array(SHARES[terms.rules.movement])
            shares /= shares.sum()
            return np.concatenate([values * shares, (1 - values) * shares])[None, :], None
        return as_chances(np.atleast_2d(values) if values.ndim == 1 else values), None
    position = of
    for table in tables:
        if not all(hasattr(table, name) for name in ("win", "equity", "equities")):
            msg = f"a table is a nardcore.bearoff.TwoSided, not {table!r}"
            raise TypeError(msg)
        if not _plain(terms, position) or table.equities == "scoring":
            continue
        try:
            win = table.win(position)
        except TableError:
            continue
        found = np.array([[win, 0, 0, 0, 0, 1 - win, 0, 0, 0, 0]])
        return found, table if table.equities == "money" else None
    if evaluator is not None:
        return chances_of(evaluator, position.board[None, :], position.rules), None
    if plays_net(position.rules):
        return chances_of("net", position.board[None, :], position.rules), None
    made = rollout(position, games=games, policy="linear", seed=0)
    return made.probabilities[None, :], None


def _plain(terms: Terms, position: Position) -> bool:
    """Say whether only plain wins are possible."""
    return min(position.off) > 0 or len(set(terms.points)) == 1


def _table_applies(terms: Terms, position: Position) -> bool:
    """Say whether a table of money equities, which knows no limit, is right for these terms."""
    rules = terms.rules
    far = rules.stake != "cube" or rules.cube_cap is None or terms.stake * 16 <= rules.cube_cap
    return (
        terms.match is None and rules.stake != "dave_arithmetic" and far and _plain(terms, position)
    )


def _from_table(table: Any, position: Position, terms: Terms) -> Verdict:
    """Take the worths from a table of money equities."""
    stake, owner = terms.stake, terms.owner
    hold = stake * table.equity(position, cube=owner)
    taken = 2 * stake * table.equity(position, cube="opponent")
    beaver = bool(terms.beavers) and taken < 0
    if beaver:
        taken *= 2
    refused = float(stake)
    offer = owner != "opponent" and min(taken, refused) > hold
    return Verdict(
        *(np.array([x]) for x in (hold, taken, refused)),
        *(np.array([x]) for x in (offer, taken <= refused, beaver)),
    )


def _points(terms: Terms, model: Any, allowed: bool) -> tuple[float, float]:
    """Give the opponent's refusal point and the mover's offer point."""
    stake, owner = terms.stake, terms.owner
    higher = model.step(stake)
    if higher is None or not allowed:
        return 0.0, 2.0
    refused = np.full(1, terms.payoff().value(stake))
    taken: Line = model.line(higher, "opponent")
    hold: Line = model.line(stake, owner)
    last = float(taken.reaches(refused)[0])
    if float(taken.at(np.ones(1))[0]) < float(refused[0]):
        return 0.0, _least(taken, hold, refused, 1.0)
    return 1 - last, _least(taken, hold, refused, last)


def _least(taken: Line, hold: Line, refused: Floats, last: float) -> float:
    """Give the least chance at which raising is better than holding; above 1 if it never is."""
    corners = {0.0, last, 1.0}
    corners |= {float(x[0]) for line in (taken, hold) for x in (line.a, line.b)}
    xs = np.array(sorted(corners))
    gain = np.array(
        [np.minimum(taken.at(x), refused)[0] - hold.at(x)[0] for x in xs[:, None]], np.float64
    )
    better = np.flatnonzero(gain > 1e-12)
    if not len(better):
        return 2.0
    i = int(better[0])
    if i == 0 or gain[i - 1] >= 0:
        return float(xs[max(i - 1, 0)])
    return float(xs[i - 1] + (xs[i] - xs[i - 1]) * -gain[i - 1] / (gain[i] - gain[i - 1]))

# cython: nonecheck=True
"""Positions and their plays."""
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcmp, memcpy

from nardcore._types cimport *
from nardcore._movegen cimport kernels
from nardcore._rules cimport CompiledRules, compiled, outcome

from operator import index as _index

import numpy as np

from nardcore.rules import BACKGAMMON


cdef inline int die_of(object die) except -1:
    cdef long n
    if type(die) is bool:
        msg = f"a die is an int from 1 to 6, not {die!r}"
        raise TypeError(msg)
    try:
        n = _index(die)
    except TypeError:
        msg = f"a die is an int from 1 to 6, not {die!r}"
        raise TypeError(msg) from None
    except OverflowError:
        n = 0
    if n < 1 or n > 6:
        msg = f"a die is 1 to 6, not {die}"
        raise ValueError(msg)
    return <int>n


cdef void dice_of(object dice, int *out) except *:
    """Check a pair of dice; the larger first."""
    cdef int a, c
    if isinstance(dice, (str, bytes)):
        msg = f"dice are one pair of ints, such as (3, 1), not {dice!r}"
        raise TypeError(msg)
    try:
        first, second = dice
    except (TypeError, ValueError):
        msg = f"dice are one pair of ints, such as (3, 1), not {dice!r}"
        raise (TypeError if not isinstance(dice, (tuple, list)) else ValueError)(msg) from None
    a = die_of(first)
    c = die_of(second)
    out[0] = a if a > c else c
    out[1] = c if a > c else a


cdef Position make(const board_t *b, CompiledRules r):
    cdef Position p = Position.__new__(Position)
    p.b = b[0]
    p.r = r
    return p


cdef object array_of(const void *p, Py_ssize_t rows):
    """A read-only copy of boards as int8[rows, 32], or int8[32] for rows = -1."""
    cdef bytes raw = (<const char *>p)[:32 * (rows if rows >= 0 else 1)]
    a = np.frombuffer(raw, np.int8)
    return a if rows < 0 else a.reshape(rows, 32)


cdef _load(board_t *b, CompiledRules r, board):
    """Check an array of 32 numbers and copy it."""
    from nardcore._faults import check_board
    cdef const int8_t[::1] row = np.ascontiguousarray(check_board(board, r.rules), dtype=np.int8)
    memcpy(b, &row[0], sizeof(board_t))


cdef class Position:
    """Position(mover, opponent, *, turn="w", first_turns=None, rules=BACKGAMMON)

    A position seen from the side on roll: 32 bytes and their rules. Immutable and hashable.

    Every side numbers the points for itself, from 24, the farthest, to 1, the last before bearing off.

    Parameters
    ----------
    mover, opponent : mapping of int or str to int
        Checkers of the side on roll and of the other side: ``{point: number}``, each side in its own numbers, with
        ``"bar"`` and ``"off"``. Without ``"off"``, the checkers that are missing are off.
    turn : {"w", "b"}, optional
        The colour on roll; only pictures and records use it.
    first_turns : pair of bool, optional
        Long nardy: is the first turn of the mover, of the opponent still to come? By default a side's is when all its
        checkers stand on 24.
    rules : Rules, optional
        Backgammon unless given.

    Raises
    ------
    PositionError
        If no such position can be; its ``faults`` list everything that is wrong.
    TypeError
        If a point or a number is no int.

    Notes
    -----
    Equality and hash look at the movement rules and at the bytes without the colour on roll. A position pickles, and
    its 32 bytes are readable through the buffer protocol (``memoryview(position)``).

    Examples
    --------
    >>> import nardcore as nc
    >>> p = nc.Position({6: 2, 4: 1}, {1: 2})
    >>> p.off
    (12, 13)
    >>> p.pips
    (16, 2)
    >>> nc.Position({6: 16}, {6: 1})
    Traceback (most recent call last):
        ...
    nardcore.errors.PositionError: the mover has 16 checkers, not 15
    """

    def __init__(self, mover, opponent, *, turn="w", first_turns=None, rules=BACKGAMMON):
        from nardcore._construct import board_from_sides
        self.r = compiled(rules)
        _load(&self.b, self.r, board_from_sides(mover, opponent, turn, first_turns, rules))

    @staticmethod
    def start(rules=BACKGAMMON):
        """Set up the first position of a game.

        Parameters
        ----------
        rules : Rules, optional

        Returns
        -------
        Position

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().pips
        (167, 167)
        >>> nc.Position.start(nc.LONG_NARDY).points[23]
        15
        """
        cdef CompiledRules r = compiled(rules)
        return make(&r.start, r)

    @staticmethod
    def from_board(board, rules=BACKGAMMON):
        """Make a position of 32 numbers: ``points[24] bar[2] off[2] turn flags 0 0``, see `board`.

        Parameters
        ----------
        board : array-like of int, shape (32,)
        rules : Rules, optional

        Returns
        -------
        Position

        Raises
        ------
        PositionError
            If no such position can be.
        TypeError, ValueError
            If it is no array of 32 whole numbers.

        Examples
        --------
        >>> import nardcore as nc
        >>> p = nc.Position.start()
        >>> nc.Position.from_board(p.board) == p
        True
        """
        cdef Position p = Position.__new__(Position)
        p.r = compiled(rules)
        _load(&p.b, p.r, board)
        return p

    @staticmethod
    def from_points(points, *, bar=(0, 0), off=None, turn="w", first_turns=None, rules=BACKGAMMON):
        """Make a position of 24 signed numbers, for the mover's points 1 to 24.

        Parameters
        ----------
        points : sequence of int, length 24
            Above zero the mover's checkers, below zero the opponent's.
        bar, off : pair of int, optional
            Of the mover and of the opponent; the checkers that are missing are off by default.
        turn, first_turns, rules
            As for `Position`.

        Returns
        -------
        Position

        Raises
        ------
        PositionError
            If no such position can be.

        Examples
        --------
        >>> import nardcore as nc
        >>> p = nc.Position.from_points([2, 0, 1] + 20 * [0] + [-1])
        >>> p.off, p.pips
        ((12, 14), (5, 1))
        """
        from nardcore._construct import board_from_points
        cdef Position p = Position.__new__(Position)
        p.r = compiled(rules)
        _load(&p.b, p.r, board_from_points(points, bar, off, turn, first_turns, rules))
        return p

    @staticmethod
    def parse(text, rules=None):
        """Read a position in any supported form: nardcore's text, a gnubg position ID or an XGID.

        Parameters
        ----------
        text : str
        rules : Rules, optional
            For the forms that do not name theirs; backgammon by default.

        Returns
        -------
        Position
            Dice in the text are left aside; `nardcore.formats.parse_position` gives them too.

        Raises
        ------
        FormatError
            If the text is none of these, with line and column.
        PositionError
            If it describes an impossible position.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.parse("4HPwATDgc/ABMA") == nc.Position.start()
        True
        >>> nc.Position.parse("long_nardy x15,11,o15,11 0/0 0/0 w - xo") == nc.Position.start(nc.LONG_NARDY)
        True
        """
        from nardcore.formats.positions import parse_position
        found = parse_position(text, rules)
        return Position.from_board(found.board, found.rules)

    # ---- what it is

    @property
    def board(self):
        """The 32 numbers, read-only: ``int8[32]``, points 1 to 24, bar, off, turn, flags and two zeros.

        Points above zero are the mover's; bar and off are pairs, the mover's first; turn is 0 for white and 1 for
        black; of the flags, bit 0 is the mover's first turn and bit 1 the opponent's.
        """
        return array_of(&self.b, -1)

    @property
    def rules(self):
        """The rules the position is played by."""
        return self.r.rules

    @property
    def points(self):
        """24 numbers, for the mover's points 1 to 24: above zero the mover's checkers, below zero the opponent's."""
        return tuple([self.b.pt[i] for i in range(24)])

    @property
    def bar(self):
        """Checkers on the bar: of the mover, of the opponent."""
        return self.b.bar[0], self.b.bar[1]

    @property
    def off(self):
        """Checkers borne off: by the mover, by the opponent."""
        return self.b.off[0], self.b.off[1]

    @property
    def turn(self):
        """The colour on roll, ``"w"`` or ``"b"``."""
        return "b" if self.b.turn else "w"

    @property
    def first_turns(self):
        """Long nardy: is the first turn of the mover, of the opponent still to come?"""
        return bool(self.b.flags & 1), bool(self.b.flags & 2)

    @property
    def pips(self):
        """Pips that the mover and the opponent still have to travel; a checker on the bar counts 25.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start(nc.LONG_NARDY).pips
        (360, 360)
        """
        from nardcore._movegen import pips
        both = pips(self.board[None, :], self.r.rules)[0]
        return int(both[0]), int(both[1])

    @property
    def outcome(self):
        """The outcome class 0 to 9 of a finished game for the side on roll, None while it goes on.

        5 times (the side on roll has lost), plus the loser's state: 0 a checker off, 1 all home, 2 one outside, 3 one
        in the winner's home, 4 one on the bar (koks).
        """
        cdef int k = outcome(&self.r.c, &self.b)
        return None if k < 0 else k

    def flip(self):
        """See the position from the other side, which is then on roll.

        Examples
        --------
        >>> import nardcore as nc
        >>> p = nc.Position.start()
        >>> p.flip() == p, p.flip().turn
        (True, 'b')
        """
        cdef board_t b
        kernels().flip(&self.r.c, &self.b, &b, 1)
        return make(&b, self.r)

    def with_rules(self, rules):
        """Play on from this position by other rules.

        Raises
        ------
        PositionError
            If the position is impossible by them.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().with_rules(nc.SHORT_NARDY).rules.name
        'short_nardy'
        """
        from nardcore._construct import first_turn_flags
        board = self.board
        if rules.movement != self.r.rules.movement:
            board = board.copy()
            board[29] = 0
            if rules.movement == "long":
                board[29] = first_turn_flags(board, rules)
        return Position.from_board(board, rules)

    # ---- what can be played

    def plays(self, dice):
        """Find every legal play of a roll.

        Parameters
        ----------
        dice : pair of int
            In any order, 1 to 6 each.

        Returns
        -------
        Plays
            One for each distinct resulting position, in a fixed order. Where nothing can be moved this is one pass;
            after the end of the game it is empty.

        Raises
        ------
        TypeError, ValueError
            If the dice are not a pair of ints from 1 to 6.

        Examples
        --------
        >>> import nardcore as nc
        >>> plays = nc.Position.start().plays((3, 1))
        >>> len(plays), "8/5 6/5" in plays
        (16, True)
        """
        cdef int d[2]
        dice_of(dice, d)
        return find_plays(self, d[0], d[1])

    def play(self, text, *, dice, numbering="own"):
        """Make a play that is written down.

        Parameters
        ----------
        text : str or Play
            Such as ``"8/5 6/5"``: any order, steps joined or split, hits marked or not; ``"pass"``.
        dice : pair of int
        numbering : {"own", "traditional", "through", "roman"}, optional

        Returns
        -------
        Position
            The next position, the opponent on roll.

        Raises
        ------
        InvalidPlayError
            If the text is not notation.
        IllegalPlayError
            If the play is not allowed: which rule forbids it, and what is near.
        AmbiguousPlayError
            If it may mean more than one play.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().play("8/5 6/5", dice=(3, 1)).pips
        (167, 163)
        >>> nc.Position.start().play("8/4 6/5", dice=(3, 1))    # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        nardcore.errors.IllegalPlayError: 8/4 6/5 is illegal with 3-1: it takes 3 dice, the roll gives 2; near: ...
        """
        return self.plays(dice).find(text, numbering=numbering).result

    def expand(self, *, depth=1):
        """Play out every sequence of rolls with every play.

        Parameters
        ----------
        depth : int, optional
            Rolls in a sequence; the number of results grows about 400 times with each.

        Returns
        -------
        nardcore.dice.Expansion
            Weights, offsets and results, one block for each of the ``21 ** depth`` sequences.

        Examples
        --------
        >>> import nardcore as nc
        >>> e = nc.Position.start().expand()
        >>> len(e.rolls), len(e.boards), int(e.weights.sum())
        (21, 447, 36)
        """
        from nardcore.dice import expand_position
        return expand_position(self, depth)

    def perft(self, depth, *, weighted=False):
        """Count the tree of rolls and plays: the sum over the 21 rolls of distinct results, recursively.

        Parameters
        ----------
        depth : int
            1 or more. A game that ends earlier counts nothing.
        weighted : bool, optional
            Count rolls of two different dice twice, so that the count belongs to ``36 ** depth`` throws.

        Returns
        -------
        int

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().perft(1), nc.Position.start(nc.LONG_NARDY).perft(2)
        (447, 484)
        """
        from nardcore._movegen import perft
        return perft(self.board, self.r.rules, _depth(depth), bool(weighted))

    def divide(self, depth, *, weighted=False):
        """Split `perft` by roll and play, to find where two generators differ.

        Parameters
        ----------
        depth : int
        weighted : bool, optional

        Returns
        -------
        dict of (int, int) to dict of str to int
            For each roll, larger die first, the count below each play.

        Examples
        --------
        >>> import nardcore as nc
        >>> sum(nc.Position.start().divide(1)[3, 1].values())
        16
        """
        from nardcore._movegen import perft
        found = {}
        depth = _depth(depth)
        for d1 in range(1, 7):
            for d2 in range(1, d1 + 1):
                weight = 2 if weighted and d1 != d2 else 1
                counts = perft(self.board, self.r.rules, depth, bool(weighted), d1, d2)
                texts = [str(play) for play in self.plays((d1, d2))]
                found[d1, d2] = dict(zip(texts, [weight * n for n in counts], strict=True))
        return found

    # ---- how it is written

    def text(self, dice=None):
        """Write the position as one line: rules, points from 24 down, bar, off, turn, dice, first turns.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start(nc.LONG_NARDY).text(dice=(3, 1))
        'long_nardy x15,11,o15,11 0/0 0/0 w 31 xo'
        """
        from nardcore.formats.positions import position_text
        return position_text(self.board, self.r.rules, dice)

    def gnubg_id(self):
        """Write gnubg's position ID.

        Raises
        ------
        FormatError
            If the rules are none that it can express.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().gnubg_id()
        '4HPwATDgc/ABMA'
        """
        from nardcore.formats.positions import position_id
        return position_id(self.board, self.r.rules)

    def xgid(self, dice=None):
        """Write an XGID; cube, score and match length stay at a money game's beginning.

        Raises
        ------
        FormatError
            If the rules are none that it can express.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().xgid((3, 1))
        'XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10'
        """
        from nardcore.formats.positions import xgid
        return xgid(self.board, self.r.rules, dice)

    def draw(self, *, numbering="own", dice=None):
        """Draw the board for a terminal.

        Parameters
        ----------
        numbering : {"own", "traditional", "through", "roman"}, optional
        dice : pair of int, optional

        Returns
        -------
        str

        Examples
        --------
        >>> import nardcore as nc
        >>> "pips 167" in nc.Position.start().draw()
        True
        """
        from nardcore.render.text import board_text
        return board_text(self.board, self.r.rules, numbering=numbering, dice=dice)

    def svg(self, *, numbering="own", dice=None):
        """Draw the board as SVG.

        Parameters
        ----------
        numbering : {"own", "traditional", "through", "roman"}, optional
        dice : pair of int, optional

        Returns
        -------
        str

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().svg(dice=(3, 1))[:4]
        '<svg'
        """
        from nardcore.render.svg import board_svg
        return board_svg(self.board, self.r.rules, numbering=numbering, dice=dice)

    def _repr_svg_(self):
        return self.svg()

    def __str__(self):
        return self.draw()

    def __repr__(self):
        return f"Position.parse({self.text()!r})"

    def __bytes__(self):
        return (<const char *>&self.b)[:sizeof(board_t)]

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if flags & 1:                               # PyBUF_WRITABLE
            msg = "a Position is immutable; copy it first"
            raise BufferError(msg)
        _fill_buffer(self, buffer, &self.b, flags)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            msg = "a Position is copied into an array"
            raise ValueError(msg)
        return np.array(self.board, dtype=dtype)

    def __eq__(self, other):
        cdef Position p
        cdef board_t a, b
        if not isinstance(other, Position):
            return NotImplemented
        p = <Position>other
        a = self.b
        b = p.b
        a.turn = b.turn = 0
        return self.r.fingerprint == p.r.fingerprint and memcmp(&a, &b, sizeof(board_t)) == 0

    def __hash__(self):
        cdef board_t b = self.b
        b.turn = 0
        return hash((<const char *>&b)[:sizeof(board_t)]) ^ <Py_ssize_t>self.r.fingerprint

    def __reduce__(self):
        return _restore, (bytes(self), self.r.rules)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


cdef void _fill_buffer(object owner, Py_buffer *buffer, board_t *b, int flags):
    buffer.buf = b
    buffer.format = NULL
    buffer.internal = NULL
    buffer.itemsize = 1
    buffer.len = sizeof(board_t)
    buffer.ndim = 1
    buffer.obj = owner
    buffer.readonly = 1
    buffer.shape = NULL
    buffer.strides = NULL
    buffer.suboffsets = NULL
    if flags & 0x04:                                # PyBUF_FORMAT
        buffer.format = "b"
    if flags & 0x08:                                # PyBUF_ND: the shape of one row of bytes is its length
        buffer.shape = &buffer.len
    if flags & 0x10:                                # PyBUF_STRIDES, and the stride is the size of an item
        buffer.strides = &buffer.itemsize


def _restore(raw, rules):
    return Position.from_board(np.frombuffer(raw, np.int8), rules)


def _depth(depth):
    try:
        n = _index(depth)
    except TypeError:
        msg = f"depth is an int, not {depth!r}"
        raise TypeError(msg) from None
    if n < 1 or isinstance(depth, bool):
        msg = f"depth is 1 or more, not {depth}"
        raise ValueError(msg)
    if n > 30:
        msg = f"depth {depth} would not end in a lifetime"
        raise ValueError(msg)
    return n


include "plays.pxi"

# The plays of a roll: Plays and Play. Part of _board.pyx.

cdef Plays find_plays(Position p, int a, int c):
    cdef board_t scratch[NC_MAX_PLAYS]
    cdef Plays found
    cdef int32_t n
    n = kernels().plays(&p.r.c, &p.b, a, c, scratch)
    if n < 0:
        raise MemoryError
    found = Plays.__new__(Plays)
    found.position = p
    found.a = a
    found.c = c
    found.keep(scratch, n)
    return found


cdef class Plays:
    """The legal plays of one roll: sized, indexable, iterable, a play or its text may be looked for with ``in``.

    Made by `Position.plays`. A slice is again Plays. The order is fixed for a version of nardcore.

    Attributes
    ----------
    position : Position
        Before the roll.

    Examples
    --------
    >>> import nardcore as nc
    >>> plays = nc.Position.start().plays((1, 3))
    >>> len(plays), len(plays[:5]), plays.dice
    (16, 5, (3, 1))
    >>> plays.find("6/5 8/5") in plays, "6/4" in plays
    (True, False)
    """
    cdef readonly Position position
    cdef int a, c
    cdef board_t *results
    cdef int32_t n

    def __init__(self):
        msg = "Plays come from Position.plays(dice)"
        raise TypeError(msg)

    cdef keep(self, const board_t *results, int32_t n):
        self.results = <board_t *>PyMem_Malloc((n or 1) * sizeof(board_t))
        if not self.results:
            raise MemoryError
        memcpy(self.results, results, n * sizeof(board_t))
        self.n = n

    def __dealloc__(self):
        PyMem_Free(self.results)

    @property
    def dice(self):
        """The roll, larger die first."""
        return self.a, self.c

    @property
    def boards(self):
        """The resulting boards, ``int8[n, 32]``, read-only, in the view of the side that has just moved."""
        return array_of(self.results, self.n)

    def __len__(self):
        return self.n

    cdef Play at(self, int32_t i):
        cdef Play play = Play.__new__(Play)
        play.of = self
        play.i = i
        return play

    def __getitem__(self, i):
        cdef Plays part
        cdef int32_t k
        if isinstance(i, slice):
            part = Plays.__new__(Plays)
            part.position = self.position
            part.a = self.a
            part.c = self.c
            chosen = range(self.n)[i]
            part.keep(self.results, 0)
            PyMem_Free(part.results)
            part.results = <board_t *>PyMem_Malloc((len(chosen) or 1) * sizeof(board_t))
            if not part.results:
                raise MemoryError
            for k in chosen:
                part.results[part.n] = self.results[k]
                part.n += 1
            return part
        at = _index(i)
        if not -self.n <= at < self.n:
            msg = f"there are {self.n} plays, no number {i}"
            raise IndexError(msg)
        k = at
        return self.at(k if k >= 0 else k + self.n)

    def __iter__(self):
        cdef int32_t i
        for i in range(self.n):
            yield self.at(i)

    def __contains__(self, play):
        cdef int32_t i
        cdef Play other
        if isinstance(play, Play):
            other = <Play>play
            if other.of.position != self.position:
                return False
            for i in range(self.n):
                if memcmp(&self.results[i], &other.of.results[other.i], sizeof(board_t)) == 0:
                    return True
            return False
        if not isinstance(play, str):
            return False
        from nardcore.errors import NardcoreError
        try:
            self.find(play)
        except NardcoreError:
            return False
        return True

    def find(self, text, *, numbering="own"):
        """Find the play that a text means; see `Position.play`.

        Parameters
        ----------
        text : str or Play
        numbering : {"own", "traditional", "through", "roman"}, optional

        Returns
        -------
        Play

        Raises
        ------
        InvalidPlayError, IllegalPlayError, AmbiguousPlayError

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Position.start().plays((6, 5)).find("24/13")
        <Play 24/18/13>
        """
        from nardcore._find_play import find_play
        return find_play(self, text, numbering)

    def next_steps(self, made=()):
        """List the steps that can still become a full legal play: for interfaces that move checker by checker.

        Parameters
        ----------
        made : sequence of (int, int), optional
            Steps taken so far in this turn, (from, to) in own numbers, bar 25 and off 0.

        Returns
        -------
        tuple of (int, int, int)
            (from, to, die) of every next step; empty when the play is complete.

        Raises
        ------
        IllegalPlayError
            If the steps taken so far belong to no legal play.

        Examples
        --------
        >>> import nardcore as nc
        >>> plays = nc.Position({6: 1, 1: 1}, {20: 2}).plays((6, 1))
        >>> plays.next_steps()
        ((6, 0, 6), (1, 0, 1))
        >>> plays.next_steps([(6, 0)])
        ((1, 0, 1),)
        """
        from nardcore._find_play import next_steps
        return next_steps(self, made)

    def after(self, made):
        """Show the board after some steps of this turn, complete or not: `int8[32]`, the mover's view.

        Parameters
        ----------
        made : sequence of (int, int)
            As for `next_steps`.

        Returns
        -------
        ndarray of int8, shape (32,)

        Raises
        ------
        IllegalPlayError
            If the steps belong to no legal play.

        Examples
        --------
        >>> import nardcore as nc
        >>> board = nc.Position.start().plays((3, 1)).after([(8, 5)])
        >>> int(board[8 - 1]), int(board[5 - 1])
        (2, 1)
        """
        from nardcore._find_play import after
        return after(self, made)

    def __reduce__(self):
        return _restore_plays, (self.position, self.dice, (<const char *>self.results)[:32 * self.n])

    def _repr_html_(self):
        from html import escape
        rows = "".join([f"<tr><td>{i}</td><td>{escape(str(p))}</td></tr>" for i, p in enumerate(self[:40])])
        more = f"<tr><td></td><td>… {self.n - 40} more</td></tr>" if self.n > 40 else ""
        return f"<table><tr><th>{self.a}-{self.c}</th><th>{self.n} plays</th></tr>{rows}{more}</table>"

    def __repr__(self):
        shown = ", ".join([str(play) for play in self[:6]])
        return f"<Plays {self.a}-{self.c}: {shown}{', …' if self.n > 6 else ''} ({self.n})>"


cdef class Play:
    """One legal play: which position it leads to, and one way to write it.

    Two plays are the same when they lead from the same position to the same position.

    Attributes
    ----------
    of : Plays
        The plays it is one of.

    Examples
    --------
    >>> import nardcore as nc
    >>> play = nc.Position.start().plays((3, 1)).find("6/5 8/5")
    >>> str(play), play.hits, play.dice_used
    ('8/5 6/5', (), 2)
    >>> play.result.pips
    (167, 163)
    """
    cdef readonly Plays of
    cdef int32_t i

    def __init__(self):
        msg = "a Play comes from Position.plays(dice)"
        raise TypeError(msg)

    @property
    def dice(self):
        """The roll, larger die first."""
        return self.of.a, self.of.c

    @property
    def board(self):
        """The resulting board in the view of the side that has just moved, ``int8[32]``, read-only."""
        return array_of(&self.of.results[self.i], -1)

    @property
    def result(self):
        """The next position: the opponent is on roll."""
        cdef board_t b
        kernels().flip(&self.of.position.r.c, &self.of.results[self.i], &b, 1)
        return make(&b, self.of.position.r)

    @property
    def steps(self):
        """Steps that make the play: (from, to) in own numbers, bar 25 and off 0; empty for a pass."""
        cdef int8_t s[2 * NC_MAX_STEPS]
        cdef int n = kernels().find_steps(&self.of.position.r.c, &self.of.position.b, self.of.a, self.of.c,
                                          &self.of.results[self.i], s)
        cdef int k
        return tuple([(s[2 * k], s[2 * k + 1]) for k in range(n)])

    @property
    def hits(self):
        """Points on which a checker is hit, in own numbers, in the order of the steps."""
        cdef const board_t *b = &self.of.position.b
        found = []
        for _, to in self.steps:
            if to and b.pt[to - 1] == -1 and to not in found:
                found.append(to)
        return tuple(found)

    @property
    def dice_used(self):
        """How many dice are played: 0 to 2, up to 4 with a double."""
        return len(self.steps)

    def notation(self, *, numbering="own"):
        """Write the play.

        Parameters
        ----------
        numbering : {"own", "traditional", "through", "roman"}, optional

        Returns
        -------
        str
            Such as ``"8/5 6/5"``, ``"bar/20*/16"``, ``"6/off"`` or ``"pass"``.

        Examples
        --------
        >>> import nardcore as nc
        >>> play = nc.Position.start(nc.LONG_NARDY).plays((2, 1))[0]
        >>> play.notation(), play.notation(numbering="roman")
        ('24/22/21', 'I/III/IV')
        """
        from nardcore.notation import format_play
        hits = set(self.hits)
        steps = [(f, t, t in hits) for f, t in self.steps]
        position = self.of.position
        return format_play(steps, numbering=numbering, rules=position.r.rules, turn=position.turn)

    def __reduce__(self):
        return _restore_play, (self.of.position, self.dice, (<const char *>&self.of.results[self.i])[:32])

    def __str__(self):
        return self.notation()

    def __repr__(self):
        return f"<Play {self.notation()}>"

    def __eq__(self, other):
        cdef Play p
        if not isinstance(other, Play):
            return NotImplemented
        p = <Play>other
        return self.of.position == p.of.position and memcmp(
            &self.of.results[self.i], &p.of.results[p.i], sizeof(board_t)) == 0

    def __hash__(self):
        return hash((<const char *>&self.of.results[self.i])[:sizeof(board_t)])


def single_steps(Position start, board, dice, die):
    """List (from, board) of each single step by `die` in a turn that began at `start`; for nardcore._find_play."""
    cdef int d[2]
    cdef board_t out[25]
    cdef int8_t origin[25]
    cdef const int8_t[::1] row = np.ascontiguousarray(board, dtype=np.int8)
    cdef int32_t n, i
    dice_of(dice, d)
    n = kernels().single_steps(&start.r.c, &start.b, <const board_t *>&row[0], d[0], d[1], die, out, origin)
    return [(origin[i] + 1, array_of(&out[i], -1)) for i in range(n)]


def _restore_plays(Position position not None, dice, bytes raw):
    """Make again what was pickled, if these are legal plays."""
    cdef Plays every = position.plays(dice)
    cdef Plays found = every[:0]
    cdef const char *p = raw
    cdef int32_t n = <int32_t>(len(raw) // 32)
    legal = {bytes(row) for row in every.boards}
    if len(raw) % 32 or not all([raw[k:k + 32] in legal for k in range(0, len(raw), 32)]):
        msg = "the pickle holds plays that are not legal"
        raise ValueError(msg)
    PyMem_Free(found.results)
    found.results = NULL
    found.keep(<const board_t *>p, n)
    return found


def _restore_play(position, dice, raw):
    return _restore_plays(position, dice, raw)[0]

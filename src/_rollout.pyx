"""Evaluators, and how a policy takes one of the results of a roll by them."""
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from nardcore._types cimport *
from nardcore._movegen cimport kernels
from nardcore._rules cimport CompiledRules, compiled, outcome

import numpy as np


cdef extern from "linear.h" nogil:
    ctypedef struct linear_t "nc_linear":
        int8_t movement
        int16_t weight[2][28][32]


cdef extern from "stop.h" nogil:
    int nc_flag_read(const int *flag) noexcept
    void nc_flag_raise(int *flag) noexcept


cdef enum:
    EVALUATOR_FAILED = -2


cdef class Stop:
    """A flag that ends running chunks before their next trial."""

    def set(self):
        """Raise the flag, for good."""
        nc_flag_raise(&self.flag)

    def is_set(self):
        """Tell whether it is raised."""
        return bool(nc_flag_read(&self.flag))


cdef class Evaluator:
    """A native evaluator: what a policy is made of. See `nardcore.policies`.

    Attributes
    ----------
    name : str
        What results call the policy.
    owner : object
        What it is made of, where that is of another extension or nets; else None.
    rules : Rules or None
        The rules its nets were trained for.

    Examples
    --------
    >>> from nardcore.policies import linear_evaluator
    >>> linear_evaluator("long").name
    'linear'
    """

    def __cinit__(self):
        self.weights = NULL

    def __init__(self):
        msg = "make an Evaluator by Evaluator.linear or Evaluator.from_capsule"
        raise TypeError(msg)

    def __dealloc__(self):
        free(self.weights)

    @staticmethod
    def linear(str name, weights, str movement):
        """Make the linear evaluator with some weights.

        Parameters
        ----------
        name : str
            What results call the policy.
        weights : array-like of int16, shape (2, 28, 32)
            By phase (in contact, past each other), byte of the board, and value of the byte + 16.
        movement : {"short", "long"}

        Raises
        ------
        ValueError
            If the weights have another shape.

        Examples
        --------
        >>> import numpy as np
        >>> import nardcore as nc
        >>> nc.Evaluator.linear("idle", np.zeros((2, 28, 32), np.int16), "short").name
        'idle'
        """
        cdef Evaluator self = Evaluator.__new__(Evaluator)
        if movement not in ("short", "long"):
            msg = f"the movement is 'short' or 'long', not {movement!r}"
            raise ValueError(msg)
        if np.shape(weights) != (2, 28, 32):
            msg = f"weights must have the shape (2, 28, 32), not {np.shape(weights)}"
            raise ValueError(msg)
        a = np.ascontiguousarray(weights, dtype=np.int16)
        cdef const int16_t[:, :, ::1] w = a
        cdef linear_t *net = <linear_t *>malloc(sizeof(linear_t))
        if not net:
            raise MemoryError
        self.weights = net
        self.made_for = movement
        net.movement = NC_LONG if movement == "long" else NC_SHORT
        memcpy(net.weight, &w[0, 0, 0], sizeof(net.weight))
        self.name = name
        self.e.version = NC_EVALUATOR_VERSION
        self.e.flags = NC_SCORE_ONLY
        self.e.state = self.weights
        self.e.evaluate = kernels().linear
        return self

    @staticmethod
    def net(player, *, points=None, keep=None, bint full=False, str name=None):
        """Make an evaluator of nets.

        It rates the results of a roll by the equity of its scoring; where it prunes, by a small net first: a play that
        is pruned scores 1000 below what that net says, below every play that is kept.

        Parameters
        ----------
        player : path or nardcore.nets.PlayerFile
            A file of nets, or one that is loaded.
        points : sequence of 5 int, optional
            The scoring to play for; that of its training by default.
        keep : int, optional
            How many plays pruning leaves, 0 for all; what the file says by default. Without effect where the file has
            no net to prune with.
        full : bool, optional
            Give probabilities of the ten outcome classes instead of scores. Nothing is pruned then.
        name : str, optional
            What results call the policy; the name of the file by default.

        Raises
        ------
        FormatError
            If the file is no player.
        ValueError
            If an option is impossible.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.Evaluator.net("nothing.npz")
        Traceback (most recent call last):
            ...
        FileNotFoundError: [Errno 2] No such file or directory: 'nothing.npz'
        """
        from pathlib import Path

        from nardcore import nets
        if not isinstance(player, nets.PlayerFile):
            if name is None:
                name = Path(player).stem
            player = nets.load(player)
        owner = nets.native(player, points=points, keep=keep, full=full)
        cdef Evaluator self = Evaluator.from_capsule(owner.make_capsule(), "net" if name is None else name)
        self.owner = owner                      # what the capsule points to is part of it
        self.made_for = player.rules.movement
        self.rules = player.rules
        return self

    @staticmethod
    def from_capsule(capsule, str name="native"):
        """Take an ``nc_evaluator`` from a PyCapsule named ``"nardcore.evaluator"``.

        Parameters
        ----------
        capsule : PyCapsule
            It and what it points to must stay valid; the Evaluator keeps a reference to it.
        name : str, optional
            What results call the policy.

        Raises
        ------
        TypeError
            If it is no such capsule.
        ValueError
            If it was compiled for another version of the struct.

        Examples
        --------
        >>> import nardcore as nc
        >>> from nardcore._capi import C_API
        >>> nc.Evaluator.from_capsule(C_API)
        Traceback (most recent call last):
            ...
        TypeError: expected a PyCapsule named 'nardcore.evaluator'
        """
        cdef Evaluator self = Evaluator.__new__(Evaluator)
        cdef const evaluator_t *e
        if not PyCapsule_IsValid(capsule, "nardcore.evaluator"):
            msg = "expected a PyCapsule named 'nardcore.evaluator'"
            raise TypeError(msg)
        e = <const evaluator_t *>PyCapsule_GetPointer(capsule, "nardcore.evaluator")
        if e.version != NC_EVALUATOR_VERSION or e.evaluate is NULL:
            msg = f"this evaluator is of version {e.version}, not {NC_EVALUATOR_VERSION}"
            raise ValueError(msg)
        self.e = e[0]
        self.name = name
        self.owner = capsule
        return self

    def misfit(self, rules):
        """Say why it cannot play by some rules, or None where it can.

        Examples
        --------
        >>> import nardcore as nc
        >>> nc.policies.linear_evaluator("short").misfit(nc.LONG_NARDY)
        'it is for short nardy'
        """
        if self.made_for not in (None, rules.movement):
            return f"it is for {self.made_for} nardy"
        if self.rules is not None:
            for field in ("checkers", "off_protects", "long_koks"):
                if getattr(self.rules, field) != getattr(rules, field):
                    return f"it is for {field}={getattr(self.rules, field)}"
        return None

    @property
    def movement(self):
        """``"short"`` or ``"long"`` where it is made for that movement alone, else None."""
        return self.made_for

    def __call__(self, parent, after):
        """Rate the results of a roll from the side that has just moved: float32[n] scores or float32[n, 10] chances."""
        cdef const int8_t[::1] p = np.ascontiguousarray(parent, dtype=np.int8)
        cdef const int8_t[:, ::1] a = np.ascontiguousarray(after, dtype=np.int8)
        if self.e.evaluate is NULL:
            msg = "this Evaluator was never made; see Evaluator.from_capsule"
            raise TypeError(msg)
        if p.shape[0] != 32 or a.shape[1] != 32:
            msg = "boards have 32 numbers"
            raise ValueError(msg)
        # evaluators look numbers of checkers up in tables
        if np.abs(np.asarray(p, np.int16)).max() > 15 or (
                a.shape[0] and np.abs(np.asarray(a, np.int16)).max() > 15):
            msg = "a board holds no number above 15"
            raise ValueError(msg)
        cdef int32_t n = <int32_t>a.shape[0]
        shape = [n] if self.e.flags & NC_SCORE_ONLY else [n, NC_CLASSES]
        found = np.empty(shape, np.float32)
        cdef float[::1] out = found.reshape(-1)
        cdef int failed = 0
        if n:
            with nogil:
                failed = self.e.evaluate(self.e.state, <const board_t *>&p[0], <const board_t *>&a[0, 0], n, &out[0])
        if failed < 0:
            msg = f"the evaluator {self.name} failed with {failed}"
            raise RuntimeError(msg)
        return found

    def choose(self, parents, const int64_t[::1] indptr, boards, points, rules):
        """Choose a result for each position of a batch: offsets within its results, int64[n].

        Examples
        --------
        >>> import nardcore as nc
        >>> linear = nc.policies.linear_evaluator("short")
        >>> before = nc.batch.start(2)
        >>> found = nc.batch.plays(before, [(3, 1), (6, 6)])
        >>> linear.choose(before, found.indptr, found.boards, nc.BACKGAMMON.points, nc.BACKGAMMON).shape
        (2,)
        """
        cdef CompiledRules r = compiled(rules)
        cdef const int8_t[:, ::1] p = parents
        cdef const int8_t[:, ::1] b = boards
        cdef int32_t value[5]
        cdef Py_ssize_t i
        cdef int32_t k = 0
        sizes = np.diff(indptr)
        if (self.e.evaluate is NULL or p.shape[1] != 32 or b.shape[1] != 32 or indptr.shape[0] != p.shape[0] + 1
                or indptr[0] != 0 or indptr[p.shape[0]] != b.shape[0] or (sizes < 1).any()
                or (sizes > NC_MAX_PLAYS).any()):
            msg = "expected the positions of a batch and what nardcore.batch.plays finds for them"
            raise ValueError(msg)
        for i in range(5):
            value[i] = points[i]
        cdef float *scores = <float *>malloc(NC_MAX_PLAYS * NC_CLASSES * sizeof(float))
        cdef board_t *scratch = <board_t *>malloc(NC_MAX_PLAYS * sizeof(board_t))
        found = np.empty(p.shape[0], np.int64)
        cdef int64_t[::1] out = found
        try:
            if not scores or not scratch:
                raise MemoryError
            with nogil:
                for i in range(p.shape[0]):
                    k = best_result(&self.e, &r.c, value, <const board_t *>&p[i, 0], <const board_t *>&b[indptr[i], 0],
                                    <int32_t>(indptr[i + 1] - indptr[i]), scores)
                    if k < 0:
                        break
                    out[i] = k
        finally:
            free(scores)
            free(scratch)
        if k < 0:
            msg = f"the evaluator {self.name} failed or gave a value that is not finite"
            raise RuntimeError(msg)
        return found


cdef int32_t best_result(const evaluator_t *e, const rules_t *rules, const int32_t *points, const board_t *parent,
                         const board_t *results, int32_t n, float *scores) noexcept nogil:
    """Which result a policy takes: a won game by its points, else the best score; the first of equals. < 0: failure."""
    cdef int32_t i, best = -1, won = -1
    cdef int k
    cdef bint odd = False               # a score that is no finite number
    cdef double s, top = 0              # and term by term, as nardcore._trials rates the answers of functions
    if n == 1:
        return 0
    if parent.off[0] + NC_MAX_STEPS >= rules.checkers:
        for i in range(n):
            if results[i].off[0] == rules.checkers:
                k = points[outcome(rules, &results[i])]
                if k > won:
                    won = k
                    best = i
        if best >= 0:
            return best
    if e.evaluate(e.state, parent, results, n, scores) < 0:
        return EVALUATOR_FAILED
    best = 0
    if e.flags & NC_SCORE_ONLY:
        for i in range(n):
            odd |= scores[i] - scores[i] != 0
            if scores[i] > scores[best]:
                best = i
    else:
        for i in range(n):
            s = 0
            for k in range(5):
                s += points[k] * (<double>scores[NC_CLASSES * i + k] - <double>scores[NC_CLASSES * i + 5 + k])
            odd |= s - s != 0
            if i == 0 or s > top:
                top = s
                best = i
    return EVALUATOR_FAILED if odd else best

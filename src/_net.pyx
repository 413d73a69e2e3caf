"""What nets see of boards, and nets made ready for the kernels. See nardcore.nets."""
import itertools

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t
from libc.string cimport memset

from nardcore._types cimport *
from nardcore._movegen cimport kernels
from nardcore._rules cimport CompiledRules, compiled, outcome

import numpy as np


cdef extern from "net.h" nogil:
    enum:
        NC_SETS, NC_PLAIN, NC_PLAIN_ROWS, NC_MAX_HIDDEN, NC_MAX_KEEP, NC_LANES
        NC_SET_POINTS_SHORT

    ctypedef struct set_t "nc_set":
        const char *name
        int8_t movement, experts, buckets
        uint16_t size[48]
    const set_t nc_sets[6]

    ctypedef struct net_t "nc_net":
        int32_t set, hidden, buckets
        const int16_t *w1
        const int16_t *b1
        const int8_t *w2
        const float *scale
        const float *b2

    ctypedef struct player_t "nc_player":
        net_t net[3]
        int32_t keep, full
        rules_t rules
        float points[16]


PARTS = ("contact", "race", "prune")
MAX_KEEP = NC_MAX_KEEP
LARGEST = 1e6                               # of scales and of the last layer's b2
_INDEX = {nc_sets[i].name.decode(): i for i in range(NC_SETS)}


cdef int _set(name) except -1:
    if name not in _INDEX:
        msg = f"there is no feature set {name!r}; known are {', '.join(_INDEX)}"
        raise ValueError(msg)
    return _INDEX[name]


def _sizes(name):
    cdef int s = _set(name), g
    return [32] * NC_PLAIN + [nc_sets[s].size[g] for g in range(nc_sets[s].experts)]


def feature_sets():
    """List the feature sets: name -> (rows, active rows of a board, output buckets).

    The last row of a set is never active: arrays of rows may be padded with it.

    Examples
    --------
    >>> feature_sets()["points_short"]
    (897, 28, 1)
    """
    return {name: (sum(_sizes(name)) + 1, len(_sizes(name)), nc_sets[i].buckets) for name, i in _INDEX.items()}


def feature_groups(str name):
    """Give the first row of each group of a set, and where the last ends. Each group has one active row.

    Examples
    --------
    >>> feature_groups("points_long")[[0, 1, 28]].tolist()
    [0, 32, 896]
    """
    return np.concatenate([[0], np.cumsum(_sizes(name))])


def feature_movement(str name):
    """Name the movement a set is made for.

    Examples
    --------
    >>> feature_movement("race_long")
    'long'
    """
    return "long" if nc_sets[_set(name)].movement == NC_LONG else "short"


def _boards(boards):
    from nardcore import _movegen
    a = _movegen._boards(boards)
    if a.size and np.abs(a[:, :28].astype(np.int16)).max() > 15:
        msg = "a board holds no number above 15"
        raise ValueError(msg)
    return a


def features(boards, str name):
    """Find what a net sees of after-positions.

    Parameters
    ----------
    boards : array-like of int8, shape (n, 32)
        Results of plays, seen by the side that has just moved; the opponent is to roll.
    name : str
        One of `feature_sets`.

    Returns
    -------
    rows : uint16[n, k]
        The active rows of the first layer, one of each group of the set.
    buckets : uint8[n]
        Which output layer rates each.

    Raises
    ------
    ValueError
        If there is no such set, or the boards are none.

    Examples
    --------
    >>> import nardcore as nc
    >>> rows, buckets = features(nc.batch.start(2), "contact_short")
    >>> rows.shape, rows[0, :2].tolist(), buckets.tolist()
    ((2, 58), [14, 48], [4, 4])
    """
    cdef int s = _set(name)
    a = _boards(boards)
    cdef const int8_t[:, ::1] b = a
    rows = np.empty((len(a), NC_PLAIN + nc_sets[s].experts), np.uint16)
    buckets = np.empty(len(a), np.uint8)
    cdef uint16_t[:, ::1] r = rows
    cdef uint8_t[::1] o = buckets
    if len(a):
        with nogil:
            kernels().features(s, <const board_t *>&b[0, 0], b.shape[0], &r[0, 0], &o[0])
    return rows, buckets


def possible(boards, rules):
    """Tell which outcome classes after-positions can still have, as far as it is seen at a glance.

    A class marked False cannot happen. One marked True may be out of reach all the same, where only counting rolls
    would show it. In a finished position one class is left.

    Parameters
    ----------
    boards : array-like of int8, shape (n, 32)
        Seen by the side that has just moved.
    rules : Rules
        Their movement, checkers and classifier count.

    Returns
    -------
    bool[n, 10]

    Examples
    --------
    >>> import nardcore as nc
    >>> possible(nc.batch.start(1, nc.LONG_NARDY), nc.LONG_NARDY)[0, :5].tolist()
    [True, True, True, True, False]
    """
    cdef CompiledRules r = compiled(rules)
    a = _boards(boards)
    cdef const int8_t[:, ::1] b = a
    found = np.empty((len(a), NC_CLASSES), np.uint8)
    cdef uint8_t[:, ::1] o = found
    cdef Py_ssize_t i
    cdef int k
    if len(a):
        with nogil:
            kernels().possible(&r.c, <const board_t *>&b[0, 0], b.shape[0], &o[0, 0])
            for i in range(b.shape[0]):
                k = outcome(&r.c, <const board_t *>&b[i, 0])
                if k >= 0:
                    memset(&o[i, 0], 0, NC_CLASSES)
                    o[i, k] = 1
    return found.view(np.bool_)


def race(boards, str movement):
    """Tell which positions are races: the sides can no longer meet. A player rates these by its net "race".

    Examples
    --------
    >>> import nardcore as nc
    >>> race(nc.batch.start(1), "short").tolist()
    [False]
    """
    if movement not in ("short", "long"):
        msg = f"the movement is 'short' or 'long', not {movement!r}"
        raise ValueError(msg)
    a = _boards(boards)
    own, enemy = a[:, :24] > 0, a[:, :24] < 0
    if movement == "long":
        return ~(own[:, 12:].any(1) | enemy[:, :12].any(1))
    places = np.arange(24)
    last = np.where(own, places, -1).max(1, initial=-1)
    foe = np.where(enemy, places, 24).min(1, initial=24)
    return (last < foe) & (a[:, 24] <= 0) & (a[:, 25] <= 0)


# ---- nets ----------------------------------------------------------------------------------------------------------

def quantise(arrays, str name):
    """Turn a float net into integers.

    Parameters
    ----------
    arrays : mapping
        ``W1`` [rows, hidden], ``b1`` [hidden], ``W2`` [buckets, 10, hidden], ``b2`` [buckets, 10] of numbers.
    name : str
        The feature set.

    Returns
    -------
    dict
        ``W1`` and ``b1`` int16 in 1/255, ``W2`` int8, ``scale`` and ``b2`` float32. Weights that would let a sum of the
        first layer leave int16 are cut.

    Examples
    --------
    >>> import numpy as np
    >>> net = quantise({"W1": np.ones((897, 64)), "b1": np.zeros(64), "W2": np.ones((1, 10, 64)),
    ...                 "b2": np.zeros((1, 10))}, "points_short")
    >>> int(net["W1"].max()), net["W2"].dtype
    (255, dtype('int8'))
    """
    w1, b1, w2, b2 = (np.asarray(arrays[key], np.float64) for key in ("W1", "b1", "W2", "b2"))
    for key, a in zip(("W1", "b1", "W2", "b2"), (w1, b1, w2, b2), strict=True):
        if not np.isfinite(a).all():
            msg = f"{key} holds numbers that are not finite"
            raise ValueError(msg)
    w1 = np.rint(w1 * 255)
    w1[len(w1) - 1:] = 0                    # never active
    b1 = np.clip(np.rint(b1 * 255), -16000, 16000)
    groups = feature_groups(name)
    for _ in range(2):
        reach = np.abs(b1) + sum(np.abs(w1[a:b]).max(0) for a, b in itertools.pairwise(groups))
        over = reach > 32767
        if not over.any():
            break
        limit = (32767 - np.abs(b1[over])) // (len(groups) - 1)
        w1[:, over] = np.clip(w1[:, over], -limit, limit)
    step = np.abs(w2).max(axis=2) / 127
    step[step == 0] = 1
    net = {
        "W1": w1.astype(np.int16),
        "b1": b1.astype(np.int16),
        "W2": np.rint(w2 / step[..., None]).astype(np.int8),
        "scale": (step * 512 / 255**2).astype(np.float32),
        "b2": b2.astype(np.float32),
    }
    check(net, name)
    return net


def check(net, str name):
    """Check the arrays of a quantised net; ValueError says what is wrong.

    Examples
    --------
    >>> check({}, "points_short")
    Traceback (most recent call last):
        ...
    ValueError: a net is made of W1, b1, W2, scale, b2; W1 is missing
    """
    kinds = {"W1": np.int16, "b1": np.int16, "W2": np.int8, "scale": np.float32, "b2": np.float32}
    rows, _, buckets = feature_sets()[name] if name in _INDEX else (_set(name), 0, 0)
    for key, dtype in kinds.items():
        if key not in net:
            msg = f"a net is made of {', '.join(kinds)}; {key} is missing"
            raise ValueError(msg)
        if net[key].dtype != dtype:
            msg = f"{key} must be {np.dtype(dtype)}, not {net[key].dtype}"
            raise ValueError(msg)
    hidden = net["b1"].shape[0] if net["b1"].ndim == 1 else 0
    if hidden % 64 or not 64 <= hidden <= NC_MAX_HIDDEN:
        msg = f"b1 must hold 64, 128, ... {NC_MAX_HIDDEN} numbers, not the shape {net['b1'].shape}"
        raise ValueError(msg)
    shapes = {"W1": (rows, hidden), "W2": (buckets, NC_CLASSES, hidden), "scale": (buckets, NC_CLASSES),
              "b2": (buckets, NC_CLASSES)}
    for key, shape in shapes.items():
        if net[key].shape != shape:
            msg = f"{key} of {name} with {hidden} hidden must have the shape {shape}, not {net[key].shape}"
            raise ValueError(msg)
    for key in ("scale", "b2"):
        if not (np.abs(net[key]) <= LARGEST).all():             # NaN is not
            msg = f"{key} holds numbers that are not finite or above {LARGEST:g}"
            raise ValueError(msg)
    groups = feature_groups(name)
    w1 = np.abs(net["W1"].astype(np.int32))
    reach = np.abs(net["b1"].astype(np.int32)) + np.maximum.reduceat(w1, groups[:len(groups) - 1], axis=0).sum(0)
    if w1[len(w1) - 1].any():
        msg = "the last row of W1 must be zero"
        raise ValueError(msg)
    if (reach > 32767).any():
        msg = "the sums of W1 can overflow"
        raise ValueError(msg)


def _packed(net):
    """Arrange the arrays of a net as net.h reads them."""
    buckets, _, hidden = net["W2"].shape
    wide = {key: np.zeros((buckets, NC_LANES), np.float32) for key in ("scale", "b2")}
    for key, a in wide.items():
        a[:, :NC_CLASSES] = net[key]
    chunks = net["W2"].reshape(buckets, NC_CLASSES, hidden // 32, 32).transpose(0, 2, 1, 3)
    return {key: aligned(a) for key, a in ({**net, "W2": chunks} | wide).items()}


cdef class Player:
    """Nets as the kernels read them, and the capsule ``"nardcore.evaluator"`` of an evaluator of them.

    Made from checked arrays by `nardcore.nets`. It owns copies; nothing changes after it is made.
    """

    cdef player_t p
    cdef evaluator_t e
    cdef list kept

    def __cinit__(self, parts, sets, rules, points, int keep, bint full):
        cdef CompiledRules r = compiled(rules)
        cdef const int16_t[:, ::1] w1
        cdef const int16_t[::1] b1
        cdef const int8_t[:, :, :, ::1] w2
        cdef const float[:, ::1] scale
        cdef const float[:, ::1] b2
        cdef net_t *net
        cdef int i
        memset(&self.p, 0, sizeof(player_t))
        self.kept = []
        for i, part in enumerate(PARTS):
            if part not in parts:
                continue
            check(parts[part], sets[part])
            arrays = _packed(parts[part])
            self.kept.append(arrays)
            net = &self.p.net[i]
            w1, b1, w2 = arrays["W1"], arrays["b1"], arrays["W2"]
            scale, b2 = arrays["scale"], arrays["b2"]
            net.set = _set(sets[part])
            if nc_sets[net.set].movement != r.c.movement:
                msg = f"the feature set {sets[part]} is not for the movement {rules.movement!r}"
                raise ValueError(msg)
            if part == "prune" and net.set > 1:
                msg = f"a net that prunes sees the plain points, not {sets[part]}"
                raise ValueError(msg)
            net.hidden = <int32_t>b1.shape[0]
            net.buckets = <int32_t>b2.shape[0]
            net.w1, net.b1, net.w2 = &w1[0, 0], &b1[0], &w2[0, 0, 0, 0]
            net.scale, net.b2 = &scale[0, 0], &b2[0, 0]
        for part in ("contact", "race"):
            if part not in parts:
                msg = f"a player needs a net for {part}"
                raise ValueError(msg)
        if not 0 <= keep <= NC_MAX_KEEP:
            msg = f"keep is 0 (all) to {NC_MAX_KEEP}, not {keep}"
            raise ValueError(msg)
        self.p.keep = keep
        self.p.full = full
        self.p.rules = r.c
        if len(points) != 5:
            msg = f"a scoring is five points, not {len(points)}"
            raise ValueError(msg)
        for i in range(5):
            if not -100 <= points[i] <= 100:
                msg = f"points are -100 to 100, not {points[i]}"
                raise ValueError(msg)
            self.p.points[i] = points[i]
            self.p.points[5 + i] = -points[i]
        self.e.version = NC_EVALUATOR_VERSION
        self.e.flags = 0 if full else NC_SCORE_ONLY
        self.e.state = &self.p
        self.e.evaluate = kernels().net

    def make_capsule(self):
        """Give the capsule; it does not keep the player alive."""
        return PyCapsule_New(&self.e, "nardcore.evaluator", NULL)


def aligned(a):
    """Copy an array to memory that starts at a multiple of 64.

    Examples
    --------
    >>> import numpy as np
    >>> aligned(np.arange(3)).ctypes.data % 64
    0
    """
    raw = np.empty(a.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    out = raw[start:start + a.nbytes].view(a.dtype).reshape(a.shape)
    out[...] = a
    return out

"""Training: gradients and Adam steps of sparse nets, and evaluators of float nets.

The work is cut into pieces by `nardcore.training`, which calls these functions from threads; every piece is a
function of its arguments alone.
"""
from cpython.pycapsule cimport (
    PyCapsule_Destructor, PyCapsule_GetContext, PyCapsule_New, PyCapsule_SetContext,
)
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport pow
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memset

from nardcore._types cimport *
from nardcore._rollout cimport Evaluator
from nardcore._rules cimport CompiledRules, compiled

import numpy as np


cdef extern from "train.h" nogil:
    enum:
        NC_MOST_HIDDEN, NC_TOGETHER

    ctypedef struct model_t "nc_model":
        int32_t rows, active, buckets, hidden
        float *w1
        float *b1
        float *w2
        float *b2

    ctypedef struct samples_t "nc_samples":
        const uint16_t *rows
        const uint8_t *bucket
        const uint16_t *mask
        const float *target
        const float *weight
        float points[10]
        float equity_share

    ctypedef struct gradient_t "nc_gradient":
        float *w1
        float *b1
        float *w2
        float *b2
        uint8_t *touched
        uint8_t *bucket_used
        double loss[4]

    ctypedef struct adam_t "nc_adam":
        float rate, decay, beta1, beta2, epsilon, scale, mean_unbias, square_unbias

    ctypedef struct plain_t "nc_plain":
        int movement
        model_t net[2]

    ctypedef struct train_kernels_t "nc_train_kernels":
        const char *isa
        void (*gradient)(const model_t *, const samples_t *, int64_t, int64_t, gradient_t *,
                         float *) noexcept nogil
        void (*adam)(const adam_t *, float *, float *, float *, float **, int, int64_t, float, float,
                     float) noexcept nogil
        void (*evaluate_rows)(const model_t *, const samples_t *, int64_t, int64_t, float *) noexcept nogil
        int (*evaluate_plain)(void *, const board_t *, const board_t *, int32_t, float *) noexcept nogil

    const train_kernels_t *nc_choose_train() noexcept
    void nc_plain_rows(const board_t *b, uint16_t *rows) noexcept


cdef enum:
    MOST_SHARDS = 64

cdef const train_kernels_t *KERNEL = nc_choose_train()

PLAIN_ROWS = 897                    # the last row pads
PLAIN_ACTIVE = 28


def isa():
    """Name the instruction set in use."""
    return KERNEL.isa.decode()


# ----------------------------------------------------------------------------------------------- nets

cdef class Model:
    """Four arrays of float32 that a net is made of, checked once; they are used in place."""
    cdef model_t m
    cdef readonly object w1, b1, w2, b2

    def __init__(self, w1, b1, w2, b2, int active):
        cdef float[:, ::1] v1 = w1
        cdef float[::1] u1 = b1
        cdef float[:, :, ::1] v2 = w2
        cdef float[:, ::1] u2 = b2
        if (not 1 <= v1.shape[0] <= 65536 or v1.shape[1] % 32 or not 32 <= v1.shape[1] <= NC_MOST_HIDDEN
                or u1.shape[0] != v1.shape[1] or not 1 <= v2.shape[0] <= 256 or v2.shape[1] != NC_CLASSES
                or v2.shape[2] != v1.shape[1] or u2.shape[0] != v2.shape[0] or u2.shape[1] != NC_CLASSES
                or active < 1):
            msg = (f"a net has w1[rows, hidden], b1[hidden], w2[buckets, 10, hidden], b2[buckets, 10], at most 65536 "
                   f"rows and 256 buckets, hidden a multiple of 32 up to {NC_MOST_HIDDEN}")
            raise ValueError(msg)
        self.w1, self.b1, self.w2, self.b2 = w1, b1, w2, b2
        self.m.rows = <int32_t>v1.shape[0]
        self.m.hidden = <int32_t>v1.shape[1]
        self.m.buckets = <int32_t>v2.shape[0]
        self.m.active = active
        self.m.w1 = &v1[0, 0]
        self.m.b1 = &u1[0]
        self.m.w2 = &v2[0, 0, 0]
        self.m.b2 = &u2[0, 0]


cdef class Samples:
    """Inputs and targets of some samples for one model, checked once.

    Parameters
    ----------
    model : Model
    rows : uint16[n, active]
        Active features.
    buckets : uint8[n]
    targets : float32[n, 10] or None
    weights : float32[n] or None
    masks : uint16[n] or None
        Bit k: class k is possible.
    points : sequence of 10 numbers
        What a class is worth to the side that has just moved.
    equity_share : float
        Factor of the squared error of equity in the loss.
    """
    cdef samples_t s
    cdef readonly int64_t n
    cdef object keep
    cdef Model model

    def __init__(self, Model model, const uint16_t[:, ::1] rows, const uint8_t[::1] buckets,
                 const float[:, ::1] targets=None, const float[::1] weights=None, const uint16_t[::1] masks=None,
                 points=None, float equity_share=0.0):
        cdef Py_ssize_t i
        self.n = rows.shape[0]
        self.model = model
        if (self.n < 1 or rows.shape[1] != model.m.active or buckets.shape[0] != self.n
                or (targets is not None and (targets.shape[0] != self.n or targets.shape[1] != NC_CLASSES))
                or (weights is not None and weights.shape[0] != self.n)
                or (masks is not None and masks.shape[0] != self.n)):
            msg = "samples have rows[n, active], buckets[n], targets[n, 10], weights[n], masks[n] with n > 0"
            raise ValueError(msg)
        if np.max(rows) >= model.m.rows or np.max(buckets) >= model.m.buckets:
            msg = f"a row is below {model.m.rows} and a bucket below {model.m.buckets}"
            raise ValueError(msg)
        if masks is not None and (np.bitwise_and(masks, 0x3FF) == 0).any():
            msg = "a mask leaves at least one class possible"
            raise ValueError(msg)
        self.s.rows = &rows[0, 0]
        self.s.bucket = &buckets[0]
        self.s.target = NULL if targets is None else &targets[0, 0]
        self.s.weight = NULL if weights is None else &weights[0]
        self.s.mask = NULL if masks is None else &masks[0]
        value = np.zeros(NC_CLASSES) if points is None else np.asarray(points, np.float64)
        if value.shape != (NC_CLASSES,):
            msg = "points are ten numbers"
            raise ValueError(msg)
        for i in range(NC_CLASSES):
            self.s.points[i] = value[i]
        self.s.equity_share = equity_share
        self.keep = rows, buckets, targets, weights, masks

    def evaluate(self, float[:, ::1] out, int64_t first, int64_t last):
        """Write the chances of samples first .. last - 1 into their rows of `out`, float32[n, 10]."""
        if not 0 <= first <= last <= self.n or out.shape[0] != self.n or out.shape[1] != NC_CLASSES:
            msg = "out has a row of ten for each sample"
            raise ValueError(msg)
        with nogil:
            KERNEL.evaluate_rows(&self.model.m, &self.s, first, last, &out[0, 0])


def _tiled(w1):
    """Lay [rows, hidden] out as [hidden / 32, rows, 32]: a copy."""
    rows, hidden = w1.shape
    return np.ascontiguousarray(w1.reshape(rows, hidden // 32, 32).transpose(1, 0, 2))


cdef float *_start(a) except NULL:
    cdef float[::1] v = a.reshape(-1)
    return &v[0]


cdef uint8_t *_flags(a) except NULL:
    cdef uint8_t[::1] v = a
    return &v[0]


cdef inline double faded(double beta, int64_t steps) noexcept nogil:
    return beta if steps == 1 else pow(beta, steps)


cdef class Trainer:
    """A model, its Adam moments, and a gradient for each of a fixed number of shards.

    A step is `gradient` for each shard (from any threads), then `begin_step`, then `update` for each part (from any
    threads). Shards are added in their order, so that a step depends on their number and not on threads. Rows that
    no sample of a step has stay as they are; their moments fade when they are next met. The model's own first layer
    is old until `finish`.
    """
    cdef readonly Model model
    cdef readonly int shards
    cdef readonly int64_t steps
    cdef model_t m                      # the first layer in tiles
    cdef gradient_t g[MOST_SHARDS]
    cdef float *scratch[MOST_SHARDS]
    cdef float *mean[4]
    cdef float *square[4]
    cdef adam_t adam
    cdef float clip
    cdef int64_t[::1] last              # steps in which rows, then buckets, were last updated
    cdef object w1, grads, keep

    def __init__(self, Model model, int shards=2, *, float clip=1e9, float beta1=0.9, float beta2=0.999,
                 float epsilon=1e-8):
        cdef int i, j
        if not 1 <= shards <= MOST_SHARDS:
            msg = f"there are 1 to {MOST_SHARDS} shards"
            raise ValueError(msg)
        self.model = model
        self.shards = shards
        self.clip = clip
        self.adam.beta1, self.adam.beta2, self.adam.epsilon = beta1, beta2, epsilon
        self.w1 = _tiled(model.w1)
        self.m = model.m
        self.m.w1 = _start(self.w1)
        parts = (self.w1, model.b1, model.w2, model.b2)
        self.grads = [[np.zeros(a.shape, np.float32) for a in parts] for _ in range(shards)]
        self.keep = [[np.zeros(model.m.rows, np.uint8), np.zeros(model.m.buckets, np.uint8),
                      np.zeros(NC_TOGETHER * model.m.hidden, np.float32)] for _ in range(shards)]
        for i in range(shards):
            self.g[i].w1, self.g[i].b1, self.g[i].w2, self.g[i].b2 = (
                _start(self.grads[i][0]), _start(self.grads[i][1]), _start(self.grads[i][2]), _start(self.grads[i][3]))
            self.g[i].touched, self.g[i].bucket_used = _flags(self.keep[i][0]), _flags(self.keep[i][1])
            self.scratch[i] = _start(self.keep[i][2])
            self.g[i].loss = [0, 0, 0, 0]
        moments = [[np.zeros(a.shape, np.float32) for a in parts] for _ in range(2)]
        for j in range(4):
            self.mean[j], self.square[j] = _start(moments[0][j]), _start(moments[1][j])
        self.keep.append(moments)
        self.last = np.zeros(model.m.rows + model.m.buckets, np.int64)

    def gradient(self, int shard, Samples samples, int64_t first, int64_t last):
        """Add the gradient of samples first .. last - 1 to a shard."""
        if not 0 <= shard < self.shards or not 0 <= first <= last <= samples.n:
            msg = "there is no such shard or no such sample"
            raise ValueError(msg)
        if samples.model is not self.model or samples.s.target is NULL:
            msg = "these samples are of another model or have no targets"
            raise ValueError(msg)
        with nogil:
            KERNEL.gradient(&self.m, &samples.s, first, last, &self.g[shard], self.scratch[shard])

    def gradients(self):
        """Give copies of the gradient of each array, the shards added: for tests."""
        found = [np.sum([grads[j] for grads in self.grads], axis=0) for j in range(4)]
        found[0] = found[0].transpose(1, 0, 2).reshape(self.model.w1.shape)
        return found

    def losses(self):
        """Take the sums of weight, cross-entropy, squared and absolute error of equity since the last call."""
        found = np.zeros(4)
        cdef int i, k
        for i in range(self.shards):
            for k in range(4):
                found[k] += self.g[i].loss[k]
                self.g[i].loss[k] = 0
        return found

    def begin_step(self, double rate, double scale, double decay=0.0):
        """Say how the coming updates are made: rate, factor of the gradient (1 / sum of weights), weight decay."""
        self.steps += 1
        self.adam.rate = rate
        self.adam.scale = scale
        self.adam.decay = rate * decay
        self.adam.mean_unbias = 1 / (1 - pow(self.adam.beta1, self.steps))
        self.adam.square_unbias = 1 / (1 - pow(self.adam.beta2, self.steps))

    cdef void turn(self, int array, int64_t at, int64_t n, double keep_mean, double keep_square,
                   const bint *used) noexcept nogil:
        """Update n numbers of an array from `at` on."""
        cdef float *grads[MOST_SHARDS]
        cdef float *of
        cdef float *w
        cdef int i, count = 0
        for i in range(self.shards):
            if used[i]:
                of = (self.g[i].w1 if array == 0 else self.g[i].b1 if array == 1
                      else self.g[i].w2 if array == 2 else self.g[i].b2)
                grads[count] = of + at
                count += 1
        w = self.m.w1 if array == 0 else self.m.b1 if array == 1 else self.m.w2 if array == 2 else self.m.b2
        KERNEL.adam(&self.adam, w + at, self.mean[array] + at, self.square[array] + at, grads, count, n,
                    keep_mean, keep_square, self.clip if array == 0 else 1e9)

    def update(self, int part, int parts):
        """Make the step in one of some parts, and clear the gradients of it."""
        cdef int64_t r, width = self.m.hidden, rows = self.m.rows, t
        cdef int64_t first = rows * part // parts, last = rows * (part + 1) // parts
        cdef int i, b
        cdef bint used[MOST_SHARDS]
        cdef bint any_used
        cdef double keep_mean, keep_square
        cdef int64_t[::1] since = self.last
        if not 0 <= part < parts:
            msg = f"there is no part {part} of {parts}"
            raise ValueError(msg)
        with nogil:
            if last == rows:                            # the padding collects what nobody reads
                for i in range(self.shards):
                    self.g[i].touched[rows - 1] = 0
                    for t in range(width // 32):
                        memset(self.g[i].w1 + (t * rows + rows - 1) * 32, 0, 32 * sizeof(float))
            for t in range(width // 32):                # tile by tile: memory in its order
                for r in range(first, last):
                    any_used = False
                    for i in range(self.shards):
                        used[i] = self.g[i].touched[r]
                        any_used |= used[i]
                    if any_used:
                        self.turn(0, (t * rows + r) * 32, 32, faded(self.adam.beta1, self.steps - since[r]),
                                  faded(self.adam.beta2, self.steps - since[r]), used)
            for r in range(first, last):
                for i in range(self.shards):
                    if self.g[i].touched[r]:
                        since[r] = self.steps
                        self.g[i].touched[r] = 0
            if part == parts - 1:
                for i in range(self.shards):
                    used[i] = True
                self.turn(1, 0, width, self.adam.beta1, self.adam.beta2, used)
                for b in range(self.m.buckets):
                    any_used = False
                    for i in range(self.shards):
                        used[i] = self.g[i].bucket_used[b]
                        any_used |= used[i]
                        self.g[i].bucket_used[b] = 0
                    if any_used:
                        keep_mean = faded(self.adam.beta1, self.steps - since[rows + b])
                        keep_square = faded(self.adam.beta2, self.steps - since[rows + b])
                        self.turn(2, b * NC_CLASSES * width, NC_CLASSES * width, keep_mean, keep_square, used)
                        self.turn(3, b * NC_CLASSES, NC_CLASSES, keep_mean, keep_square, used)
                        since[rows + b] = self.steps

    def finish(self):
        """Write the first layer back to the model's own array."""
        self.model.w1[...] = self.w1.transpose(1, 0, 2).reshape(self.model.w1.shape)


# -------------------------------------------------------------------------------- rows, and float nets

def plain_rows(boards):
    """Give the plain rows of boards: uint16[n, 28], for each byte its number and value."""
    cdef const int8_t[:, ::1] b = boards
    cdef Py_ssize_t i
    if b.shape[1] != 32:
        msg = "boards have 32 numbers"
        raise ValueError(msg)
    found = np.empty((b.shape[0], 28), np.uint16)
    cdef uint16_t[:, ::1] out = found
    with nogil:
        for i in range(b.shape[0]):
            nc_plain_rows(<const board_t *>&b[i, 0], &out[i, 0])
    return found


cdef class _Plain:
    """The state of an evaluator of `plain_evaluator`; its capsule keeps it alive."""
    cdef plain_t player
    cdef evaluator_t e
    cdef Model contact, race


cdef void _let_go(object capsule) noexcept:
    Py_DECREF(<object>PyCapsule_GetContext(capsule))


def plain_evaluator(str name, Model contact, Model race, rules):
    """Make an Evaluator of float nets over plain rows: fast enough to begin with, and follows their training."""
    cdef _Plain keep = _Plain()
    cdef CompiledRules r = compiled(rules)
    cdef Model m
    for m in (contact, race):
        if m.m.rows < PLAIN_ROWS or m.m.active != PLAIN_ACTIVE or m.m.buckets != 1:
            msg = "this evaluator plays nets over the plain rows alone"
            raise ValueError(msg)
    keep.contact, keep.race = contact, race
    keep.player.movement = r.c.movement
    keep.player.net[0] = contact.m
    keep.player.net[1] = race.m
    keep.e.version = NC_EVALUATOR_VERSION
    keep.e.flags = 0
    keep.e.state = &keep.player
    keep.e.evaluate = KERNEL.evaluate_plain
    capsule = PyCapsule_New(&keep.e, "nardcore.evaluator", <PyCapsule_Destructor>_let_go)
    PyCapsule_SetContext(capsule, <void *>keep)
    Py_INCREF(keep)
    return Evaluator.from_capsule(capsule, name)

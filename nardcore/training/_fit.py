"""Fitting a net to labelled positions: minibatches, Adam, a cosine of the rate, validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nardcore import _train
from nardcore._work import processors
from nardcore.training._data import Labelled
from nardcore.training._floats import FloatNet, masks_of, rows_of

if TYPE_CHECKING:
    from nardcore.rules import Rules

__all__ = ["Fit", "Metrics", "fit", "measure", "points_by_class"]

_CHUNK = 16  # batches whose features are found at once


@dataclass(frozen=True)
class Fit:
    """How a net is fitted.

    Attributes
    ----------
    epochs : float
        How often each sample is seen, in the mean.
    rate : float
        The rate at the top of the cosine.
    batch : int
        Samples of a step.
    warm : int
        Steps in which the rate rises.
    floor : float
        The last rate as a share of the first.
    equity_share : float
        Factor of the squared error of equity in the loss, beside the cross-entropy.
    decay : float
        Decoupled weight decay.
    clip : float
        The largest size of a weight of the first layer, so that quantised sums stay in 16 bits.
    shards : int
        Parts of a minibatch with gradients of their own: the result depends on it, and not on
        threads.
    seed : int
        Of the order of the samples.

    Examples
    --------
    >>> Fit(epochs=2).batch
    4096
    """

    epochs: float = 1.0
    rate: float = 3e-3
    batch: int = 4096
    warm: int = 100
    floor: float = 0.02
    equity_share: float = 0.3
    decay: float = 0.0
    clip: float = 1.9
    shards: int = 2
    seed: int = 0


@dataclass(frozen=True)
class Metrics:
    """What a net misses on a set: means over its samples.

    Attributes
    ----------
    n : int
        Samples.
    entropy : float
        Cross-entropy less that of the labels themselves.
    mae, rms : float
        Absolute and root of squared error of the equity, in points.

    Examples
    --------
    >>> print(Metrics(100, 0.01, 0.05, 0.07))
    entropy 0.01000, mae 0.0500, rms 0.0700
    """

    n: int
    entropy: float
    mae: float
    rms: float

    def __str__(self) -> str:
        return f"entropy {self.entropy:.5f}, mae {self.mae:.4f}, rms {self.rms:.4f}"


def points_by_class(points: Sequence[int]) -> NDArray[np.float64]:
    """Give what each of the ten classes is worth to the side that has just moved.

    Examples
    --------
    >>> points_by_class((1, 1, 2, 2, 3)).tolist()
    [1.0, 1.0, 2.0, 2.0, 3.0, -1.0, -1.0, -2.0, -2.0, -3.0]
    """
    value = np.asarray(points, np.float64)
    return np.concatenate([value, -value])


def measure(net: FloatNet, data: Labelled, rules: Rules, *, masked: bool = True) -> Metrics:
    """Measure a net on a set of labels.

    Parameters
    ----------
    net
        The net.
    data
        Labels.
    rules
        By their points equity is counted.
    masked
        As for `fit`.

    Returns
    -------
    Metrics

    Examples
    --------
    >>> import nardcore as nc
    >>> data = Labelled.of_outcomes(nc.batch.start(4), np.array([0, 2, 5, 7]))
    >>> measure(FloatNet.fresh("plain", 32, seed=1), data, nc.BACKGAMMON).n
    4
    """
    value = points_by_class(rules.points)
    wanted = data.targets().astype(np.float64)
    found = net.evaluate(data.boards, rules if masked else None).astype(np.float64)
    error = (found - wanted) @ value
    tiny = 1e-12
    own = np.log(np.where(wanted > 0, np.maximum(wanted, tiny), 1.0))  # labels may be below 0
    entropy = (wanted * (own - np.log(np.maximum(found, tiny)))).sum(axis=1)
    return Metrics(
        len(data),
        float(entropy.mean()),
        float(np.abs(error).mean()),
        float(np.sqrt((error**2).mean())),
    )


def fit(
    net: FloatNet,
    data: Labelled | Sequence[Labelled],
    rules: Rules,
    how: Fit | None = None,
    *,
    masked: bool = True,
    threads: int | None = None,
    progress: Callable[[int, int, float], None] | None = None,
) -> FloatNet:
    """Fit a copy of a net to labels.

    Parameters
    ----------
    net
        Where to begin.
    data
        Labels; several sets are mixed.
    rules
        By their points equity is counted.
    how
        The plan.
    masked
        Whether classes that a position makes impossible stay out of the softmax, as
        `nardcore.nets` rates positions.
    threads
        How many; all processors by default. The result is the same.
    progress
        Called as ``progress(step, steps, mean loss)`` now and then. Ctrl-C ends the fit.

    Returns
    -------
    FloatNet

    Examples
    --------
    >>> import nardcore as nc
    >>> data = Labelled.of_outcomes(nc.batch.start(64), np.zeros(64, np.uint8))
    >>> plan = Fit(epochs=40, batch=64, warm=1, rate=0.02)
    >>> net = fit(FloatNet.fresh("plain", 32, seed=1), data, nc.BACKGAMMON, plan)
    >>> bool(net.evaluate(data.boards)[0, 0] > 0.9)
    True
    """
    how = how or Fit()
    sets = [data] if isinstance(data, Labelled) else list(data)
    begins = np.concatenate([[0], np.cumsum([len(s) for s in sets])])
    total = int(begins[-1])
    if not total:
        msg = "there is nothing to fit"
        raise ValueError(msg)
    batch = min(how.batch, total)
    steps = max(1, round(how.epochs * total / batch))
    rng = np.random.default_rng(how.seed)
    order: NDArray[np.int32] = np.zeros(0, np.int32)
    net = net.copy()
    model, value = net.model(), points_by_class(rules.points)
    trainer = _train.Trainer(model, how.shards, clip=how.clip)
    count = min(threads or processors(), how.shards)
    cuts = [batch * i // how.shards for i in range(how.shards + 1)]
    parts = count

    def load(which: NDArray[np.int32]) -> _train.Samples:
        which = np.sort(which.reshape(-1, batch), axis=1).reshape(-1)  # in memory's order
        of = np.searchsorted(begins, which, side="right") - 1
        boards = np.empty((len(which), 32), np.int8)
        targets = np.empty((len(which), 10), np.float32)
        for number, one in enumerate(sets):
            mine = of == number
            if mine.any():
                at = which[mine] - begins[number]
                boards[mine], targets[mine] = one.boards[at], one.targets(at)
        rows, buckets = rows_of(net.features, boards)
        masks = masks_of(boards, rules) if masked else None
        return _train.Samples(
            model, rows, buckets, targets, None, masks, points=value, equity_share=how.equity_share
        )

    def done(futures: list[Future[Any]]) -> None:
        wait(futures)
        for future in futures:
            future.result()

    step, losses, began = 0, np.zeros(4), time.perf_counter()
    pool = ThreadPoolExecutor(count + 1, "nardcore")
    try:
        following: Future[_train.Samples] | None = None
        while step < steps:
            chunk = min(_CHUNK, steps - step)
            if following is None:
                while len(order) < chunk * batch:
                    order = np.concatenate([order, rng.permutation(total).astype(np.int32)])
                following = pool.submit(load, order[: chunk * batch])
                order = order[chunk * batch :]
            samples = following.result()
            more = min(_CHUNK, steps - step - chunk)
            following = None
            if more:
                while len(order) < more * batch:
                    order = np.concatenate([order, rng.permutation(total).astype(np.int32)])
                following = pool.submit(load, order[: more * batch])
                order = order[more * batch :]
            for k in range(chunk):
                at = k * batch
                done(
                    [
                        pool.submit(trainer.gradient, s, samples, at + cuts[s], at + cuts[s + 1])
                        for s in range(how.shards)
                    ]
                )
                turn = 0.5 * (1 + np.cos(np.pi * step / steps))
                rate = how.rate * (how.floor + (1 - how.floor) * turn)
                rate *= min(1.0, (step + 1) / max(how.warm, 1))
                trainer.begin_step(rate, 1 / batch, how.decay)
                done([pool.submit(trainer.update, part, parts) for part in range(parts)])
                step += 1
            losses += trainer.losses()
            if progress is not None and (step // _CHUNK % 8 == 0 or step == steps):
                progress(step, steps, float(losses[1] / losses[0]))
                losses[:] = 0
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    trainer.finish()
    about = {"fit": asdict(how), "samples": total, "seconds": time.perf_counter() - began}
    net.about.update(about)
    return net

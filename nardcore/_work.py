"""Chunks of work on threads or an executor, their results in order."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from operator import index
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from concurrent.futures import Executor

    from nardcore._rollout import Stop

__all__ = ["in_order", "processors", "workers"]

_Item = TypeVar("_Item", bound=tuple[Any, ...])


def processors() -> int:
    """Count the processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def workers(threads: int | None, executor: Executor | None) -> int:
    """Check a request for threads or an executor, and count its workers."""
    if threads is not None:
        if isinstance(threads, bool) or index(threads) < 1:
            msg = f"threads is 1 or more, not {threads}"
            raise ValueError(msg)
        if executor is not None:
            msg = "threads and executor exclude each other"
            raise ValueError(msg)
        return min(index(threads), 1024)
    if executor is not None:
        if not hasattr(executor, "submit"):
            msg = f"an executor has submit(); {executor!r} has not"
            raise TypeError(msg)
        return int(getattr(executor, "_max_workers", 0) or processors())
    return processors()


def in_order(
    task: Callable[..., Any],
    items: Iterable[_Item],
    stop: Stop,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Generator[tuple[_Item, Any], None, None]:
    """Run ``task(*item)`` for each item and yield (item, result) in the items' order.

    Only a window of items is under way, so that memory does not grow with their number. Waiting in
    short steps lets Ctrl-C through to the main thread. However the generator ends, `stop` is set,
    what has not begun is cancelled, and threads of its own have ended.
    """
    count = workers(threads, executor)
    pool = executor or ThreadPoolExecutor(count, "nardcore")
    todo = iter(items)
    given: dict[int, _Item] = {}
    running: dict[Future[Any], int] = {}
    ready: dict[int, Any] = {}
    turn = serial = 0
    try:
        while True:
            while len(given) < 4 * count and (item := next(todo, None)) is not None:
                running[pool.submit(task, *item)] = serial
                given[serial] = item
                serial += 1
            if not given:
                return
            for future in wait(running, timeout=0.05, return_when=FIRST_COMPLETED).done:
                at = running.pop(future)
                ready[at] = future.result()
            while turn in ready:
                yield given.pop(turn), ready.pop(turn)
                turn += 1
    finally:
        stop.set()
        for future in running:
            future.cancel()
        if executor is None:
            pool.shutdown(wait=True, cancel_futures=True)

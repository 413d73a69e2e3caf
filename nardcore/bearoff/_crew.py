"""Threads that build a table: a phase at a time, stopped at once by Ctrl-C."""

from __future__ import annotations

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from nardcore import _bearoff
from nardcore._work import workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from nardcore.typing import Progress

__all__ = ["Crew"]


class Crew:
    """Workers that share the tasks of a phase; the next phase starts when all are done.

    Unlike `nardcore._work.in_order`, whose threads end with its items, they live as long as the
    build: it may have thousands of phases, some of them shorter than the start of a thread.
    """

    def __init__(self, threads: int | None, progress: Progress | None, total: int) -> None:
        self.threads = min(workers(threads, None), 256)
        self.stop = _bearoff.Stop()
        self.done = 0
        self.total = total
        self._progress = progress
        self._pool = ThreadPoolExecutor(self.threads, "nardcore")

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def run(self, calls: Iterable[Callable[[], Any]]) -> list[Any]:
        """Run calls at the same time and give their results; the first error ends all."""
        futures = [self._pool.submit(call) for call in calls]
        left = set(futures)
        while left:  # short waits let Ctrl-C through
            done, left = wait(left, timeout=0.05, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        return [future.result() for future in futures]

    def advance(self, amount: int) -> None:
        """Tell how much is done."""
        self.done += amount
        if self._progress is not None:
            self._progress(self.done, self.total)

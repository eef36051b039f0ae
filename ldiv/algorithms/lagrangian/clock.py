"""When to stop: a time limit, and Ctrl-C, which keeps the best so far."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Clock"]


class Clock:
    """Seconds from now on; none at all once it, or a clock that it runs within, is stopped."""

    def __init__(self, seconds: float | None = None, within: Clock | None = None) -> None:
        self.end = math.inf if seconds is None else time.monotonic() + seconds
        self.within = within

    @property
    def left(self) -> float:
        """Seconds, infinity where there is no limit."""
        mine = self.end - time.monotonic()
        return mine if self.within is None else min(mine, self.within.left)

    def over(self) -> bool:
        return time.monotonic() > self.end or (self.within is not None and self.within.over())

    def stop(self) -> None:
        self.end = -math.inf

    @contextmanager
    def stopped_by_interrupt(self, say: Callable[[str], None] | None = None) -> Iterator[None]:
        """The first Ctrl-C stops the clock, the second one is as usual. Only in the main thread, where signals arrive."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def first(number: int, frame: FrameType | None) -> None:
            self.stop()
            signal.signal(signal.SIGINT, before)
            if say is not None:
                say("interrupted: the best release so far is kept (Ctrl-C again to stop)")

        if before is None or before == signal.SIG_IGN:  # somebody else's, or nobody's
            yield
            return
        signal.signal(signal.SIGINT, first)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

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
    """Seconds from now on; none at all once it is stopped."""

    def __init__(self, seconds: float | None = None) -> None:
        self.end = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, infinity where there is no limit."""
        return self.end - time.monotonic()

    def over(self) -> bool:
        return time.monotonic() > self.end

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

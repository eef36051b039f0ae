"""How large neighbourhoods are: as large as saves most for the work, which is found while they are solved."""

from __future__ import annotations

__all__ = ["Sizes"]

FACTOR = 1.4
PROBE = 5  # batches, of which the last tries the next size
MEMORY = 0.8  # of what a size has saved, and of its work, when it is used again
IN_VAIN = 2  # batches without a star saved after which the next size is taken


class Sizes:
    """Sizes from the smallest to the largest, each with what it has lately saved for its work.

    Small neighbourhoods save most for an iteration of the simplex method as long as they save anything; later only larger ones do. Work is
    counted in iterations, which are the same on every machine.
    """

    def __init__(self, first: int, smallest: int, largest: int) -> None:
        sizes = [float(smallest)]
        while sizes[-1] * FACTOR <= largest:
            sizes.append(sizes[-1] * FACTOR)
        self.sizes = [round(size) for size in sizes]
        self.saved, self.work = [0.0] * len(sizes), [0.0] * len(sizes)
        self.at = max(k for k, size in enumerate(self.sizes) if size <= max(first, smallest))
        self.most = len(sizes) - 1
        self.turn = self.vain = 0
        self.tried = self.at

    def next(self) -> int:
        """The size of the next batch."""
        self.turn += 1
        self.tried = min(self.at + (self.turn % PROBE == 0), self.most)
        return self.sizes[self.tried]

    def told(self, saved: float, work: float, solved: bool) -> None:
        """What a batch of that size has saved, for how much work, and whether all its programs were solved."""
        k = self.tried
        self.saved[k] = MEMORY * self.saved[k] + saved
        self.work[k] = MEMORY * self.work[k] + max(work, 1.0)
        if not solved:
            self.most = max(k - 1, 0)
            self.at = min(self.at, self.most)
        elif k > self.at and self.rate(k) >= self.rate(self.at):
            self.at, self.vain = k, 0
        elif k == self.at:
            self.vain = 0 if saved else self.vain + 1
            if self.vain >= IN_VAIN:
                self.at, self.vain = min(k + 1, self.most), 0

    def rate(self, k: int) -> float:
        return self.saved[k] / self.work[k] if self.work[k] else 0.0

    def free(self) -> None:
        """All sizes may be tried again, since there is more time for each program."""
        self.most = len(self.sizes) - 1

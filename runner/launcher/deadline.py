"""Every wait ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment after which a wait gives up.

    Parameters
    ----------
    seconds : float
        From now on.
    """

    seconds: float
    _at: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_at", time.monotonic() + self.seconds)

    @property
    def left(self) -> float:
        """Seconds that remain, 0 when it is over."""
        return max(0.0, self._at - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether the moment has passed."""
        return self.left == 0.0

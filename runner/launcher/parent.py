"""When the launcher is gone, so are we: a killed mpirun or srun must leave no rank behind."""

from __future__ import annotations

import os
import signal
import threading
import time

_LOOK_SECONDS = 0.5


def stop_without_parent(parent: int) -> None:
    """Send this process SIGTERM, from a thread of its own, once its parent has ended.

    Parameters
    ----------
    parent : int
        The process that started this one; it may have ended already.

    Notes
    -----
    The kernel could do it (``PR_SET_PDEATHSIG``), but counts the end of the *thread* that started us
    as the parent's end, and launchers start ranks from threads.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()

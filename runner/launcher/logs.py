"""One log file per process, in a private folder of each job; on the screen only if somebody asks.

The supervisors log what they do and what they say to people; scheduler and workers what Dask logs. The job's
own process prints where it likes: its output is not ours.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from runner.errors import WriteError
from runner.launcher.facts import RankFacts
from runner.launcher.speak import SAID

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def make_folder(root: Path, job: str) -> Path:
    """Make the folder for the logs of a job, private to the user, and return it.

    Raises
    ------
    WriteError
        If it cannot be made.
    """
    folder = (root / job).absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(
            f"no logs can be written to {folder} ({error.strerror})", "choose another folder with --logs"
        ) from error
    return folder


def log_file(folder: Path, facts: RankFacts, name: str) -> Path:
    """Return where a process of a rank logs to."""
    return folder / f"rank-{facts.rank:04d}.{facts.host}.{name}.log"


def prefix(facts: RankFacts, name: str) -> str:
    """Return how a process of a rank is called on the screen."""
    return f"rank {facts.rank} @ {facts.host} {name}"


def log_supervisor(folder: Path | None, facts: RankFacts, *, verbose: bool) -> None:
    """Let this process, a supervisor, log what it does: to a file, to the screen, or not at all.

    Our own logger alone is touched: what another one reports as a problem still reaches the screen.
    """
    logger = logging.getLogger("runner")
    logger.setLevel(logging.INFO)
    if folder is not None:
        logging.raiseExceptions = False  # a full disk is no reason to write over the job's output
        handler = logging.FileHandler(log_file(folder, facts, "supervisor"))
        handler.setFormatter(logging.Formatter(FORMAT))
        logger.addHandler(handler)
    if verbose:
        screen = to_screen(prefix(facts, "supervisor"))
        screen.addFilter(lambda record: record.name != SAID)  # it is there already
        logger.addHandler(screen)


def to_screen(who: str) -> logging.Handler:
    """Return a handler that shows log lines on standard error, each with who says it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(f"{who.replace('%', '%%')}: %(message)s"))
    return handler

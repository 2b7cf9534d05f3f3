"""What we say to people while a job runs: whole lines on standard error, each with who says it."""

from __future__ import annotations

import logging
import sys

SAID = "runner.said"  # the logger of what was said

_LOG = logging.getLogger(SAID)


def say(who: str, text: str) -> None:
    """Write one or more lines in a single write, so that ranks do not mix within a line.

    Parameters
    ----------
    who : str
        ``"runner"``, or the process it is about: ``"rank 3 @ node2 worker"``.
    text : str
        One line, or several that belong together.
    """
    sys.stderr.write(f"{who}: {text}\n")
    sys.stderr.flush()
    _LOG.info("%s: %s", who, text)

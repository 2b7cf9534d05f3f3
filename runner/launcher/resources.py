"""Tags of workers: how much of a named thing each has for its tasks, as in ``big=1,disk=2``."""

from __future__ import annotations

import math
import re

from runner.errors import UsageError

GPU = "GPU"

_TAG = re.compile(r"([A-Za-z_][\w-]*)=(\d+(?:\.\d+)?(?:e\d+)?)", re.ASCII)


def parse_resources(text: str) -> dict[str, float]:
    """Read tags: names with amounts, separated by commas or spaces as for ``dask worker --resources``.

    Raises
    ------
    UsageError
        If the text is something else, an amount is not above zero, or a name comes twice.

    Examples
    --------
    >>> parse_resources("big=1, disk=2.5")
    {'big': 1.0, 'disk': 2.5}
    """
    words = text.replace(",", " ").split()
    matches = [match for word in words if (match := _TAG.fullmatch(word))]
    tags = {match[1]: float(match[2]) for match in matches}
    if not words or len(tags) < len(words) or not all(0 < amount < math.inf for amount in tags.values()):
        raise UsageError(
            f"{text!r} are no resources", "write names and amounts above zero, each once, like big=1,disk=2"
        )
    return tags


def format_resources(tags: dict[str, float]) -> str:
    """Write tags as they are read.

    >>> format_resources({"big": 1.0, "disk": 2.5})
    'big=1,disk=2.5'
    """
    return ",".join(f"{name}={amount:g}" for name, amount in tags.items())

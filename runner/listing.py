"""Lists of words for a line of text."""

from __future__ import annotations

from collections.abc import Sequence


def few(words: Sequence[str], most: int = 3) -> str:
    """List the first few of some words, and count the others.

    >>> few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more

"""Lists of words for a line of text, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence


def few(words: Sequence[str], most: int = 3) -> str:
    """List the first few of some words, and count the others.

    >>> few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def columns(lines: Sequence[Sequence[str]]) -> str:
    """Write lines of words as a table.

    >>> print(columns([("scan", "slices"), ("a.nx", "64")]))
    scan  slices
    a.nx  64
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )

"""Where a function's modules come from.

A function of ``__main__`` travels by value. One of a module travels by its name, and the module is imported
on each node: from beside the script, from a package in development, or installed. That needs the folders in
which this process looks, and the same file system.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path


def own_folders(path: Sequence[str], prefixes: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of a search path that do not belong to the interpreter.

    >>> own_folders(["/home/me/scripts", "/usr/lib/python3.11"], ["/usr"])
    ('/home/me/scripts',)
    """
    roots = [Path(prefix) for prefix in prefixes]
    folders = [Path(folder).absolute() for folder in path]
    own = [folder for folder in folders if not any(folder.is_relative_to(root) for root in roots)]
    return tuple(dict.fromkeys(os.fspath(folder) for folder in own))


def folders_here() -> tuple[str, ...]:
    """Return the folders beside the interpreter's own in which this process looks for modules."""
    return own_folders(sys.path, {sys.prefix, sys.base_prefix, sys.exec_prefix})


def add_folders(folders: Iterable[str]) -> None:
    """Look for modules in these folders as well, first."""
    sys.path[:0] = [folder for folder in folders if folder not in sys.path]

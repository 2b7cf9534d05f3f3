"""Where a function's modules come from, and whether another process finds them there.

A function of ``__main__`` travels by value. One of a module travels by its name, and the module is imported
on each node: from beside the script, from a package in development, or installed. That needs the folders in
which this process looks, and the same file system.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from runner.errors import UsageError
from runner.maps.inputs import Inputs

_SECONDS = 120.0  # imports of a large package from a cold disk

#: What the other interpreter does: exactly what a worker does.
_TRIAL = """
import json, sys
from pathlib import Path
from runner.maps.component import Work, try_inputs
from runner.maps.record import Component
folder, inputs, size, folders, first = json.loads(sys.argv[1])
work = Work(folder=Path(folder), inputs=Path(inputs), function_size=size, import_folders=tuple(folders))
sys.exit(try_inputs(work, Component(*first) if first else None))
"""


_HOME = os.fspath(Path(__file__).parents[2])  # of this package, which need not be installed


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


def check_elsewhere(inputs: Inputs, folders: Sequence[str], function: str) -> None:
    """Find out now, in an interpreter of its own, what every worker would find out after a night in a queue.

    Parameters
    ----------
    inputs : Inputs
        The pickled function, and its arguments, of which the first is tried.
    folders : sequence of str
        Where modules are looked for besides.
    function : str
        The function's name, for the message.

    Raises
    ------
    UsageError
        If the function cannot be loaded in another process; it says what is missing.
    """
    first = inputs.components[0] if inputs.components else None
    told = [os.fspath(inputs.path.parent), os.fspath(inputs.path), inputs.function_size, folders, first]
    try:
        trial = subprocess.run(
            [sys.executable, "-c", _TRIAL, json.dumps(told)],
            cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join([_HOME, *_path_variable()])},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"another process could not import {function} within {_SECONDS:.0f} s", "what does it import?"
        ) from error
    if trial.returncode != 0:
        said = trial.stderr.strip().splitlines()[-1:] or ["without a word"]
        raise UsageError(
            f"another process cannot load {function} or its argument: {said[0]}",
            "put what is missing into the script, a file beside it, or an installed package",
        )


def _path_variable() -> list[str]:
    return [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]

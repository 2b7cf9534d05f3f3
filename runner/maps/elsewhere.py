"""What another interpreter makes of a map's function and arguments: as a worker would, at its own risk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from runner.errors import UsageError
from runner.maps.component import Work
from runner.maps.failures import ComponentFailure, describe_failure
from runner.maps.layout import Layout
from runner.maps.record import Component

_TRIAL_SECONDS = 120.0  # imports of a large package from a cold disk
_TELL_SECONDS = 20.0

_BEGIN = """
import json, sys
from pathlib import Path
from runner.maps.component import Work, argument_text, try_inputs
from runner.maps.record import Component
folder, inputs, size, folders, one = json.loads(sys.argv[1])
work = Work(folder=Path(folder), inputs=Path(inputs), function_size=size, import_folders=tuple(folders))
component = Component(*one) if one else None
"""
_TRY = f"{_BEGIN}sys.exit(try_inputs(work, component))"
_TELL = f"{_BEGIN}print(argument_text(work, component))"

_HOME = os.fspath(Path(__file__).parents[2])  # of this package, which need not be installed


def check_elsewhere(work: Work, first: Component | None, function: str) -> None:
    """Find out now, in an interpreter of its own, what every worker would find out after a night in a queue.

    Parameters
    ----------
    work : Work
        Where the pickled function is, and where its modules are looked for.
    first : Component or None
        The component whose argument is tried.
    function : str
        The function's name, for the message.

    Raises
    ------
    UsageError
        If the function cannot be loaded in another process; it says what is missing.
    """
    try:
        trial = _run(_TRY, work, first, _TRIAL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"another process could not import {function} within {_TRIAL_SECONDS:.0f} s",
            "what does it import?",
        ) from error
    if trial.returncode != 0:
        said = trial.stderr.strip().splitlines()[-1:] or ["without a word"]
        raise UsageError(
            f"another process cannot load {function} or its argument: {said[0]}",
            "put what is missing into the script, a file beside it, or an installed package",
        )


def describe_from_afar(
    work: Work, component: Component, why: str, *, seconds: float, worker: str = ""
) -> ComponentFailure:
    """Put together what is known about a component that could not tell itself how it ended.

    Its argument is told by another interpreter: it may be what kills whoever opens it.
    """
    failure = describe_failure(
        Layout(work.folder), component.key, why, seconds=seconds, worker=worker, here=False
    )
    return replace(failure, argument=_argument(work, component))


def _argument(work: Work, component: Component) -> str:
    try:
        told = _run(_TELL, work, component, _TELL_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    last = told.stdout.splitlines()[-1:]  # behind what imports print
    return last[0] if told.returncode == 0 and last else ""


def _run(
    program: str, work: Work, component: Component | None, seconds: float
) -> subprocess.CompletedProcess[str]:
    told = [
        os.fspath(work.folder),
        os.fspath(work.inputs),
        work.function_size,
        work.import_folders,
        component,
    ]
    path = [_HOME, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return subprocess.run(
        [sys.executable, "-c", program, json.dumps(told)],
        cwd="/",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )

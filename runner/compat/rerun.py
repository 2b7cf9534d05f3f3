"""From a rank that runs a script to one of ``python -m runner`` with the same script.

An old script begins on every rank. When it asks for its cluster, the rank's process is replaced: it keeps its
id, its place among the ranks and its environment, so that no launcher notices.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

import psutil

from runner.errors import RunnerError, UsageError
from runner.launcher.place import find_place
from runner.launcher.speak import say
from runner.launcher.specs import INSIDE_VARIABLE

_RANK_0_SPEAKS_SECONDS = 1.0  # before another rank ends all


class WorldTooSmallException(RunnerError, RuntimeError):  # noqa: N818 - dask-mpi's name
    """There are fewer ranks than scheduler, client and one worker need."""


def inside() -> bool:
    """Tell whether a job of ours runs this, or started the process that does."""
    return INSIDE_VARIABLE in os.environ


def refuse(problem: str, remedy: str) -> NoReturn:
    """Raise a UsageError; where MPI is at work, end all its ranks, which would wait for this one for ever.

    Raises
    ------
    UsageError
        Always.
    """
    error = UsageError(problem, remedy)
    if mpi := _mpi_at_work():
        if mpi.COMM_WORLD.rank == 0:
            say("runner", str(error))
        else:
            time.sleep(_RANK_0_SPEAKS_SECONDS)
        mpi.COMM_WORLD.Abort(error.exit_code)
    raise error


def _mpi_at_work() -> Any:
    """Return mpi4py's module if the script has started MPI, without starting it."""
    mpi = sys.modules.get("mpi4py.MPI")
    return mpi if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() else None


def mention_ignored(function: str, **given: tuple[object, object]) -> None:
    """Say, on rank 0, which arguments have no effect; each comes with its default."""
    names = [f"{name}=" for name, (value, default) in given.items() if value not in (default, None)]
    if names and find_place(os.environ).rank == 0:
        say("runner", f"{function}({', '.join(names)}) has no effect here")


def role_options(*, needed: int, why: str, exclusive: bool = True) -> list[str]:
    """Return the options for the roles of the ranks that are there.

    Raises
    ------
    WorldTooSmallException
        If a launcher started fewer than `needed`.
    """
    place = find_place(os.environ)
    if place.launcher == "none":  # one machine, where all roles live side by side
        return []
    if place.size < needed:
        raise WorldTooSmallException(f"not enough ranks: found {place.size}, needs at least {needed}, {why}")
    return ["--roles", "dedicated" if exclusive and place.size > 2 else "shared"]


def worker_words(
    interface: str | None, threads: int | None, folder: str | None, memory: float | str | None
) -> list[str]:
    """Return the options for workers, from arguments as Dask's workers take them."""
    if isinstance(memory, float) and memory <= 1:  # a part of the machine's
        memory = int(memory * psutil.virtual_memory().total)
    elif isinstance(memory, float):
        memory = int(memory)
    options = {
        "--interface": interface,
        "--threads": threads,
        "--scratch": folder,
        "--memory-limit": None if memory == "auto" else memory,
    }
    return [word for name, value in options.items() if value for word in (name, str(value))]


def become_runner(*options: str) -> NoReturn:
    """Run ``python -m runner OPTIONS`` with this very script, in this very process.

    Raises
    ------
    UsageError
        If there is no script that could be run again.
    """
    from subprocess import _args_from_interpreter_flags  # type: ignore[attr-defined]

    flags = _args_from_interpreter_flags()
    words = [sys.executable, *flags, "-m", "runner", *options, *_this_program(), *sys.argv[1:]]
    if mpi := _mpi_at_work():
        mpi.Finalize()  # all ranks come here; MPI itself must not see one vanish
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os.execv(sys.executable, words)  # noqa: S606 - the very same interpreter


def _this_program() -> list[str]:
    main = sys.modules["__main__"]
    if (spec := getattr(main, "__spec__", None)) is not None:
        return ["-m", spec.name.removesuffix(".__main__")]
    if getattr(main, "__file__", None) is None or not os.path.exists(sys.argv[0]):  # noqa: PTH110
        raise UsageError("there is no script that could be run on the cluster", "write it into a file")
    return [sys.argv[0]]

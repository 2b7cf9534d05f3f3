"""One component, in the process that runs it: called, and its end written down before anybody is told.

What the function raises, prints or returns is its own matter and never ends the process or another component.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from runner.errors import StartError
from runner.maps.failures import ComponentFailure, describe_failure, one_line, shown, write_failure
from runner.maps.imports import add_folders
from runner.maps.inputs import load_piece
from runner.maps.layout import Layout
from runner.maps.output import captured
from runner.maps.record import Component, MapRecord
from runner.maps.results import MOST_BYTES, TooLargeError, write_result
from runner.units import format_size

_LOADING = threading.Lock()
_running: set[int] = set()  # threads of this process that run a component


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a process needs to run components of a map.

    Attributes
    ----------
    folder : Path
        The map's.
    inputs : Path
        The file of inputs.
    function_size : int
        Bytes of the function there.
    import_folders : tuple of str
        Where its modules are.
    """

    folder: Path
    inputs: Path
    function_size: int
    import_folders: tuple[str, ...]

    @classmethod
    def of(cls, layout: Layout, record: MapRecord) -> Self:
        """Take from a map what its components need."""
        return cls(
            folder=layout.folder,
            inputs=layout.folder / record.inputs,
            function_size=record.function_size,
            import_folders=record.import_folders,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a component ended.

    Attributes
    ----------
    key : str
        Which.
    state : {"done", "failed", "unwritten"}
        Whether its value or its failure is in the folder; unwritten if neither could be written.
    seconds : float
        How long it took.
    problem : str
        Why it is unwritten.
    """

    key: str
    state: Literal["done", "failed", "unwritten"]
    seconds: float = 0.0
    problem: str = ""


def run_bunch(work: Work, components: tuple[Component, ...], until: float, worker: str = "") -> list[Outcome]:
    """Run components one after the other, until the time has come.

    Parameters
    ----------
    work : Work
        Of which map.
    components : tuple of Component
        Which.
    until : float
        The time after which none is begun, seconds since 1970.
    worker : str
        The name of this process in the cluster.

    Returns
    -------
    list of Outcome
        Of those that were begun.

    Raises
    ------
    StartError
        If the function cannot be loaded here.
    """
    outcomes: list[Outcome] = []
    for component in components:
        if time.time() >= until or (outcomes and outcomes[-1].state == "unwritten"):
            break
        outcomes.append(run_component(work, component, worker=worker))
    return outcomes


def run_component(
    work: Work,
    component: Component,
    *,
    worker: str = "",
    capture: bool = True,
    function: Callable[[Any], Any] | None = None,
) -> Outcome:
    """Run one component to its end, unless its value is there already.

    Parameters
    ----------
    work, component, worker
        As in :func:`run_bunch`.
    capture : bool
        Whether what it prints goes to its own file, or where this process prints.
    function : callable, optional
        The function itself, where it is at hand: a debugger knows its file.

    Raises
    ------
    StartError
        If the function cannot be loaded here.
    """
    layout = Layout(work.folder)
    if layout.result(component.key).exists():
        return Outcome(key=component.key, state="done")
    function = function or _function(work)
    layout.log(component.key).unlink(missing_ok=True)
    began = time.monotonic()
    argument: object = None
    failure: ComponentFailure | None = None
    with _memory_watched() as peak:
        try:
            with captured(layout.log(component.key)) if capture else nullcontext():
                argument = load_piece(work.inputs, component.offset, component.size)
                value = function(argument)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise  # of a person, not of the component
            failure = describe_failure(
                layout,
                component.key,
                error,
                seconds=time.monotonic() - began,
                argument=argument,
                memory=peak(),
                worker=worker,
            )
    seconds = time.monotonic() - began
    try:
        if failure is None:
            failure = _keep(layout, component.key, value, seconds=seconds, argument=argument, worker=worker)
        if failure is not None:
            write_failure(layout, failure)
    except OSError as error:
        return Outcome(key=component.key, state="unwritten", seconds=seconds, problem=one_line(error))
    return Outcome(key=component.key, state="failed" if failure else "done", seconds=seconds)


def _keep(layout: Layout, key: str, value: object, **about: Any) -> ComponentFailure | None:
    """Write a value; return what is wrong with it if it cannot be kept."""
    try:
        write_result(layout.result(key), value)
    except OSError:
        raise
    except TooLargeError:
        limit = format_size(MOST_BYTES)
        why = f"its result has more than {limit}: write it to a file (HDF5, Zarr) and return the path"
        return describe_failure(layout, key, why, **about)
    except Exception as error:  # noqa: BLE001  (whatever a class of the user raises)
        why = f"its result cannot be pickled ({one_line(error)}): return plain values, or a path"
        return describe_failure(layout, key, why, **about)
    with suppress(OSError):
        layout.failure(key).unlink(missing_ok=True)  # of an earlier try
    return None


def _function(work: Work) -> Callable[[Any], Any]:
    with _LOADING:  # of several threads one imports
        return _load(work)


@cache
def _load(work: Work) -> Callable[[Any], Any]:
    add_folders(work.import_folders)
    try:
        function: Callable[[Any], Any] = load_piece(work.inputs, 0, work.function_size)
    except Exception as error:
        raise StartError(
            f"the function cannot be loaded on {os.uname().nodename} ({one_line(error)})",
            "does every machine see the files and packages that it is made of?",
        ) from error
    return function


@contextmanager
def _memory_watched() -> Iterator[Callable[[], int | None]]:
    """Give what returns the most memory that this process had in the block; None if it was not alone."""
    me = threading.get_ident()
    alone = not _running
    _running.add(me)
    if alone:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the kernel's mark of the most memory starts anew
    try:
        yield lambda: _peak() if alone and _running == {me} else None
    finally:
        _running.discard(me)


def _peak() -> int | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return None


def try_inputs(work: Work, component: Component | None) -> str | None:
    """Load the function and an argument as a worker does; return what is wrong, None if nothing is."""
    try:
        _function(work)
        if component is not None:
            load_piece(work.inputs, component.offset, component.size)
    except Exception as error:  # noqa: BLE001  (whatever an import of the user raises)
        return one_line(error.__cause__ or error)
    return None


def argument_text(work: Work, component: Component) -> str:
    """Return the argument of a component as its report has it."""
    add_folders(work.import_folders)
    return shown(load_piece(work.inputs, component.offset, component.size))

"""Making a map, and going on with one of the same name: nothing that is done is done again, or lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from runner.errors import UsageError, WriteError
from runner.launcher.speak import say
from runner.listing import few
from runner.maps.begin import begin, check_place
from runner.maps.component import Work
from runner.maps.elsewhere import check_elsewhere
from runner.maps.failures import shown
from runner.maps.imports import folders_here
from runner.maps.inputs import Inputs, changed_arguments, write_inputs
from runner.maps.job import Job, to_plain
from runner.maps.layout import Layout, check_keys, check_name, maps_folder, numbered
from runner.maps.map import Map
from runner.maps.record import ON_ERROR, MapRecord, OnError, read_record, write_record
from runner.maps.source import difference, name_of, source_of
from runner.maps.status import status_of
from runner.maps.versions import versions

Changed = Literal["keep", "redo"]
_REMEDY = 'changed="keep" keeps the results there are, changed="redo" makes them again; or take another name'


def map(  # noqa: A001  (that is what it does, as runner.map)
    function: Callable[[Any], Any],
    arguments: Iterable[Any],
    *,
    name: str,
    keys: Iterable[str] | None = None,
    job: Job | str | None = None,
    chunk: int | None = None,
    on_error: OnError = "continue",
    resources: Mapping[str, float] | None = None,
    cluster_per_component: bool = False,
    changed: Changed | None = None,
) -> Map:
    """Call a function with each of many arguments, somewhere else, and keep every result in a folder.

    The folder is ``maps/NAME``, or below ``RUNNER_MAPS``. The same call again goes on: components that are
    done stay, those that failed are tried again, new ones are added.

    Parameters
    ----------
    function : callable
        Takes one argument. It may be one of the script, a closure, a lambda, or one of a module that the
        script can import.
    arguments : iterable
        What it is called with. All must be picklable, together not more than 1 GiB.
    name : str
        Of the map; letters, digits, ``- _ .``
    keys : iterable of str, optional
        A name for each component, a file name; without it, its place: ``"0000"``, ``"0001"`` ... With keys,
        the arguments may be put into another order later, or become more.
    job : Job, ``"local"`` or ``"debug"``, optional
        A batch job: it is submitted, once for all, and this returns. ``"local"``: processes of this machine.
        ``"debug"``: this process, one component after the other, where breakpoints work. Without it: the
        cluster that this process is a client of, as in a job of the runner. But for a batch job, this
        returns when the map is over.
    chunk : int, optional
        How many components are sent to a worker together; without it, that follows from the time they take.
    on_error : {"continue", "stop"}
        Whether others are begun when one has failed.
    resources : mapping of str to float, optional
        What a component takes of a Dask worker's resources, like ``{"GPU": 1}``. Without it, a worker with a
        GPU does one component at a time, others one in each of their threads; ``{}`` is one in each thread.
    cluster_per_component : bool
        Each component is a program for the whole cluster: they run one after the other in the client.
    changed : {"keep", "redo"}, optional
        What happens to results of a function or an argument that is not the same any more.

    Returns
    -------
    Map
        Its values, failures and state.

    Raises
    ------
    UsageError
        If something cannot be as it was given, if the function or an argument has changed and `changed` does
        not say what to do, or if somebody else works at the map.
    PartialError
        If the time was over before all was done.
    RunnerError
        If it cannot be begun, or not be ended.

    Examples
    --------
    >>> import runner
    >>> squares = runner.map(lambda number: number**2, range(4), name="squares", job="debug")
    >>> squares.values()
    [0, 1, 4, 9]
    """
    layout = Layout(maps_folder(os.environ) / check_name(name))
    check_place(job, layout)
    working = _prepare(
        function,
        arguments,
        layout,
        keys=keys,
        job=job,
        chunk=chunk,
        on_error=on_error,
        resources=resources,
        cluster_per_component=cluster_per_component,
        changed=changed,
    )
    if not working:
        begin(layout, job, function)
    elif not isinstance(job, Job):
        raise _taken(layout, working)
    return Map(layout)


def prepare(function: Callable[[Any], Any], arguments: Iterable[Any], *, name: str, **options: Any) -> Layout:
    """Write a map into its folder, as :func:`map` with the same arguments, and leave it to be run.

    Raises
    ------
    RunnerError
        As from :func:`map`.
    """
    layout = Layout(maps_folder(os.environ) / check_name(name))
    working = _prepare(function, arguments, layout, **options)
    if working:
        raise _taken(layout, working)
    return layout


def _prepare(
    function: Callable[[Any], Any],
    arguments: Iterable[Any],
    layout: Layout,
    *,
    keys: Iterable[str] | None = None,
    job: Job | str | None = None,
    chunk: int | None = None,
    on_error: OnError = "continue",
    resources: Mapping[str, float] | None = None,
    cluster_per_component: bool = False,
    changed: Changed | None = None,
) -> str:
    """Write a map into its folder; return who works at it already, if somebody does."""
    _check_choices(function, chunk, on_error, changed)
    listed = _listed(arguments)
    named = numbered(len(listed)) if keys is None else list(keys)
    check_keys(named, len(listed))
    try:
        inputs = _write_inputs(layout, function, listed, named)
        record = MapRecord(
            function=name_of(function),
            source=source_of(function),
            inputs=inputs.path.name,
            function_size=inputs.function_size,
            components=inputs.components,
            import_folders=folders_here(),
            versions=versions(),
            created=time.time(),
            chunk=chunk,
            on_error=on_error,
            resources=None if resources is None else dict(resources),
            cluster_per_component=cluster_per_component,
            job={"local": True} if job == "local" else to_plain(job if isinstance(job, Job) else None),
        )
        try:
            if job == "local" or isinstance(job, Job):
                check_elsewhere(Work.of(layout, record), next(iter(record.components), None), record.function)
            return _settle(layout, record, inputs, changed)
        except BaseException:
            inputs.path.unlink(missing_ok=True)
            raise
    except BaseException:
        if not layout.record.exists():
            _remove_empty(layout)
        raise


def _write_inputs(
    layout: Layout, function: Callable[[Any], Any], arguments: list[Any], keys: list[str]
) -> Inputs:
    try:
        layout.make()
        return write_inputs(layout, function, arguments, keys)
    except OSError as error:
        raise WriteError(
            f"map {layout.folder.name} cannot be written to {layout.folder} ({error})"
        ) from error


def _taken(layout: Layout, working: str) -> UsageError:
    name = layout.folder.name
    return UsageError(f"map {name} is being worked at: {working}", f"wait for it: runner status {name}")


def _check_choices(function: object, chunk: int | None, on_error: str, changed: str | None) -> None:
    if not callable(function):
        raise UsageError(f"{shown(function)} cannot be called", "give a function")
    if chunk is not None and (not isinstance(chunk, int) or chunk < 1):
        raise UsageError(f"chunk={chunk!r} is no number of components", "give 1 or more, or leave it out")
    if on_error not in ON_ERROR:
        raise UsageError(f"on_error={on_error!r} is unknown", f"choose {' or '.join(ON_ERROR)}")
    if changed not in (None, "keep", "redo"):
        raise UsageError(f"changed={changed!r} is unknown", 'choose "keep" or "redo", or leave it out')


def _listed(arguments: Iterable[Any]) -> list[Any]:
    """List the arguments; of a mapping it is not clear what is meant."""
    if isinstance(arguments, Mapping) or not isinstance(arguments, Iterable):
        raise UsageError(
            f"the arguments of a map are of the type {type(arguments).__qualname__}, not one after the other",
            "give a list of them; of a dict: map(function, d.values(), keys=d)",
        )
    return list(arguments)


def _settle(layout: Layout, record: MapRecord, inputs: Inputs, changed: Changed | None) -> str:
    """Make a record the map's, after a look at the one there was; return who works at that, if somebody does.

    Raises
    ------
    UsageError
        If results are there that another function or other arguments have made.
    """
    working = ""
    if layout.record.exists():
        before = read_record(layout)
        status = status_of(layout, before)
        working = "" if status.is_over else status.job or status.reason
        done, failed = layout.outcomes()
        stale = _stale(layout, before, record, inputs, done)
        if stale and working:
            raise UsageError(
                f"map {layout.folder.name} is being worked at ({working}), with another function",
                "wait for its end, cancel it, or take another name",
            )
        if stale and changed is None:
            raise _changed_error(layout, before, record, stale)
        if working:
            inputs.path.unlink()
            return working
        for key in failed & set(record.keys):
            layout.failure(key).unlink(missing_ok=True)
        if changed == "redo":
            for key in stale:
                layout.result(key).unlink(missing_ok=True)
        write_record(layout, record)
        (layout.folder / before.inputs).unlink(missing_ok=True)
    else:
        write_record(layout, record)
    return working


def _stale(
    layout: Layout, before: MapRecord, record: MapRecord, inputs: Inputs, done: set[str]
) -> dict[str, str]:
    """Return the components with a value that this function and argument have not made, and what differs."""
    kept = [component for component in record.components if component.key in done]
    if difference(before.source, record.source):
        return dict.fromkeys((component.key for component in kept), "the function")
    known = {component.key for component in before.components}
    stale = {one.key: "its argument is not known any more" for one in kept if one.key not in known}
    for key, was, is_now in changed_arguments(
        layout.folder / before.inputs, before.components, inputs.path, kept
    ):
        if not _same(was, is_now):
            stale[key] = f"{shown(was)} has become {shown(is_now)}"
    return stale


def _same(was: object, is_now: object) -> bool:
    """Compare what has not the same pickle: a set may come in another order."""
    try:
        return bool(was == is_now)
    except Exception:  # noqa: BLE001  (whatever a class of the user raises; arrays, which have the same pickle)
        return False


def _changed_error(
    layout: Layout, before: MapRecord, record: MapRecord, stale: Mapping[str, str]
) -> UsageError:
    name = layout.folder.name
    if changes := difference(before.source, record.source):
        say("runner", f"the function of map {name} has changed:\n{changes}")
        return UsageError(f"map {name} has {len(stale)} results of another {record.function}", _REMEDY)
    differences = few([f"{key}: {what}" for key, what in stale.items()], most=2)
    return UsageError(f"map {name} has results of other arguments ({differences})", _REMEDY)


def _remove_empty(layout: Layout) -> None:
    """Remove the folder of a map that has not come to be."""
    for folder in (layout.results, layout.logs, layout.runs, layout.folder):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

"""A map from outside: values, failures and state, read from its folder by any process at any time."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

from runner.errors import MissingFileError, UsageError, WriteError
from runner.maps import job as jobs
from runner.maps.errors import ComponentFailed, NotReady
from runner.maps.failures import ComponentFailure, read_failure
from runner.maps.imports import add_folders
from runner.maps.layout import Layout, find_map
from runner.maps.record import MapRecord, read_record
from runner.maps.results import read_result
from runner.maps.runs import latest_run
from runner.maps.status import MapStatus, status_of

_LOOK_SECONDS = 0.5
_ASK_SECONDS = 15.0  # many people who ask every second bring a batch system down
_RAISE = object()


class Map(Sequence[Any]):
    """A map that was made: its values by place or key, and all about how it is.

    It holds no connection: everything is in the folder, and stays there. Made by :func:`runner.map` and
    :func:`runner.open_map`.

    Parameters
    ----------
    layout : Layout
        The folder.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._record = read_record(layout)
        self._keys = self._record.keys
        self._known = set(self._keys)
        add_folders(self._record.import_folders)  # values may be of classes that are defined there

    def __repr__(self) -> str:
        return f"<Map {self.name}: {len(self)} components of {self._record.function}, in {self.folder}>"

    @property
    def name(self) -> str:
        """Its name."""
        return self.folder.name

    @property
    def folder(self) -> Path:
        """Where all of it lies."""
        return self._layout.folder

    @property
    def keys(self) -> list[str]:
        """The components' keys, in the order of the arguments."""
        return list(self._keys)

    @property
    def record(self) -> MapRecord:
        """What was asked for."""
        return self._record

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, place: int | str) -> Any: ...

    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...

    def __getitem__(self, place: int | str | slice) -> Any:
        """Return the value of a component, by its place or its key; of several by a slice.

        Raises
        ------
        ComponentFailed
            If it failed.
        NotReady
            If it is not done yet.
        KeyError, IndexError
            If there is no such component.
        """
        if isinstance(place, slice):
            return [self._value(key) for key in self._keys[place]]
        return self._value(self._keys[place] if isinstance(place, int) else self._check(place))

    def values(self, missing: Any = _RAISE) -> list[Any]:
        """Return all values, in the order of the arguments.

        Parameters
        ----------
        missing : object, optional
            What stands for a component that has no value; without it, such a component is an error.

        Raises
        ------
        ComponentFailed, NotReady
            If a component has no value.
        """
        values = []
        for key in self._keys:
            try:
                values.append(self._value(key))
            except (ComponentFailed, NotReady):
                if missing is _RAISE:
                    raise
                values.append(missing)
        return values

    def status(self) -> MapStatus:
        """Find out how the map is; that may ask the batch system."""
        return status_of(self._layout, self._record)

    def failures(self) -> dict[str, ComponentFailure]:
        """Return how components failed, by their keys."""
        _, failed = self._layout.outcomes()
        found = {}
        for key in self._keys:
            if key in failed:
                try:
                    found[key] = read_failure(self._layout, key)
                except OSError:  # it is being done again
                    continue
        return found

    def log(self, key: str) -> str:
        """Return what a component printed the last time it ran."""
        try:
            return self._layout.log(self._check(key)).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def as_completed(self, timeout: float | None = None) -> Iterator[tuple[str, Any]]:
        """Yield key and value of each component that has one, as they come; failed ones are left out.

        It ends when nobody works at the map any more.

        Raises
        ------
        TimeoutError
            If that takes more than `timeout` seconds.
        """
        given: set[str] = set()
        for status in self._statuses(timeout):
            done, _ = self._layout.outcomes()
            for key in [key for key in self._keys if key in done and key not in given]:
                given.add(key)
                yield key, self._value(key)
            if status is not None and status.is_over:
                return

    def wait(self, timeout: float | None = None) -> MapStatus:
        """Wait until nobody works at the map any more, and return how it is then.

        Raises
        ------
        TimeoutError
            If that takes more than `timeout` seconds.
        """
        return next(status for status in self._statuses(timeout) if status is not None and status.is_over)

    def cancel(self) -> None:
        """End the batch job of the map, if it is not over; what is done stays.

        Raises
        ------
        UsageError
            If it runs, and not in a batch job that was submitted for it.
        StartError
            If the batch system refuses.
        """
        submission = jobs.read_submission(self._layout)
        run = latest_run(self._layout)
        ours = submission is not None and run is not None and run.job_id in submission.job_ids
        if run is not None and run.is_alive(time.time()) and not ours:
            raise UsageError(
                f"map {self.name} is worked at by {run.title}, which was not submitted for it",
                f"stop that: kill {run.pid} on {run.host}",
            )
        if submission is not None:
            jobs.cancel(submission)

    def forget(self, keys: Iterable[str] | None = None) -> list[str]:
        """Remove failures, or the values and failures of some components, so that these are done again.

        Parameters
        ----------
        keys : iterable of str, optional
            Which; without it, all that failed.

        Returns
        -------
        list of str
            Those that are to be done now.

        Raises
        ------
        UsageError
            If somebody works at the map.
        WriteError
            If they cannot be removed.
        """
        self._check_idle()
        if keys is None:
            _, failed = self._layout.outcomes()
            paths = [self._layout.failure(key) for key in failed & self._known]
        else:
            chosen = [self._check(key) for key in keys]
            paths = [file(key) for key in chosen for file in (self._layout.failure, self._layout.result)]
        try:
            for path in paths:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise WriteError(
                f"the map's folder {self.folder} cannot be written ({error.strerror})", "see to the folder"
            ) from error
        done, failed = self._layout.outcomes()
        return [key for key in self._keys if key not in done and key not in failed]

    def rerun(self, keys: Iterable[str] | None = None, job: jobs.Job | str | None = None) -> None:
        """Do again what failed or was lost, or some components that are named.

        Parameters
        ----------
        keys : iterable of str, optional
            Which; what they had is removed.
        job : Job or str, optional
            Where, as for :func:`runner.map`; without it, as the last time.

        Raises
        ------
        UsageError
            If somebody works at the map, or it is not known where to run it.
        RunnerError
            As from :func:`runner.map`.
        """
        from runner.maps.begin import begin

        self.forget(keys)
        begin(self._layout, self._job_on_record() if job is None else job)

    def remove(self) -> None:
        """Remove the folder with all that is in it.

        Raises
        ------
        UsageError
            If somebody works at the map.
        """
        self._check_idle()
        gone = self.folder.with_name(f".{self.name}.removed-{os.getpid()}")
        self.folder.rename(gone)  # at once: what an interruption leaves is no map
        shutil.rmtree(gone)

    def _value(self, key: str) -> Any:
        try:
            return read_result(self._layout.result(key))
        except FileNotFoundError:
            raise self._why_not(key) from None

    def _why_not(self, key: str) -> ComponentFailed | NotReady:
        try:
            failure = read_failure(self._layout, key)
        except OSError:
            return NotReady(
                f"component {key} of map {self.name} is not done", f"see: runner status {self.name}"
            )
        return ComponentFailed(
            f"component {key} of map {self.name} failed: {failure.error}",
            f"see: runner log {self.name} {key}",
        )

    def _check(self, key: str) -> str:
        if key not in self._known:
            raise KeyError(key)
        return key

    def _check_idle(self) -> None:
        status = self.status()
        if not status.is_over:
            raise UsageError(
                f"map {self.name} is {status.state}: {status.job or status.reason}",
                f"wait for its end, or: runner cancel {self.name}",
            )

    def _job_on_record(self) -> jobs.Job | str | None:
        if self._record.job is None:
            return None
        return "local" if "local" in self._record.job else jobs.from_plain(self._record.job)

    def _statuses(self, timeout: float | None) -> Iterator[MapStatus | None]:
        """Yield the state of the map at times, None in between: the batch system is asked rarely."""
        began = asked = time.monotonic()
        yield self.status()
        while True:
            if timeout is not None and time.monotonic() - began > timeout:
                raise TimeoutError(f"map {self.name} was not over within {timeout:g} s")
            time.sleep(_LOOK_SECONDS)
            run = latest_run(self._layout)
            due = time.monotonic() - asked > _ASK_SECONDS
            if due or (run is not None and run.is_alive(time.time())) or self._all_ended():
                asked = time.monotonic()
                yield self.status()
            else:
                yield None

    def _all_ended(self) -> bool:
        done, failed = self._layout.outcomes()
        return self._known <= done | failed


def open_map(name: str | os.PathLike[str]) -> Map:
    """Return a map that was made before, by this process or another one.

    Parameters
    ----------
    name : str or path
        Its name, or the path of its folder.

    Raises
    ------
    MissingFileError
        If there is none.
    """
    return Map(find_map(os.fspath(name), os.environ))


def all_maps(folder: Path) -> list[Map]:
    """Return all maps in a folder, the oldest first; what is none is passed over.

    Raises
    ------
    MissingFileError
        If there is no such folder.
    """
    if not folder.is_dir():
        raise MissingFileError(f"there are no maps: no folder {folder}", "RUNNER_MAPS names another one")
    found = [Map(Layout(record.parent)) for record in folder.glob("[!.]*/map.json")]
    return sorted(found, key=lambda one: one.record.created)

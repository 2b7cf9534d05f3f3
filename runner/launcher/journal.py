"""Rank 0 keeps a record of the job, where people and programs can read it while the job runs.

A file system may hang; the job must not. A thread of its own writes, and nobody waits for it long.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from runner import files
from runner.launcher.control import Event
from runner.launcher.facts import RankFacts
from runner.launcher.record import Record, after, from_json, to_json
from runner.launcher.speak import say

FOLDER_VARIABLE = "RUNNER_STATUS_DIR"
WRITE_SECONDS = 5.0  # at least so often, while the job lives

_GAP_SECONDS = 0.2  # between two writes: many ranks arrive at once
_LAST_WRITE_SECONDS = 1.0
_KEPT = 50
_FRESH_SECONDS = 60.0  # a file that changed since may be a running job's

_LOG = logging.getLogger(__name__)


def default_folder() -> Path:
    """Return where the records of the user's jobs lie if no folder is chosen."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else Path.home() / ".cache" / "runner" / "jobs"


def submissions_folder() -> Path:
    """Return where submissions are kept: beside the records of running jobs."""
    return default_folder() / "submitted"


def read_records(folder: Path) -> list[Record]:
    """Return all records in a folder, oldest start first; what is no record is passed over."""
    records = []
    for path in folder.glob("[!.]*.json"):
        try:
            records.append(from_json(path.read_bytes()))
        except (OSError, ValueError):  # removed as one too many, or of another version
            continue
    return sorted(records, key=lambda record: record.started)


class Journal:
    """The job's record, kept up to date by what the leader observes.

    Parameters
    ----------
    record : Record
        At the start.
    facts : mapping of int to RankFacts
        Of all ranks that arrived; grows while we look.
    folder : Path or None
        Where the status file lies among those of the user's other jobs; None chooses.
    summary : Path or None
        A file for the record at the end.

    Notes
    -----
    As a context manager it ends the record with the job, also when that never began.
    """

    def __init__(
        self, record: Record, facts: Mapping[int, RankFacts], *, folder: Path | None, summary: Path | None
    ) -> None:
        self._record = record
        self._facts = facts
        self._folder = folder
        self._summary = summary
        self._changed = threading.Event()
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write_until_over, name="journal", daemon=True)

    def __enter__(self) -> Self:
        self._writer.start()
        return self

    def __exit__(self, _kind: object, failure: object, _trace: object) -> None:
        if self._record.state != "ended":  # the leader itself failed
            self.note(Event(0, {"event": "stopping", "code": 1, "why": str(failure)}))
            self.note(Event(0, {"event": "gone", "code": 1}))
        self._over.set()
        self._changed.set()
        self._writer.join(_LAST_WRITE_SECONDS)
        if self._summary is not None:
            try:
                files.write_atomically(self._summary, to_json(self._record))
            except OSError as error:
                say("runner", f"the summary cannot be written to {self._summary} ({error.strerror})")

    def note(self, event: Event) -> None:
        """Take note of an event: a rank's, or one of the leader's own."""
        message = event.message
        if message["event"] == "hello" and event.rank in self._facts:
            facts = self._facts[event.rank]
            message = {**message, "host": facts.host, "pid": facts.pid}
        self._record = after(self._record, event.rank, message, time.time())
        self._changed.set()

    def _write_until_over(self) -> None:
        try:
            folder = self._folder or default_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            while not self._over.is_set():
                self._write(folder)
                self._changed.wait(WRITE_SECONDS)
                self._changed.clear()
                self._over.wait(_GAP_SECONDS)
            self._write(folder)
            _remove_old(folder)
        except (OSError, RuntimeError) as error:  # no space, no home: the job is worth more than its record
            _LOG.info("no status file: %s", error)

    def _write(self, folder: Path) -> None:
        now = replace(self._record, updated=time.time())
        files.write_atomically(folder / f"{now.name}.json", to_json(now), mode=0o600)


def _remove_old(folder: Path) -> None:
    """Keep the newest files, and those that may be in use."""
    changed = {entry.path: entry.stat().st_mtime for entry in os.scandir(folder) if entry.is_file()}
    newest_first = sorted(changed, key=lambda path: changed[path], reverse=True)
    for path in newest_first[_KEPT:]:
        if changed[path] < time.time() - _FRESH_SECONDS:
            Path(path).unlink(missing_ok=True)

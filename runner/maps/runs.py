"""Who works at a map: one at a time, known by a file that it writes again and again while it lives.

Each run makes the file with the next number. The one with the highest number is the one that counts: who
finds it alive goes away, and of two that find it dead and make the next one the file system lets one succeed.
So nothing is ever removed that another process may just have made.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from runner import files
from runner.batch.allocation import Allocation
from runner.errors import LostError, UsageError, WriteError
from runner.maps.layout import Layout
from runner.node.processes import has_ended, this_process
from runner.units import format_duration

_BEAT_SECONDS = 2.0
STALE_SECONDS = 60.0  # as long as `runner status` believes in a silent job

_FILE = re.compile(r"(\d{4,})\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a map.

    Attributes
    ----------
    number : int
        It is the latest if no other has a higher one.
    process : str
        The process that leads it, by a name that no other has.
    host, pid : str, int
        The same for people.
    system, job_id : str, str or None
        The batch job that it is in.
    started, at : float
        When it began, and when this was written, seconds since 1970.
    ends_at : float or None
        When the job's time is over.
    ended : float or None
        When it came to an end of its own; None while it runs, and for ever if it was killed.
    problem : str
        Why it ended before all was done.
    done, failed : int
        What it has made.
    workers : int
        That it has.
    running : dict of str to float
        What runs, and since when.
    cut : dict of str to float
        What the end of the time interrupted, and how many seconds that had had.
    """

    number: int
    process: str
    host: str
    pid: int
    system: str = "none"
    job_id: str | None = None
    started: float
    at: float
    ends_at: float | None = None
    ended: float | None = None
    problem: str = ""
    done: int = 0
    failed: int = 0
    workers: int = 0
    running: dict[str, float] = field(default_factory=dict)
    cut: dict[str, float] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The run for people."""
        job = f"{self.system.upper()} job {self.job_id}" if self.job_id else f"process {self.pid}"
        return f"{job} on {self.host}"

    def is_alive(self, now: float, ended: Callable[[str], bool] = has_ended) -> bool:
        """Tell whether it goes on, as far as can be known from this machine."""
        return self.ended is None and now - self.at < STALE_SECONDS and not ended(self.process)


def latest_run(layout: Layout) -> Run | None:
    """Read the latest run; None if there was none, or it is just being made."""
    number = _latest_number(layout)
    return None if number == 0 else _read(layout, number)


def claim(layout: Layout, allocation: Allocation) -> Run:
    """Become the one that works at a map.

    Raises
    ------
    UsageError
        If another process does.
    WriteError
        If the folder cannot be written.
    """
    number, now = _latest_number(layout), time.time()
    before = _read(layout, number) if number else None
    if number and before is None and now - _file(layout, number).stat().st_mtime < STALE_SECONDS:
        raise taken(layout, "another process")
    if before is not None and before.is_alive(now):
        raise taken(layout, f"{before.title} (since {format_duration(now - before.started)})")
    run = Run(
        number=number + 1,
        process=this_process(),
        host=socket.gethostname(),
        pid=os.getpid(),
        system=allocation.system,
        job_id=allocation.job_id,
        started=now,
        at=now,
        ends_at=allocation.ends_at,
    )
    try:
        files.create_atomically(_file(layout, run.number), json.dumps(asdict(run)).encode())
    except FileExistsError as error:
        raise taken(layout, "another process that was a moment faster") from error
    except OSError as error:
        raise WriteError(
            f"the map's folder {layout.folder} cannot be written ({error.strerror})", "see to the folder"
        ) from error
    return run


class Heart:
    """Writes again and again that a run is alive, and what it does, while it is open.

    A full disk, or a moment without a file system, is passed over: results have their own way to tell.

    Parameters
    ----------
    layout : Layout
        The map.
    run : Run
        Our claim of it; assign a new one to have that written.
    """

    def __init__(self, layout: Layout, run: Run) -> None:
        self.run = run
        self._layout = layout
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="runner-map-heart", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Refuse to go on when another process has taken the map over, as when this one was silent for long.

        Raises
        ------
        LostError
            If that is so.
        """
        if not self._thread.is_alive():
            name = self._layout.folder.name
            raise LostError(
                f"another process took map {name} over, since this one was silent for long",
                f"look after it: runner status {name}",
            )

    def close(self, problem: str = "") -> None:
        """Write that the run came to its end, and why that was before all was done."""
        self._closing.set()
        self._thread.join()
        self.run = replace(self.run, ended=time.time(), running={}, problem=problem)
        self._write()

    def _go_on(self) -> None:
        while not self._closing.wait(_BEAT_SECONDS):
            try:
                if _latest_number(self._layout) > self.run.number:
                    return
            except OSError:
                continue
            self._write()

    def _write(self) -> None:
        run = replace(self.run, at=time.time())
        with suppress(OSError):
            files.write_atomically(_file(self._layout, run.number), json.dumps(asdict(run)).encode())


def taken(layout: Layout, by: str) -> UsageError:
    """Return the error of who would work at a map that another process works at."""
    name = layout.folder.name
    return UsageError(
        f"map {name} is being worked at by {by}",
        f'wait for it: runner.open_map("{name}").wait(), or: runner status {name}',
    )


def _file(layout: Layout, number: int) -> Path:
    return layout.runs / f"{number:04d}.json"


def _latest_number(layout: Layout) -> int:
    names = os.listdir(layout.runs) if layout.runs.is_dir() else []  # noqa: PTH208  (names are all we need)
    return max((int(found[1]) for name in names if (found := _FILE.fullmatch(name))), default=0)


def _read(layout: Layout, number: int) -> Run | None:
    try:
        return Run(**json.loads(_file(layout, number).read_bytes()))
    except (OSError, ValueError, TypeError):  # just being made, or of another version
        return None

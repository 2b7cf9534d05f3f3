"""Run a command with everything it starts, for a bounded time, and know whether anything of it is left.

A process that outlives its job is the defect that the launcher must not have, so the tests look for it
everywhere: each command gets a unique mark in its environment, every process below it inherits the
mark, and the process table is searched for it. That finds the ranks on the virtual hosts of
``tests/testbed`` as well: their processes are this machine's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

MARK = "RUNNER_TEST_MARK"
#: What a process of a batch job has in its environment.
JOB_VARIABLES = {"slurm": "SLURM_JOB_ID", "sge": "JOB_ID", "oar": "OAR_JOB_ID"}

#: So much longer something may take, seconds, where processes wait for a core, the disk or memory.
_MOST_DELAY = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a command ended.

    Attributes
    ----------
    returncode : int
        As in `subprocess`: negative for a signal.
    stdout, stderr : str
        All that the command and its children wrote.
    seconds : float
        From the start to the end of the command itself.
    gone_after : float
        From the end of the command to that of the last process it had started.
    delay : float
        How much of all that a busy machine may be the reason for, see `delay_since`.
    """

    returncode: int
    stdout: str
    stderr: str
    seconds: float
    gone_after: float
    delay: float


class Command:
    """A running command in a session of its own, with all processes that carry its mark.

    Use it as a context manager: whatever happens in the block, nothing of the command is left behind.
    Output goes to files, since a pipe would stay open as long as any orphan holds it.
    """

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        submits: bool = False,
    ) -> None:
        self.argv = [str(word) for word in argv]
        self._submits = submits  # batch jobs, which carry its mark and go on without it
        self._mark = f"{MARK}={uuid.uuid4().hex}"
        name, value = self._mark.split("=")
        self._stdout = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the command)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._started = time.monotonic()
        self._stalled = stalled()
        self._process = subprocess.Popen(
            self.argv,
            cwd=cwd,
            env={**(os.environ if env is None else env), name: value},
            stdin=subprocess.DEVNULL,
            stdout=self._stdout,
            stderr=self._stderr,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._stdout.close()
        self._stderr.close()

    @property
    def pid(self) -> int:
        """The process id of the command itself."""
        return self._process.pid

    @property
    def stdout(self) -> str:
        """What was written so far."""
        return _content(self._stdout.fileno())

    @property
    def stderr(self) -> str:
        """What was written so far."""
        return _content(self._stderr.fileno())

    def running(self) -> bool:
        """Whether the command itself still runs."""
        return self._process.poll() is None

    def processes(self) -> dict[int, str]:
        """Every living process of the command: its id in this machine's numbering, and its command line."""
        return marked(self._mark, but_for_jobs=self._submits)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the command itself, as a batch system or a person would."""
        self._process.send_signal(number)

    def wait(self, *, timeout: float, gone_within: float = 2.0) -> Finished:
        """Wait for the end of the command, and then of all it started.

        Raises
        ------
        AssertionError
            If the command does not end in `timeout` seconds, or a process of it still lives
            `gone_within` seconds later; on a busy machine a little more. Both say what was written and
            what was left; all is killed.
        """
        returncode = self._end_within(timeout)
        ended, before = time.monotonic(), stalled()
        left = _poll(self.processes, until=ended + gone_within)
        left = left and _poll(self.processes, until=time.monotonic() + delay_since(before))
        gone_after = time.monotonic() - ended
        if left:
            self.kill()
            raise AssertionError(self._report(f"left processes after {gone_within:g} s", left))
        return Finished(
            returncode=returncode,
            stdout=self.stdout,
            stderr=self.stderr,
            seconds=ended - self._started,
            gone_after=gone_after,
            delay=delay_since(self._stalled),
        )

    def _end_within(self, timeout: float) -> int:
        before = stalled()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(delay_since(before))
        raise AssertionError(self._report(f"did not end in {timeout:g} s", self.kill()))

    def kill(self) -> dict[int, str]:
        """End everything of the command; return what was still alive."""
        found = self.processes()
        if self.running():  # a launcher that is asked politely takes its remote ranks along
            _send(self._process.pid, signal.SIGTERM)
            _poll(self.processes, until=time.monotonic() + 2)
        end = time.monotonic() + 10
        while (left := self.processes()) or self.running():
            for pid in {*left, *([self._process.pid] if self.running() else [])}:
                _send(pid, signal.SIGKILL)
            if time.monotonic() > end:
                raise RuntimeError(f"cannot kill {left}")
            time.sleep(0.05)
        return found

    def _report(self, problem: str, left: Mapping[int, str]) -> str:
        lines = [f"{' '.join(self.argv)}: {problem}", *(f"  {pid}: {line}" for pid, line in left.items())]
        return "\n".join([*lines, "--- stdout", self.stdout[-8000:], "--- stderr", self.stderr[-8000:]])


def run(
    argv: Sequence[str | Path],
    *,
    timeout: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    gone_within: float = 2.0,
) -> Finished:
    """Run a command to its end; fail when it, or anything it started, takes too long to go.

    Parameters
    ----------
    argv : sequence of str or Path
        The command.
    timeout : float
        Seconds for the command itself.
    cwd : Path, optional
        Its working directory.
    env : mapping, optional
        Its whole environment; this process's by default.
    gone_within : float
        Seconds after the command's end in which its last descendant must have ended too.
    """
    with Command(argv, cwd=cwd, env=env) as command:
        return command.wait(timeout=timeout, gone_within=gone_within)


def marked(mark: str, *, but_for_jobs: bool = False) -> dict[int, str]:
    """Every living process whose environment holds ``NAME=value``, with its command line."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            environ = (folder / "environ").read_bytes().split(b"\0")
            if mark.encode() not in environ or _is_zombie(folder):
                continue
            if not (but_for_jobs and _is_in_job(environ)):
                found[int(folder.name)] = (
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
        except OSError:  # it ended meanwhile, or is somebody else's
            continue
    return found


def eldest(pids: Iterable[int]) -> int:
    """Return the one of some processes that none of the others has started: numbers are used again."""
    some = set(pids)
    (found,) = (pid for pid in some if int(_status(Path(f"/proc/{pid}"))[1]) not in some)
    return found


def stalled() -> float:
    """Seconds since the machine began in which some process waited for a core, the disk or memory."""
    found = 0.0
    for what in ("cpu", "io", "memory"):
        with contextlib.suppress(OSError):  # not every kernel counts it
            some = Path(f"/proc/pressure/{what}").read_text().splitlines()[0]
            found += int(some.rpartition("=")[2]) / 1e6
    return found


def delay_since(before: float) -> float:
    """How much longer something may have taken because the machine had too much to do.

    Parameters
    ----------
    before : float
        What `stalled` was when it began.
    """
    return min(stalled() - before, _MOST_DELAY)


def _is_in_job(environ: Sequence[bytes]) -> bool:
    names = {variable.partition(b"=")[0].decode(errors="replace") for variable in environ}
    return not names.isdisjoint(JOB_VARIABLES.values())


def _is_zombie(folder: Path) -> bool:
    return _status(folder)[0] in {"Z", "X"}


def _status(folder: Path) -> list[str]:
    """The state of a process, its parent, and all that follows."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _poll(look: Callable[[], dict[int, str]], *, until: float) -> dict[int, str]:
    """Look until nothing is found or the time is over; return what was found last."""
    while (found := look()) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _content(descriptor: int) -> str:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace")

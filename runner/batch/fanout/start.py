"""Effects: the ranks are started, signalled, and waited for."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from runner.batch.fanout import far_end
from runner.batch.fanout.seats import Seat, message, starter
from runner.errors import StartError

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LAST_SECONDS = far_end.GRACE_SECONDS + 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FanOut:
    """What is to be started.

    Attributes
    ----------
    seats : tuple of Seat
        The ranks.
    argv : tuple of str
        The command of each.
    shell : str
        The command that reaches a host.
    python : str
        An interpreter that is on all hosts.
    environ : mapping
        The environment that the ranks get.
    folder : Path
        Their working folder.
    job : str
        The name of this start.
    letters : Path or None
        A folder that all hosts see and only its owner can read, for what the ranks are told; None tells it on
        the standard input of `shell`.
    patience : float
        Seconds that the others may take when rank 0 has ended, and all when a signal asked them to end.
    """

    seats: tuple[Seat, ...]
    argv: tuple[str, ...]
    shell: str
    python: str
    environ: Mapping[str, str]
    folder: Path
    job: str
    letters: Path | None = None
    patience: float = 15.0


def run(plan: FanOut, tell: Callable[[Seat, int], None]) -> int:
    """Start all ranks, and return the exit code of rank 0 when all are gone.

    Parameters
    ----------
    plan : FanOut
        What to start.
    tell : callable
        Called with a rank other than 0 and its exit code when it ends with an error while rank 0 runs.

    Raises
    ------
    StartError
        If the command that reaches hosts is not there.
    """
    return asyncio.run(_run(plan, tell))


class _Rank:
    """One rank, seen from here: the process that reached its host."""

    def __init__(self, plan: FanOut, seat: Seat) -> None:
        self.seat = seat
        self._plan = plan
        self._process: asyncio.subprocess.Process

    async def start(self) -> None:
        plan = self._plan
        told = message(self.seat, plan.argv, plan.environ, plan.folder, plan.job)
        command: Sequence[str] = (plan.python, "-I", "-S", str(Path(far_end.__file__)))
        if plan.letters is not None:
            letter = plan.letters / f"rank-{self.seat.rank}.json"
            letter.touch(mode=0o600)
            letter.write_bytes(told)
            command = (*command, str(letter))
        argv = starter(plan.shell, self.seat, command)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE if plan.letters is None else asyncio.subprocess.DEVNULL,
                start_new_session=True,  # a terminal's Ctrl-C comes to us alone
                preexec_fn=None if plan.letters is None else partial(far_end.die_with_parent, signal.SIGTERM),
            )
        except OSError as error:
            raise StartError(
                f"{argv[0]} cannot be run ({error.strerror})", "give another command: --ssh"
            ) from error
        if self._process.stdin is not None:
            self._process.stdin.write(told)  # sent as soon as the other side reads

    async def wait(self) -> int:
        """Return the exit code."""
        code = await self._process.wait()
        self.let_go()
        return 128 - code if code < 0 else code

    def signal(self, number: int) -> None:
        """Send a signal to the rank itself, not to what reached it.

        Without a standard input nothing but the end can be said, by what reached it.
        """
        if self._process.returncode is not None:
            return
        if self._process.stdin is not None:
            self._process.stdin.write(b"%d\n" % number)
        elif number in _ENDING:
            with suppress(ProcessLookupError):
                self._process.terminate()

    def let_go(self) -> None:
        """Close the line: the far end takes that for our death, and ends the rank, with force if need be."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        else:
            self.signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill what reached the rank."""
        with suppress(ProcessLookupError):
            self._process.kill()


async def _run(plan: FanOut, tell: Callable[[Seat, int], None]) -> int:
    ranks = [_Rank(plan, seat) for seat in plan.seats]
    started: list[_Rank] = []
    asked_to_end = asyncio.Event()

    def pass_on(number: int) -> None:
        for rank in started:
            rank.signal(number)
        if number in _ENDING:
            asked_to_end.set()

    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, pass_on, number)
    try:
        for rank in ranks:
            await rank.start()
            started.append(rank)
    except StartError:
        await _end_all({asyncio.create_task(rank.wait()): rank for rank in started}, 0.0)
        raise
    return await _wait(ranks, asked_to_end, tell, plan.patience)


async def _wait(
    ranks: Sequence[_Rank], asked_to_end: asyncio.Event, tell: Callable[[Seat, int], None], patience: float
) -> int:
    """Wait for rank 0, or a signal; then see to it that all others end too."""
    running = {asyncio.create_task(rank.wait()): rank for rank in ranks}
    first = next(iter(running))
    asked = asyncio.create_task(asked_to_end.wait())
    while not first.done() and not asked.done():
        done, _ = await asyncio.wait({*running, asked}, return_when=asyncio.FIRST_COMPLETED)
        for task in done & running.keys():
            rank, code = running.pop(task), task.result()
            if task is not first and code:
                tell(rank.seat, int(code))
    asked.cancel()
    await _end_all(running, patience)
    return await first


async def _end_all(running: Mapping[asyncio.Task[int], _Rank], patience: float) -> None:
    """Give the ranks some time, then have them ended, then cut what leads to them."""
    for seconds, act in ((patience, _Rank.let_go), (_LAST_SECONDS, _Rank.kill)):
        if running:
            await asyncio.wait(running, timeout=seconds)
        for task, rank in running.items():
            if not task.done():
                act(rank)

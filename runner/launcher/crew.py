"""The processes of one rank: the warm parent and the scheduler, client and workers that it forks.

The supervisor never imports Dask. A child that dies takes nothing with it: its parent is ours, not
the batch system's, and what its death means is decided in ``member``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from runner.launcher.channel import Channel
from runner.launcher.deadline import Deadline
from runner.launcher.exits import LOST, exit_code
from runner.launcher.nursery import MESSAGE_SIZE, fork_nursery
from runner.node.processes import children, descendants

# A child that loads MPI itself must not take over the rank's own connection to the launcher, nor a runner
# that the job starts the rank's number.
_LAUNCHER_PREFIXES = (
    "OMPI_",
    "PMIX_",
    "PMI_",
    "PMI2_",
    "PRTE_",
    "MPI_LOCAL",
    "HYDI_",
    "HYDRA_",
    "SLURM_PMIX",
    "RUNNER_RANK",
    "RUNNER_SIZE",
    "RUNNER_LOCAL_RANK",
    "RUNNER_SRUN",
)
_COMMAND_LENGTH = 60
_UNTIL_TAKEN = 0.005  # seconds between two tries
_UNTIL_GONE = 0.02  # seconds between two looks
_LAST_SECONDS = 1.0  # for what the job's processes started to see that these have ended
_TAKEN_SECONDS = 60.0  # it imports Dask first, which takes long from a cold and distant disk
# Parallel tasks share the cores already: numerical libraries that start a thread per core in each of them
# slow everything down. And memory that a task freed goes back to the system, as Dask's own nanny sets it.
_PRESET = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_TRIM_THRESHOLD_": "65536",
}


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the children: without the launcher's own variables, one thread per task.

    What the user set is kept.
    """
    kept = {name: value for name, value in environ.items() if not name.startswith(_LAUNCHER_PREFIXES)}
    return {**_PRESET, **kept}


def job_environment(environ: Mapping[str, str]) -> dict[str, str | None]:
    """Return what turns a child's environment into the one that the user gave to the job."""
    return {name: environ.get(name) for name in _PRESET}


class Child:
    """A process of this rank.

    Attributes
    ----------
    kind, name : str
        What it is, and what it is called.
    pid : int or None
        None until it runs.
    ended : Future of int
        Its exit code, 128 + n for signal n.
    """

    def __init__(self, kind: str, name: str, channel: Channel) -> None:
        self.kind = kind
        self.name = name
        self.channel = channel
        self.pid: int | None = None
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.ended.done()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        if self.running and self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class Crew:
    """All processes of one rank.

    Parameters
    ----------
    environ : mapping
        The environment that the rank was started with.

    Notes
    -----
    The warm parent starts at once, so that its imports overlap with the rendezvous. No thread may run yet.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        with theirs:
            self._nursery = fork_nursery(theirs, child_environment(environ))
        self._children: dict[str, Child] = {}
        self._lost: Callable[[], None] = lambda: None

    def watch(self, lost: Callable[[], None]) -> None:
        """Listen to the warm parent from the running event loop; `lost` is called if it dies."""
        self._lost = lost
        asyncio.get_running_loop().add_reader(self._socket, self._hear)

    async def bequeath(self, path: Path, *, holding: str = "") -> None:
        """Have a file or folder removed should this process be killed (see ``nursery.Bequest``)."""
        order = {"bequest": {"path": str(path.absolute()), "holding": holding}}
        await self._send(json.dumps(order).encode())

    async def start(self, kind: str, name: str, spec: Mapping[str, Any]) -> Child:
        """Start a process with a channel to it."""
        ours, theirs = socket.socketpair()
        child = Child(kind, name, await Channel.over(ours))
        self._children[name] = child
        # what it forked may outlive it, and hold its end of the channel open
        child.ended.add_done_callback(lambda _: child.channel.abort())
        order = json.dumps({"kind": kind, "name": name, "spec": spec}).encode()
        with theirs:
            await self._send(order, theirs.fileno())
        return child

    async def _send(self, order: bytes, *descriptors: int) -> None:
        """Give an order to the warm parent, which takes some time over each of many."""
        deadline = Deadline(_TAKEN_SECONDS)
        while not deadline.over:
            try:
                socket.send_fds(self._socket, [order], descriptors)
            except BlockingIOError:
                await asyncio.sleep(_UNTIL_TAKEN)
            except OSError:  # a dead parent is reported by _hear
                return
            else:
                return
        self._parent_is_gone()  # it hangs

    async def stop(self, seconds: float) -> list[str]:
        """End all processes of the rank: in good order within `seconds`, then by force.

        Returns
        -------
        list of str
            What the rank's processes had left behind when they ended, as ``"COMMAND (pid N)"``.
        """
        running = [child for child in self._children.values() if child.running]
        for child in running:
            child.channel.send({"op": "stop"})
        if running:
            await asyncio.wait([child.ended for child in running], timeout=seconds)
        left = await self._stays()
        await self.kill()
        return left

    async def _stays(self) -> list[str]:
        """Return what does not end by itself now that its parent has, as multiprocessing's helpers do."""
        deadline = Deadline(_LAST_SECONDS)
        while (left := self._left_behind()) and not deadline.over:
            await asyncio.sleep(_UNTIL_GONE)
        return left

    def _left_behind(self) -> list[str]:
        """Return those that became our own children because their parents ended."""
        left = []
        for process in children(os.getpid()):
            with suppress(psutil.Error):
                words = process.cmdline()  # none: it is about to end
                if words and process.pid != self._nursery and process.status() != psutil.STATUS_ZOMBIE:
                    left.append(f"{' '.join(words)[:_COMMAND_LENGTH]} (pid {process.pid})")
        return left

    async def kill(self) -> None:
        """End all processes of the rank at once, those that the job started included."""
        if self._socket.fileno() != -1:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
        deadline = Deadline(2.0)
        # Killed processes leave their own children to us (see adopt_orphans): look again until none is left.
        while (left := descendants(os.getpid())) and not deadline.over:
            for process in left:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(signal.SIGKILL)
            psutil.wait_procs(left, timeout=min(0.2, deadline.left))

    def _hear(self) -> None:
        try:
            content = self._socket.recv(MESSAGE_SIZE)
        except BlockingIOError:
            return
        except OSError:
            content = b""
        if not content:
            self._parent_is_gone()
            return
        message = json.loads(content)
        child = self._children[message["name"]]
        if "pid" in message:
            child.pid = message["pid"]
        else:
            child.ended.set_result(exit_code(message["status"]))

    def _parent_is_gone(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        for child in self._children.values():
            if child.running:
                child.ended.set_result(LOST)
        self._lost()


def adopt_orphans() -> None:
    """Become the parent of any process below us that loses its own, so that none escapes."""
    import ctypes

    pr_set_child_subreaper = 36
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0)

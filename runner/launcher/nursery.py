"""The warm parent: one interpreter per rank imports Dask and forks scheduler, client and workers.

Importing costs most of a cluster's start; it happens once per rank, while the rank is still looking
for the others, and a worker that died is back in a tenth of a second. The parent itself never starts
a thread, touches no GPU and no MPI, so that its forks are sound.

It is forked off the supervisor (see ``crew``), with which it shares a socket that keeps messages
whole: ``{"kind", "name", "spec"}`` and one end of the child's own channel come in, ``{"name", "pid"}``
and ``{"name", "status"}`` go out. ``{"bequest"}`` names what is to be removed should the supervisor be
killed. When that is gone the warm parent ends, and its children with it.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import logging
import os
import select
import shutil
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MESSAGE_SIZE = 1 << 17
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_M_TRIM_THRESHOLD = -1

#: What Dask's worker and client import when they start.
_IMPORTED_LATE = (
    "distributed.http.health",
    "distributed.http.statics",
    "distributed.http.worker.prometheus",
    "tornado.platform.asyncio",
)


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends, however that ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def outlive_parent() -> None:
    """Take back what `die_with_parent` asked for."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


def own_process_group() -> None:
    """Leave the process group of the parent.

    Not where there is a terminal: Ctrl-C, Ctrl-Z and reading from it are for one group, that of the command.
    """
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        os.setpgid(0, 0)


def _show_name(name: str) -> None:
    """Say in ``ps`` and ``top`` what this process is."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, f"runner {name}"[:15].encode(), 0, 0, 0)


def _nothing(_number: int, _frame: object) -> None:
    """Handle a signal by doing nothing. Unlike SIG_IGN this is not inherited by programs we start."""


def _leave_signals_to_supervisor() -> None:
    # A batch system signals every process of the job at once; what follows is the supervisor's decision.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, _nothing)


def _warm_up() -> None:
    """Import all that the children need, and have Dask find out once what each of them would."""
    gc.disable()  # as in runner.__main__
    with _fast_yaml():
        from runner.launcher import client, pace, scheduler, worker  # noqa: F401 - imported for the forks
    from distributed.versions import get_versions

    pace.slow_down()
    for module in _IMPORTED_LATE:
        importlib.import_module(module)
    get_versions()
    gc.freeze()
    gc.enable()


@contextmanager
def _fast_yaml() -> Iterator[None]:
    """Have Dask read its settings, at import, with PyYAML's loader in C: the same in a tenth of the time."""
    import yaml

    in_python = yaml.SafeLoader
    yaml.SafeLoader = getattr(yaml, "CSafeLoader", in_python)
    try:
        yield
    finally:
        yaml.SafeLoader = in_python


def _run_child(kind: str, name: str, channel: socket.socket, spec: dict[str, Any]) -> int:
    from runner.launcher import client, scheduler, worker

    body = {"scheduler": scheduler.run, "client": client.run, "worker": worker.run}[kind]
    _show_name(name)
    return body(channel, spec)


@dataclass(frozen=True, slots=True)
class Bequest:
    """A file or folder that is not to outlive its supervisor.

    Attributes
    ----------
    path : str
        Where it is.
    holding : str
        A file is only removed if it holds this: another job may have put its own there.
    """

    path: str
    holding: str = ""

    def remove(self) -> None:
        """Remove it, if it is there."""
        path = Path(self.path)
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif self.holding.encode() in path.read_bytes():
                path.unlink()


class Nursery:
    """The loop of the warm parent.

    Parameters
    ----------
    supervisor : socket
        A connected ``SOCK_SEQPACKET`` socket.
    """

    def __init__(self, supervisor: socket.socket) -> None:
        self._supervisor = supervisor
        self._names: dict[int, str] = {}
        self._bequests: list[Bequest] = []
        self._wake, wake_up = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_up, False)
        signal.set_wakeup_fd(wake_up)
        signal.signal(signal.SIGCHLD, _nothing)

    def serve(self) -> None:
        """Start children and report their ends until the supervisor is gone, then clear up after it."""
        supervisor = self._supervisor.fileno()
        while True:
            ready, _, _ = select.select([supervisor, self._wake], [], [])
            if self._wake in ready:
                with suppress(BlockingIOError):
                    os.read(self._wake, 4096)
                self._reap()
            if supervisor in ready:
                content, descriptors = self._receive()
                if not content:
                    self._clear_up()
                    return
                order = json.loads(content)
                if "bequest" in order:
                    self._bequests.append(Bequest(**order["bequest"]))
                else:
                    self._start(order, descriptors[0])

    def _receive(self) -> tuple[bytes, list[int]]:
        """Return the next order, an empty one when the supervisor is gone."""
        try:
            content, descriptors, _, _ = socket.recv_fds(self._supervisor, MESSAGE_SIZE, 1)
        except ConnectionError:  # killed before it had read what we told it
            return b"", []
        return content, descriptors

    def _clear_up(self) -> None:
        for child in self._names:
            os.kill(child, signal.SIGKILL)
        for child in self._names:
            os.waitpid(child, 0)
        for bequest in self._bequests:
            bequest.remove()

    def _start(self, order: dict[str, Any], descriptor: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        with warnings.catch_warnings():
            # NumPy's BLAS may hold idle threads of its own, which it restores after a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            code = 1
            try:
                die_with_parent(parent)
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                self._supervisor.close()
                code = _run_child(
                    order["kind"], order["name"], socket.socket(fileno=descriptor), order["spec"]
                )
            except BaseException:  # nothing may climb into the parent's loop
                logging.getLogger(order["name"]).exception("this process failed")  # see child.log_to
            finally:
                os._exit(code)
        os.close(descriptor)
        self._names[child] = order["name"]
        self._report({"name": order["name"], "pid": child})

    def _reap(self) -> None:
        while self._names:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if (name := self._names.pop(pid, None)) is not None:
                self._report({"name": name, "status": status})

    def _report(self, message: dict[str, Any]) -> None:
        with suppress(OSError):
            self._supervisor.send(json.dumps(message).encode())


def fork_nursery(to_supervisor: socket.socket, environment: Mapping[str, str]) -> int:
    """Fork the warm parent off the supervisor, and return its process id.

    A fork instead of a new interpreter saves every rank the start of one, and shares what the supervisor has
    imported already. The supervisor must not have started a thread, nor MPI.

    Parameters
    ----------
    to_supervisor : socket
        The warm parent's end of a ``SOCK_SEQPACKET`` socket pair.
    environment : mapping
        All variables that it and its children are to have.
    """
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            die_with_parent(supervisor)
            _leave_signals_to_supervisor()
            own_process_group()  # mpirun may kill the supervisor's at once, and somebody has to clear up
            _show_name("parent")
            _close_all_but(to_supervisor.fileno())
            _take_environment(environment)
            _warm_up()
            outlive_parent()  # long enough to clear up after it: its end is seen by the socket
            Nursery(to_supervisor).serve()
            code = 0
        except BaseException:  # noqa: BLE001 - nothing may climb into the supervisor's code
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def _close_all_but(kept: int) -> None:
    """Close what was open in the supervisor, such as a launcher's own connection to its rank."""
    for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:  # noqa: PTH208 - numbers
        if descriptor > 2 and descriptor != kept:
            with suppress(OSError):  # that of the listing
                os.close(descriptor)


def _take_environment(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    threshold = environment.get("MALLOC_TRIM_THRESHOLD_", "")
    if threshold.isdigit():  # the C library reads it at the start of a program only
        ctypes.CDLL(None).mallopt(_M_TRIM_THRESHOLD, int(threshold))

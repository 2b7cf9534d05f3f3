"""The warm parent: one interpreter per rank imports Dask and forks scheduler, client and workers.

Importing costs most of a cluster's start; it happens once per rank, while the rank is still looking
for the others, and a worker that died is back in a tenth of a second. The parent itself never starts
a thread, touches no GPU and no MPI, so that its forks are sound.

It is started by the supervisor (see ``crew``), with which it shares a socket that keeps messages
whole: ``{"kind", "name", "spec"}`` and one end of the child's own channel come in, ``{"name", "pid"}``
and ``{"name", "status"}`` go out. When the supervisor is gone it ends, and its children with it.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import sys
import traceback
import warnings
from contextlib import suppress
from typing import Any

MESSAGE_SIZE = 1 << 17
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends, however that ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def _nothing(_number: int, _frame: object) -> None:
    """Handle a signal by doing nothing. Unlike SIG_IGN this is not inherited by programs we start."""


def _leave_signals_to_supervisor() -> None:
    # A batch system signals every process of the job at once; what follows is the supervisor's decision.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, _nothing)


def _warm_up() -> None:
    from runner.launcher import client, scheduler, worker  # noqa: F401 - imported for the forks


def _run_child(kind: str, name: str, channel: socket.socket, spec: dict[str, Any]) -> int:
    from runner.launcher import client, scheduler, worker

    body = {"scheduler": scheduler.run, "client": client.run, "worker": worker.run}[kind]
    ctypes.CDLL(None).prctl(_PR_SET_NAME, f"runner {name}"[:15].encode(), 0, 0, 0)
    return body(channel, spec)


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
        self._wake, wake_up = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_up, False)
        signal.set_wakeup_fd(wake_up)
        signal.signal(signal.SIGCHLD, _nothing)

    def serve(self) -> None:
        """Start children and report their ends until the supervisor is gone."""
        supervisor = self._supervisor.fileno()
        while True:
            ready, _, _ = select.select([supervisor, self._wake], [], [])
            if self._wake in ready:
                with suppress(BlockingIOError):
                    os.read(self._wake, 4096)
                self._reap()
            if supervisor in ready:
                content, descriptors, _, _ = socket.recv_fds(self._supervisor, MESSAGE_SIZE, 1)
                if not content:
                    return
                self._start(json.loads(content), descriptors[0])

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
            except BaseException:  # noqa: BLE001 - nothing may climb into the parent's loop
                traceback.print_exc()
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


def main() -> None:
    """Serve on the socket whose descriptor is the first argument; the second is the parent's id."""
    descriptor, parent = (int(argument) for argument in sys.argv[1:3])
    die_with_parent(parent)
    _leave_signals_to_supervisor()
    _warm_up()
    Nursery(socket.socket(fileno=descriptor)).serve()


if __name__ == "__main__":
    main()

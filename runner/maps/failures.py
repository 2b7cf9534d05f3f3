"""A component that failed: what is known about it, kept as JSON, told as text."""

from __future__ import annotations

import json
import os
import reprlib
import socket
import time
import traceback
from dataclasses import asdict, dataclass
from datetime import datetime
from types import TracebackType

from runner import files
from runner.maps.layout import Layout
from runner.maps.output import tail
from runner.units import format_duration, format_size

_LONGEST_ARGUMENT = 200
_LONGEST_TRACEBACK = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentFailure:
    """How a component failed.

    Attributes
    ----------
    key : str
        Which.
    error : str
        What happened, in a line.
    argument : str
        What the function was called with, cut.
    at : float
        When it ended, seconds since 1970.
    seconds : float
        How long it ran.
    host : str
        Where.
    worker : str
        The worker's name in the cluster; empty in the client.
    pid : int
        Its process.
    gpu : str
        The GPUs that it could see, as ``CUDA_VISIBLE_DEVICES`` has them.
    memory : int or None
        Most bytes of memory that its process had meanwhile, where it ran alone in it.
    traceback : str
        As Python prints it.
    log : str
        The last lines that it printed.
    """

    key: str
    error: str
    argument: str = ""
    at: float
    seconds: float
    host: str
    worker: str = ""
    pid: int = 0
    gpu: str = ""
    memory: int | None = None
    traceback: str = ""
    log: str = ""

    def report(self) -> str:
        """Return all about it as text."""
        when = datetime.fromtimestamp(self.at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        where = [self.host, f"worker {self.worker}" if self.worker else ""]
        where.append(f"process {self.pid}" if self.pid else "")
        where.append(f"GPU {self.gpu}" if self.gpu else "")
        values = {
            "component": self.key,
            "error": self.error,
            "argument": self.argument,
            "when": f"{when}, after {format_duration(self.seconds)}",
            "where": ", ".join(word for word in where if word),
            "memory": "" if self.memory is None else f"at most {format_size(self.memory)}",
        }
        lines = [f"{name:<10} {value}" for name, value in values.items() if value]
        for name, text in (("traceback", self.traceback), ("output", self.log)):
            if text:
                lines += [f"{name}:", *(f"  {line}" for line in text.splitlines())]
        return "\n".join(lines)


def describe_failure(
    layout: Layout,
    key: str,
    error: BaseException | str,
    *,
    seconds: float,
    argument: object = None,
    memory: int | None = None,
    worker: str = "",
    here: bool = True,
) -> ComponentFailure:
    """Put together what is known about a failure.

    Parameters
    ----------
    layout : Layout
        The map; what the component printed is read from there.
    key : str
        The component.
    error : exception or str
        What it raised, or what happened to it.
    seconds, argument, memory, worker
        As in :class:`ComponentFailure`.
    here : bool
        Whether it ran in this process, so that the host, the process and the GPU are this one's.
    """
    trace = ""
    if isinstance(error, BaseException):
        trace = "".join(traceback.format_exception(type(error), error, _of_the_user(error.__traceback__)))
    return ComponentFailure(
        key=key,
        error=one_line(error),
        argument="" if argument is None else shown(argument),
        at=time.time(),
        seconds=seconds,
        host=socket.gethostname() if here else "",
        worker=worker,
        pid=os.getpid() if here else 0,
        gpu=os.environ.get("CUDA_VISIBLE_DEVICES", "") if here else "",
        memory=memory,
        traceback=trace[-_LONGEST_TRACEBACK:],
        log=tail(layout.log(key)),
    )


def write_failure(layout: Layout, failure: ComponentFailure) -> None:
    """Keep a failure.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    files.write_atomically(layout.failure(failure.key), json.dumps(asdict(failure), indent=1).encode())


def read_failure(layout: Layout, key: str) -> ComponentFailure:
    """Read how a component failed.

    Raises
    ------
    OSError
        If the file is gone: the component is tried again.
    """
    return ComponentFailure(**json.loads(layout.failure(key).read_bytes()))


def one_line(error: BaseException | str) -> str:
    r"""Say what an exception says, in one line.

    >>> one_line(ValueError("no\nnumber"))
    'ValueError: no number'
    >>> one_line(SystemExit(3))
    'SystemExit: 3'
    """
    if isinstance(error, str):
        return error
    try:
        said = " ".join(str(error).split())
    except Exception:  # noqa: BLE001  (an exception of the user's that cannot even say what it is)
        said = "(its text cannot be made)"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def shown(value: object) -> str:
    """Return a value as text, cut where it is long; never fails."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = _LONGEST_ARGUMENT
    try:
        return " ".join(short.repr(value).split())[: 2 * _LONGEST_ARGUMENT]
    except Exception:  # noqa: BLE001  (whatever a class of the user raises)
        return f"a {type(value).__qualname__}"


def _of_the_user(trace: TracebackType | None) -> TracebackType | None:
    """Drop our own frames from the beginning of a traceback."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith("runner.maps."):
        trace = trace.tb_next
    return trace

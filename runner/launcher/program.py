"""The program to run on the cluster, unchanged: a script, a module, a line of code, or a job of ours.

A script runs as ``python job.py`` would run it: as a real ``__main__`` module with its ``__file__``,
``sys.argv`` and ``sys.path[0]``, so that pickling by value, its own multiprocessing and modules beside
it all work.
"""

from __future__ import annotations

import atexit
import builtins
import importlib
import importlib.util
import runpy
import signal
import sys
import threading
import types
import zipfile
from dataclasses import asdict, dataclass
from importlib.machinery import BuiltinImporter, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any, Literal

from runner.errors import MissingFileError, RunnerError
from runner.launcher.threads import name_threads_waited_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What the client runs.

    Attributes
    ----------
    kind : {"script", "module", "code", "stdin", "function"}
        A file (or a folder or zip file with a ``__main__.py``), the name of a module as for
        ``python -m``, code as for ``python -c``, standard input as for ``python -``, or
        ``package.module:function`` that takes the arguments and returns an exit code.
    target : str
        Which one; the code itself.
    args : tuple of str
        Its arguments.
    """

    kind: Literal["script", "module", "code", "stdin", "function"]
    target: str
    args: tuple[str, ...] = ()

    @property
    def argv(self) -> list[str]:
        """What the program finds in ``sys.argv``; a job of ours finds what a person would type."""
        if self.kind == "function":
            return ["runner", self.target.split(":")[0].rsplit(".", 1)[-1], *self.args]
        name = {"code": "-c", "stdin": "-"}.get(self.kind, self.target)
        return [name, *self.args]

    @property
    def import_folder(self) -> str:
        """What ``sys.path[0]`` is on every worker, and on the client in an absolute form."""
        if self.kind != "script":
            return str(Path.cwd())
        script = Path(self.target).resolve()
        return str(script if _holds_main(script) else script.parent)

    def check(self) -> None:
        """Refuse a script or a module that is not there, before any process is started for it.

        Raises
        ------
        MissingFileError
            If there is no such file, or no such package.
        """
        if self.kind == "module" and not _findable(self.target.partition(".")[0], self.import_folder):
            raise MissingFileError(
                f"there is no module {self.target!r}", "is it installed, or below this folder?"
            )
        if self.kind == "script" and not Path(self.target).exists():
            raise MissingFileError(
                f"there is no job {self.target!r}",
                "give a Python file, -m module, or a built-in job (see: runner --help)",
            )

    def to_message(self) -> dict[str, Any]:
        """Return plain values for the control channel."""
        return asdict(self)

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> Program:
        """Rebuild what :meth:`to_message` made."""
        return cls(**{**message, "args": tuple(message["args"])})


def run_to_the_end(program: Program) -> int:
    """Run the program, then all that an interpreter does at its end, and return the exit code.

    The caller may leave by ``os._exit`` afterwards: threads are joined, exit handlers have run, and
    output is written.
    """
    code = _call(program)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not break what follows
    with name_threads_waited_for():
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - what an interpreter does first at exit
    atexit._run_exitfuncs()  # noqa: SLF001 - and then
    return code if _flush() else code or 1


def _flush() -> bool:
    """Write out what the program printed; tell whether that went well."""
    written = True
    for stream in (sys.stdout, sys.stderr):
        if stream is None or getattr(stream, "closed", False):  # by the job: nothing is left to be written
            continue
        try:
            stream.flush()
        except (OSError, ValueError):  # the reader has gone
            written = False
    return written


def _call(program: Program) -> int:
    sys.argv = program.argv
    # Python itself leaves it empty for code that lies in no folder: that follows a change of the folder
    sys.path[0] = "" if program.kind in ("code", "stdin") else program.import_folder
    try:
        if program.kind == "function":
            module, _, function = program.target.partition(":")
            return int(getattr(importlib.import_module(module), function)(program.args))
        _make_main()
        if program.kind == "code":
            _execute(program.target, "<string>")
        elif program.kind == "stdin":
            _run_input()
        elif program.kind == "module":
            runpy._run_module_as_main(program.target)  # type: ignore[attr-defined]  # noqa: SLF001 - python -m
        elif _holds_main(Path(program.target)):
            runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]  # noqa: SLF001
        else:
            _run_script(Path(program.target).absolute())
    except SystemExit as leaving:
        return _code_of(leaving)
    except RunnerError as error:
        _flush()
        sys.stderr.write(f"runner: {error}\n")
        return error.exit_code
    except BaseException as error:  # noqa: BLE001 - as an interpreter: report and end with 1
        _flush()
        error.__traceback__ = _from_the_program_on(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _holds_main(path: Path) -> bool:
    """Tell whether a path is a folder or an archive whose ``__main__.py`` is meant."""
    return path.is_dir() or zipfile.is_zipfile(path)


def _findable(module: str, folder: str) -> bool:
    """Tell whether a top-level module can be imported, without importing it."""
    found = PathFinder.find_spec(module, [folder, *sys.path])
    return found is not None or importlib.util.find_spec(module) is not None


def _make_main() -> None:
    """Put an empty ``__main__`` in place of ours; it stays for the program's threads and exit handlers."""
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    main.__loader__ = BuiltinImporter
    sys.modules["__main__"] = main


def _run_script(path: Path) -> None:
    main = sys.modules["__main__"]
    main.__file__ = str(path)
    main.__cached__ = None  # type: ignore[attr-defined]
    main.__loader__ = SourceFileLoader("__main__", str(path))
    _execute(path.read_bytes(), path)


def _run_input() -> None:
    main = sys.modules["__main__"]
    main.__file__ = "<stdin>"
    main.__cached__ = None  # type: ignore[attr-defined]
    _execute(sys.stdin.buffer.read(), "<stdin>")


def _execute(source: str | bytes, name: str | Path) -> None:
    # not under this file's own __future__ imports
    code = compile(source, name, "exec", dont_inherit=True)
    exec(code, sys.modules["__main__"].__dict__)  # noqa: S102 - running it is the purpose


def _code_of(leaving: SystemExit) -> int:
    """Return the exit code as an interpreter does: None is 0, a number itself, a text is printed and 1."""
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF
    _flush()
    sys.stderr.write(f"{leaving.code}\n")
    return 1


def _from_the_program_on(trace: types.TracebackType | None) -> types.TracebackType | None:
    """Drop our own frames and runpy's from the top of a traceback."""
    ours = (__file__, runpy.__file__, "<frozen runpy>", "<frozen importlib._bootstrap>")
    while trace is not None and trace.tb_frame.f_code.co_filename in ours:
        trace = trace.tb_next
    return trace

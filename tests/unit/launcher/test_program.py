"""The interpreter itself is the oracle: a program must see, print and return what ``python`` gives it."""

from __future__ import annotations

import json
import shlex
import sys
import zipapp
from pathlib import Path

import pytest

from runner.errors import MissingFileError
from runner.launcher.program import Program
from tests.cluster.processes import Finished, run

# The same in a few lines as the client's process: run the program, then leave without looking back.
_CLIENT = """
import json, os, sys
from runner.launcher.program import Program, run_to_the_end
os._exit(run_to_the_end(Program.from_message(json.loads(sys.argv[1]))))
"""

_LOOK_AROUND = '''"""What a program sees of itself."""
import json, sys
def function(argument: int) -> None: ...
own = {name: repr(value) for name, value in globals().items() if name.startswith("__")}
own["__loader__"] = type(__loader__).__name__
own["__spec__"] = __spec__ and [__spec__.name, __spec__.origin]
own["__builtins__"] = type(__builtins__).__name__
own.pop("__annotations__", None)  # there from the start in some versions only
print(json.dumps({
    "argv": sys.argv,
    "import folder": sys.path[0],
    "own": own,
    "annotations": repr(function.__annotations__),
    "is main": sys.modules["__main__"].__dict__ is globals(),
}, indent=1))
'''


class Bench:
    """A folder with programs, which either the interpreter or our client runs."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def write(self, name: str, text: str) -> None:
        """Write a file, with the folders above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def ours(self, target: str, *args: str, kind: str = "script") -> Finished:
        """Run as the client does."""
        program = json.dumps({"kind": kind, "target": target, "args": args})
        return self._run("-c", _CLIENT, program)

    def pythons(self, target: str, *args: str, kind: str = "script") -> Finished:
        """Run as the interpreter does."""
        flag = {"module": ["-m"], "code": ["-c"]}.get(kind, [])
        return self._run(*flag, target, *args)

    def _run(self, *args: str) -> Finished:
        return run([sys.executable, *args], timeout=60, cwd=self.folder, env=self.environment)

    def piped(self, text: str, *args: str, ours: bool) -> Finished:
        """Run what comes on standard input, as ``python -`` does."""
        self.write("piped.py", text)
        program = json.dumps({"kind": "stdin", "target": "-", "args": args})
        words = [sys.executable, *(("-c", _CLIENT, program) if ours else ("-", *args))]
        line = f"exec {shlex.join(words)} < piped.py"
        return run(["sh", "-c", line], timeout=60, cwd=self.folder, env=self.environment)


@pytest.fixture
def bench(tmp_path: Path, environment: dict[str, str]) -> Bench:
    return Bench(tmp_path, environment)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("script", "job.py"),
        ("script", "below/job.py"),
        ("script", "folder"),
        ("script", "archive.zip"),
        ("script", "archive.pyz"),
        ("module", "package"),
        ("module", "package.job"),
    ],
)
def test_a_program_sees_what_python_shows_it(bench: Bench, kind: str, target: str) -> None:
    for name in ("job.py", "below/job.py", "folder/__main__.py", "package/__main__.py", "package/job.py"):
        bench.write(name, _LOOK_AROUND)
    bench.write("package/__init__.py", "")
    for name in ("archive.zip", "archive.pyz"):
        zipapp.create_archive(bench.folder / "folder", bench.folder / name)
    ours, pythons = (of(target, "-x", "a b", "--help", kind=kind) for of in (bench.ours, bench.pythons))
    assert json.loads(ours.stdout) == json.loads(pythons.stdout)
    assert json.loads(ours.stdout)["own"]["__name__"] == "'__main__'"
    assert (ours.returncode, ours.stderr) == (0, "")


def test_a_line_of_code_sees_what_python_shows_it(bench: Bench) -> None:
    ours, pythons = (of(_LOOK_AROUND, "-x", "a b", kind="code") for of in (bench.ours, bench.pythons))
    assert json.loads(ours.stdout) == json.loads(pythons.stdout)
    assert json.loads(ours.stdout)["argv"] == ["-c", "-x", "a b"]
    assert (ours.returncode, ours.stderr) == (0, "")


def test_standard_input_sees_what_python_shows_it(bench: Bench) -> None:
    ours, pythons = (bench.piped(_LOOK_AROUND, "-x", "a b", ours=mine) for mine in (True, False))
    assert json.loads(ours.stdout) == json.loads(pythons.stdout)
    assert json.loads(ours.stdout)["argv"] == ["-", "-x", "a b"]
    assert (ours.returncode, ours.stderr) == (0, "")


@pytest.mark.parametrize("leaving", ["pass", "sys.exit(3)", "sys.exit('no flats')", "1 / 0", "x = = 1"])
@pytest.mark.parametrize("piped", [False, True], ids=["-c", "stdin"])
def test_code_without_a_file_ends_as_under_python(bench: Bench, leaving: str, piped: bool) -> None:
    text = f"import sys\nprint('begun', flush=True)\n{leaving}\n"
    ours, pythons = (
        bench.piped(text, ours=mine) if piped else (bench.ours if mine else bench.pythons)(text, kind="code")
        for mine in (True, False)
    )
    assert (ours.returncode, ours.stdout) == (pythons.returncode, pythons.stdout)
    assert ours.stderr.splitlines()[-1:] == pythons.stderr.splitlines()[-1:]


def test_code_imports_from_the_present_folder(bench: Bench) -> None:
    bench.write("beside.py", "print('imported')")
    assert bench.ours("import beside", kind="code").stdout == "imported\n"
    assert bench.piped("import beside", ours=True).stdout == "imported\n"


def test_a_linked_script_imports_from_beside_the_file_itself(bench: Bench) -> None:
    bench.write("real/job.py", "import beside")
    bench.write("real/beside.py", "print('imported')")
    bench.write("links/readme", "")
    (bench.folder / "links/job.py").symlink_to("../real/job.py")
    assert bench.ours("links/job.py").stdout == bench.pythons("links/job.py").stdout == "imported\n"


LEAVING = [
    ("pass", 0),
    ("sys.exit()", 0),
    ("sys.exit(0)", 0),
    ("sys.exit(3)", 3),
    ("sys.exit(-1)", 255),
    ("sys.exit(256)", 0),
    ("sys.exit(2**40)", 0),
    ("sys.exit(True)", 1),
    ("sys.exit('no flat fields')", 1),
    ("sys.exit('')", 1),
    ("sys.exit(2.5)", 1),
    ("exit(4)", 4),
    ("raise SystemExit", 0),
    ("os._exit(7)", 7),
    ("1 / 0", 1),
    ("raise ValueError from KeyError('x')", 1),
    ("import nothing_of_this_name", 1),
    ("x = = 1", 1),
    ("import json; json.loads('{')", 1),
    ("sys.excepthook = lambda *_: print('mine', file=sys.stderr); 1 / 0", 1),
    ("sys.stdout.close(); 1 / 0", 1),
    ("threading.Thread(target=lambda: sys.exit(5)).start()", 0),
]
AS_A_MODULE = ("pass", "sys.exit(3)", "1 / 0", "import nothing_of_this_name")


@pytest.mark.parametrize(
    ("kind", "leaving", "code"),
    [("script", *case) for case in LEAVING]
    + [("module", *case) for case in LEAVING if case[0] in AS_A_MODULE],
)
def test_it_ends_as_under_python(bench: Bench, kind: str, leaving: str, code: int) -> None:
    bench.write("job.py", f"import os, sys, threading\nprint('begun', flush=True)\n{leaving}\n")
    target = {"script": "job.py", "module": "job"}[kind]
    ours, pythons = bench.ours(target, kind=kind), bench.pythons(target, kind=kind)
    assert (ours.returncode, ours.stdout) == (code, pythons.stdout)
    assert ours.stderr == _without_runpy(pythons.stderr)
    assert ours.returncode == pythons.returncode


def _without_runpy(trace: str) -> str:
    """Drop the two frames that ``python -m`` shows and we do not."""
    lines = trace.splitlines(keepends=True)
    return "".join(line for line in lines if 'File "<frozen runpy>"' not in line)


def test_a_traceback_begins_at_the_program(bench: Bench) -> None:
    bench.write("job.py", "import beside\n\nbeside.work()\n")
    bench.write("beside.py", "def work():\n    raise RuntimeError('dark')\n")
    lines = bench.ours("job.py").stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{bench.folder}/job.py", line 3, in <module>'
    assert lines[-1] == "RuntimeError: dark"
    assert sum(line.startswith("  File") for line in lines) == 2


def test_a_keyboard_interrupt_ends_with_130_and_its_traceback(bench: Bench) -> None:
    bench.write("job.py", "raise KeyboardInterrupt")
    finished = bench.ours("job.py")
    assert finished.returncode == 130
    assert finished.stderr.splitlines()[-1] == "KeyboardInterrupt"


def test_a_module_that_is_not_there(bench: Bench) -> None:
    finished = bench.ours("no_such_module", kind="module")
    assert finished.returncode == 1
    assert finished.stderr == f"{sys.executable}: No module named no_such_module\n"


def test_everything_that_an_interpreter_does_at_its_end_is_done(bench: Bench) -> None:
    bench.write(
        "job.py",
        """
import atexit, pickle, sys, threading, time
def own(): ...
def late():
    time.sleep(0.2)
    pickle.dumps(own)  # needs __main__ as it was
    print("thread")
atexit.register(lambda: print("first registered, last run"))
atexit.register(lambda: print("exit handler"))
print("main", end=" ")  # before the other has slept, however long this one takes
threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
sys.exit(6)
""",
    )
    finished = bench.ours("job.py")
    assert finished.stdout == "main thread\nexit handler\nfirst registered, last run\n"
    assert (finished.returncode, finished.stderr) == (6, "")


@pytest.mark.parametrize("kind", ["script", "module"])
def test_multiprocessing_finds_the_program_again(bench: Bench, kind: str) -> None:
    bench.write(
        "job.py",
        """
import multiprocessing
def square(x): return x * x
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(square, [1, 2, 3]))
""",
    )
    finished = bench.ours({"script": "job.py", "module": "job"}[kind], kind=kind)
    assert (finished.stdout, finished.stderr, finished.returncode) == ("[1, 4, 9]\n", "", 0)


def test_a_function_gets_the_arguments_and_returns_the_exit_code(bench: Bench) -> None:
    bench.write("jobs.py", "def run(args):\n    print(args)\n    return 5\n")
    finished = bench.ours("jobs:run", "scan.h5", "--rows", "0:4", kind="function")
    assert finished.stdout == "('scan.h5', '--rows', '0:4')\n"
    assert (finished.returncode, finished.stderr) == (5, "")


@pytest.mark.parametrize("kind", ["script", "function"])
def test_a_users_mistake_is_one_line_with_its_own_exit_code(bench: Bench, kind: str) -> None:
    raising = "raise ScanError('no flats in scan.h5', 'give them with --flats')"
    function = f"from runner.errors import ScanError\ndef run(args):\n    {raising}\n"
    bench.write("jobs.py", function)
    bench.write("script.py", f"{function}run(())\n")
    finished = bench.ours({"script": "script.py", "function": "jobs:run"}[kind], kind=kind)
    assert finished.returncode == 65
    assert finished.stderr == "runner: no flats in scan.h5; give them with --flats\n"


def test_output_that_nobody_reads_is_an_error(bench: Bench) -> None:
    bench.write("job.py", "print('lost')")
    program = json.dumps({"kind": "script", "target": "job.py", "args": []})
    line = f"\"$0\" -c '{_CLIENT}' '{program}' >/dev/full; echo $?"
    finished = run(["sh", "-c", line, sys.executable], timeout=60, cwd=bench.folder, env=bench.environment)
    assert finished.stdout == "1\n"


@pytest.mark.parametrize(
    ("kind", "target", "argv", "folder"),
    [
        ("script", "below/job.py", ["below/job.py", "-x"], "below"),
        ("script", "below", ["below", "-x"], "below"),
        ("module", "package.job", ["package.job", "-x"], "."),
        ("code", "print()", ["-c", "-x"], "."),
        ("stdin", "-", ["-", "-x"], "."),
        ("function", "package.jobs.center:run", ["runner", "center", "-x"], "."),
    ],
)
def test_its_arguments_and_its_import_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, target: str, argv: list[str], folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "below/job.py").touch()
    (tmp_path / "package.py").touch()
    program = Program(kind=kind, target=target, args=("-x",))  # type: ignore[arg-type]
    program.check()
    assert (program.argv, program.import_folder) == (argv, str(tmp_path / folder))


def test_a_module_that_is_not_there_is_refused() -> None:
    with pytest.raises(MissingFileError, match=r"there is no module 'no_such.job'"):
        Program(kind="module", target="no_such.job").check()


def test_a_script_that_is_not_there_is_refused() -> None:
    with pytest.raises(
        MissingFileError, match=r"there is no job 'nothing.py'; give a Python file, -m module"
    ):
        Program(kind="script", target="nothing.py").check()


def test_it_travels_as_a_message() -> None:
    program = Program(kind="module", target="package.job", args=("-x", "1"))
    assert Program.from_message(json.loads(json.dumps(program.to_message()))) == program

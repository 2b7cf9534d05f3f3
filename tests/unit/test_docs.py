"""What the documentation lists is what the code has, and the commands that it prints are understood."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from runner import errors, tomo
from runner.cli import runner
from runner.jobs.registry import BUILT_INS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = ROOT / "docs" / "reference"

#: A whole string like this in the launcher is the name of an environment variable, or how several begin.
VARIABLE = re.compile(r"_?[A-Z][A-Z0-9]*_\w*|TMPDIR|RESTARTED")
IN_SCRIPT = re.compile(r"\b([A-Z][A-Z0-9]*_\w+)=")


def variables_in_code() -> set[str]:
    found = set()
    for wing in ("launcher", "batch", "node", "maps"):
        for source in (ROOT / "runner" / wing).rglob("*.py"):
            if source.parent.name == "queue":  # words of batch systems for the states of jobs
                continue
            for node in ast.walk(ast.parse(source.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found |= {node.value} if VARIABLE.fullmatch(node.value) else set()
    for template in (ROOT / "jobscripts").glob("*.j2"):
        found |= set(IN_SCRIPT.findall(template.read_text()))
    return found


def in_backticks(page: Path) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", page.read_text()))


def test_every_environment_variable_is_on_its_page() -> None:
    page = in_backticks(REFERENCE / "environment_variables.md")
    listed = {word for word in page if VARIABLE.fullmatch(word)}
    used = variables_in_code()
    assert "SLURM_PROCID" in used
    assert "HDF5_USE_FILE_LOCKING" in used
    assert listed == used


def test_every_exit_code_is_on_its_page() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", (REFERENCE / "exit_codes.md").read_text(), re.MULTILINE)
    defined = {
        name: kind.exit_code
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.RunnerError) and kind is not errors.RunnerError
    }
    assert {name: int(code) for code, name in rows} == defined


def test_every_built_in_command_is_on_the_page_of_the_command_line() -> None:
    page = (REFERENCE / "cli.md").read_text()
    listed = re.findall(r"\.\. click:: ([\w.]+):command\n   :prog: runner ([\w-]+)", page)
    assert {name: module for module, name in listed} == {
        name: built_in.module for name, built_in in BUILT_INS.items()
    }


def test_every_public_name_is_on_the_page_of_the_python_interface() -> None:
    page = (REFERENCE / "api.md").read_text()
    listed = re.findall(r":: runner\.tomo\.(\w+)$", page, re.MULTILINE)
    assert sorted(listed) == sorted(tomo.__all__)


def test_every_decision_has_a_number_of_its_own_and_says_its_cost() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.read_text()
        assert text.startswith(f"# {page.name[:4]} ")
        for part in ("**Question.**", "**Decision.**", "**Why.**", "**Cost.**"):
            assert part in text, f"{page.name} lacks {part}"


def code_lines(page: Path) -> Iterator[str]:
    """Lines of the page's blocks, continued ones joined, and the commands in its running text."""
    text = page.read_text().replace("\\\n", " ")
    yield from re.findall(r"^(?:    )+(\S.*)$", text, re.MULTILINE)
    yield from sorted(in_backticks(page))


def commands() -> Iterator[tuple[str, list[str]]]:
    """What follows `python -m runner` (or `runner`) in every command of the documentation."""
    for page in PAGES:
        for line in code_lines(page):
            match = re.search(r"(?:^|\s)python -m runner (.+)|^runner (.+)", line)
            if match is None or "..." in line or line.startswith("runner: "):
                continue
            text = re.split(r"\s[#>;]|;", match[1] or match[2])[0]
            yield f"{page.relative_to(ROOT)}: {line.strip()}", shlex.split(text)


COMMANDS = list(commands())

#: Options of other programs that the pages speak of (the benchmarks' too), and one of a user's job.
FOREIGN = {
    "--allow-run-as-root",
    "--exclusive",
    "--constraint",
    "--contenders",
    "--fast",
    "--gpu-bind",
    "--het-group",
    "--signal",
    "--gpus-per-task",
    "--jobs",
    "--kill-on-bad-exit",
    "--no-browser",
    "--no-kill",
    "--oversubscribe",
    "--peers",
    "--port",
    "--renew",
    "--repeat",
    "--sizes",
    "--tasks",
}


def test_every_option_in_the_documentation_is_one_of_ours() -> None:
    known = FOREIGN.copy()
    for command in (runner, *(built_in.command() for built_in in BUILT_INS.values())):
        for parameter in command.params:
            known |= {*parameter.opts, *parameter.secondary_opts}
    for page in PAGES:
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page.read_text()))
        assert named <= known, f"{page.name} speaks of {', '.join(named - known)}"


def test_commands_are_found() -> None:
    assert len(COMMANDS) > 30


@pytest.mark.parametrize("words", [pytest.param(words, id=where) for where, words in COMMANDS])
def test_command_is_understood(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where the files of settings lie that the pages speak of
    Path("recon.toml").write_text('scan = "scan.nx"\nvolume = "volume.h5"\n')
    Path("nabu.conf").write_text("[dataset]\nlocation = scan.nx\n[reconstruction]\n")
    Path("scans.csv").write_text("scan,volume\nscan.nx,volume.h5\n")
    Path("volumes").mkdir()
    context = understood(runner, words)
    name, *args = context.params["job"] or ("",)
    if context.params["module"] is None and name in BUILT_INS:
        understood(BUILT_INS[name].command(), args)


def understood(command: click.Command, words: list[str]) -> click.Context:
    try:
        return command.make_context("runner", list(words))
    except click.exceptions.Exit as leaving:  # --help and --version end there
        pytest.skip(f"ends by itself with {leaving.exit_code}")
    except SystemExit:
        pytest.fail(f"the command line does not know {words}")


MATRIX = "ends deaths losses kills scale meeting rendezvous odd_jobs networks walltime slurm_jobs queue_ends"


def where_tried(test: ast.FunctionDef) -> str:
    """Say by what a test takes where it is tried, in the words of the page."""
    takes = {argument.arg for argument in test.args.args}
    each_mpi = takes & {"by_mpi", "mpi"} or "openmpi" in "".join(map(ast.unparse, test.decorator_list))
    if "way" in takes:
        return (
            "some launchers" if "way" in "".join(map(ast.unparse, test.decorator_list)) else "every launcher"
        )
    if "queue" in takes:
        return "Grid Engine and OAR"
    if takes & {"slurm", "srun"}:
        return "each mpirun in SLURM" if "mpi" in takes else "SLURM"
    if each_mpi:
        return "each mpirun"
    return "two hosts" if "hosts" in takes else "one machine"


def test_what_happens_when_is_what_is_tested() -> None:
    page = (ROOT / "docs" / "explanation" / "what_happens_when.md").read_text()
    rows = re.findall(r"^\|.*\| ([\w ]+) \| `(test_\w+\.py::test_\w+)` \|$", page, re.MULTILINE)
    tests = {
        f"test_{name}.py::{node.name}": where_tried(node)
        for name in MATRIX.split()
        for node in ast.parse((ROOT / f"tests/cluster/test_{name}.py").read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert {test: where for where, test in rows} == tests

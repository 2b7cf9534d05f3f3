"""Every example runs as its docstring says, prints what it promises, and leaves nothing behind."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.conftest import make_way
from tests.cluster.processes import run

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))

#: What standard output must hold, once for each line named here.
PROMISES = {
    "01_hello.py": [r"hello from process \d+ on \S+"] * 2,
    "02_map.py": [
        r"after  18 rounds pi is about 3\.1[34]\d{3}",
        r"2 of 20 failed: seed 17 brings bad luck; seed 7 brings bad luck",
    ],
    "03_dask_array.py": [r"105 MB .* mean 0\.00", r"computed by 2 processes, this one not among them: True"],
    "04_reconstruct.py": [
        r"axis: column 67\.3\d found, 67\.34 true",
        r"mean .* 0\.8(6|7)\d 1/cm found, 0\.866 true",
    ],
    "05_zarr.py": [r"15\.7 MB in 6 chunks", r"read back: mean 1000\.\d\d, every count as it was made: True"],
    "06_xarray.py": [
        r"12288 slopes from -[12]\.\d\d to [12]\.\d\d per day",
        r"largest difference from numpy\.polyfit: \de-1[3-6]",
    ],
    "07_delayed.py": [r"mean of 16 frames: 7\.50\d, expected 7\.500"],
    "08_actor.py": [
        r"[23] actors filtered 12 sinograms with (numpy|cupy)",
        r"largest difference from NumPy in this process: (0e\+00|\de-1[3-9])",
    ],
    "09_mixed_workers.py": [
        r"2 workers with a GPU, 1 without",
        r"24 frames, each step where it belongs and each count right: True",
    ],
}

#: Examples that promise the same from three ranks, and what they need there.
ON_RANKS: dict[str, tuple[str, ...]] = {
    "02_map.py": (),
    "05_zarr.py": (),
    "06_xarray.py": (),
    "07_delayed.py": (),
    "08_actor.py": (),
    "09_mixed_workers.py": ("--roles", "shared"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The command in the docstring of an example: variables, words for Python, arguments of the example."""

    variables: dict[str, str]
    words: list[str]
    args: list[str]


def read_command(example: Path) -> Said:
    match = re.search(r"^Run it with: ((?:\w+=\S+ )*)python (.+)$", example.read_text(), re.MULTILINE)
    assert match, f"{example.name} does not say how to run it"
    variables, words = dict(word.split("=") for word in match[1].split()), shlex.split(match[2])
    args = words[words.index(f"examples/{example.name}") + 1 :]
    words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
    return Said(variables=variables, words=words, args=args)


def check(name: str, output: str) -> None:
    """Fail if a line is missing that the example promises."""
    lines = output.splitlines()
    for promise in PROMISES[name]:
        found = next((line for line in lines if re.match(promise, line)), None)
        assert found is not None, f"no line like {promise!r} in:\n{output}"
        lines.remove(found)


@pytest.mark.cluster
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_does_what_it_says(example: Path, environment: dict[str, str], tmp_path: Path) -> None:
    said = read_command(example)
    argv = [sys.executable, *said.words]
    finished = run(argv, timeout=100, cwd=tmp_path, env=environment | said.variables)
    assert finished.returncode == 0, finished.stderr
    assert "Traceback" not in finished.stderr
    check(example.name, finished.stdout)


@pytest.mark.cluster
@pytest.mark.mpi
@pytest.mark.parametrize("name", ON_RANKS)
def test_does_the_same_on_the_ranks_of_mpirun(name: str, environment: dict[str, str], tmp_path: Path) -> None:
    example = ROOT / "examples" / name
    said = read_command(example)
    way = make_way("openmpi", environment | said.variables, tmp_path)
    if not way.launcher.program.exists():
        pytest.skip("no Open MPI: run make test")
    result = way.run(*ON_RANKS[name], example, *said.args)
    assert result.code == 0, result.err
    assert "Traceback" not in result.err
    check(name, result.out)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("07_delayed.py", "one + other", "one"),
        ("08_actor.py", "2 * columns", "columns"),
        ("09_mixed_workers.py", "argmax()) + 1", "argmax())"),
    ],
)
@pytest.mark.cluster
def test_a_wrong_result_is_a_failure(
    name: str, old: str, new: str, environment: dict[str, str], tmp_path: Path
) -> None:
    said = read_command(ROOT / "examples" / name)
    source = (ROOT / "examples" / name).read_text()
    assert source.count(old) == 1
    (tmp_path / name).write_text(source.replace(old, new))
    argv = [sys.executable, *(name if word.endswith(f"/{name}") else word for word in said.words)]
    finished = run(argv, timeout=60, cwd=tmp_path, env=environment | said.variables)
    assert finished.returncode == 1
    assert "Traceback" not in finished.stderr


def test_every_example_is_tested() -> None:
    assert [example.name for example in EXAMPLES] == sorted(PROMISES)

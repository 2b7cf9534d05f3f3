"""Every example runs as its docstring says, prints what it promises, and leaves nothing behind."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.cluster.processes import run

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))

#: What standard output must hold, once for each line named here.
PROMISES = {
    "01_hello.py": [r"hello from process \d+ on \S+"] * 2,
    "02_map.py": [r"after  20 rounds pi is about 3\.1[34]\d{3}"],
    "03_dask_array.py": [r"105 MB .* mean 0\.00", r"computed by 2 processes, this one not among them: True"],
    "04_reconstruct.py": [
        r"axis: column 67\.3\d found, 67\.34 true",
        r"mean .* 0\.8(6|7)\d 1/cm found, 0\.866 true",
    ],
}


def command_of(example: Path) -> list[str]:
    """The command on the second line of the docstring."""
    match = re.search(r"^Run it with: python (.+)$", example.read_text(), re.MULTILINE)
    assert match, f"{example.name} does not say how to run it"
    words = shlex.split(match[1])
    assert f"examples/{example.name}" in words
    return [sys.executable, *(str(ROOT / word) if word.startswith("examples/") else word for word in words)]


@pytest.mark.cluster
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_does_what_it_says(example: Path, environment: dict[str, str], tmp_path: Path) -> None:
    finished = run(command_of(example), timeout=100, cwd=tmp_path, env=environment)
    assert finished.returncode == 0, finished.stderr
    assert "Traceback" not in finished.stderr
    lines = finished.stdout.splitlines()
    for promise in PROMISES[example.name]:
        found = next((line for line in lines if re.match(promise, line)), None)
        assert found is not None, f"no line like {promise!r} in:\n{finished.stdout}"
        lines.remove(found)


def test_every_example_is_tested() -> None:
    assert [example.name for example in EXAMPLES] == sorted(PROMISES)

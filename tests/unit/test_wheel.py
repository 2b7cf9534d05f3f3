"""The wheel holds everything: nothing that works in a checkout is missing in an installation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(600)  # pip fetches what it builds with, from wherever it is told to


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel, built from a copy of the checkout and unpacked as an installation would be."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for folder in ("runner", "jobscripts"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", built, source]
    subprocess.run(argv, check=True, timeout=550)
    (wheel,) = built.glob("*.whl")
    unpacked = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    return unpacked


def relative(folder: Path, pattern: str) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob(pattern)}


def test_every_module_is_in_the_wheel(installed: Path) -> None:
    assert relative(installed / "runner", "*.py") == relative(ROOT / "runner", "*.py")
    assert (installed / "runner" / "py.typed").exists()


def test_every_kernel_is_in_the_wheel(installed: Path) -> None:
    kernels = relative(ROOT / "runner", "*.cu")
    assert kernels
    assert relative(installed / "runner", "*.cu") == kernels


def test_every_template_is_in_the_wheel(installed: Path) -> None:
    for pattern in ("*.j2", "*.toml"):
        in_checkout = relative(ROOT / "jobscripts", pattern)
        assert in_checkout
        assert relative(installed / "runner" / "jobscripts", pattern) == in_checkout


def test_the_page_about_a_reconstruction_is_in_the_wheel(installed: Path) -> None:
    pages = relative(ROOT / "runner", "*.html.j2")
    assert pages
    assert relative(installed / "runner", "*.html.j2") == pages


def test_an_installation_without_the_checkout_prints_job_scripts(installed: Path, tmp_path: Path) -> None:
    program = "import runner, sys; print(runner.__file__); from runner.cli import main; main()"
    argv = [sys.executable, "-c", program, "jobscript", "slurm", "--nodes", "2", "--", "job.py"]
    environment = os.environ | {"PYTHONPATH": str(installed)}
    printed = subprocess.run(
        argv, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    origin, _, script = printed.stdout.partition("\n")
    assert Path(origin).is_relative_to(installed)
    assert script.startswith("#!/bin/bash\n")
    assert "#SBATCH --nodes=2\n" in script

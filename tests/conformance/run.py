"""Run the tests of dask-mpi and dask-jobqueue's script, as installed, against the runner; tell the score.

``python -m tests.conformance.run`` (or ``make conformance``) takes minutes. ``--theirs`` runs the same on
dask-mpi and SLURMRunner themselves, for comparison. Nothing of a run is left behind, whatever it did.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command
from tests.cluster.testbed import VirtualSlurm, why_not

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHIM = HERE / "shim"
EACH_SECONDS = 40
ALL_SECONDS = 900


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--theirs", action="store_true", help="run on what the tests were written for")
    parser.add_argument("-k", dest="which", default="", help="only these of dask-mpi's tests, as pytest's -k")
    arguments = parser.parse_args()
    results = dask_mpi_tests(theirs=arguments.theirs, which=arguments.which)
    if not arguments.which:
        results["dask-jobqueue: slurm_runner/basic.py"] = slurm_script(theirs=arguments.theirs)
    for name, outcome in results.items():
        print(f"{outcome:8} {name}")
    tried = [outcome for outcome in results.values() if outcome != "skipped"]
    print(f"{tried.count('passed')} of {len(tried)} passed, {len(results) - len(tried)} skipped")


def dask_mpi_tests(*, theirs: bool, which: str) -> dict[str, str]:
    """Run dask-mpi's tests under Open MPI and return the outcome of each."""
    openmpi = MpiLauncher("openmpi")
    shim = [] if theirs else [SHIM / "bin"]
    paths = [*shim, openmpi.prefix / "bin", Path(sys.prefix) / "bin", os.environ["PATH"]]
    modules = [*([] if theirs else [SHIM]), ROOT]
    environment = {
        **os.environ,
        **openmpi.environment,
        "ALLOW_RUN_AS_ROOT": "1",
        "PATH": os.pathsep.join(map(str, paths)),
        "PYTHONPATH": os.pathsep.join(map(str, modules)),
    }
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", folder]
        words += ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "tests.conformance.find_mpirun"]
        words += ["--timeout", str(EACH_SECONDS), f"--junitxml={report}", "-k", which]
        with Command([*words, installed("dask_mpi") / "tests"], cwd=Path(folder), env=environment) as command:
            command.wait(timeout=ALL_SECONDS, gone_within=30)
            print(command.stdout[-20000:])
        return {f"dask-mpi: {name}": outcome for name, outcome in outcomes(report).items()}


def outcomes(report: Path) -> dict[str, str]:
    """Read pytest's report."""
    found = {}
    for case in ET.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = "skipped" if "skipped" in kinds else "failed" if kinds & {"failure", "error"} else "passed"
        found[f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"] = outcome
    return found


def slurm_script(*, theirs: bool) -> str:
    """Run dask-jobqueue's script for its SLURMRunner under real srun, unchanged, with or without us."""
    if reason := why_not():
        print(f"SLURMRunner: {reason}")
        return "skipped"
    script = installed("dask_jobqueue") / "tests" / "slurm_runner" / "basic.py"
    program = [sys.executable, *([] if theirs else ["-m", "runner", "--roles", "dedicated"]), script]
    Path("/shared_space").mkdir(exist_ok=True)  # the script's own idea
    slurm = VirtualSlurm()
    with slurm.start(["srun", "-N4", "-n4", *program]) as command:
        finished = command.wait(timeout=EACH_SECONDS, gone_within=30)
    return "passed" if finished.returncode == 0 and "Test passed" in finished.stdout else "failed"


def installed(package: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"{package} is not installed: pip install 'tomo-runner[test]'")
    return Path(spec.origin).parent


if __name__ == "__main__":
    main()

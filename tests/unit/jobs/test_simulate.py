"""The tool ``simulate`` writes the scan that was asked for."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from runner.errors import WriteError
from runner.jobs.simulate import command
from runner.tomo.scan import open_scan


def test_it_writes_what_was_asked_for(tmp_path):
    path = tmp_path / "scan.nx"
    args = [str(path), "--columns", "48", "--rows", "5", "--angles", "20", "--no-noise"]
    result = CliRunner().invoke(command, args, catch_exceptions=False)
    assert result.output == (
        f"{path}: 20 projections of 5 x 48 pixels of 213 um, rotation axis at column 24.94\n"
    )
    scan = open_scan(path)
    assert (scan.projections.count, scan.rows, scan.columns, scan.dtype) == (20, 5, 48, "f4")
    with pytest.raises(WriteError):
        CliRunner().invoke(command, args, catch_exceptions=False)
    assert CliRunner().invoke(command, [*args, "--overwrite"]).exit_code == 0


@pytest.mark.parametrize("job", ["simulate", "center"])
def test_the_command_line_stays_light(job):
    """Asking for help must not wait for numerical libraries."""
    program = f"import sys, runner.jobs.{job}; print({{'numpy', 'h5py', 'scipy', 'dask'}} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "set()\n"

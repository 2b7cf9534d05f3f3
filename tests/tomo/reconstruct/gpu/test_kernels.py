"""The kernels are CUDA C for every GPU from Turing to Hopper."""

import shutil
import subprocess

import pytest

from runner.tomo.reconstruct.gpu.device import kernel_source
from runner.tomo.reconstruct.gpu.layout import choose_layout

NVCC = shutil.which("nvcc")
KERNELS = {"spread.cu": choose_layout(32, 5, 232_448).defines}


@pytest.mark.skipif(NVCC is None, reason="no nvcc to compile CUDA C with")
@pytest.mark.parametrize("source", KERNELS)
def test_a_kernel_compiles_for_every_gpu(source, tmp_path):
    listing = subprocess.run(
        [NVCC, "--list-gpu-arch"], capture_output=True, text=True, check=True, timeout=60
    )
    known = {line.removeprefix("compute_") for line in listing.stdout.split()}
    wanted = sorted({"70", "75", "80", "90"} & known)  # newer compilers have given up the oldest ones
    assert {"80", "90"} <= set(wanted)
    program = tmp_path / source
    program.write_text(kernel_source(source))
    options = [f"-gencode=arch=compute_{one},code=sm_{one}" for one in wanted]
    options += [f"-D{key}={value}" for key, value in KERNELS[source].items()]
    argv = [NVCC, "-std=c++17", "-Werror", "all-warnings", "-Xptxas=-v", "--fatbin", *options]
    done = subprocess.run(
        [*argv, "-o", tmp_path / "kernel.fatbin", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "spill" not in done.stderr.replace("0 bytes spill stores, 0 bytes spill loads", "")

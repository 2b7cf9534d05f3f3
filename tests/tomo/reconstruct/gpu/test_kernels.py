"""The kernels are CUDA C for every GPU from Turing to Hopper."""

import shutil
import subprocess

import pytest

from runner.tomo.reconstruct.gpu.device import kernel_source
from runner.tomo.reconstruct.gpu.layout import COUNT_TYPES, choose_layout

NVCC = shutil.which("nvcc")
KERNELS = [
    ("spread.cu", choose_layout(32, 5, 232_448).defines),
    *(("integrate.cu", {"COUNT": count}) for count in COUNT_TYPES.values()),
]
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="no nvcc to compile CUDA C with")


@needs_nvcc
@pytest.mark.parametrize(("source", "defines"), KERNELS)
def test_a_kernel_compiles_for_every_gpu(source, defines, tmp_path):
    listing = subprocess.run(
        [NVCC, "--list-gpu-arch"], capture_output=True, text=True, check=True, timeout=60
    )
    known = {line.removeprefix("compute_") for line in listing.stdout.split()}
    wanted = sorted({"70", "75", "80", "90"} & known)  # newer compilers have given up the oldest ones
    assert {"80", "90"} <= set(wanted)
    program = tmp_path / source
    program.write_text(kernel_source(source))
    options = [f"-gencode=arch=compute_{one},code=sm_{one}" for one in wanted]
    options += [f"-D{key}={value}" for key, value in defines.items()]
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


@needs_nvcc
def test_line_integrals_are_rounded_as_on_the_cpu(tmp_path):
    """No product and sum are made one operation, which rounds once where the CPU rounds twice."""
    program, assembly = tmp_path / "integrate.cu", tmp_path / "integrate.ptx"
    program.write_text(kernel_source("integrate.cu"))
    argv = [NVCC, "--ptx", "-DCOUNT=unsigned short", "-o", assembly, program]
    subprocess.run(argv, check=True, timeout=100)
    text = assembly.read_text()
    assert "mul.rn.f32" in text
    assert "fma" not in text
    assert ".approx" not in text

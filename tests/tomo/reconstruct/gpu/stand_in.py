"""A GPU of NumPy arrays: the kernels are the real ones, compiled for the CPU with `cuda_on_cpu.h`."""

import ctypes
import hashlib
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from runner.tomo.reconstruct.gpu.device import kernel_source

SHIM = Path(__file__).with_name("cuda_on_cpu.h")


class Done:
    def synchronize(self):
        pass


class Limited:
    """NumPy, but for arrays that would not fit a GPU's memory."""

    def __init__(self, limit):
        self.limit = limit

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype):
        array = np.empty(shape, dtype)
        if array.nbytes > self.limit:
            raise MemoryError(f"{array.nbytes} bytes")
        array.view(np.float32).fill(np.nan)  # whatever is not written must not be read
        return array


class StandIn:
    """What the engine needs of a GPU, on this CPU."""

    def __init__(self, folder, *, shared=232_448, memory=1e9, array=np.inf):
        self.xp = Limited(array)
        self.shared, self.memory, self.folder = shared, memory, folder
        self.trimmed, self.closed, self.layouts = 0, False, []

    def free(self):
        return self.memory

    @contextmanager
    def working(self):
        yield

    def kernel(self, source, name, defines):
        launch = getattr(compiled(self.folder, source, name, defines), f"launch_{name}")
        self.layouts.append(dict(defines))

        def start(blocks, threads, shared, arguments):
            assert shared <= self.shared
            assert threads[0] * threads[1] <= 1024
            pointers = [as_argument(value) for value in arguments]
            array = (ctypes.c_void_p * len(pointers))(*(ctypes.addressof(value) for value in pointers))
            assert launch(blocks, *threads, array) == 0, "threads waited for some that had ended"

        return start

    def pinned(self, shape):
        return np.full(shape, np.nan, np.float32)

    def upload(self, host, array):
        array[...] = host

    def download(self, array, host):
        host[...] = array
        return Done()

    def trim(self):
        self.trimmed += 1

    def close(self):
        self.closed = True


def as_argument(value):
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_int(value)


def compiled(folder, source, name, defines):
    """Compile a kernel with its launcher; each only once."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ to compile the kernels for the CPU with")
    text = f'#include "{SHIM}"\n{kernel_source(source)}\nLAUNCHER({name})\n'
    key = hashlib.sha256(f"{text}{sorted(defines.items())}".encode()).hexdigest()[:16]
    library = folder / f"{name}-{key}.so"
    if not library.exists():
        program = folder / f"{name}-{key}.cpp"
        program.write_text(text)
        options = ["-std=c++17", "-O2", "-ffp-contract=off", "-w", "-shared", "-fPIC"]
        options += [f"-D{key}={value}" for key, value in defines.items()]
        subprocess.run([compiler, *options, "-o", library, program], check=True, timeout=110)
    return ctypes.CDLL(str(library))

"""The big step on workers with a GPU, the rest on those without: resources.
Run it with: CUDA_VISIBLE_DEVICES=0,1 python -m runner --workers 3 examples/09_mixed_workers.py

That pretends two GPUs, for a machine without; leave it out where there are some. In a job, start more
ranks than there are GPUs, with --roles shared: the ranks beyond get workers without one.
"""

import sys

import numpy as np
from distributed import Client, get_worker

SIZE = 256


def load(stripes: int) -> tuple[np.ndarray, bool]:
    """Stands for reading and unpacking a frame, (y, x): here a noisy one with so many stripes."""
    pattern = np.cos(2 * np.pi * stripes * np.arange(SIZE) / SIZE)
    return pattern + np.random.default_rng(stripes).normal(size=(SIZE, SIZE)), on_a_gpu()


def spectrum(loaded: tuple[np.ndarray, bool]) -> tuple[np.ndarray, bool, bool]:
    """The big step: write it with CuPy, the worker sees its own device and no other."""
    frame, loaded_on_gpu = loaded
    return np.abs(np.fft.rfft2(frame)), loaded_on_gpu, on_a_gpu()


def count(transformed: tuple[np.ndarray, bool, bool]) -> tuple[int, bool, bool, bool]:
    """Find how many stripes there are, and say on which kind of worker each step was."""
    power, loaded_on_gpu, transformed_on_gpu = transformed
    return int(power[0, 1:].argmax()) + 1, loaded_on_gpu, transformed_on_gpu, on_a_gpu()


def on_a_gpu() -> bool:
    return "GPU" in get_worker().state.total_resources


client = Client()
workers = client.scheduler_info(n_workers=-1)["workers"]
plain = [address for address, worker in workers.items() if "GPU" not in worker["resources"]]
if not 0 < len(plain) < len(workers):
    sys.exit("this example needs workers with a GPU and workers without")

stripes = range(3, 27)
frames = client.map(load, stripes, workers=plain)
spectra = client.map(spectrum, frames, resources={"GPU": 1})  # one at a time on each GPU
counts = client.gather(client.map(count, spectra, workers=plain))

print(f"{len(workers) - len(plain)} workers with a GPU, {len(plain)} without")
good = counts == [(number, False, True, False) for number in stripes]
print(f"{len(counts)} frames, each step where it belongs and each count right: {good}")
if not good:
    sys.exit(f"wrong: {counts}")

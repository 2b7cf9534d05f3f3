"""Keep state in the memory of each GPU, and call it again and again: Actors. NumPy where there is no GPU.
Run it with: python -m runner --workers 2 examples/08_actor.py
"""

import sys

import numpy as np
from distributed import Client


class Filter:
    """The ramp filter of backprojection for rows of one length; its values stay on the device."""

    def __init__(self, columns: int) -> None:
        self.xp = array_module()
        self.length = 2 * columns  # padded, so that the ends of a row do not meet
        self.ramp = self.xp.abs(self.xp.fft.rfftfreq(self.length))

    @property
    def array_module(self) -> str:
        return self.xp.__name__

    def apply(self, sinogram: np.ndarray) -> np.ndarray:
        """Filter the rows of a sinogram, (angle, column)."""
        rows = self.xp.asarray(sinogram)  # to the device
        spectrum = self.xp.fft.rfft(rows, self.length) * self.ramp
        filtered = self.xp.fft.irfft(spectrum, self.length)[:, : rows.shape[1]]
        return filtered if self.xp is np else filtered.get()  # and back

    def release(self) -> None:
        """Give the device's memory back now, that of the plans of cuFFT as well."""
        del self.ramp
        if self.xp is not np:
            self.xp.fft.config.get_plan_cache().clear()
            self.xp.get_default_memory_pool().free_all_blocks()


def array_module():
    """CuPy where it is installed and sees a device, else NumPy: one code for both."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception:  # noqa: BLE001 - no CuPy, no driver or no device, each says so in its own way
        return np
    return cupy


client = Client()
workers = client.scheduler_info(n_workers=-1)["workers"]
with_gpu = [address for address, worker in workers.items() if "GPU" in worker["resources"]]

# one actor to a GPU, or to a worker where no worker has a GPU; it stays where it was made
places = with_gpu or list(workers)
asks = {"GPU": 1} if with_gpu else None
made = [
    client.submit(Filter, 256, actor=True, key=f"filter {place}", workers=[place], resources=asks)
    for place in places
]
filters = client.gather(made)  # hold `made` as well: an actor goes when the last future of it does

dice = np.random.default_rng(0)
sinograms = dice.normal(size=(12, 90, 256))
calls = [filters[number % len(filters)].apply(rows) for number, rows in enumerate(sinograms)]
filtered = np.stack([call.result() for call in calls])
for one in filters:
    one.release().result()

expected = np.fft.irfft(np.fft.rfft(sinograms, 512) * np.abs(np.fft.rfftfreq(512)), 512)[..., :256]
difference = float(np.abs(filtered - expected).max())
print(f"{len(filters)} actors filtered {len(sinograms)} sinograms with {filters[0].array_module}")
print(f"largest difference from NumPy in this process: {difference:.0e}")
if difference > 1e-12:
    sys.exit("the filtered sinograms are wrong")

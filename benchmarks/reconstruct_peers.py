"""The contenders of `benchmarks.reconstruct`: each makes a plan for a problem, and runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.filters import padded_length, ramp
from runner.tomo.reconstruct.gridding.memory import sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES

Run = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Angles (angle,) in degrees; sinograms (slice, angle, column), the axis in the middle.

    In `aside`, two of the sinograms, it falls on the column ``columns // 2``, where some programs expect it.
    """

    angles: np.ndarray
    sinograms: np.ndarray
    aside: np.ndarray
    threads: int

    @property
    def columns(self) -> int:
        """Columns of the detector."""
        return self.sinograms.shape[2]


@dataclass(frozen=True)
class Peer:
    """A plan: `run` takes as many sinograms as `slices` at most.

    `window` is the engine's window that makes a slice as smooth. `aside` says that it wants those sinograms,
    and that its slices lie half a pixel off.
    """

    run: Run
    slices: int
    note: str = ""
    makes_images: bool = True
    window: str = "ram-lak"
    aside: bool = False


class AbsentError(Exception):
    """A library is not installed."""


def _load(name: str, package: str):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError as error:
        raise AbsentError(f"left out: {package} is not installed ({error})") from error


def ours(**options) -> Callable[[Problem], Peer]:
    """Take the engine itself in another setting."""

    def make(problem: Problem) -> Peer:
        plan = Reconstructor(
            angles=problem.angles, columns=problem.columns, padding="zero", threads=problem.threads, **options
        )
        return Peer(plan, 16, window=options.get("window", "ram-lak"))

    return make


def finufft_packed(problem: Problem) -> Peer:
    """Do the same sum with finufft, as well as we could: two slices in one transform, tables made before."""
    import finufft

    columns, angles = problem.columns, np.deg2rad(problem.angles)
    length = padded_length(columns)
    frequency = np.fft.fftfreq(length, 1 / length)
    offset = columns // 2 - (columns - 1) / 2
    centers = (columns - 1) / 2 + offset * (np.cos(angles) - np.sin(angles))
    gain = ramp(length)[np.abs(frequency).astype(int)] * np.pi / len(angles) / length
    transfer = (gain * np.exp(2j * np.pi * np.outer(centers, frequency) / length)).astype(np.complex64)
    omega = 2 * np.pi * frequency / length
    y = np.outer(-np.sin(angles), omega).ravel().astype(np.float32)
    x = np.outer(np.cos(angles), omega).ravel().astype(np.float32)
    pairs = len(problem.sinograms) // 2
    plan = finufft.Plan(
        1, (columns, columns), pairs, 1e-3, 1, "complex64", nthreads=problem.threads, upsampfac=1.25
    )
    plan.setpts(y, x)
    fft = _fast_fft()

    def run(sinograms: np.ndarray) -> np.ndarray:
        packed = np.zeros((pairs, len(angles), length), np.complex64)
        packed.real[..., :columns], packed.imag[..., :columns] = sinograms[0::2], sinograms[1::2]
        packed = fft(packed)
        packed *= transfer
        images = plan.execute(packed.reshape(pairs, -1))
        slices = np.empty((2 * pairs, columns, columns), np.float32)
        slices[0::2], slices[1::2] = images.real, images.imag
        return slices

    return Peer(run, len(problem.sinograms), "tolerance 1e-3, oversampling 1.25, slices in pairs")


def _fast_fft() -> Run:
    try:
        import mkl_fft
    except ImportError:
        import scipy.fft

        return lambda values: scipy.fft.fft(values, axis=2, overwrite_x=True)
    return lambda values: mkl_fft.fft(values, axis=2, out=values)


def fft_floor(problem: Problem) -> Peer:
    """Do the engine's transforms and nothing else: real ones of all rows, complex ones of half a grid."""
    length = padded_length(problem.columns)
    sizes = sizes_of(len(problem.angles), problem.columns, (problem.columns,) * 2, QUALITIES["standard"])
    rows = np.random.default_rng(0).normal(size=(len(problem.angles), length)).astype(np.float32)
    grid = np.ones((sizes.along, sizes.across), np.complex64)  # of two slices
    try:
        import mkl_fft
    except ImportError:
        import scipy.fft

        def run(_: np.ndarray) -> np.ndarray:
            for _ in range(2):
                scipy.fft.rfft(rows, axis=1)
            return scipy.fft.fft2(grid)

        return Peer(run, 2, "SciPy, transforms alone", makes_images=False)
    spectra, result = np.empty((len(rows), length // 2 + 1), np.complex64), np.empty_like(grid)

    def run(_: np.ndarray) -> np.ndarray:
        for _ in range(2):
            mkl_fft.rfft(rows, axis=1, out=spectra)
        return mkl_fft.fft2(grid, axes=(0, 1), out=result)

    return Peer(run, 2, "MKL, transforms alone", makes_images=False)


def algotom_fbp(problem: Problem) -> Peer:
    module = _load("algotom.rec.reconstruction", "algotom")
    angles, middle = np.deg2rad(problem.angles), (problem.columns - 1) / 2

    def run(sinograms: np.ndarray) -> np.ndarray:
        return np.stack(
            [
                module.fbp_reconstruction(
                    sinogram, middle, angles=angles, filter_name=None, ramp_win=None, apply_log=False,
                    gpu=False, ratio=None, ncore=problem.threads,
                )
                for sinogram in sinograms
            ]
        )  # fmt: skip

    _numba_threads(problem.threads)
    return Peer(run, 2, "linear interpolation", window="linear")


def algotom_dfi(problem: Problem) -> Peer:
    module = _load("algotom.rec.reconstruction", "algotom")
    angles, middle = np.deg2rad(problem.angles), problem.columns // 2

    def run(sinograms: np.ndarray) -> np.ndarray:
        return np.stack(
            [
                module.dfi_reconstruction(
                    sinogram, middle, angles=angles, filter_name=None, apply_log=False, ratio=None,
                    ncore=problem.threads,
                )
                for sinogram in sinograms
            ]
        )  # fmt: skip

    _numba_threads(problem.threads)
    return Peer(run, 2, "direct Fourier inversion, interpolated", aside=True)


def _numba_threads(threads: int) -> None:
    import numba

    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def astra_fbp(problem: Problem) -> Peer:
    astra = _load("astra", "astra-toolbox")
    volume = astra.create_vol_geom(problem.columns, problem.columns)
    rays = astra.create_proj_geom("parallel", 1.0, problem.columns, np.deg2rad(problem.angles))
    projector = astra.create_projector("linear", rays, volume)

    def one(sinogram: np.ndarray) -> np.ndarray:
        data, result = astra.data2d.create("-sino", rays, sinogram), astra.data2d.create("-vol", volume)
        settings = astra.astra_dict("FBP") | {
            "ProjectorId": projector,
            "ProjectionDataId": data,
            "ReconstructionDataId": result,
            "option": {"FilterType": "ram-lak"},
        }
        algorithm = astra.algorithm.create(settings)
        astra.algorithm.run(algorithm)
        image = astra.data2d.get(result)
        astra.algorithm.delete(algorithm)
        astra.data2d.delete([data, result])
        return image

    return Peer(
        lambda sinograms: np.stack([one(s) for s in sinograms]), 1, "CPU, linear; one thread always",
        window="linear",
    )  # fmt: skip


def skimage_iradon(problem: Problem) -> Peer:
    module = _load("skimage.transform", "scikit-image")

    def run(sinograms: np.ndarray) -> np.ndarray:
        return np.stack(
            [
                module.iradon(s.T, problem.angles, filter_name="ramp", output_size=problem.columns)
                for s in sinograms
            ]
        )

    return Peer(run, 1, "linear interpolation; one thread always", window="linear", aside=True)


def nabu_fbp(problem: Problem) -> Peer:
    cl = _load("pyopencl", "pyopencl[pocl]")
    backprojection = _load("nabu.reconstruction.fbp_opencl", "nabu")
    filtering = _load("nabu.reconstruction.filtering", "nabu")
    shape, angles = (len(problem.angles), problem.columns), np.deg2rad(problem.angles)
    ramp_filter = filtering.SinoFilter(
        shape, filter_name="ramlak", padding_mode="zeros", extra_options={"fft_threads": problem.threads}
    )
    processors = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    plan = backprojection.OpenCLBackprojector(
        shape,
        angles=angles,
        filter_name="none",
        backend_options={"ctx": cl.Context(processors[:1])},
        extra_options={"use_textures": False},  # which on a processor are slower
    )

    def run(sinograms: np.ndarray) -> np.ndarray:
        return np.stack([plan.backproj(ramp_filter(sinogram)).copy() for sinogram in sinograms])

    return Peer(run, 2, "OpenCL on the CPU by pocl; all cores", window="linear")


def mbirjax_fbp(problem: Problem) -> Peer:
    module = _load("mbirjax", "mbirjax")
    model = module.ParallelBeamModel((len(problem.angles), 2, problem.columns), np.deg2rad(problem.angles))
    model.set_params(verbose=0)

    def run(sinograms: np.ndarray) -> np.ndarray:
        volume = model.fbp_recon(np.ascontiguousarray(sinograms.swapaxes(0, 1)))
        return np.moveaxis(np.asarray(volume), 2, 0)

    return Peer(run, 2, "jax on the CPU; all cores", window="linear")


PEERS: Mapping[str, Callable[[Problem], Peer]] = {
    "runner fourier, high": ours(quality="high"),
    "runner fourier, linear": ours(window="linear"),
    "runner exact": ours(method="exact"),
    "finufft": finufft_packed,
    "FFT floor": fft_floor,
    "algotom dfi": algotom_dfi,
    "algotom fbp": algotom_fbp,
    "astra fbp": astra_fbp,
    "nabu fbp": nabu_fbp,
    "mbirjax fbp": mbirjax_fbp,
    "scikit-image": skimage_iradon,
}

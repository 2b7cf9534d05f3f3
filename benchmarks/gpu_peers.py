"""The contenders of `benchmarks.gpu_check`: each makes a plan, and then takes sinograms and times itself.

Both have the sinograms on the GPU, and leave the slices there: copies are not timed. They filter alike, by
the ramp, with the edges carried on as the engine does; what differs is how that becomes slices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from runner.tomo.reconstruct.filters import padded_length, ramp

Run = Callable[[np.ndarray], tuple[np.ndarray, float]]
"""Takes sinograms (slice, angle, column); gives slices (slice, y, x), and milliseconds."""

_BACKPROJECT = r"""
extern "C" __global__ void backproject(cudaTextureObject_t rows, const float* cosines, const float* sines,
                                       int angles, int size, float centre, float* image)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size || y >= size) return;
    float dx = x - 0.5f * (size - 1), dy = y - 0.5f * (size - 1), sum = 0.0f;
    for (int angle = 0; angle < angles; ++angle)
        sum += tex2D<float>(rows, dx * cosines[angle] - dy * sines[angle] + centre + 0.5f, angle + 0.5f);
    image[(size_t)y * size + x] = sum * 3.14159265f / angles;
}
"""


def _filtered(sinogram, response, length):
    """Filter a sinogram (angle, column) on the GPU, edges carried on; returns its spectrum."""
    import cupy

    columns = sinogram.shape[1]
    turn = columns + (length - columns) // 2
    padded = cupy.empty((len(sinogram), length), np.float32)
    padded[:, :columns] = sinogram
    padded[:, columns:turn], padded[:, turn:] = sinogram[:, -1:], sinogram[:, :1]
    return cupy.fft.rfft(padded) * response


def texture(angles: np.ndarray, columns: int) -> Run:
    """Backproject plainly: the GPU's texture units interpolate linearly."""
    import cupy
    from cupy.cuda import texture as textures

    length = padded_length(columns)
    response = cupy.asarray(ramp(length), np.float32)
    theta = np.deg2rad(angles)
    cosines, sines = cupy.asarray(np.cos(theta), np.float32), cupy.asarray(np.sin(theta), np.float32)
    kernel = cupy.RawKernel(_BACKPROJECT, "backproject")
    form = textures.ChannelFormatDescriptor(32, 0, 0, 0, cupy.cuda.runtime.cudaChannelFormatKindFloat)
    array = textures.CUDAarray(form, columns, len(angles))
    how = textures.TextureDescriptor(
        addressModes=(cupy.cuda.runtime.cudaAddressModeBorder,) * 2,
        filterMode=cupy.cuda.runtime.cudaFilterModeLinear,
        readMode=cupy.cuda.runtime.cudaReadModeElementType,
    )
    what = textures.ResourceDescriptor(cupy.cuda.runtime.cudaResourceTypeArray, cuArr=array)
    rows = textures.TextureObject(what, how)
    blocks = (-(-columns // 32), -(-columns // 8))

    def one(sinogram, image):
        spectrum = _filtered(sinogram, response, length)
        array.copy_from(cupy.ascontiguousarray(cupy.fft.irfft(spectrum, n=length)[:, :columns]))
        centre = np.float32((columns - 1) / 2)
        arguments = (rows, cosines, sines, np.int32(len(angles)), np.int32(columns), centre, image)
        kernel(blocks, (32, 8), arguments)

    return lambda sinograms: _timed(one, sinograms, columns)


def cufinufft(angles: np.ndarray, columns: int) -> Run:
    """Make the same Fourier sum as the engine, by a library for any points."""
    import cufinufft as library
    import cupy

    length = padded_length(columns)
    omega = 2 * np.pi * np.arange(length // 2 + 1) / length
    theta = np.deg2rad(angles)
    response = ramp(length) * np.where((omega == 0) | np.isclose(omega, np.pi), 1, 2) / length
    x, y = np.outer(np.cos(theta), omega), np.outer(-np.sin(theta), omega)
    offset = columns // 2 - (columns - 1) / 2  # from the pixel that transforms count from to the axis
    phases = np.exp(1j * (omega * (columns - 1) / 2 + offset * (x + y)))
    factors = cupy.asarray(phases * np.pi / len(angles), np.complex64)
    response = cupy.asarray(response, np.float32)
    plan = library.Plan(1, (columns, columns), eps=1e-4, isign=1, dtype="complex64")
    plan.setpts(cupy.asarray(y.ravel(), np.float32), cupy.asarray(x.ravel(), np.float32))

    def one(sinogram, image):
        spectrum = _filtered(sinogram, response, length)
        spectrum *= factors
        image[...] = plan.execute(spectrum.ravel()).real

    return lambda sinograms: _timed(one, sinograms, columns)


def _timed(one, sinograms: np.ndarray, columns: int) -> tuple[np.ndarray, float]:
    """Make all slices twice, and time the second time."""
    import cupy

    rows = cupy.asarray(sinograms)
    images = cupy.empty((len(rows), columns, columns), np.float32)
    for _ in range(2):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        for sinogram, image in zip(rows, images, strict=True):
            one(sinogram, image)
        end.record()
        end.synchronize()
    return images.get(), float(cupy.cuda.get_elapsed_time(start, end))


PEERS: Mapping[str, Callable[[np.ndarray, int], Run]] = {
    "cufinufft": cufinufft,
    "texture backprojection": texture,
}

"""Sinograms become slices. Stands alone: no cluster, no files.

:class:`~runner.tomo.reconstruct.reconstructor.Reconstructor` is the public signature of every method;
`fourier` is the engine, `fbp` the plain reference that it is tested against.
"""

from runner.tomo.reconstruct.reconstructor import Reconstructor

__all__ = ["Reconstructor"]

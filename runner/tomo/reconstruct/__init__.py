"""Sinograms become slices. Stands alone: no cluster, no files.

:class:`~runner.tomo.reconstruct.reconstructor.Reconstructor` is the public signature of every method: the
engine (`gridding`), the exact sum that it is held against (`exact`), plain filtered backprojection (`fbp`),
and methods that work step by step (`iterative`).
:class:`~runner.tomo.reconstruct.gridding.projector.Projector` is the way back, for other such methods.
"""

from runner.tomo.reconstruct.gridding.projector import Projector
from runner.tomo.reconstruct.reconstructor import Reconstructor

__all__ = ["Projector", "Reconstructor"]

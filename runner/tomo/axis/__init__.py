"""Where the rotation axis falls on the detector.

:func:`~runner.tomo.axis.find.find_center` asks three methods: views of opposite sides (`opposite`), the
sinogram's double wedge (`wedge`) and the sharpness of the slice (`sharpness`); `consensus` decides.
"""

from runner.tomo.axis.find import FOUND_BY, find_center
from runner.tomo.axis.finding import AxisEstimate

__all__ = ["FOUND_BY", "AxisEstimate", "find_center"]

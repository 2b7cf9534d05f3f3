"""What a job says when a volume is made."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from runner.units import format_duration

if TYPE_CHECKING:
    from runner.tomo.parameters import Axis
    from runner.tomo.pipeline import Outcome


def summary(outcome: Outcome) -> str:
    """Say what was made, and how to see it."""
    from runner.tomo.volume.forms import viewer_of

    slices, height, width = outcome.shape
    program, path = viewer_of(outcome.volume)
    earlier = f", {slices - outcome.made} of them by an earlier run" if outcome.made < slices else ""
    lines = {
        "volume": f"{outcome.volume}  {outcome.dataset}".rstrip(),
        "shape": f"{slices} x {height} x {width} (slice, y, x), {outcome.dtype}, {outcome.units}",
        "axis": axis_text(outcome.axis),
        "time": f"{format_duration(outcome.seconds)}, {outcome.made / outcome.seconds:.1f} slices/s",
        "state": f"all {slices} slices written and verified" + earlier,
        "open it": f"{program} {shlex.quote(os.fspath(path))}",
    }
    if outcome.dtype != "float32":
        below, above, missing = outcome.clipped
        lines["clipped"] = f"{below} pixels below, {above} above, {missing} not a number"
    if outcome.report is not None:
        lines["report"] = os.fspath(outcome.report)
    return "\n".join(f"{name:<9}{text}" for name, text in lines.items())


def axis_text(axis: Axis) -> str:
    """Say where the rotation axis is, and how that is known."""
    spread = f" +- {axis.evidence.spread:.2f}" if axis.evidence else ""
    tilt = f", {axis.slope:+.4f} per row" if axis.slope else ""
    how = f"{axis.origin}, {axis.evidence.confidence} confidence" if axis.evidence else axis.origin
    return f"column {axis.position:.2f}{spread}{tilt} ({how})"

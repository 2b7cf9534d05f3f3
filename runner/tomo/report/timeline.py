"""Who did what when: a lane for every worker, drawn as few shapes as thousands of chunks allow."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from runner.tomo.chunk import ChunkResult
from runner.tomo.report.chart import Plane, drawing

STAGES = ("read", "reconstruct", "write")
_TALLEST, _LOWEST = 30.0, 2.0  # height of a lane
_ALL_LANES = 480.0
_NAMED = 40  # lanes, of more the names would not be read


def span_of(results: Sequence[ChunkResult]) -> tuple[float, float]:
    """Tell when the first chunk began and the last one ended, seconds since 1970."""
    begins = [begun for result in results for begun in result.begun.values()]
    ends = [begun + result.seconds[stage] for result in results for stage, begun in result.begun.items()]
    return min(begins, default=0.0), max(ends, default=0.0)


def draw_timeline(results: Sequence[ChunkResult]) -> Markup:
    """Draw each chunk's stages from left to right, in the lane of its worker: a track for each stage.

    Parameters
    ----------
    results : sequence of ChunkResult
        Of one run.
    """
    begun, ended = span_of(results)
    workers = sorted({result.worker for result in results})
    lane = min(_TALLEST, max(_LOWEST, _ALL_LANES / max(len(workers), 1)))
    plane = Plane(
        x=(0.0, max(ended - begun, 1e-3)),
        y=(0.0, float(len(workers) or 1)),
        height=lane * len(workers) + 44,
    )
    lanes = {worker: number for number, worker in enumerate(reversed(workers))}
    shapes: dict[str, list[str]] = {stage: [] for stage in STAGES}
    for result in results:
        for number, stage in enumerate(STAGES):
            start = result.begun[stage] - begun
            top = lanes[result.worker] + 0.95 - 0.3 * number
            shapes[stage].append(_bar(plane, (start, start + result.seconds[stage]), (top, top - 0.3)))
    parts = [plane.scales("seconds since the first chunk was begun", "workers", y_ticks=False)]
    parts += [
        Markup('<path class="{}" d="{}"/>').format(stage, "".join(bars)) for stage, bars in shapes.items()
    ]
    if len(workers) <= _NAMED:
        parts += [
            Markup('<text x="52" y="{:.1f}" dy="4" text-anchor="end">{}</text>').format(
                plane.down(lanes[worker] + 0.5), number
            )
            for number, worker in enumerate(workers, start=1)
        ]
    return drawing(plane, parts, "when each worker read, reconstructed and wrote")


def _bar(plane: Plane, times: tuple[float, float], heights: tuple[float, float]) -> str:
    left, right = map(plane.across, times)
    top, bottom = map(plane.down, heights)
    return f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z"

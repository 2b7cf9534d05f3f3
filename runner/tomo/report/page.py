"""The words and numbers of a page, and the page itself."""

from __future__ import annotations

import datetime as dt
import math
import os
import shlex
from importlib.resources import files

import jinja2

from runner.tomo.check.summary import summarise
from runner.tomo.missing import row_ranges
from runner.tomo.png import window_of
from runner.tomo.report.axis_charts import bands_outside, draw_bands, draw_curves
from runner.tomo.report.defects_chart import draw_defects
from runner.tomo.report.histogram import draw_histogram
from runner.tomo.report.pictures import cut_volume, draw_sinogram, sample_values
from runner.tomo.report.run import Run
from runner.tomo.report.timeline import STAGES, draw_timeline, span_of
from runner.tomo.scan.finding import LEVELS
from runner.tomo.volume.forms import viewer_of
from runner.tomo.volume.hdf5 import read_parameters
from runner.units import format_duration, format_size

_MUCH = 0.01  # clipped pixels, as a share, that are worth a warning


def make_page(run: Run) -> str:
    """Write the page about a reconstruction: HTML that needs no other file and no network.

    Raises
    ------
    OSError
        If the volume cannot be read.
    """
    values = sample_values(run)
    low, high = window_of(values)
    evidence, defects = run.axis.evidence, run.content.defects
    return _template().render(
        run=run,
        title=run.content.title,
        state=state_of(run),
        tiles=tiles_of(run),
        pictures=cut_volume(run, (low, high)),
        sinogram=draw_sinogram(run),
        low=low,
        high=high,
        evidence=evidence,
        curves=draw_curves(evidence) if evidence else "",
        bands=draw_bands(evidence, run.scan.rows) if evidence else "",
        outside=bands_outside(evidence, run.scan.rows) if evidence else 0,
        defects=defects.counts() if defects else {},
        map_of_defects=draw_defects(defects) if defects else "",
        histogram=draw_histogram(values, run.content.units, run.content.greys),
        timeline=draw_timeline(run.results),
        effort=effort_of(run),
        findings=findings_of(run),
        scan=summarise(run.scan),
        parameters=read_parameters(run.target.path),
        provenance=run.content.provenance,
        following=following(run),
    )


def state_of(run: Run) -> tuple[str, str]:
    """Say how it ended: a class of the page's style, and a line."""
    rows = run.plan.work.rows
    if run.error is None:
        earlier = f", {run.earlier} of them by an earlier run" if run.earlier else ""
        return "good", f"all {rows} slices written and verified{earlier}"
    missing = row_ranges([*run.left, *(failure.chunk for failure in run.failures)])
    made = f"{rows - run.missing} of {rows} slices are there, rows {missing} are missing"
    if run.left:
        return "warn", f"the time was over: {made}"
    return "bad", f"slices could not be made: {made}"


def tiles_of(run: Run) -> dict[str, tuple[str, str]]:
    """Choose the numbers that stand above all others: value and remark, by name."""
    slices, height, width = run.target.shape
    seconds = max(run.ended - run.begun, 1e-3)
    threads = "1 thread" if run.plan.resources.threads == 1 else f"{run.plan.resources.threads} threads"
    spread = f"± {run.axis.evidence.spread:.2f}, " if run.axis.evidence else ""
    return {
        "volume": (f"{slices} × {height} × {width}", f"{run.content.greys.dtype}, {run.content.units}"),
        "rotation axis": (f"{run.axis.position:.2f}", spread + run.axis.origin),
        "time": (format_duration(seconds), f"{run.made / seconds:.1f} slices/s"),
        "workers": (
            f"{run.plan.resources.workers}",
            f"{threads}, {format_size(run.plan.resources.memory)} each",
        ),
    }


def effort_of(run: Run) -> dict[str, str]:
    """Say what the work of this run took, by name."""
    spent = {stage: sum(result.seconds.get(stage, 0.0) for result in run.results) for stage in STAGES}
    total = sum(spent.values()) or 1.0
    share = run.made / run.plan.work.rows
    first, last = span_of(run.results) if run.results else (run.ended, run.ended)
    tallest = max((result.chunk.rows for result in run.results), default=0)
    return {
        "before the first chunk": format_duration(first - run.begun),
        "from the first chunk to the last": f"{format_duration(last - first)}, "
        f"{run.made / max(last - first, 1e-3):.1f} slices/s",
        "chunks": f"{len(run.results)} of up to {tallest} rows, {len(run.retries)} attempts made again",
        "time of the workers": ", ".join(
            f"{stage} {format_duration(seconds)} ({seconds / total:.0%})" for stage, seconds in spent.items()
        ),
        "read": f"about {format_size(run.plan.bytes_read * share)}, if it is not compressed",
        "written": format_size(run.plan.bytes_written * share),
        "predicted peak of a worker": format_size(run.plan.memory),
    }


def findings_of(run: Run) -> list[tuple[str, str]]:
    """List what a person should know, what matters most first: a level and a line each."""
    told = [(finding.level, str(finding).removeprefix(f"{finding.level}: ")) for finding in run.findings]
    told += [_level_of(note) for note in run.notes]
    told += [
        ("error", f"rows {row_ranges([failure.chunk])} could not be made: {failure.cause}")
        for failure in run.failures
    ]
    if any(run.clipped):
        below, above, missing = run.clipped
        share = sum(run.clipped) / math.prod(run.target.shape)
        text = (
            f"clipped: {below} pixels below the window, {above} above, {missing} not a number ({share:.2%})"
        )
        told.append(("warning" if share > _MUCH else "note", text))
    return sorted(told, key=lambda one: LEVELS.index(one[0]))


def _level_of(note: str) -> tuple[str, str]:
    """Split a line that may begin with its level."""
    level, _, text = note.partition(": ")
    return (level, text) if level in LEVELS else ("note", note)


def following(run: Run) -> dict[str, str]:
    """Say what can be done next: commands, by what for."""
    again = run.content.provenance.command_line
    if run.error is None:
        program, path = viewer_of(run.volume)
        return {"open it": f"{program} {shlex.quote(os.fspath(path))}"}
    return {"go on": again} if again else {}


def _when(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["when"] = _when
    return environment.from_string((files(__package__) / "report.html.j2").read_text(encoding="utf-8"))

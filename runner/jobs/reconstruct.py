"""The job `reconstruct`: a scan becomes a volume.

The launcher reads `command` before there is a cluster, only to see whether the command line is right, so this
module loads nothing heavy until it runs.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runner.errors import UsageError
from runner.jobs.commands import run_command
from runner.jobs.progress import ProgressMeter
from runner.jobs.scan_options import scan_options
from runner.tomo.settings import (
    AUTO,
    DEVICES,
    DTYPES,
    FIELDS,
    METHODS,
    NAMES,
    PADDINGS,
    QUALITIES,
    RINGS,
    UNITS,
    UNSHARP,
    WINDOWS,
    Settings,
    load_settings,
    parse_greys,
    read_rings,
    read_unsharp,
)
from runner.units import format_duration

if TYPE_CHECKING:
    from runner.tomo.dispatch import Progress
    from runner.tomo.forecast import Forecast
    from runner.tomo.parameters import Axis
    from runner.tomo.pipeline import Outcome

_FILE = click.Path(path_type=Path, readable=False)  # what cannot be read, we say better than click


def column_or_auto(text: str) -> float | str:
    """Read ``--center``; click says it kindly where this raises ValueError."""
    return AUTO if text == AUTO else float(text)


def checked(read: Callable[[str, Any], object]) -> Callable[[str], str]:
    """Let a method that is none be known before there is a cluster."""

    def check(text: str) -> str:
        try:
            read("method", text)
        except UsageError as error:
            raise click.BadParameter(str(error)) from error
        return text

    return check


@click.command("reconstruct", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("scan", type=_FILE)
@click.argument("volume", type=_FILE)
@click.option("--config", type=_FILE, help="TOML file with any of the settings below; options go before it.")
@scan_options
@click.option(
    "--center",
    type=column_or_auto,
    metavar="PX|auto",
    help="Detector column of the rotation axis, or auto.  [auto]",
)
@click.option("--method", type=click.Choice(METHODS), help="Reconstruction method.  [fourier]")
@click.option("--quality", type=click.Choice(QUALITIES), help="Of the method fourier.  [standard]")
@click.option(
    "--device", type=click.Choice(DEVICES), help="Of fourier; auto: a worker's GPU, if it has one.  [cpu]"
)
@click.option("--window", type=click.Choice(WINDOWS), help="Window on the ramp filter.  [ram-lak]")
@click.option(
    "--cutoff", type=float, metavar="F", help="Where the window ends, of the Nyquist frequency.  [1]"
)
@click.option("--padding", type=click.Choice(PADDINGS), help="What lies beside the detector.  [edge]")
@click.option(
    "--field-of-view", type=click.Choice(FIELDS), help="half: a full turn about an axis near the end.  [auto]"
)
@click.option("--rows", metavar="A:B", help="Detector rows, B not included.  [all]")
@click.option(
    "--units", type=click.Choice(UNITS), help="Of the attenuation.  [1/cm if the scan tells its pixels]"
)
@click.option(
    "--rings",
    type=checked(read_rings),
    metavar="METHOD",
    help=f"Removal of rings: {', '.join(RINGS)}; with parameters as sorting:size=31.  [none]",
)
@click.option(
    "--zingers",
    type=float,
    metavar="SHARE",
    help="Replace pixels so much brighter than those around them, like 0.2.  [not]",
)
@click.option("--delta-beta", type=float, metavar="RATIO", help="Phase retrieval (Paganin), like 500.  [not]")
@click.option("--energy", type=float, metavar="KEV", help="Of the photons.  [what the scan tells]")
@click.option("--distance", type=float, metavar="M", help="Sample to detector.  [what the scan tells]")
@click.option("--pixel-size", type=float, metavar="M", help="At the sample.  [what the scan tells]")
@click.option(
    "--unsharp",
    type=checked(read_unsharp),
    metavar="METHOD",
    help=f"Sharpening: {', '.join(UNSHARP)}; with parameters as gaussian:sigma=1,coeff=3.  [none]",
)
@click.option("--mask/--no-mask", default=None, help="Zero outside of the largest circle.  [no-mask]")
@click.option("--dtype", type=click.Choice(DTYPES), help="Of the volume's pixels.  [float32]")
@click.option(
    "--greys",
    type=checked(lambda _, text: parse_greys(text)),
    metavar="A:B",
    help="Lowest and highest grey level of whole numbers, as values or percentiles.  [0.1%:99.9%]",
)
@click.option("--overwrite", is_flag=True, help="Replace VOLUME if it is there.")
@click.option(
    "--cluster",
    "where",
    metavar="WHERE",
    help="allocation, local, jobqueue:NAME, an address like tcp://HOST:PORT, or a scheduler file.  "
    "[allocation, made of the ranks of this job or of this machine]",
)
@click.option(
    "--plan",
    "only_plan",
    is_flag=True,
    help="Time a chunk, say what would be done and how long it would take, and stop.",
)
def command(
    scan: Path,
    volume: Path,
    config: Path | None,
    *,
    overwrite: bool,
    only_plan: bool,
    where: str | None,
    **given: Any,
) -> None:
    """Reconstruct SCAN (NXtomo, DXchange, other HDF5, TIFF, EDF) into VOLUME.

    The volume is one NeXus file (HDF5), float32 (slice, y, x), with all that it was made from and by. A name
    that ends in .tif makes it a BigTIFF that is such a file too, .zarr a folder in the form OME-Zarr, and a
    name without an ending a folder of TIFF files.
    """
    settings = load_settings(config, given)
    if only_plan:
        _print_plan(scan, volume, settings, where)
    else:
        _reconstruct(scan, volume, settings, where, overwrite=overwrite)


def run(args: tuple[str, ...]) -> int:
    """Run the job, with arguments as on the command line, where ``Client()`` reaches the cluster.

    Raises
    ------
    RunnerError
        What the user has to mend.
    """
    return run_command(command, args)


def foresee(args: Sequence[str], threads: int) -> Forecast:
    """Time a chunk of the job in this process, and say what follows for all of it.

    Parameters
    ----------
    args : sequence of str
        As on the command line.
    threads : int
        Of the worker.

    Raises
    ------
    RunnerError
        What the user has to mend.
    """
    from runner.clusters import cluster
    from runner.tomo.calibrate import calibrate
    from runner.tomo.check import checked_scan
    from runner.tomo.forecast import Forecast
    from runner.tomo.volume.place import check_place

    given = command.make_context("reconstruct", list(args)).params
    scan, volume, config = given.pop("scan"), given.pop("volume"), given.pop("config")
    check_place(volume.absolute(), overwrite=given.pop("overwrite"))
    settings = load_settings(config, {name: given[name] for name in NAMES if name in given})
    opened = checked_scan(scan, settings.sources, say=say)
    with cluster("local", n_workers=1, threads_per_worker=threads, processes=False) as client:
        plan, timed = calibrate(opened, volume.absolute(), settings, client)
    return Forecast(work=plan.work, calibration=timed)


def _print_plan(scan: Path, volume: Path, settings: Settings, where: str | None) -> None:
    from runner.clusters import cluster
    from runner.tomo.calibrate import calibrate
    from runner.tomo.check import checked_scan
    from runner.tomo.forecast import describe_time
    from runner.tomo.plan import describe

    opened = checked_scan(scan, settings.sources, say=say)
    with cluster(where) as client:
        plan, timed = calibrate(opened, volume, settings, client)
    click.echo(describe(plan))
    click.echo(f"{'time':<9}{describe_time(plan, timed)}")


def _reconstruct(scan: Path, volume: Path, settings: Settings, where: str | None, *, overwrite: bool) -> None:
    from runner.clusters import cluster
    from runner.tomo.pipeline import reconstruct
    from runner.walltime import time_left

    show = _Display()
    with cluster(where) as client:
        try:
            outcome = reconstruct(
                scan,
                volume,
                settings,
                client,
                overwrite=overwrite,
                command_line=[shlex.quote(word) for word in sys.argv],
                on_progress=show,
                on_note=say,
                seconds_left=time_left,
            )
        finally:
            show.close()
    click.echo(summary(outcome))


def say(text: object) -> None:
    """Print a line for the person who waits, beside the results."""
    click.echo(str(text), err=True)


def summary(outcome: Outcome) -> str:
    """Say what was made, and how to see it."""
    from runner.tomo.volume.forms import viewer_of

    slices, height, width = outcome.shape
    earlier = f", {slices - outcome.made} of them by an earlier run" if outcome.made < slices else ""
    lines = {
        "volume": f"{outcome.volume}  {outcome.dataset}".rstrip(),
        "shape": f"{slices} x {height} x {width} (slice, y, x), {outcome.dtype}, {outcome.units}",
        "axis": axis_text(outcome.axis),
        "time": f"{format_duration(outcome.seconds)}, {outcome.made / outcome.seconds:.1f} slices/s",
        "state": f"all {slices} slices written and verified" + earlier,
        "open it": f"{viewer_of(outcome.volume)} {shlex.quote(os.fspath(outcome.volume))}",
    }
    if outcome.dtype != "float32":
        below, above, missing = outcome.clipped
        lines["clipped"] = f"{below} pixels below, {above} above, {missing} not a number"
    return "\n".join(f"{name:<9}{text}" for name, text in lines.items())


def axis_text(axis: Axis) -> str:
    """Say where the rotation axis is, and how that is known."""
    spread = f" +- {axis.evidence.spread:.2f}" if axis.evidence else ""
    tilt = f", {axis.slope:+.4f} per row" if axis.slope else ""
    how = f"{axis.origin}, {axis.evidence.confidence} confidence" if axis.evidence else axis.origin
    return f"column {axis.position:.2f}{spread}{tilt} ({how})"


class _Display:
    """Makes the meter when the first progress tells the total."""

    def __init__(self) -> None:
        self._meter: ProgressMeter | None = None

    def __call__(self, progress: Progress) -> None:
        if self._meter is None:
            self._meter = ProgressMeter(progress.total, "slices", sys.stderr)
        self._meter.update(progress.done)

    def close(self) -> None:
        if self._meter is not None:
            self._meter.close()

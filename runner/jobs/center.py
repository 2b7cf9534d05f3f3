"""The job ``center``: find the rotation axis of a scan and say how far to trust it, or show many."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runner.jobs.commands import run_command
from runner.jobs.scan_options import scan_options, sources_of

if TYPE_CHECKING:
    from runner.tomo.axis import AxisEstimate
    from runner.tomo.axis.finding import Band
    from runner.tomo.scan import Scan

_FILE = click.Path(path_type=Path, readable=False)


@click.command("center")
@click.argument("scan", type=_FILE)
@scan_options
@click.option(
    "--bands", type=click.IntRange(min=1), default=9, show_default=True, help="Bands of rows to look at."
)
@click.option("--picture", type=_FILE, help="Draw the evidence, or the sweep, into this PNG file.")
@click.option("--center", "sweep", metavar="A:B:STEP", help="Reconstruct a row about each of these.")
@click.option("--row", type=int, help="The row of the sweep.  [the middle one]")
@click.option("--stack", type=_FILE, help="Write the slices of the sweep into this HDF5 file.")
def command(
    *,
    scan: Path,
    bands: int,
    picture: Path | None,
    sweep: str | None,
    row: int | None,
    stack: Path | None,
    **given: Any,
) -> None:
    """Find the rotation axis of SCAN, or show slices about many.

    Prints the column, counted from the left with pixel centres at 0, 1, ..., and the evidence for it: what
    views of opposite sides, the sinogram and the sharpness of slices say.
    """
    from runner.tomo.check import checked_scan

    opened = checked_scan(scan, sources_of(given), say=lambda text: click.echo(text, err=True))
    if sweep is None:
        _find(opened, bands, picture)
    else:
        _sweep(opened, sweep, opened.rows // 2 if row is None else row, picture, stack)


def run(args: tuple[str, ...]) -> int:
    """Run the job with arguments as on the command line.

    Raises
    ------
    RunnerError
        As from opening the scan and finding the axis, and if the arguments are wrong.
    """
    return run_command(command, args)


def _find(scan: Scan, bands: int, picture: Path | None) -> None:
    from runner.tomo.advice import about_axis
    from runner.tomo.axis import find_center

    axis = find_center(scan, bands=bands, threads=len(os.sched_getaffinity(0)))
    click.echo(describe(axis, scan.columns))
    for finding in about_axis(scan, axis.position):
        click.echo(str(finding), err=True)
    if picture is not None:
        from runner.tomo.axis.picture import draw_evidence

        draw_evidence(picture, scan, axis, threads=len(os.sched_getaffinity(0)))
        click.echo(f"picture        {picture}")


def _sweep(scan: Scan, text: str, row: int, picture: Path | None, stack: Path | None) -> None:
    from runner.errors import UsageError
    from runner.tomo.axis.sweep import make_sweep, parse_sweep, write_sweep

    centers = parse_sweep(text)
    if picture is None and stack is None:
        raise UsageError("a sweep has nowhere to go", "give --picture FILE.png, --stack FILE.h5 or both")
    made = make_sweep(scan, row, centers, threads=len(os.sched_getaffinity(0)))
    if stack is not None:
        write_sweep(stack, made)
        click.echo(f"stack          {stack}")
    if picture is not None:
        from runner.tomo.axis.picture import draw_sweep

        draw_sweep(picture, made)
        click.echo(f"picture        {picture}")
    click.echo(f"row {row}, columns {' '.join(f'{center:g}' for center in made.centers)}")


def describe(axis: AxisEstimate, columns: int) -> str:
    """Write an axis, and what speaks for it, for people."""
    offset = axis.position - (columns - 1) / 2
    tilt = f"{axis.slope:+.4f} columns per row" if axis.slope else "none that is certain"
    angles = ", ".join(f"{angle:.2f}" for angle in axis.pairs)
    evidence = sum(band.weight for band in axis.bands)
    lines = [
        ("rotation axis", f"{axis.position:.2f} px  ({offset:+.2f} from the middle)"),
        ("spread", f"{axis.spread:.2f} px"),
        ("confidence", axis.confidence),
        ("tilt", tilt),
        *((finding.method, finding.text) for finding in axis.findings),
        ("agreement", f"{axis.agreement:.0%} of the opposite views, correlation {axis.score:.3f}"),
        ("pairs", f"{len(axis.pairs)}, from {angles} degrees"),
        *((f"rows {f'{band.start}:{band.stop}':>9}", _of_band(band, evidence)) for band in axis.bands),
    ]
    return "\n".join(f"{name:<15}{text}" for name, text in lines)


def _of_band(band: Band, evidence: float) -> str:
    """Write what some rows say, how far their pairs of views agree, and how much of all evidence they are."""
    if not math.isfinite(band.position):
        return "nothing"
    spread = f" +- {band.spread:.2f}" if math.isfinite(band.spread) else ""
    return f"{band.position:.2f}{spread} px, {band.weight / evidence:.0%} of the evidence"

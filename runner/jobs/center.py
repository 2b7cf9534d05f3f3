"""The job ``center``: find the rotation axis of a scan and say how far to trust it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runner.jobs.commands import run_command
from runner.jobs.scan_options import scan_options, sources_of


@click.command("center")
@click.argument("scan", type=click.Path(path_type=Path, readable=False))
@scan_options
@click.option(
    "--bands", type=click.IntRange(min=1), default=9, show_default=True, help="Bands of rows to look at."
)
def command(scan: Path, bands: int, **given: Any) -> None:
    """Find the rotation axis of SCAN from views of opposite sides.

    Prints the column, counted from the left with pixel centres at 0, 1, ..., and the evidence for it.
    """
    from runner.tomo.center import find_center
    from runner.tomo.check import checked_scan

    opened = checked_scan(scan, sources_of(given), say=lambda text: click.echo(text, err=True))
    axis = find_center(opened, bands=bands)
    middle = (opened.columns - 1) / 2
    click.echo(f"rotation axis  {axis.position:.2f} px  ({axis.position - middle:+.2f} from the middle)")
    click.echo(f"spread         {axis.spread:.2f} px")
    click.echo(f"confidence     {axis.agreement:.0%} of the evidence agrees, correlation {axis.score:.3f}")
    click.echo(f"method         {axis.method}, 180 degrees apart")
    click.echo(
        f"pairs          {len(axis.pairs)}, from {', '.join(f'{angle:.2f}' for angle in axis.pairs)} degrees"
    )
    for band in axis.bands:
        click.echo(f"rows {f'{band.start}:{band.stop}':>9} {band.position:.2f} px")


def run(args: tuple[str, ...]) -> int:
    """Run the job with arguments as on the command line.

    Raises
    ------
    RunnerError
        As from opening the scan and finding the axis, and if the arguments are wrong.
    """
    return run_command(command, args)

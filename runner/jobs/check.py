"""The tool ``check``: all that can be said about a scan before it is reconstructed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runner.errors import ScanError
from runner.jobs.scan_options import scan_options, sources_of


@click.command("check")
@click.argument("scan", type=click.Path(path_type=Path, readable=False))
@scan_options
def command(scan: Path, **given: Any) -> None:
    """Look at the headers of SCAN and at some of its pixels, and say all that is found.

    Nothing is written. Each finding is an error, with which no right volume can be made, a warning, or a
    note. The exit code is 65 if there are errors, else 0.
    """
    from runner.tomo.advice import about_currents
    from runner.tomo.check import inspect
    from runner.tomo.check.summary import summarise

    inspection = inspect(scan, sources_of(given))
    if inspection.opened is not None:
        for name, value in summarise(inspection.opened).items():
            click.echo(f"{name:<12} {value}")
    advice = [] if inspection.scan is None else about_currents(inspection.scan)
    for finding in (*inspection.findings, *advice):
        click.echo(str(finding))
    if count := len(inspection.errors):
        things = "1 thing is" if count == 1 else f"{count} things are"
        raise ScanError(f"{things} wrong with {scan}", "mend what is said above")
    click.echo("it can be reconstructed")

"""Writing a file of settings for a scan."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runner.errors import WriteError
from runner.files import write_atomically
from runner.jobs.settings_template import template

if TYPE_CHECKING:
    from runner.tomo.scan import Scan
    from runner.tomo.settings import Settings


def write_settings(
    file: Path, scan: Path, volume: Path | None, settings: Settings, *, overwrite: bool
) -> None:
    """Write all settings of a reconstruction, with remarks and what the scan says of them.

    Parameters
    ----------
    file : Path
        To be written.
    scan, volume : Path, Path or None
        What becomes what.
    settings : Settings
        Those that were given; they are written as such.
    overwrite : bool
        Replace the file if it is there.

    Raises
    ------
    WriteError
        If it is there, or cannot be written.
    ScanError, MissingFileError
        If the scan cannot be reconstructed.
    """
    from runner.tomo.check import inspect
    from runner.tomo.check.summary import summarise

    if file.exists() and not overwrite:
        raise WriteError(f"{file} is there already", "give another name, or say --overwrite")
    inspection = inspect(scan, settings.sources)
    opened = inspection.usable(lambda text: click.echo(text, err=True))
    about = [f"{name:<12} {value}" for name, value in summarise(opened).items()]
    about += [str(finding) for finding in inspection.findings]
    volume = None if volume is None else volume.absolute()
    text = template(file.name, scan.absolute(), volume, settings, about=about, found=values_in(opened))
    try:
        write_atomically(file, text.encode())
    except OSError as error:
        raise WriteError(
            f"{file} cannot be written ({error.strerror})", "name a file in a folder that exists"
        ) from error
    first = "name the volume in it, then: " if volume is None else ""
    click.echo(f"written  {file}\nnext     {first}runner reconstruct --config {shlex.quote(str(file))}")


def values_in(scan: Scan) -> dict[str, Any]:
    """Return what a scan says of settings that have no default, by their names."""
    values = {
        "entry": scan.entry,
        "rows": f"0:{scan.rows}",
        "energy": scan.energy,
        "distance": scan.distance,
        "pixel_size": scan.pixel_size,
    }
    return {name: value for name, value in values.items() if value}

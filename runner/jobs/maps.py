"""The tool ``runner maps``: all maps in a folder, and how they are."""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.command(short_help="List the maps in a folder.")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
def command(folder: Path | None) -> None:
    """List the maps in FOLDER, and how each is.  [RUNNER_MAPS, or the folder maps where you are]"""
    from runner.maps.layout import maps_folder
    from runner.maps.map import all_maps
    from runner.maps.status import describe

    found = all_maps(folder or maps_folder(os.environ))
    for one in found:
        click.echo(describe(one.name, one.status()))
    if not found:
        click.echo(f"there are no maps in {folder or maps_folder(os.environ)}")

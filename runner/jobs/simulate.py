"""The tool ``simulate``: write a scan of a known object, to try things out and to check volumes against."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("simulate")
@click.argument("scan", type=click.Path(path_type=Path))
@click.option(
    "--columns", type=click.IntRange(min=16), default=256, show_default=True, help="Detector columns."
)
@click.option("--rows", type=click.IntRange(min=1), default=64, show_default=True, help="Detector rows.")
@click.option("--angles", type=click.IntRange(min=2), default=400, show_default=True, help="Projections.")
@click.option("--seed", type=int, default=0, show_default=True, help="For the random numbers.")
@click.option("--noise/--no-noise", default=True, help="Photon noise, dead pixels and gain errors, or none.")
@click.option("--overwrite", is_flag=True, help="Replace SCAN if it exists.")
def command(
    scan: Path, *, columns: int, rows: int, angles: int, seed: int, noise: bool, overwrite: bool
) -> None:
    """Write a synthetic scan of ellipsoids to SCAN, in NXtomo form.

    The beam drifts between the flats at start and end, the rotation axis is off-centre. The object
    itself is described in the group entry/phantom.
    """
    from runner.tomo.simulate import Settings, write_scan

    settings = Settings(columns=columns, rows=rows, angles=angles, seed=seed, noise=noise)
    truth = write_scan(scan, settings, overwrite=overwrite)
    click.echo(
        f"{scan}: {angles} projections of {rows} x {columns} pixels of {truth.detector.pixel * 1e4:.3g} um,"
        f" rotation axis at column {truth.detector.center:.2f}"
    )

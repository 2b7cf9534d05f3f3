"""The options of a reconstruction's settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from runner.errors import UsageError
from runner.jobs.scan_options import scan_options
from runner.tomo.settings import (
    AUTO,
    DEVICES,
    DTYPES,
    FIELDS,
    METHODS,
    PADDINGS,
    QUALITIES,
    RINGS,
    UNITS,
    UNSHARP,
    WINDOWS,
    parse_greys,
    read_rings,
    read_unsharp,
)


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


_OPTIONS = (
    click.option(
        "--center",
        type=column_or_auto,
        metavar="PX|auto",
        help="Detector column of the rotation axis, or auto.  [auto]",
    ),
    click.option("--method", type=click.Choice(METHODS), help="Reconstruction method.  [fourier]"),
    click.option("--quality", type=click.Choice(QUALITIES), help="Of the method fourier.  [standard]"),
    click.option(
        "--device", type=click.Choice(DEVICES), help="Of fourier; auto: a worker's GPU, if it has one.  [cpu]"
    ),
    click.option("--window", type=click.Choice(WINDOWS), help="Window on the ramp filter.  [ram-lak]"),
    click.option(
        "--cutoff", type=float, metavar="F", help="Where the window ends, of the Nyquist frequency.  [1]"
    ),
    click.option("--padding", type=click.Choice(PADDINGS), help="What lies beside the detector.  [edge]"),
    click.option("--iterations", type=int, metavar="N", help="Of sirt, fista and cgls.  [100, 40 and 15]"),
    click.option(
        "--nonnegative/--negative",
        "nonnegative",
        default=None,
        help="Keep values from being negative: sirt, fista.  [negative]",
    ),
    click.option(
        "--field-of-view",
        type=click.Choice(FIELDS),
        help="half: a full turn about an axis near the end.  [auto]",
    ),
    click.option("--bin", type=int, metavar="N", help="Sum N x N detector pixels: 1, 2, 4 or 8.  [1]"),
    click.option("--rows", metavar="A:B", help="Detector rows, B not included.  [all]"),
    click.option("--x", metavar="A:B", help="Part of the slices: columns of pixels, B not included.  [all]"),
    click.option("--y", metavar="A:B", help="Rows of pixels, downwards, B not included.  [all]"),
    click.option(
        "--units", type=click.Choice(UNITS), help="Of the attenuation.  [1/cm if the scan tells its pixels]"
    ),
    click.option(
        "--rings",
        type=checked(read_rings),
        metavar="METHOD",
        help=f"Removal of rings: {', '.join(RINGS)}; with parameters as sorting:size=31.  [none]",
    ),
    click.option(
        "--zingers",
        type=float,
        metavar="SHARE",
        help="Replace pixels so much brighter than those around them, like 0.2.  [not]",
    ),
    click.option(
        "--delta-beta", type=float, metavar="RATIO", help="Phase retrieval (Paganin), like 500.  [not]"
    ),
    click.option("--energy", type=float, metavar="KEV", help="Of the photons.  [what the scan tells]"),
    click.option("--distance", type=float, metavar="M", help="Sample to detector.  [what the scan tells]"),
    click.option("--pixel-size", type=float, metavar="M", help="At the sample.  [what the scan tells]"),
    click.option(
        "--unsharp",
        type=checked(read_unsharp),
        metavar="METHOD",
        help=f"Sharpening: {', '.join(UNSHARP)}; with parameters as gaussian:sigma=1,coeff=3.  [none]",
    ),
    click.option(
        "--mask/--no-mask", default=None, help="Cut off what is outside of the largest circle.  [no-mask]"
    ),
    click.option(
        "--mask-value", type=float, metavar="V", help="What is put there, or nan, in the volume's unit.  [0]"
    ),
    click.option("--dtype", type=click.Choice(DTYPES), help="Of the volume's pixels.  [float32]"),
    click.option(
        "--greys",
        type=checked(lambda _, text: parse_greys(text)),
        metavar="A:B",
        help="Lowest and highest grey level of whole numbers, as values or percentiles.  [0.1%:99.9%]",
    ),
)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for every setting but ``origins``; those not given are None."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return scan_options(command)

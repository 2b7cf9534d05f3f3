"""The options of a reconstruction's settings, by what they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from runner.errors import UsageError
from runner.jobs.scan_options import SCAN_OPTIONS
from runner.tomo.settings import (
    AUTO,
    DEVICES,
    DTYPES,
    FIELDS,
    FLATS_BY,
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


_AXIS = (
    click.option(
        "--center",
        type=column_or_auto,
        metavar="PX|auto",
        help="Detector column of the rotation axis, or auto.  [auto]",
    ),
    click.option(
        "--field-of-view",
        type=click.Choice(FIELDS),
        help="half: a full turn about an axis near the end.  [auto]",
    ),
    click.option("--bin", type=int, metavar="N", help="Sum N x N detector pixels: 1, 2, 4 or 8.  [1]"),
)

_CORRECTIONS = (
    click.option(
        "--flats-by", type=click.Choice(FLATS_BY), help="How the flats of a group become one.  [median]"
    ),
    click.option(
        "--ring-current/--no-ring-current",
        default=None,
        help="Follow the current of the storage ring, where the scan tells it.  [no-ring-current]",
    ),
    click.option(
        "--air", type=int, metavar="N", help="Normalise by N columns of air at both ends of a line.  [not]"
    ),
    click.option(
        "--double-flat",
        type=float,
        metavar="SIGMA",
        help="Take away the mean of all projections, less its blur of SIGMA pixels; 0: all of it.  [not]",
    ),
    click.option(
        "--defects/--no-defects", default=None, help="Replace pixels found to be defective.  [defects]"
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
)

_RECONSTRUCTION = (
    click.option("--method", type=click.Choice(METHODS), help="Reconstruction method.  [fourier]"),
    click.option(
        "--quality", type=click.Choice(QUALITIES), help="Of fourier, sirt, fista and cgls.  [standard]"
    ),
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
        "--nonnegative/--no-nonnegative",
        default=None,
        help="Keep values from being negative: sirt, fista.  [no-nonnegative]",
    ),
    click.option(
        "--room",
        type=float,
        metavar="TIMES",
        help="How many times as wide as the field of view the object is: sirt, fista, cgls.  [1]",
    ),
)

_VOLUME = (
    click.option("--rows", metavar="A:B", help="Detector rows, B not included; 40: and :72 work too.  [all]"),
    click.option("--x", metavar="A:B", help="Part of the slices: columns of pixels, B not included.  [all]"),
    click.option("--y", metavar="A:B", help="Rows of pixels, downwards, B not included.  [all]"),
    click.option(
        "--units", type=click.Choice(UNITS), help="Of the attenuation.  [1/cm if the scan tells its pixels]"
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


def themes() -> Mapping[str, list[click.Option]]:
    """Return the option of every setting but ``origins``, by what it is about; None where not given.

    Their help is the one description of a setting for people: here, and in a file of settings.
    """
    return {
        "The scan": made(SCAN_OPTIONS),
        "The rotation axis": made(_AXIS),
        "Corrections": made(_CORRECTIONS),
        "The reconstruction": made(_RECONSTRUCTION),
        "The volume": made(_VOLUME),
    }


def made(options: Sequence[Callable[[click.Command], click.Command]]) -> list[click.Option]:
    """Make options of their decorators."""
    holder = click.Command(None)
    for option in options:
        option(holder)
    return [parameter for parameter in holder.params if isinstance(parameter, click.Option)]

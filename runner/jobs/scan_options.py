"""The options that say where a scan's parts are, the same for every command that opens one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from runner.tomo.sources import Sources

F = TypeVar("F", bound=Callable[..., Any])

SCAN_OPTIONS = (
    click.option("--entry", help="Group of the file that holds the scan, where there are several."),
    click.option(
        "--projections", metavar="/PATH", help="Dataset of the projections, in an HDF5 file of no known form."
    ),
    click.option(
        "--flats",
        metavar="WHERE",
        help="Flats in another place: /PATH in the scan's file, FILE, FILE::/PATH, or a folder of images; "
        "several with commas between them, in the order in which they were taken.",
    ),
    click.option("--darks", metavar="WHERE", help="Darks in another place, as for --flats."),
    click.option(
        "--angles",
        metavar="A:B:N|WHERE",
        help="N angles from A to B degrees, B not included; or a place as for --flats, or a file with one "
        "number in each line.",
    ),
    click.option(
        "--no-flats",
        is_flag=True,
        default=None,
        help="Do without flats: the projections are transmissions, or have air at their sides (--air).",
    ),
    click.option("--no-darks", is_flag=True, default=None, help="Do without darks: they are zero."),
    click.option("--subset", metavar="FIRST:END:STEP", help="Use only these projections, END not included."),
)


def scan_options(function: F) -> F:
    """Give a command the options."""
    for option in reversed(SCAN_OPTIONS):
        function = option(function)
    return function


def sources_of(given: Mapping[str, Any]) -> Sources:
    """Take the sources out of what was given on a command line.

    Raises
    ------
    UsageError
        If one names nothing, or makes no sense.
    """
    from runner.tomo.sources import CHECKS

    named = {name: given[name] for name in CHECKS if given[name] is not None}
    return Sources(**{name: CHECKS[name](name, value) for name, value in named.items()})

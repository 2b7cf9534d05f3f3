"""What a user can choose for a reconstruction, from the command line or a file.

Of the standard library only: the command line reads the allowed values before anything heavy is loaded.
"""

from runner.tomo.settings.allowed import (
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
)
from runner.tomo.settings.checks import read_rings, read_unsharp
from runner.tomo.settings.files import load_settings
from runner.tomo.settings.ranges import parse_greys, parse_rows, rows_within
from runner.tomo.settings.settings import NAMES, Settings

__all__ = [
    "AUTO",
    "DEVICES",
    "DTYPES",
    "FIELDS",
    "FLATS_BY",
    "METHODS",
    "NAMES",
    "PADDINGS",
    "QUALITIES",
    "RINGS",
    "UNITS",
    "UNSHARP",
    "WINDOWS",
    "Settings",
    "load_settings",
    "parse_greys",
    "parse_rows",
    "read_rings",
    "read_unsharp",
    "rows_within",
]

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
from runner.tomo.settings.files import PLACES, ConfigFile, load_settings, read_config
from runner.tomo.settings.ranges import center_within, parse_greys, parse_rows, part_within, rows_within
from runner.tomo.settings.settings import NAMES, Settings, allowed_for

__all__ = [
    "AUTO",
    "DEVICES",
    "DTYPES",
    "FIELDS",
    "FLATS_BY",
    "METHODS",
    "NAMES",
    "PADDINGS",
    "PLACES",
    "QUALITIES",
    "RINGS",
    "UNITS",
    "UNSHARP",
    "WINDOWS",
    "ConfigFile",
    "Settings",
    "allowed_for",
    "center_within",
    "load_settings",
    "parse_greys",
    "parse_rows",
    "part_within",
    "read_config",
    "read_rings",
    "read_unsharp",
    "rows_within",
]

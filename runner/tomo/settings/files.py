"""Settings from a file and a command line."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from runner.errors import MissingFileError, UsageError
from runner.tomo.settings.settings import NAMES, Settings


def load_settings(config: Path | None, command_line: Mapping[str, Any]) -> Settings:
    """Put settings together: the command line goes before the file, and the file before the defaults.

    Parameters
    ----------
    config : Path or None
        A TOML file with settings at its top level.
    command_line : mapping
        Settings by name; None where not given.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If a name or a value is not allowed; says what is.
    """
    from_file = {} if config is None else _read(config)
    given = {name: value for name, value in command_line.items() if value is not None}
    origins = dict.fromkeys(from_file, str(config)) | dict.fromkeys(given, "command line")
    return Settings(**from_file | given, origins=MappingProxyType(origins))


def _read(config: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no configuration file {config}") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{config} cannot be read as TOML: {error}") from error
    for name in content:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.5)
            remedy = f"did you mean {near[0]}?" if near else f"it may hold {', '.join(NAMES)}"
            raise UsageError(f"{config}: unknown setting {name!r}", remedy)
    return content

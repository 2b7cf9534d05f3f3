"""Settings from a file and a command line."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from runner.errors import MissingFileError, UsageError
from runner.tomo.settings.settings import NAMES, Settings

PLACES = ("scan", "volume")
"""What a file may hold beside settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """What a configuration file says.

    Attributes
    ----------
    path : Path or None
        Where it is; None for no file.
    settings : mapping of str to object
        Settings by name, not checked yet.
    scan, volume : Path or None
        What to reconstruct, and into what, if it says so.
    """

    path: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    scan: Path | None = None
    volume: Path | None = None


def load_settings(config: Path | ConfigFile | None, command_line: Mapping[str, Any]) -> Settings:
    """Put settings together: the command line goes before the file, and the file before the defaults.

    Parameters
    ----------
    config : Path, ConfigFile or None
        A TOML file with settings at its top level, or what :func:`read_config` read from it.
    command_line : mapping
        Settings by name; None where not given.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If a name or a value is not allowed; says what is.
    """
    file = read_config(config) if isinstance(config, Path) else config or ConfigFile()
    given = {name: value for name, value in command_line.items() if value is not None}
    origins = dict.fromkeys(file.settings, str(file.path)) | dict.fromkeys(given, "command line")
    return Settings(**{**file.settings, **given}, origins=MappingProxyType(origins))


def read_config(path: Path) -> ConfigFile:
    """Read a configuration file.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If it cannot be read, or holds what is no setting.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no configuration file {path}") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from error
    for name in content:
        check_name(name, (*PLACES, *NAMES), str(path))
    places = {name: _place(path, name, content.pop(name)) for name in PLACES if name in content}
    return ConfigFile(path=path, settings=content, **places)


def check_name(name: str, known: tuple[str, ...], where: str) -> None:
    """Refuse a name that is not known, and say which is meant.

    Raises
    ------
    UsageError
        If it is not known.
    """
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        remedy = f"did you mean {near[0]}?" if near else f"it may hold {', '.join(known)}"
        raise UsageError(f"{where}: unknown setting {name!r}", remedy)


def _place(path: Path, name: str, value: Any) -> Path:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{path}: {name} {value!r} is no name of a file", "give a text")
    return Path(value)

"""Settings from a file and a command line."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from runner.errors import MissingFileError, UsageError
from runner.tomo.settings.others.read import ENDINGS, read_other
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
    notes : tuple of str
        What is worth a word of a file of another program, a line each.
    refused : mapping of str to tuple of str
        What such a file asks for that is not done here, and the settings with which it does not matter.
    """

    path: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    scan: Path | None = None
    volume: Path | None = None
    notes: tuple[str, ...] = ()
    refused: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def refusals(self, given: Collection[str]) -> list[str]:
        """Say why the file cannot be used, a line each, where some settings were given elsewhere."""
        return [why for why, names in self.refused.items() if not names or not set(names) <= set(given)]


def load_settings(config: Path | ConfigFile | None, command_line: Mapping[str, Any]) -> Settings:
    """Put settings together: the command line goes before the file, and the file before the defaults.

    Parameters
    ----------
    config : Path, ConfigFile or None
        A file of settings, or what :func:`read_config` read from it.
    command_line : mapping
        Settings by name; None where not given.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If a name or a value is not allowed, says what is; if the file is another program's, and asks for what
        is not done here, says what that is.
    """
    file = read_config(config) if isinstance(config, Path) else config or ConfigFile()
    given = {name: value for name, value in command_line.items() if value is not None}
    if refusals := file.refusals(given):
        raise UsageError("; ".join(refusals))
    origins = dict.fromkeys(file.settings, str(file.path)) | dict.fromkeys(given, "command line")
    return Settings(**{**file.settings, **given}, origins=MappingProxyType(origins))


def read_config(path: Path) -> ConfigFile:
    """Read a configuration file: of TOML, or of another program where its name ends as theirs do.

    Parameters
    ----------
    path : Path
        TOML with settings at its top level, and ``scan`` and ``volume``; or a file that ends in ``.conf``,
        ``.cfg`` or ``.ini``, of nabu, tomocupy or tomopy-cli.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If it cannot be read, or holds what is no setting.
    """
    if path.suffix.lower() in ENDINGS:
        return _of_another_program(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no configuration file {path}") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from error
    for name in content:
        check_name(name, (*PLACES, *NAMES), str(path))
    scan, volume = (_place(path, name, content.pop(name, None)) for name in PLACES)
    return ConfigFile(path=path, settings=content, scan=scan, volume=volume)


def _of_another_program(path: Path) -> ConfigFile:
    found = read_other(path)
    usual = Settings()
    said = {name: value for name, value in found.settings.items() if value != getattr(usual, name, None)}
    scan, volume = (Path(said.pop(name)) if name in said else None for name in PLACES)
    return ConfigFile(
        path=path, settings=said, scan=scan, volume=volume, notes=found.notes, refused=found.refused
    )


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


def _place(path: Path, name: str, value: Any) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{path}: {name} {value!r} is no name of a file", "give a text")
    return Path(value)

"""Reading a file of another program, and finding out whose it is."""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from pathlib import Path

from runner.errors import MissingFileError, UsageError
from runner.tomo.settings.others import aps, nabu
from runner.tomo.settings.others.rules import Translation, translate

ENDINGS = (".conf", ".cfg", ".ini")
"""Of such files."""


def read_other(path: Path) -> Translation:
    """Read a file of nabu, tomocupy or tomopy-cli.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If it is none of theirs, or a value in it makes no sense.
    """
    sections = _sections(path)
    if {"dataset", "reconstruction"} <= set(sections):
        return translate(nabu.RULES, keys_of_nabu(sections), str(path))
    if "file-reading" in sections:
        return translate(aps.RULES, keys_of_aps(sections), str(path))
    raise UsageError(
        f"{path} is no file of nabu, tomocupy or tomopy-cli: it has {', '.join(sections) or 'no sections'}",
        "a file of our own settings ends in .toml",
    )


def keys_of_nabu(sections: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return nabu's keys, with their sections and their present names."""
    named = {f"{section}.{key}": text for section, keys in sections.items() for key, text in keys.items()}
    return {nabu.RENAMED.get(key, key): text for key, text in named.items()}


def keys_of_aps(sections: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the keys of tomocupy and tomopy-cli, which are options of a command line there.

    Where two sections have one, the first counts: those of ``tomocupy recon`` come before those of
    ``recon_steps``.
    """
    named: dict[str, str] = {}
    for section, keys in sections.items():
        if section not in aps.UNUSED_SECTIONS:
            named = dict(keys) | named
    return named


def _sections(path: Path) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(inline_comment_prefixes=("#",), interpolation=None)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no configuration file {path}") from error
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise UsageError(f"{path} cannot be read as sections of keys: {error}") from error
    return {name: {key: text.strip() for key, text in parser[name].items()} for name in parser.sections()}

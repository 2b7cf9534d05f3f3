"""A file of settings for people: each with what it does, what is allowed, and what the scan says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from runner.jobs.settings_options import themes
from runner.tomo.choice import Choice
from runner.tomo.settings import Settings, allowed_for

_WIDTH = 100
_NUMBERS = (click.types.FloatParamType, click.types.IntParamType)
_BEGIN = """Settings for: runner reconstruct --config {name}
A line like "#name = value" is a setting at its default: take the # away and change it.
The command line goes before this file."""


def template(
    name: str,
    scan: Path,
    volume: Path | None,
    settings: Settings,
    *,
    about: Sequence[str] = (),
    found: Mapping[str, Any],
) -> str:
    """Write all settings as a TOML file.

    Those that were given stand there as such. All others are remarks: with their default or, where there is
    none, with what the scan says, or with a word for what they are.

    Parameters
    ----------
    name : str
        Of the file.
    scan, volume : Path, Path or None
        What becomes what.
    settings : Settings
        Those that were given.
    about : sequence of str
        What is known of the scan, a line each.
    found : mapping
        What the scan says of settings that have no default, by their names.
    """
    lines = [
        *(f"# {line}" for line in _BEGIN.format(name=name).splitlines()),
        "",
        *(f"# {_printable(line)}" for line in about),
        "",
        f"scan = {toml_value(str(scan))}",
        '#volume = "volume.h5"' if volume is None else f"volume = {toml_value(str(volume))}",
    ]
    for theme, options in themes().items():
        lines += ["", "", f"# {theme.upper()}"]
        for option in options:
            lines += ["", *_remark(option), _line(option, settings, found)]
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """Write the value of a setting as in TOML.

    >>> toml_value((None, 20)), toml_value(1e-06), toml_value(True)
    ('":20"', '1e-06', 'true')
    """
    if isinstance(value, Choice):
        value = str(value)
    elif isinstance(value, tuple):
        value = ":".join("" if bound is None else str(bound) for bound in value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # the rest is TOML already


def _printable(text: str) -> str:
    """Replace what would end a remark, or has no place in one: a scan may be called anything."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _line(option: click.Option, settings: Settings, found: Mapping[str, Any]) -> str:
    name = str(option.name)
    value = getattr(settings, name)
    if settings.origin(name) != "default":
        return f"{name} = {toml_value(value)}"
    value = found.get(name) if value is None else value
    return f"#{name} = {_placeholder(option) if value is None else toml_value(value)}"


def _placeholder(option: click.Option) -> str:
    """Return a word for what is to be given, as in the help."""
    word = option.metavar or "TEXT"
    return word if isinstance(option.type, _NUMBERS) else f'"{word}"'


def _remark(option: click.Option) -> list[str]:
    """Say what a setting does, and what is allowed."""
    words = allowed_for(str(option.name))
    text = f"{option.help}  Allowed: {words}." if words else str(option.help)
    return wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)

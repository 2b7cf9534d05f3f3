"""What becomes of the keys of another program's file: taken over, fine at one value alone, or not needed."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.errors import UsageError

NOTE = "note"
"""The name under which a rule returns what is to be said, beside settings."""


class NotDoneHereError(Exception):
    """A value asks for what is not done here, or not in the same way.

    Parameters
    ----------
    why : str
        And what to do about it.
    lifted_by : str
        Settings that say all of it: the value does not matter where they are given.
    """

    def __init__(self, why: str, *lifted_by: str) -> None:
        super().__init__(why)
        self.lifted_by = lifted_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What becomes of some keys, which belong together.

    Attributes
    ----------
    keys : mapping of str to str
        Each with what the program takes where its file does not have it.
    read : callable
        Of the texts of the keys: our settings by name. Raises :class:`NotDoneHereError`.
    becomes : tuple of str
        The settings that it may return.
    needless : bool
        Whether the keys have no bearing on the numbers.
    """

    keys: Mapping[str, str]
    read: Callable[..., Mapping[str, Any]]
    becomes: tuple[str, ...] = ()
    needless: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What a file of another program says in our words.

    Attributes
    ----------
    settings : mapping of str to object
        By name, not checked yet; with ``scan`` and ``volume``.
    notes : tuple of str
        What has no bearing here, or is worth a word.
    refused : mapping of str to tuple of str
        What asks for something else than is done here, and the settings that lift the refusal.
    """

    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    refused: Mapping[str, tuple[str, ...]]


def same(key: str, default: str, name: str, read: Callable[[str], Any] = str) -> Rule:
    """Take a key over as the setting `name`; an empty one says nothing."""
    return Rule(keys={key: default}, read=lambda text: {name: read(text)} if text else {}, becomes=(name,))


def only(key: str, default: str, *allowed: str, why: str, lifted_by: tuple[str, ...] = ()) -> Rule:
    """Allow the values that mean what is done here anyway: the default, and some more."""

    def read(text: str) -> Mapping[str, Any]:
        if text.lower() not in (default.lower(), *allowed):
            raise NotDoneHereError(why, *lifted_by)
        return {}

    return Rule(keys={key: default}, read=read)


def needless(key: str, *usual: str, why: str, default: str | None = None) -> Rule:
    """Pass a key over; say why where its value is none of the usual ones.

    The first of these is what the program takes where its file has no such key, if `default` is not given.
    """

    def read(text: str) -> Mapping[str, Any]:
        return {} if text in usual else {NOTE: f"is not used: {why}"}

    return Rule(keys={key: usual[0] if default is None else default}, read=read, needless=True)


def translate(rules: Sequence[Rule], texts: Mapping[str, str], where: str) -> Translation:
    """Apply the rules to what stands in a file.

    Parameters
    ----------
    rules : sequence of Rule
        Of the program.
    texts : mapping of str to str
        The file's values by key.
    where : str
        The file's name, for messages.

    Raises
    ------
    UsageError
        If a value makes no sense.
    """
    settings: dict[str, Any] = {}
    notes: list[str] = []
    refused: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        given = {key: texts.get(key, default) for key, default in rule.keys.items()}
        said = f"{where}: {_written(rule, given)}"
        try:
            values = dict(rule.read(*given.values()))
        except NotDoneHereError as why:
            refused[f"{said} {why}"] = why.lifted_by
            continue
        except (ValueError, UsageError) as error:
            raise UsageError(f"{said} cannot be read", str(error)) from error
        if note := values.pop(NOTE, ""):
            notes.append(f"{said} {note}")
        settings |= values
    known = [key for rule in rules for key in rule.keys]
    for key in texts:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.7)
            refused[
                f"{where}: {key} is unknown; " + (f"did you mean {near[0]}?" if near else "remove it")
            ] = ()
    return Translation(settings=settings, notes=tuple(notes), refused=refused)


def _written(rule: Rule, given: Mapping[str, str]) -> str:
    """Write the values of a rule's keys that are not the program's defaults, or the first."""
    changed = [key for key in given if given[key] != rule.keys[key]] or [next(iter(given))]
    return ", ".join(f"{key} = {given[key]}" for key in changed)


def options_in(text: str) -> dict[str, str]:
    """Read options that are written as ``name=value; name=value``.

    >>> options_in("snr=3.0; la_size=51")
    {'snr': '3.0', 'la_size': '51'}
    """
    pairs = [part.partition("=") for part in text.split(";") if part.strip()]
    return {name.strip(): value.strip() for name, _, value in pairs}


def truth(text: str) -> bool:
    """Read yes or no, as configparser does.

    Raises
    ------
    ValueError
        If it is neither.
    """
    words = {
        "1": True,
        "yes": True,
        "true": True,
        "y": True,
        "0": False,
        "no": False,
        "false": False,
        "n": False,
    }
    if text.lower() not in words:
        raise ValueError(f"{text!r} is neither yes nor no")
    return words[text.lower()]

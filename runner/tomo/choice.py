"""A method with parameters of its own, as one short word: ``sorting`` or ``sorting:size=31``.

Of the standard library only, as the settings are.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What a parameter of a method may be.

    Attributes
    ----------
    default : int or float
        Its value if not given; where that is whole, all of its values are.
    least, most : float
        Its limits, both allowed.
    odd : bool
        Whether it has to be odd, as a window with a middle is.
    """

    default: int | float
    least: float
    most: float = float("inf")
    odd: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A method that was chosen.

    Attributes
    ----------
    name : str
        Of the method.
    values : tuple of (str, int or float)
        All of its parameters, in the order of its definition.
    """

    name: str
    values: tuple[tuple[str, int | float], ...] = ()

    def __str__(self) -> str:
        values = ",".join(f"{name}={value}" for name, value in self.values)
        return f"{self.name}:{values}" if values else self.name


def parse_choice(setting: str, value: Any, methods: Mapping[str, Mapping[str, Parameter]]) -> Choice:
    """Read a method and its parameters; those that are not given have their defaults.

    Parameters
    ----------
    setting : str
        What is chosen, for the message.
    value : str, mapping or Choice
        ``"NAME"``, ``"NAME:PARAMETER=NUMBER,..."``, or a table with ``method`` and parameters.
    methods : mapping of str to mapping
        The parameters of each method.

    Raises
    ------
    UsageError
        If there is no such method or parameter, or a value is not allowed; says what is.
    """
    name, given = _taken_apart(setting, value)
    if name not in methods:
        raise UsageError(
            f"{setting} {name!r} is unknown", _nearest(name, methods) + f"choose one of {', '.join(methods)}"
        )
    parameters = methods[name]
    for parameter in given:
        if parameter not in parameters:
            allowed = f"it has {', '.join(parameters)}" if parameters else "it has none"
            raise UsageError(
                f"{setting} {name} has no parameter {parameter!r}", _nearest(parameter, parameters) + allowed
            )
    values = tuple(
        (parameter, _number(f"{setting} {name}: {parameter}", given.get(parameter, allowed.default), allowed))
        for parameter, allowed in parameters.items()
    )
    return Choice(name=name, values=values)


def _taken_apart(setting: str, value: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(value, Choice):
        return value.name, dict(value.values)
    if isinstance(value, Mapping):
        given = {str(name): one for name, one in value.items()}
        return str(given.pop("method", "")), given
    if not isinstance(value, str):
        raise UsageError(f"{setting} {value!r} is no method", "write NAME or NAME:PARAMETER=NUMBER,...")
    name, _, rest = value.partition(":")
    pairs = [part.partition("=") for part in rest.split(",") if part.strip()]
    return name.strip(), {parameter.strip(): number.strip() for parameter, _, number in pairs}


def _number(what: str, value: Any, allowed: Parameter) -> int | float:
    kind = type(allowed.default)
    try:
        number = kind(value) if isinstance(value, str) or type(value) in (int, kind) else None
    except ValueError:
        number = None
    if number is None or not allowed.least <= number <= allowed.most or (allowed.odd and number % 2 == 0):
        raise UsageError(f"{what} {value!r} is not allowed", f"give {_words(allowed)}")
    return number


def _words(allowed: Parameter) -> str:
    kind = (
        "an odd number" if allowed.odd else "a whole number" if type(allowed.default) is int else "a number"
    )
    end = "up" if allowed.most == float("inf") else f"{allowed.most:g}"
    return f"{kind} from {allowed.least:g} {'' if end == 'up' else 'to '}{end}"


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]}? " if near else ""

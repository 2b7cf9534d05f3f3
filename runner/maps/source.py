"""What a function says, to find out that it is not the same any more: its text, never its pickle.

The pickle of the same function is another one when a comment was added above it, when the script moved, or in
the next process. Its text, read as Python reads it (without comments and line breaks), stays, and shows what
has changed.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

_PLAIN = (bool, int, float, complex, str, bytes, type(None), tuple, list, dict, frozenset)
_LONGEST_VALUE = 200
_SHOWN_LINES = 30


def name_of(function: Callable[..., Any]) -> str:
    """Return a function's name for people, like ``package.module:name``.

    >>> name_of(textwrap.dedent)
    'textwrap:dedent'
    """
    inner = _inner(function)
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{getattr(named, '__module__', None) or 'builtins'}:{named.__qualname__}"


def source_of(function: Callable[..., Any]) -> str:
    """Return the text of a function and what it holds on to; empty where Python does not have the text.

    Parameters
    ----------
    function : callable
        A function, method, class, partial, or an object that can be called.

    Returns
    -------
    str
        Of a lambda only the lambda itself. What a closure or a partial holds follows in comments: plain
        values as they are, others by their kind.
    """
    inner = _inner(function)
    target = inner if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner)
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(target)))
    except (OSError, TypeError):  # compiled, or typed in
        return ""
    if getattr(inner, "__name__", "") == "<lambda>":
        text = _lambdas(text)
    return "\n".join([text.strip(), *_held(function)])


def normalised(source: str) -> str:
    r"""Return a text as Python reads it; what it cannot read, as it is.

    >>> normalised("def f( a ):   # twice\n    return (2*a)")
    'def f(a):\n    return 2 * a'
    """
    try:
        text = ast.unparse(ast.parse(source))
    except SyntaxError:
        return source
    return "\n".join([text, *(line for line in source.splitlines() if line.startswith(_HOLDS))])


def difference(before: str, now: str) -> str:
    """Return what changed between two sources, as ``diff`` shows it; empty if nothing did, or one is unknown.

    >>> print(difference("def f(a): return a", "def f(a): return 2 * a"))
    --- the map's
    +++ yours
    @@ -1,2 +1,2 @@
     def f(a):
    -    return a
    +    return 2 * a
    """
    if not before or not now:
        return ""
    lines = list(
        difflib.unified_diff(
            normalised(before).splitlines(), normalised(now).splitlines(), "the map's", "yours", "", "", 2, ""
        )
    )
    more = [f"... and {len(lines) - _SHOWN_LINES} lines more"] if len(lines) > _SHOWN_LINES else []
    return "\n".join([*lines[:_SHOWN_LINES], *more])


_HOLDS = "#: holds "


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _lambdas(text: str) -> str:
    """Return the lambdas of a statement: what stands around them, the arguments of the map, may change."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a piece of a statement
        return text
    return "\n".join(ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Lambda)) or text


def _held(function: Callable[..., Any]) -> list[str]:
    held = []
    while isinstance(function, functools.partial):
        held += [f"argument {place} = {_value(value)}" for place, value in enumerate(function.args)]
        held += [f"{name} = {_value(value)}" for name, value in function.keywords.items()]
        function = function.func
    if inspect.isfunction(function):
        captured = inspect.getclosurevars(function).nonlocals
        held += [f"{name} = {_value(value)}" for name, value in sorted(captured.items())]
    return [_HOLDS + line for line in held]


def _value(value: object) -> str:
    if not isinstance(value, _PLAIN):
        return f"a {type(value).__qualname__}"
    return " ".join(repr(value).split())[:_LONGEST_VALUE]

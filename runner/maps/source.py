"""What a function says, to find out that it is not the same any more: its text, never its pickle.

The pickle of the same function is another one when a comment was added above it, when the script moved, or in
the next process. Its text, read as Python reads it (without comments and line breaks), stays, and shows what
has changed.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType
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
    target = inspect.unwrap(inner if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner))
    try:
        lines, first = inspect.getsourcelines(target)
    except (OSError, TypeError):  # compiled, or typed in
        return ""
    text = textwrap.dedent("".join(lines))
    if inspect.isfunction(target) and target.__name__ == "<lambda>":
        indent = len(lines[0]) - len(lines[0].lstrip())
        text = _lambda(text, target.__code__, first - 1, indent)
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


def _lambda(text: str, code: CodeType, above: int, indent: int) -> str:
    """Return the lambda of a statement that was compiled to some code: around it stand the map's arguments.

    Several lambdas of one line are told apart by the columns that Python has noted for the code.

    Parameters
    ----------
    text : str
        The statement, without its indentation.
    code : CodeType
        Of the lambda.
    above, indent : int
        Lines above the statement in its file, and columns before it.
    """
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]
    except SyntaxError:  # a piece of a statement: at least what was compiled tells it from others
        return f"{text.strip()}\n{_HOLDS}code {_digest(code)}"
    own = {
        (line - above, column - indent)
        for line, _, column, end in code.co_positions()
        if line is not None and column is not None and end  # what Python itself puts in front has no columns
    }
    around = [node for node in nodes if own and _span(node)[0] <= min(own) and max(own) < _span(node)[1]]
    if not around:
        return text
    return ast.unparse(max(around, key=lambda node: _span(node)[0]))  # the innermost begins last


def _span(node: ast.Lambda) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


def _digest(code: CodeType) -> str:
    """Return what tells one code from another, the same in every process."""
    parts = (code.co_code, code.co_names, [_constant(value) for value in code.co_consts])
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _constant(value: object) -> str:
    if isinstance(value, CodeType):
        return _digest(value)
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)


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

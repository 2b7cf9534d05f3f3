"""A function by its name, like ``package.module:function``: looked for before there is a cluster; imported.

To look for it runs nothing of its module, which may take long, or be meant for the machines of the job only:
the module is found as importing would find it, and its text is read. What a module makes while it runs cannot
be told from that; such a name passes, and importing decides.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

from runner.errors import UsageError

_LOOK = "is it below this folder, or installed?"
# by these a module has names that do not stand in it
_UNSEEN = frozenset(
    {"*", "exec", "globals", "locals", "setattr", "vars", "modules", "__getattr__", "__path__"}
)


def load_function(name: str) -> Callable[[Any], Any]:
    """Import a function by its name.

    Raises
    ------
    UsageError
        If there is none.
    """
    module, attribute = _parts(name)
    try:
        found: object = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"there is no {name} ({error})", _LOOK) from error
    if not callable(found):
        raise UsageError(f"{name} is no function", "write it like package.module:function")
    return found


def check_function(name: str, folders: Sequence[str]) -> None:
    """Refuse the name of a function that is not there, as far as that can be told without running anything.

    Parameters
    ----------
    name : str
        Of the function.
    folders : sequence of str
        Where modules are looked for, as in ``sys.path``.

    Raises
    ------
    UsageError
        If the module is not found, cannot be read as Python, or makes nothing of that name.
    """
    module, attribute = _parts(name)
    top, *below = module.split(".")
    try:
        spec = _find(top, folders) or importlib.util.find_spec(top)
    except ValueError:  # a module that nothing was loaded for, such as __main__
        spec = None
    if spec is None:
        raise UsageError(f"there is no {name} (no module named {top!r})", _LOOK)
    for part in [*below, attribute.partition(".")[0]]:
        inner = _find(part, spec.submodule_search_locations or ())
        if inner is None:
            if not _may_make(spec, part):
                raise UsageError(f"there is no {name} ({spec.name} has no {part!r})", _LOOK)
            return
        spec = inner


def _parts(name: str) -> tuple[str, str]:
    module, _, attribute = name.partition(":")
    if not all(module.split(".")) or not attribute:
        raise UsageError(f"{name!r} names no function", "write it like package.module:function")
    return module, attribute


def _find(part: str, folders: Sequence[str]) -> ModuleSpec | None:
    """Find a module, or one of a package in whose folders it is looked for: what is around it is not run."""
    return PathFinder.find_spec(part, list(folders))


def _may_make(spec: ModuleSpec, name: str) -> bool:
    """Tell whether a module, once it has run, may have something of a name.

    Raises
    ------
    UsageError
        If it is no Python.
    """
    if spec.loader is None:  # a folder without an __init__.py
        return False
    if not isinstance(spec.loader, InspectLoader):
        return True
    try:
        source = spec.loader.get_source(spec.name)
        return source is None or not {name, *_UNSEEN}.isdisjoint(_names(source))
    except (ImportError, SyntaxError) as error:
        raise UsageError(f"{spec.origin} cannot be read ({error})", "mend it: it would not run") from error


def _names(source: str) -> Iterator[str]:
    """List the names that a module's text makes, in functions and classes too, and ways to make others."""
    with warnings.catch_warnings(action="ignore"):  # importing says them
        tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.Name(id=name) if isinstance(node.ctx, ast.Store) or name in _UNSEEN:
                yield name
            case ast.Attribute(attr="modules"):  # of sys
                yield "modules"

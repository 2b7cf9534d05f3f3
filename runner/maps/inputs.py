"""The function and its arguments in one file, so that each worker reads what it needs and no more."""

from __future__ import annotations

import io
import os
import pickle
import secrets
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, BinaryIO, ClassVar

from runner import files
from runner.errors import UsageError
from runner.maps.layout import Layout
from runner.maps.record import Component
from runner.units import format_size

MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """A written file of inputs.

    Attributes
    ----------
    path : Path
        Its name is never used again for another content.
    function_size : int
        Bytes of the function at its beginning.
    components : tuple of Component
        What follows.
    """

    path: Path
    function_size: int
    components: tuple[Component, ...]


def write_inputs(
    layout: Layout, function: Callable[..., Any], arguments: Iterable[Any], keys: Iterable[str]
) -> Inputs:
    """Pickle a function and its arguments.

    Raises
    ------
    UsageError
        If one cannot be pickled, which is named, or all are too large together.
    OSError
        If they cannot be written.
    """
    path = layout.folder / f"inputs-{secrets.token_hex(4)}.pkl"
    components = []
    with files.open_atomically(path) as file:
        function_size = offset = file.write(_pickled(function, "the function", _with_its_files))
        for key, argument in zip(keys, arguments, strict=True):
            size = file.write(_pickled(argument, f"the argument of {key}", _as_it_is))
            components.append(Component(key, offset, size))
            offset += size
            if offset > MOST_BYTES:
                raise UsageError(
                    f"the arguments up to {key} take more than {format_size(MOST_BYTES)}",
                    "write them to files, and give the paths",
                )
    return Inputs(path=path, function_size=function_size, components=tuple(components))


def load_piece(path: Path, offset: int, size: int) -> Any:
    """Return one argument, or the function at offset 0.

    Raises
    ------
    OSError
        If it cannot be read.
    Exception
        Whatever its class, or an import, raises.
    """
    return _unpickled(read_piece(path, offset, size))


def read_piece(path: Path, offset: int, size: int) -> bytes:
    """Return one argument, or the function, as its pickle.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, size, offset)
    finally:
        os.close(descriptor)


def changed_arguments(
    before: Path, known: Iterable[Component], now: Path, components: Iterable[Component]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the key of each argument that has not the same pickle as before, what it was, and what it is."""
    places = {component.key: component for component in known}
    with before.open("rb") as old_file, now.open("rb") as new_file:
        for component in components:
            if (place := places.get(component.key)) is not None:
                old, new = _piece(old_file, place), _piece(new_file, component)
                if old != new:
                    yield component.key, _unpickled(old), _unpickled(new)


def _piece(file: BinaryIO, component: Component) -> bytes:
    file.seek(component.offset)
    return file.read(component.size)


def _unpickled(content: bytes) -> Any:
    return pickle.loads(content)  # noqa: S301  (it lies in the user's own folder)


def _pickled(value: object, what: str, dumps: Callable[[object], bytes]) -> bytes:
    try:
        return dumps(value)
    except Exception as error:  # whatever a class of the user raises
        raise UsageError(
            f"{what} cannot be pickled ({type(error).__name__}: {error})",
            "give what is needed to make it, a path for an open file, and make it in the function",
        ) from error


def _as_it_is(value: object) -> bytes:
    import cloudpickle

    content: bytes = cloudpickle.dumps(value)
    return content


def _with_its_files(function: object) -> bytes:
    """Pickle a function with the names of its files, for tracebacks: cloudpickle leaves them out."""
    import cloudpickle

    known = cloudpickle.Pickler.dispatch_table

    def reduced(code: CodeType) -> tuple[Any, ...]:
        make, parts = known[CodeType](code)
        return _code_of, (code.co_filename, make, parts)

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        dispatch_table: ClassVar = ChainMap({CodeType: reduced}, known)

    written = io.BytesIO()
    Pickler(written).dump(function)
    return written.getvalue()


def _code_of(path: str, make: Callable[..., CodeType], parts: tuple[Any, ...]) -> CodeType:
    return make(*parts).replace(co_filename=path)

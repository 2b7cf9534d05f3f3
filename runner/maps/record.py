"""What a map is: one JSON file, written at once, read by everybody who works at it or looks at it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from runner import files
from runner.errors import StartError
from runner.maps.layout import Layout

_FORMAT = 1

OnError = Literal["continue", "stop"]
ON_ERROR: tuple[str, ...] = get_args(OnError)


class Component(NamedTuple):
    """One call of the function: its key, and where its pickled argument lies in the file of inputs."""

    key: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRecord:
    """A map as it was asked for.

    Attributes
    ----------
    function : str
        Its name, for people.
    source : str
        Its text (:func:`runner.maps.source.source_of`).
    inputs : str
        The file, in the map's folder, of the pickled function and behind it the pickled arguments.
    function_size : int
        Bytes of the function there.
    components : tuple of Component
        In the order of the arguments.
    import_folders : tuple of str
        Where modules are looked for, beside those of the interpreter.
    versions : dict of str to str
        Those that the pickles were written with.
    created : float
        When the map was made, seconds since 1970.
    chunk : int or None
        How many components are handed out together; None finds a number that suits their time.
    on_error : {"continue", "stop"}
        Whether others are begun when one has failed.
    resources : dict of str to float or None
        What a component takes of a worker's resources; None is one GPU where there is one, else a thread.
    cluster_per_component : bool
        Whether components run one after the other in the client and may use the whole cluster.
    job : dict or None
        The batch job that was asked for (:class:`runner.maps.job.Job`), or ``{"local": True}``.
    """

    function: str
    source: str
    inputs: str
    function_size: int
    components: tuple[Component, ...]
    import_folders: tuple[str, ...]
    versions: dict[str, str]
    created: float
    chunk: int | None = None
    on_error: OnError = "continue"
    resources: dict[str, float] | None = None
    cluster_per_component: bool = False
    job: dict[str, Any] | None = field(default=None)

    @property
    def keys(self) -> list[str]:
        """The components' keys, in order."""
        return [component.key for component in self.components]


def write_record(layout: Layout, record: MapRecord) -> None:
    """Write what a map is.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    content = {f"format {_FORMAT}": True, **asdict(record)}
    files.write_atomically(layout.record, json.dumps(content).encode())


def read_record(layout: Layout) -> MapRecord:
    """Read what a map is.

    Raises
    ------
    StartError
        If it was written by another version of the runner, or is damaged.
    """
    try:
        content = json.loads(layout.record.read_bytes())
        del content[f"format {_FORMAT}"]
        content["components"] = tuple(Component(*entry) for entry in content["components"])
        content["import_folders"] = tuple(content["import_folders"])
        return MapRecord(**content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StartError(
            f"{layout.record} cannot be read ({error})",
            "was it written by another version of the runner? Take a new name",
        ) from error

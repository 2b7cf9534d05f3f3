"""What lies where in the folder of a map, and which names and keys can be files there."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.errors import MissingFileError, UsageError
from runner.listing import few

FOLDER_VARIABLE = "RUNNER_MAPS"

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)
_KEY = re.compile(r"[A-Za-z0-9_][\w.=+,@-]{0,199}", re.ASCII)
_DONE = ".ok"
_FAILED = ".err"


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of one map.

    Attributes
    ----------
    folder : Path
        The map's own, named for it.
    """

    folder: Path

    @property
    def record(self) -> Path:
        """What the map is: :class:`runner.maps.record.MapRecord`."""
        return self.folder / "map.json"

    @property
    def results(self) -> Path:
        """A file per component that has come to an end: the truth about it."""
        return self.folder / "results"

    @property
    def logs(self) -> Path:
        """What components printed."""
        return self.folder / "logs"

    @property
    def runs(self) -> Path:
        """Who worked at the map: :class:`runner.maps.runs.Run`."""
        return self.folder / "runs"

    @property
    def jobs(self) -> Path:
        """The job scripts that were submitted."""
        return self.folder / "jobs"

    @property
    def submission(self) -> Path:
        """Which batch jobs were submitted last."""
        return self.folder / "submission.json"

    def result(self, key: str) -> Path:
        """Return the file of a component's value, a pickle."""
        return self.results / f"{key}{_DONE}"

    def failure(self, key: str) -> Path:
        """Return the file that tells how a component failed, JSON."""
        return self.results / f"{key}{_FAILED}"

    def log(self, key: str) -> Path:
        """Return the file of what a component printed; not there if it printed nothing."""
        return self.logs / f"{key}.txt"

    def make(self) -> None:
        """Make the folders.

        Raises
        ------
        OSError
            If they cannot be made.
        """
        for folder in (self.results, self.logs, self.runs):
            folder.mkdir(parents=True, exist_ok=True)

    def outcomes(self) -> tuple[set[str], set[str]]:
        """Return the keys that have a value, and those that have a failure and no value."""
        names = os.listdir(self.results) if self.results.is_dir() else []  # noqa: PTH208  (no Path for each of many)
        return sort_outcomes(names)


def sort_outcomes(names: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the keys that are done, and those that failed, from the names of files; others are passed over.

    >>> sort_outcomes(["a.ok", "a.err", "b.err", ".c.ok.3f2a"])
    ({'a'}, {'b'})
    """
    done, failed = set[str](), set[str]()
    for name in names:
        if not name.startswith("."):  # a temporary name
            if name.endswith(_DONE):
                done.add(name.removesuffix(_DONE))
            elif name.endswith(_FAILED):
                failed.add(name.removesuffix(_FAILED))
    return done, failed - done


def maps_folder(environ: Mapping[str, str]) -> Path:
    """Return where maps lie: ``RUNNER_MAPS``, or the folder ``maps`` where we are."""
    return Path(environ.get(FOLDER_VARIABLE) or "maps").absolute()


def check_name(name: str) -> str:
    """Return a map's name if it can be one.

    Raises
    ------
    UsageError
        If it is no name of a folder.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a map",
            "use at most 100 letters, digits, - _ and ., a letter or digit first",
        )
    return name


def check_keys(keys: Sequence[str], count: int) -> None:
    """Refuse keys that cannot be names of files, that are not all different, or not as many as arguments.

    Raises
    ------
    UsageError
        It names some of them.
    """
    if len(keys) != count:
        raise UsageError(f"there are {len(keys)} keys for {count} arguments", "give one for each")
    wrong = [key for key in keys if not isinstance(key, str) or not _KEY.fullmatch(key)]
    if wrong:
        raise UsageError(
            f"these cannot be keys: {few([repr(key) for key in wrong])}",
            "use texts of letters, digits and _ . = + , @ -, 200 at most, a letter, digit or _ first",
        )
    if len(set(keys)) < count:
        often = [repr(key) for key, number in Counter(keys).items() if number > 1]
        raise UsageError(f"these keys are there more than once: {few(often)}", "each names one component")


def numbered(count: int) -> list[str]:
    """Return the keys of components that were given none: their places, all of the same length.

    >>> numbered(3)
    ['0000', '0001', '0002']
    """
    width = max(4, len(str(count - 1)))
    return [f"{place:0{width}}" for place in range(count)]


def find_map(name: str, environ: Mapping[str, str]) -> Layout:
    """Find the folder of a map by its name, or by the path of its folder.

    Raises
    ------
    MissingFileError
        If there is none.
    """
    folder = Path(name).absolute() if os.sep in name else maps_folder(environ) / name
    layout = Layout(folder)
    if not layout.record.is_file():
        raise MissingFileError(
            f"there is no map {folder.name!r} in {folder.parent}",
            f"see: runner maps; another folder of maps is named by {FOLDER_VARIABLE}",
        )
    return layout

"""The versions that must be the same where a map is made and where its components run."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from runner.errors import StartError

_PACKAGES = ("cloudpickle", "numpy", "dask")


def versions() -> dict[str, str]:
    """Return the versions of Python, and of the packages that pickles depend on, in this process."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def check_versions(made: Mapping[str, str], here: Mapping[str, str], where: str) -> None:
    """Refuse to read pickles with other versions than they were written with.

    Parameters
    ----------
    made, here : mapping of str to str
        As from :func:`versions`. The first two numbers count.
    where : str
        The machine of `here`, for the message.

    Raises
    ------
    StartError
        It names all that differ.
    """
    different = [
        f"{name} is {here.get(name, 'missing')} on {where} and was {made_with} when the map was made"
        for name, made_with in made.items()
        if _first_two(made_with) != _first_two(here.get(name, ""))
    ]
    if different:
        raise StartError(
            ", ".join(different), "use the same environment for both; the job script names its interpreter"
        )


def _first_two(text: str) -> list[str]:
    return text.split(".")[:2]

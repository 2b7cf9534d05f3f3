"""Pickles are read with the versions that wrote them."""

from __future__ import annotations

import pytest

from runner.errors import StartError
from runner.maps.versions import check_versions, versions

MADE = {"python": "3.11.7", "numpy": "2.1.0", "dask": "2026.8.0"}


@pytest.mark.parametrize(
    "here", [MADE, {**MADE, "python": "3.11.9"}, {**MADE, "numpy": "2.1.9", "extra": "1.0"}]
)
def test_alike(here: dict[str, str]) -> None:
    check_versions(MADE, here, "node1")


@pytest.mark.parametrize(
    ("here", "message"),
    [
        ({**MADE, "python": "3.12.7"}, r"python is 3\.12\.7 on node1 and was 3\.11\.7 when the map was made"),
        ({**MADE, "numpy": "1.26.4", "dask": "2025.1.0"}, r"numpy is .*, dask is "),
        ({"python": "3.11.7", "dask": "2026.8.0"}, "numpy is missing on node1"),
    ],
)
def test_different(here: dict[str, str], message: str) -> None:
    with pytest.raises(StartError, match=message):
        check_versions(MADE, here, "node1")


def test_this_process_is_like_itself() -> None:
    assert {"python", "cloudpickle", "numpy", "dask"} <= versions().keys()
    check_versions(versions(), versions(), "here")

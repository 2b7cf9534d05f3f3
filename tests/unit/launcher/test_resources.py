"""Tags of workers, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.launcher.resources import format_resources, parse_resources


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("big=1", {"big": 1}),
        ("big=1,disk=2.5", {"big": 1, "disk": 2.5}),
        (" GPU=2 MEM=10e9 ", {"GPU": 2, "MEM": 10e9}),  # as for dask worker
        ("fast-disk=1, _x=3", {"fast-disk": 1, "_x": 3}),
    ],
)
def test_read(text: str, tags: dict[str, float]) -> None:
    assert parse_resources(text) == tags


@pytest.mark.parametrize(
    "text", ["", " , ", "big", "big=", "=1", "big=0", "big=-1", "big=nan", "big=1e999", "big=1,big=2", "1=1"]
)
def test_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_resources(text)
    assert str(caught.value) == (
        f"{text!r} are no resources; write names and amounts above zero, each once, like big=1,disk=2"
    )


@given(
    st.dictionaries(
        st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_-]*", fullmatch=True), st.integers(1, 1000), min_size=1
    )
)
def test_written_as_read(tags: dict[str, float]) -> None:
    assert parse_resources(format_resources(tags)) == tags

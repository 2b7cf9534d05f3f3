"""Names, keys, and what a folder of results says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import MissingFileError, UsageError
from runner.maps.layout import (
    Layout,
    check_keys,
    check_name,
    find_map,
    maps_folder,
    numbered,
    sort_outcomes,
)


@pytest.mark.parametrize("name", ["scan42", "a", "2026-11-30_b.c"])
def test_a_name(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "-x", "a b", "ä", "a\n", "a" * 101])
def test_no_name(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a map"):
        check_name(name)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["a"], "1 keys for 2 arguments"),
        (["a", "a"], "more than once: 'a'"),
        (["a", "b/c"], "cannot be keys: 'b/c'"),
        (["a", ".b"], "cannot be keys"),
        (["a", 1], "cannot be keys: 1"),
        (["a", "x" * 201], "cannot be keys"),
    ],
)
def test_wrong_keys(keys: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_keys(keys, 2)


@given(st.integers(1, 20_000))
def test_places_are_keys_in_their_order(count: int) -> None:
    keys = numbered(count)
    check_keys(keys, count)
    assert keys == sorted(keys)
    assert [int(key) for key in keys] == list(range(count))


@given(st.dictionaries(st.from_regex(r"[a-z.]{1,8}", fullmatch=True), st.sampled_from(["ok", "err", "both"])))
def test_a_value_goes_before_a_failure(components: dict[str, str]) -> None:
    named = {f"k{key}": state for key, state in components.items()}
    names = [f"{key}.ok" for key, state in named.items() if state != "err"]
    names += [f"{key}.err" for key, state in named.items() if state != "ok"]
    done, failed = sort_outcomes([*names, ".k.ok.4f3a", "notes.txt"])
    assert done == {key for key, state in named.items() if state != "err"}
    assert failed == {key for key, state in named.items() if state == "err"}


def test_where_maps_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert maps_folder({}) == tmp_path / "maps"
    assert maps_folder({"RUNNER_MAPS": "/data/maps"}) == Path("/data/maps")


def test_a_map_is_found_by_its_name_and_by_its_folder(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "scan42")
    layout.make()
    layout.record.write_text("{}")
    environ = {"RUNNER_MAPS": str(tmp_path)}
    assert find_map("scan42", environ) == layout
    assert find_map(str(tmp_path / "scan42"), {}) == layout
    with pytest.raises(MissingFileError, match="no map 'scan43'"):
        find_map("scan43", environ)

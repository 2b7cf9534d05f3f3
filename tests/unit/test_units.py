"""Sizes and durations as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.units import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("4096B", 4096),
        ("2K", 2048),
        ("400G", 400 << 30),
        ("400g", 400 << 30),
        ("1.5GiB", 3 << 29),
        ("1.5 GiB", 3 << 29),
        ("16 GB", 16 << 30),
        ("2T", 2 << 40),
        (" 8m ", 8 << 20),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "1,5G", "4 GG", "1e9", "max", "4G of it", "0x10"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_size(text)
    assert str(caught.value) == f"{text!r} is not a memory size; write it like 400G, 1.5GiB or 4096 (bytes)"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (2_040_109_465, "1.9 GiB"),
        (3 << 29, "1.5 GiB"),
        (5 << 40, "5.0 TiB"),
        (5 << 50, "5120.0 TiB"),
    ],
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert format_size(size) == text


@given(st.integers(0, 1 << 50))
def test_a_size_comes_back_nearly(size: int) -> None:
    assert parse_size(format_size(size)) == pytest.approx(size, rel=0.05)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90.0),
        ("90s", 90.0),
        ("0.8s", 0.8),
        ("5m", 300.0),
        ("2h", 7200.0),
        ("1.5 h", 5400.0),
        ("1d", 86400.0),
        ("2:00", 7200.0),
        ("2:00:00", 7200.0),
        ("0:05:30", 330.0),
        ("1-12:00:00", 129600.0),
        ("1-12:00", 129600.0),
        (" 36:30:00 ", 131400.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5", "5 minutes", "1:2:3:4", "1-", "2:000", ":30", "1.5:00"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_duration(text)
    assert str(caught.value) == f"{text!r} is not a duration; write it like 2:00:00 (h:mm:ss), 90s, 5m or 2h"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (12.34, "12.3 s"),
        (59.94, "59.9 s"),
        (60, "1:00"),
        (247, "4:07"),
        (3599.4, "59:59"),
        (3599.6, "1:00:00"),
        (7200, "2:00:00"),
        (360_061, "100:01:01"),
    ],
)
def test_durations_for_people(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize("seconds", [59.95, 59.99])
def test_a_minute_is_never_written_as_sixty_seconds(seconds: float) -> None:
    assert format_duration(seconds) == "1:00"


@given(st.integers(3600, 10**8))
def test_a_duration_in_hours_comes_back(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds

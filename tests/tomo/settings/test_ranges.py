import pytest

from runner.errors import UsageError
from runner.tomo.settings import AUTO, Settings, center_within, parse_rows, rows_within


@pytest.mark.parametrize(
    ("text", "bounds"), [("10:20", (10, 20)), (":20", (None, 20)), ("10:", (10, None)), (":", (None, None))]
)
def test_rows_read_like_a_slice(text, bounds):
    assert parse_rows(text) == bounds
    assert Settings(rows=text).rows == bounds


@pytest.mark.parametrize("text", ["10", "a:b", "1:2:3", "1.5:3", ""])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(UsageError, match="FIRST:END"):
        parse_rows(text)


@pytest.mark.parametrize(
    ("rows", "result"),
    [(None, (0, 50)), ((None, None), (0, 50)), ((3, None), (3, 50)), ((None, 3), (0, 3)), ((0, 50), (0, 50))],
)
def test_rows_on_the_detector(rows, result):
    assert rows_within(rows, 50) == result


@pytest.mark.parametrize("rows", [(0, 51), (-1, 3), (5, 5), (6, 5), (50, None), (None, 0)])
def test_rows_outside_are_refused_with_what_is_there(rows):
    with pytest.raises(UsageError, match="0:50"):
        rows_within(rows, 50)


def test_an_axis_on_the_detector():
    assert [center_within(center, 50) for center in (0.0, 24.5, 49.0, AUTO)] == [0.0, 24.5, 49.0, None]


@pytest.mark.parametrize("center", [-0.1, 49.1, 500.0])
def test_an_axis_outside_is_refused_with_what_is_there(center):
    with pytest.raises(UsageError, match=r"outside of the detector; .* 0 \.\. 49"):
        center_within(center, 50)

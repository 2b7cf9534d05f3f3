import pytest

from runner.errors import LostError
from runner.tomo import axis_of_scan
from runner.tomo.axis_of_scan import find_axis
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings

from .conftest import local_client


def test_an_axis_that_no_worker_finds_is_not_waited_for_for_ever(small_scan, monkeypatch):
    monkeypatch.setattr(axis_of_scan, "_AXIS_SECONDS", 0.5)
    with (
        local_client(0) as nobody,
        pytest.raises(LostError, match=r"no worker found the rotation axis within 0\.5 s; .* --center"),
    ):
        find_axis(open_scan(small_scan), Settings(), nobody)

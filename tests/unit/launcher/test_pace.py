"""Dask's processes look at themselves less often, unless the user says how often."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TOLD = """
from dask.config import get
from runner.launcher import pace
pace.slow_down()
print(get("distributed.worker.profile.interval"), get("distributed.admin.tick.interval"))
"""


@pytest.mark.parametrize(
    ("variables", "intervals"),
    [
        ({}, "100 ms 200 ms"),
        ({"DASK_DISTRIBUTED__WORKER__PROFILE__INTERVAL": "5ms"}, "5ms 200 ms"),
        ({"DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s"}, "100 ms 1s"),
    ],
)
def test_what_the_user_sets_stays(variables: dict[str, str], intervals: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", TOLD],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout.strip() == intervals, told.stderr

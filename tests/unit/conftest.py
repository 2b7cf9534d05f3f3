"""What the unit tests may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment for programs that no launcher, batch system or user has touched."""
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"}

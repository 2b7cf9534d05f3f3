"""What the unit tests may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment for programs that no launcher, batch system or user has touched."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {"HOME": str(tmp_path), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"}

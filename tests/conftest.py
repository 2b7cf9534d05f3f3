"""What every test may ask for."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real scans with the references' results: ``RUNNER_TEST_DATA``, or ``../shared/data``."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RUNNER_TEST_DATA", beside))
    if not (folder / "scans").is_dir():
        pytest.skip(f"no real scans at {folder} (set RUNNER_TEST_DATA)")
    return folder

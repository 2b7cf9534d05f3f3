"""What every test may ask for."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# the same cases in every run, so what fails was broken by the change; RUNNER_TEST_RANDOM=1 tries others
settings.register_profile("steady", derandomize=True)
if "RUNNER_TEST_RANDOM" not in os.environ:
    settings.load_profile("steady")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real scans with the references' results: ``RUNNER_TEST_DATA``, or ``../shared/data``."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RUNNER_TEST_DATA", beside))
    if not (folder / "scans").is_dir():
        pytest.skip(f"no real scans at {folder} (set RUNNER_TEST_DATA)")
    return folder

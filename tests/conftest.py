"""What every test may ask for."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Hypothesis' time limits (0.2 s for an example, 1 s to draw the first ten) measure how busy the machine is
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same cases in every run of the same sources, so what fails was broken by the change. Numbers that stand
# in a module are tried as well, so a new one changes the cases. RUNNER_TEST_RANDOM=1 tries others each time.
settings.register_profile("steady", settings.get_profile("patient"), derandomize=True)
settings.load_profile("patient" if "RUNNER_TEST_RANDOM" in os.environ else "steady")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real scans with the references' results: ``RUNNER_TEST_DATA``, or ``../shared/data``."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RUNNER_TEST_DATA", beside))
    if not (folder / "scans").is_dir():
        pytest.skip(f"no real scans at {folder} (set RUNNER_TEST_DATA)")
    return folder

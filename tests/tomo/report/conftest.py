"""A real browser, and reconstructions with a page about them."""

import shutil

import pytest

from runner.tomo.pipeline import reconstruct
from runner.tomo.report.write import report_path
from runner.tomo.settings import Settings

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    """Chromium; `make test` installs it when root on Debian."""
    sync_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is here")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, timeout=100_000)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def volume(small_scan, tmp_path_factory, client):
    """A finished volume with its page beside it."""
    volume = tmp_path_factory.mktemp("volume") / "volume.h5"
    reconstruct(small_scan, volume, Settings(), client, report=report_path(volume))
    return volume

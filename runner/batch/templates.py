"""Where the templates of the job scripts lie: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def template_folder() -> Path:
    """Return the folder ``jobscripts`` of this installation."""
    installed = Path(str(files("runner"))) / "jobscripts"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "jobscripts"

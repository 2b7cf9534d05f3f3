"""Write the page beside the volume."""

from __future__ import annotations

from pathlib import Path

from runner.errors import WriteError
from runner.files import write_atomically
from runner.tomo.report.page import make_page
from runner.tomo.report.run import Run


def report_path(volume: Path) -> Path:
    """Name the page about a volume: beside it."""
    return volume.with_name(f"{volume.name}.report.html")


def write_report(path: Path, run: Run) -> None:
    """Write the page about a reconstruction.

    Raises
    ------
    WriteError
        If the volume cannot be read, or the page not written.
    """
    try:
        write_atomically(path, make_page(run).encode())
    except OSError as error:
        raise WriteError(f"{path} cannot be written ({error})", "see to the file system") from error

"""A private folder on this machine's own disk, for spilled data and logs of one rank."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from runner.errors import WriteError

# Set by batch systems and sites for one job on one machine; the first that is set wins.
_VARIABLES = ("RUNNER_SCRATCH", "LOCAL_SCRATCH", "FLUX_JOB_TMPDIR", "_CONDOR_SCRATCH_DIR", "TMPDIR")


def scratch_root(environ: Mapping[str, str], chosen: Path | None = None) -> Path:
    """Return the folder in which ranks make their scratch folders: `chosen`, the site's, or ``/tmp``."""
    if chosen is not None:
        return chosen
    return next((Path(environ[name]) for name in _VARIABLES if environ.get(name)), Path("/tmp"))  # noqa: S108


def make_scratch(root: Path, name: str) -> Path:
    """Make a new folder below `root` that only its owner can enter.

    Raises
    ------
    WriteError
        If `root` cannot be written.
    """
    try:
        return Path(tempfile.mkdtemp(prefix=f"runner-{name}-", dir=root))
    except OSError as error:
        raise WriteError(
            f"scratch folder {root} on {os.uname().nodename} cannot be used ({error.strerror})",
            "choose another with --scratch or RUNNER_SCRATCH",
        ) from error

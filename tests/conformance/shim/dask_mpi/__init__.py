"""What dask-mpi offers to scripts, by the runner: old scripts and dask-mpi's own tests import this one."""

from runner.compat import WorldTooSmallException, execute, initialize, send_close_signal

__all__ = ["WorldTooSmallException", "execute", "initialize", "send_close_signal"]

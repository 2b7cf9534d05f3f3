"""The same with dask-mpi, as its documentation shows it."""

import os

from dask_mpi import initialize

initialize()
from common import work
from distributed import Client

with Client() as client:
    work(client, int(os.environ["BENCH_RANKS"]) - 2)

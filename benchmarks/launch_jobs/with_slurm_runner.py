"""The same with dask-jobqueue's SLURMRunner, as its documentation shows it."""

import os

from common import work
from dask_jobqueue.slurm import SLURMRunner
from distributed import Client

with (
    SLURMRunner(scheduler_file=os.environ["BENCH_SCHEDULER_FILE"] + "-{job_id}.json") as runner,
    Client(runner) as client,
):
    client.wait_for_workers(runner.n_workers)
    work(client, runner.n_workers)

"""Scripts for dask-mpi and SLURMRunner, and clients that are not the job."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from distributed import Client

import runner
from runner.errors import MissingFileError
from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command, run
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster

INITIALIZE = """
from {module} import initialize
assert initialize(nthreads=2) is True
from distributed import Client
client = Client()
print(sorted(worker["name"] for worker in client.scheduler_info()["workers"].values()))
assert client.submit(abs, -3, workers={last}).result() == 3
"""
EXECUTE = """
from {module} import execute
def work(n):
    from distributed import Client
    print(Client().submit(abs, n).result())
    raise SystemExit(3)
execute(work, (-4,))
"""
SLURM_RUNNER = """
from {module} import SLURMRunner
from distributed import Client
with SLURMRunner() as runner:
    with Client(runner) as client:
        client.wait_for_workers(runner.n_workers)
        print(runner.n_workers, client.submit(abs, -5).result())
"""


def written(folder: Path, text: str, **words: object) -> Path:
    script = folder / "old.py"
    script.write_text(text.format(**words))
    return script


def test_unchanged_under_us(local: Way) -> None:
    pytest.importorskip("dask_mpi")
    result = local.run(written(local.folder, INITIALIZE, module="dask_mpi", last="'0-1'"), ranks=2)
    assert (result.code, result.out) == (0, "['0-0', '0-1']\n"), result.err


def test_the_function_of_execute_decides_the_exit_code(local: Way) -> None:
    pytest.importorskip("dask_mpi")
    result = local.run(written(local.folder, EXECUTE, module="dask_mpi"), ranks=1)
    assert (result.code, result.out) == (3, "4\n"), result.err


def test_slurm_runner_unchanged_under_us(local: Way) -> None:
    pytest.importorskip("dask_jobqueue")
    result = local.run(written(local.folder, SLURM_RUNNER, module="dask_jobqueue.slurm"), ranks=2)
    assert (result.code, result.out) == (0, "2 5\n"), result.err


@pytest.mark.mpi
def test_by_the_old_command_with_another_import(environment: dict[str, str], tmp_path: Path) -> None:
    mpi = MpiLauncher("openmpi")
    if not mpi.program.exists():
        pytest.skip("no Open MPI: run make test")
    script = written(tmp_path, INITIALIZE, module="runner.compat", last=2)
    known = {**environment, **mpi.environment, "RUNNER_RENDEZVOUS_DIR": str(tmp_path)}
    finished = run([*mpi.argv(4), sys.executable, script], timeout=60, env=known)
    assert (finished.returncode, finished.stdout) == (0, "[2, 3]\n"), finished.stderr


@pytest.mark.mpi
def test_a_world_too_small_ends_at_once(environment: dict[str, str], tmp_path: Path) -> None:
    mpi = MpiLauncher("openmpi")
    if not mpi.program.exists():
        pytest.skip("no Open MPI: run make test")
    script = written(tmp_path, INITIALIZE, module="runner.compat", last=2)
    finished = run([*mpi.argv(2), sys.executable, script], timeout=30, env={**environment, **mpi.environment})
    assert finished.returncode == 1
    assert "found 2, needs at least 3" in finished.stderr


def test_a_script_may_shut_its_cluster_down(local: Way) -> None:
    result = local.run("-c", "from distributed import Client; Client().shutdown(); print('after')", ranks=2)
    assert (result.code, result.out) == (0, "after\n")
    assert "started again" not in result.err
    assert "Traceback" not in result.err


def there(path: Path, command: Command) -> Path:
    end = time.monotonic() + 30
    while not path.exists():
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.02)
    return path


def test_a_client_elsewhere_computes_and_shuts_down(local: Way) -> None:
    file = local.folder / "cluster.json"
    with local.start("--scheduler-file", file, "serve", ranks=2) as command:
        with runner.connect(there(file, command), set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result(timeout=10) == 3
            client.shutdown()
        assert command.wait(timeout=20).returncode == 0
    assert not file.exists()
    local.check_nothing_is_left()
    with pytest.raises(MissingFileError, match="there is no scheduler file"):
        runner.connect(file)


def test_a_plain_client_where_nothing_is_encrypted(local: Way) -> None:
    file = local.folder / "cluster.json"
    with local.start("--insecure", "--scheduler-file", file, "serve", "--idle", "8s", ranks=1) as command:
        # within those 8 s, which begin with the scheduler
        with Client(scheduler_file=str(there(file, command)), timeout=10, set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result(timeout=10) == 3
        finished = command.wait(timeout=40)
    assert finished.returncode == 0
    assert "no task for" in finished.stderr


def test_a_file_of_a_later_start_is_left_alone(local: Way) -> None:
    file = local.folder / "cluster.json"
    with local.start("--scheduler-file", file, JOBS / "waits.py", ranks=1) as command:
        there(local.folder / "waiting", command)
        file.write_text(json.dumps({"address": "tls://another:1"}))
        (local.folder / "go").touch()
        assert command.wait(timeout=20).returncode == 0
    assert file.exists()

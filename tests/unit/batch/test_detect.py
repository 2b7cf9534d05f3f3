from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from runner.batch.allocation import Allocation
from runner.batch.detect import detect
from runner.errors import UsageError
from tests.unit.batch.environments import FOLDER, recorded

HOME = Path("/home/ana/scans")


def slurm(**values: object) -> Allocation:
    return Allocation(system="slurm", submit_folder=HOME, **values)  # type: ignore[arg-type]


EXPECTED = {
    "slurm-srun-direct": slurm(
        job_id="9",
        attempt="slurm-9-0-0",
        tasks=3,
        hosts=("node1", "node2"),
        cpus_per_task=2,
        gpus_here=2,
        gpu_ids=("0", "1"),
        inside_step=True,
        cancel_command="scancel 9",
    ),
    "slurm-batch-script": slurm(
        job_id="10",
        attempt="slurm-10-batch-0",
        tasks=4,
        hosts=("node1", "node2"),
        cpus_per_task=2,
        memory_per_node=1500 << 20,
        gpus_here=2,
        inside_step=False,
        cancel_command="scancel 10",
    ),
    "slurm-srun-in-batch": slurm(
        job_id="10",
        attempt="slurm-10-1-0",
        tasks=4,
        hosts=("node1", "node2"),
        cpus_per_task=2,
        memory_per_node=1500 << 20,
        gpus_here=2,
        gpu_ids=("0", "1"),
        inside_step=True,
        cancel_command="scancel 10",
    ),
    "slurm-array-task": slurm(
        job_id="11_4",
        array_index=4,
        attempt="slurm-11_4-0-0",
        tasks=2,
        hosts=("node1",),
        memory_per_node=1000 << 20,
        inside_step=True,
        cancel_command="scancel 11_4",
    ),
    "slurm-restarted": slurm(
        job_id="13",
        attempt="slurm-13-0-1",
        restarts=1,
        tasks=1,
        hosts=("node1",),
        inside_step=True,
        cancel_command="scancel 13",
    ),
    "slurm-het-batch-script": slurm(
        job_id="29",
        components=2,
        attempt="slurm-29-batch-0",
        tasks=3,
        hosts=("node1", "node2", "node3"),
        cpus_per_task=2,
        memory_per_node=500 << 20,
        cancel_command="scancel 29",
    ),
    "slurm-het-step": slurm(
        job_id="29",
        components=2,
        attempt="slurm-29-0-0",
        tasks=3,
        hosts=("node1", "node2", "node3"),
        memory_per_node=1000 << 20,
        gpus_here=1,
        gpu_ids=("0",),
        inside_step=True,
        cancel_command="scancel 29",
    ),
    "slurm-het-second-alone": slurm(
        job_id="29",
        components=2,
        attempt="slurm-29-1-0",
        tasks=2,
        hosts=("node2", "node3"),
        memory_per_node=1000 << 20,
        gpus_here=1,
        gpu_ids=("0",),
        inside_step=True,
        cancel_command="scancel 29",
    ),
    "slurm-openmpi-first-host": slurm(
        job_id="17",
        attempt="slurm-17-mpirun-0",
        tasks=4,
        hosts=("node1", "node2"),
        cancel_command="scancel 17",
    ),
    "slurm-openmpi-other-host": slurm(
        job_id="17", attempt="slurm-17-mpirun-0", hosts=("node1", "node2"), cancel_command="scancel 17"
    ),
    "slurm-mpich": slurm(
        job_id="15", attempt="slurm-15-1-0", hosts=("node1", "node2"), cancel_command="scancel 15"
    ),
    "slurm-intelmpi": slurm(
        job_id="16", attempt="slurm-16-1-0", hosts=("node1", "node2"), cancel_command="scancel 16"
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_slurm(name: str) -> None:
    assert detect(recorded(name)) == EXPECTED[name]


def test_each_recorded_slurm_environment_is_tested() -> None:
    assert {file.stem for file in FOLDER.glob("slurm-*.env")} == set(EXPECTED)


@pytest.mark.parametrize(
    ("changes", "ends_at"),
    [
        ({"SLURM_JOB_END_TIME": "1780000000"}, 1780000000.0),
        ({"RUNNER_END": "1770000000"}, 1770000000.0),
        ({"SLURM_JOB_END_TIME": "1780000000", "RUNNER_END": "1770000000"}, 1770000000.0),
    ],
)
def test_slurm_end_of_the_job(changes: dict[str, str], ends_at: float) -> None:
    assert detect(recorded("slurm-restarted", **changes)).ends_at == ends_at


def test_slurm_memory_zero_means_the_whole_node_and_is_no_limit() -> None:
    assert detect(recorded("slurm-restarted", SLURM_MEM_PER_NODE="0")).memory_per_node is None


@pytest.mark.parametrize(
    ("asked", "memory"),
    [
        ({"SLURM_MEM_PER_CPU": "500", "SLURM_CPUS_ON_NODE": "4"}, 2000 << 20),
        ({"SLURM_MEM_PER_GPU": "1000", "SLURM_GPUS_ON_NODE": "3"}, 3000 << 20),
        ({"SLURM_MEM_PER_GPU": "1000"}, None),
    ],
)
def test_slurm_memory_for_each_cpu_or_gpu(asked: dict[str, str], memory: int | None) -> None:
    assert detect(recorded("slurm-restarted") | asked).memory_per_node == memory


def test_slurm_job_of_two_components() -> None:
    assert detect(recorded("slurm-restarted", SLURM_HET_SIZE="2")).components == 2


def test_pbs(tmp_path: Path) -> None:
    nodefile = tmp_path / "nodes"
    nodefile.write_text("cn1\ncn1\ncn2\ncn2\n")
    assert detect(recorded("pbs-mpich", PBS_NODEFILE=str(nodefile))) == Allocation(
        system="pbs",
        job_id="1234.pbs01",
        attempt="pbs-1234.pbs01",
        tasks=4,
        hosts=("cn1", "cn2"),
        ends_at=1780000000.0,
        submit_folder=HOME,
        cancel_command="qdel 1234.pbs01",
    )


def test_pbs_array_on_a_host_without_the_node_file() -> None:
    assert detect(recorded("pbs-array")) == Allocation(
        system="pbs",
        job_id="77[5].pbs01",
        array_index=5,
        attempt="pbs-77_5.pbs01",
        submit_folder=HOME,
        cancel_command="qdel '77[5].pbs01'",
    )


def test_pbs_under_pals_has_a_line_per_host(tmp_path: Path) -> None:
    nodefile = tmp_path / "nodes"
    nodefile.write_text("x1\nx2\n")
    assert detect(recorded("pbs-pals", PBS_NODEFILE=str(nodefile))) == Allocation(
        system="pbs",
        job_id="1234.polaris-pbs-01",
        attempt="pbs-1234.polaris-pbs-01",
        tasks=10,
        hosts=("x1", "x2"),
        ends_at=1780000000.0,
        submit_folder=HOME,
        scratch=Path("/var/tmp/pbs.1234.polaris-pbs-01"),
        cancel_command="qdel 1234.polaris-pbs-01",
    )


def test_sge(tmp_path: Path) -> None:
    nodefile = tmp_path / "pe_hostfile"
    nodefile.write_text("node1 2 all.q@node1 UNDEFINED\nnode2 1 all.q@node2 UNDEFINED\n\n")
    assert detect(recorded("sge-parallel", PE_HOSTFILE=str(nodefile))) == Allocation(
        system="sge",
        job_id="1",
        attempt="sge-1-0",
        hosts=("node1", "node2"),
        submit_folder=HOME,
        scratch=Path("/tmp/1.1.all.q"),
        cancel_command="qdel 1",
        last_warning=signal.SIGUSR2,
    )


def test_sge_array_task_that_was_started_again() -> None:
    assert detect(recorded("sge-array", RESTARTED="1")) == Allocation(
        system="sge",
        job_id="2.5",
        array_index=5,
        attempt="sge-2.5-1",
        restarts=1,
        submit_folder=HOME,
        scratch=Path("/tmp/2.5.all.q"),
        cancel_command="qdel 2.5",
        last_warning=signal.SIGUSR2,
    )


def test_sge_counts_the_gpus_of_a_resource_map() -> None:
    assert detect(recorded("sge-parallel", SGE_HGR_gpu="gpu0 gpu2")).gpus_here == 2


def test_oar(tmp_path: Path) -> None:
    nodefile = tmp_path / "7"
    nodefile.write_text("node1\nnode1\nnode2\nnode2\n")
    os.utime(nodefile, (1780000000, 1780000000))  # OAR writes it when the job starts
    assert detect(recorded("oar", OAR_NODEFILE=str(nodefile))) == Allocation(
        system="oar",
        job_id="1",
        array_index=1,
        attempt="oar-1",
        hosts=("node1", "node2"),
        ends_at=1780000120.0,
        submit_folder=HOME,
        cancel_command="oardel 1",
    )


def test_oar_end_of_the_job_on_a_host_without_the_node_file() -> None:
    assert detect(recorded("oar")).ends_at is None
    assert detect(recorded("oar", RUNNER_END="1780000120")).ends_at == 1780000120.0


def test_lsf_under_jsrun_leaves_out_the_host_of_the_script() -> None:
    expected = Allocation(
        system="lsf",
        job_id="4711",
        attempt="lsf-4711-0",
        tasks=14,
        hosts=("a01n01", "a01n02"),
        ends_at=1780000000.0,
        submit_folder=HOME,
        inside_step=True,
        cancel_command="bkill 4711",
    )
    assert detect(recorded("lsf-jsrun")) == expected


def test_lsf_reads_its_host_file_where_it_is_seen(tmp_path: Path) -> None:
    nodefile = tmp_path / "hosts"
    nodefile.write_text("batch5\na01n01\na01n01\na01n02\n")
    assert detect(recorded("lsf-jsrun", LSB_DJOB_HOSTFILE=str(nodefile))).hosts == ("a01n01", "a01n02")


def test_lsf_array() -> None:
    assert detect(recorded("lsf-array")) == Allocation(
        system="lsf",
        job_id="4711[5]",
        array_index=5,
        attempt="lsf-4711-5",
        hosts=("h1", "h2"),
        submit_folder=HOME,
        cancel_command="bkill '4711[5]'",
    )


def test_htcondor(tmp_path: Path) -> None:
    (tmp_path / "job").write_text('ClusterId = 12\nProcId = 0\nNumJobStarts = 2\nIwd = "/elsewhere"\n')
    (tmp_path / "machine").write_text('Machine = "h1"\nCpus = 8\nMemory = 81920\n')
    ads = {"_CONDOR_JOB_AD": str(tmp_path / "job"), "_CONDOR_MACHINE_AD": str(tmp_path / "machine")}
    assert detect(recorded("htcondor", **ads)) == Allocation(
        system="htcondor",
        job_id="12",
        attempt="htcondor-12-1",
        restarts=1,
        tasks=10,
        cpus_per_task=8,
        submit_folder=HOME,
        scratch=Path("/var/lib/condor/execute/dir_1234"),
        inside_step=True,
        cancel_command="condor_rm 12",
    )


def test_htcondor_where_its_files_cannot_be_read() -> None:
    found = detect(recorded("htcondor"))
    assert (found.system, found.job_id, found.tasks, found.attempt) == ("htcondor", None, 10, None)


def test_flux() -> None:
    assert detect(recorded("flux")) == Allocation(
        system="flux",
        job_id="ƒM7Zq9AKHno",
        attempt="flux-fM7Zq9AKHno",
        tasks=10,
        ends_at=1780000000.0,
        scratch=Path("/var/tmp/flux-abc/jobtmp-1-ƒM7Zq9AKHno"),
        inside_step=True,
        cancel_command="flux cancel ƒM7Zq9AKHno",
    )


def test_flux_inside_of_a_slurm_job_knows_the_end_from_slurm() -> None:
    environ = recorded("slurm-batch-script", SLURM_JOB_END_TIME="1780000001") | recorded("flux")
    del environ["RUNNER_END"]
    found = detect(environ)
    assert (found.system, found.ends_at) == ("slurm", 1780000001.0)


@pytest.mark.parametrize("environ", [{}, {"JOB_ID": "12"}, {"SLURM_JOB_ID": ""}, {"SLURM_PROCID": "0"}])
def test_no_job(environ: dict[str, str]) -> None:
    assert detect(environ) == Allocation()


def test_no_job_but_an_end_time() -> None:
    assert detect({"RUNNER_END": "1780000000"}) == Allocation(ends_at=1780000000.0)


@pytest.mark.parametrize(
    ("name", "value"), [("SLURM_CPUS_PER_TASK", "two"), ("RUNNER_END", "N/A"), ("SLURM_MEM_PER_NODE", "4G")]
)
def test_an_unreadable_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name}='{value}'"):
        detect(recorded("slurm-restarted", **{name: value}))


@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.env")))
def test_an_attempt_is_safe_in_a_file_name(name: str) -> None:
    attempt = detect(recorded(name)).attempt
    if name == "htcondor":  # its id stands in a file beside the job
        assert attempt is None
        return
    assert attempt
    assert attempt.isascii()
    assert not set(attempt) & set("/ []$*'\"")

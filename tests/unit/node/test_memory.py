"""The smallest limit holds, wherever the kernel keeps it."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from runner.node.memory import cgroup_limits, memory_limit
from tests.cluster.processes import run

MIB = 1 << 20
UNLIMITED = str((1 << 63) - 4096)  # what version 1 writes


def kernel(folder: Path, groups: str | None, files: Mapping[str, str]) -> dict[str, Path]:
    """Make the kernel's two file systems: this process's groups, and the files below ``/sys/fs/cgroup``."""
    if groups is not None:
        (folder / "proc/self").mkdir(parents=True)
        (folder / "proc/self/cgroup").write_text(groups)
    for name, content in files.items():
        path = folder / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content}\n")
    return {"proc": folder / "proc", "sys": folder / "sys"}


@pytest.mark.parametrize(
    ("groups", "files", "limits"),
    [
        # version 2
        ("0::/job\n", {"job/memory.max": "1000"}, [1000]),
        ("0::/job\n", {"job/memory.max": "max"}, []),
        ("0::/\n", {}, []),
        (
            "0::/system.slice/slurmstepd.scope/job_9/step_0/user/task_0\n",
            {
                "system.slice/slurmstepd.scope/job_9/step_0/user/task_0/memory.max": "max",
                "system.slice/slurmstepd.scope/job_9/step_0/memory.max": "3000",
                "system.slice/slurmstepd.scope/job_9/memory.max": "2000",
                "system.slice/memory.max": "max",
                "another/memory.max": "1",
            },
            [3000, 2000],
        ),
        # version 1
        ("4:memory:/slurm/uid_0/job_9\n", {"memory/slurm/uid_0/job_9/memory.limit_in_bytes": "5000"}, [5000]),
        ("4:cpu,memory:/job\n", {"memory/job/memory.limit_in_bytes": "5000"}, [5000]),
        ("4:memory:/job\n", {"memory/job/memory.limit_in_bytes": UNLIMITED}, []),
        (
            "4:memory:/a/b\n",
            {"memory/a/memory.limit_in_bytes": "6000", "memory/memory.limit_in_bytes": UNLIMITED},
            [6000],
        ),
        # both: version 2 is there for other controllers
        (
            "3:cpuset:/x\n4:memory:/job\n1:name=systemd:/y\n0::/z\n",
            {"memory/job/memory.limit_in_bytes": "7000", "cpuset/x/memory.limit_in_bytes": "1"},
            [7000],
        ),
        # a path seen from outside of a container, without files of that name within
        ("0::/../../kubepods/pod\n", {}, []),
        ("0::/name:with:colons\n", {"name:with:colons/memory.max": "8000"}, [8000]),
        # no control groups at all
        ("", {}, []),
        (None, {}, []),
    ],
)
def test_limits_of_control_groups(
    tmp_path: Path, groups: str | None, files: dict[str, str], limits: list[int]
) -> None:
    assert list(cgroup_limits(**kernel(tmp_path, groups, files))) == limits


def test_a_limit_above_the_root_is_not_ours(tmp_path: Path) -> None:
    roots = kernel(tmp_path, "0::/job\n", {"job/memory.max": "1000"})
    (tmp_path / "sys/fs/memory.max").write_text("1\n")
    assert list(cgroup_limits(**roots)) == [1000]


@pytest.mark.parametrize(
    ("asked", "in_group", "limit"),
    [
        (None, "max", None),
        (None, f"{64 * MIB}", 64 * MIB),
        (48 * MIB, "max", 48 * MIB),
        (48 * MIB, f"{64 * MIB}", 48 * MIB),
        (80 * MIB, f"{64 * MIB}", 64 * MIB),
        (1 << 60, "max", None),  # more than there is
    ],
)
def test_the_smallest_limit_holds(
    tmp_path: Path, asked: int | None, in_group: str, limit: int | None
) -> None:
    roots = kernel(tmp_path, "0::/job\n", {"job/memory.max": in_group})
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    machine = psutil.virtual_memory().total
    everything = machine if soft == resource.RLIM_INFINITY else min(machine, soft)
    assert memory_limit(asked=asked, **roots) == (limit or everything)


@pytest.mark.parametrize("option", ["-v", "-d", "-m"])
def test_a_limit_of_the_shell_holds(tmp_path: Path, environment: dict[str, str], option: str) -> None:
    program = "from runner.node.memory import memory_limit; print(memory_limit())"
    line = f"ulimit -S {option} {1 << 20}; exec \"$0\" -c '{program}'"
    finished = run(["bash", "-c", line, sys.executable], timeout=60, cwd=tmp_path, env=environment)
    assert (finished.stdout, finished.stderr) == (f"{1 << 30}\n", "")


def test_this_machine() -> None:
    assert 0 < memory_limit() <= psutil.virtual_memory().total

"""More workers than cores: nothing is lost, and nothing runs into a time-out."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.ways import JOBS, Way


def test_64_workers_of_one_rank_start_work_and_stop(local: Way, tmp_path: Path) -> None:
    """More orders than the socket to the warm parent holds at once."""
    result = local.run("--threads", "1", JOBS / "one_task_each.py", "64", ranks=64, timeout=90)
    assert result.code == 0, result.err
    assert result.out.split() == ["64", "processes"]
    assert len(result.said.splitlines()) <= 10, result.err

"""One at a time works at a map, whoever dies."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from runner.batch.allocation import Allocation
from runner.errors import LostError, UsageError, WriteError
from runner.maps import runs
from runner.maps.layout import Layout
from runner.maps.runs import Heart, Run, claim, latest_run

CLAIM = """
import sys, time
from pathlib import Path
from runner.batch.allocation import Allocation
from runner.maps.layout import Layout
from runner.maps.runs import claim
claim(Layout(Path(sys.argv[1])), Allocation())
print("claimed", flush=True)
time.sleep(60)
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path / "scan42")
    layout.make()
    return layout


def write(layout: Layout, run: Run) -> None:
    (layout.runs / f"{run.number:04d}.json").write_text(json.dumps(asdict(run)))


def test_two_processes(layout: Layout) -> None:
    command = [sys.executable, "-c", CLAIM, str(layout.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        try:
            assert other.stdout.readline() == "claimed\n"
            with pytest.raises(UsageError, match=f"map scan42 is being worked at by process {other.pid}"):
                claim(layout, Allocation())
        finally:
            other.kill()
            other.wait(60)
    assert claim(layout, Allocation()).number == 2  # of a dead process nobody waits


def test_of_many_at_once_one_wins(layout: Layout) -> None:
    together = threading.Barrier(8, timeout=60)
    won = []

    def try_it() -> None:
        together.wait()
        with suppress(UsageError):
            won.append(claim(layout, Allocation()))

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(won) == 1


@pytest.mark.parametrize(("silent", "free"), [(5.0, False), (3600.0, True)])
def test_a_run_on_another_machine(layout: Layout, silent: float, free: bool) -> None:
    run = claim(layout, Allocation())
    elsewhere = replace(run, process="00000000-1-1", host="node7", at=time.time() - silent)
    write(layout, replace(elsewhere, job_id="77", system="slurm"))
    if free:
        assert claim(layout, Allocation()).number == 2
    else:
        with pytest.raises(UsageError, match="SLURM job 77 on node7"):
            claim(layout, Allocation())


def test_a_run_that_is_just_being_made(layout: Layout) -> None:
    (layout.runs / "0001.json").touch()
    with pytest.raises(UsageError, match="another process"):
        claim(layout, Allocation())


def test_a_heart(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_BEAT_SECONDS", 0.02)
    heart = Heart(layout, claim(layout, Allocation(job_id="5", system="slurm", ends_at=1e10)))
    heart.run = replace(heart.run, done=3)
    end = time.monotonic() + 60
    while (run := latest_run(layout)) is None or run.done < 3:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert run.is_alive(time.time())
    heart.check()
    heart.close("the time was over")
    run = latest_run(layout)
    assert run is not None
    assert (run.problem, run.ended is not None, run.ends_at) == ("the time was over", True, 1e10)
    assert claim(layout, Allocation()).number == 2


def test_a_map_that_was_taken_over(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_BEAT_SECONDS", 0.02)
    heart = Heart(layout, claim(layout, Allocation()))
    write(layout, replace(heart.run, number=2))
    heart._thread.join(60)
    with pytest.raises(LostError, match="took map scan42 over"):
        heart.check()
    heart.close()


def test_a_folder_that_cannot_be_written(layout: Layout) -> None:
    layout.runs.rmdir()
    layout.runs.symlink_to("/proc/nowhere")
    with pytest.raises(WriteError, match="cannot be written"):
        claim(layout, Allocation())

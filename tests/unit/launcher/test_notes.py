"""What is said before the job starts."""

from __future__ import annotations

from dataclasses import replace

from runner.launcher.notes import before_start
from runner.launcher.roles import Duty, WorkerPlan
from tests.unit.launcher.ranks import ranks


def test_each_thing_is_said_once() -> None:
    present = [
        replace(facts, notes=("scratch is full", *extra))
        for facts, extra in zip(
            ranks("node1", "node1", "node2", "node3"), [(), (), ("no disk",), ()], strict=True
        )
    ]
    assert before_start(present, []) == ["node1, node2, node3: scratch is full", "node2: no disk"]


def test_too_few_open_files_on_rank_0() -> None:
    first, second = ranks("a", "b")
    few, many = replace(first, open_files=100), replace(second, open_files=9)
    duties = [
        Duty(rank=0, workers=tuple(WorkerPlan(name=f"{n}", threads=1, memory=1) for n in range(12))),
        Duty(rank=1, workers=(WorkerPlan(name="1", threads=1, memory=1),)),
    ]
    (line,) = before_start([few, many], duties)
    assert line.startswith("a: a scheduler of 13 workers may need 103 open files, 100 are allowed")
    assert before_start([replace(few, open_files=103), many], duties) == []

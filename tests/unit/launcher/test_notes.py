"""What is said before the job starts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner.launcher.facts import RankFacts
from runner.launcher.notes import before_start
from runner.launcher.options import LaunchOptions
from runner.launcher.roles import Duty, WorkerPlan, assign
from tests.unit.launcher.ranks import ranks


def test_each_thing_is_said_once() -> None:
    present = [
        replace(facts, notes=("scratch is full", *extra))
        for facts, extra in zip(
            ranks("node1", "node1", "node2", "node3"), [(), (), ("no disk",), ()], strict=True
        )
    ]
    assert before_start(present, []) == ["node1, node2, node3: scratch is full", "node2: no disk"]


@pytest.mark.parametrize(
    ("present", "workers", "said"),
    [
        (ranks("a", "a", gpus="0,1"), 1, []),
        (ranks("a", "b", "b", gpus="0,1"), 2, []),
        (ranks("a", "b", "b", gpus="0"), 1, []),  # each its own
        (ranks("a", "b"), 1, []),
        (ranks("a", "b", "c", "c", gpus="0,1"), 1, ["a, b: GPUs without a worker: 1 of 2; "]),
        (ranks("a", "b", gpus="0,1,2,3"), 2, ["a, b: GPUs without a worker: 2 of 4; "]),
    ],
)
def test_gpus_that_nobody_uses_are_told_of(present: list[RankFacts], workers: int, said: list[str]) -> None:
    lines = before_start(present, assign(present, LaunchOptions(roles="shared", workers=workers)))
    assert lines == [f"{line}start a rank for each, or give ranks several (--workers)" for line in said]


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

"""How long a reconstruction will take, and how much memory it wants: from one chunk that was timed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from runner.tomo.plan import ALIGNMENT, Plan, Resources, fair_rows, make_plan, memory_wanted
from runner.tomo.work import Work
from runner.units import format_duration

#: Rows of a chunk beyond which more memory makes nothing faster.
ENOUGH_ROWS = 4 * ALIGNMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was timed.

    Attributes
    ----------
    workers : int
        How many made a chunk at the same time.
    threads : int
        Of each.
    rows : int
        Of each chunk.
    stages : mapping of str to float
        Wall time of each stage (read, reconstruct, write), by the slowest worker, seconds.
    processor : float
        Processor time of all stages and threads of that worker, seconds.
    first : float
        What its first chunk takes longer on every worker: tables are made, programs loaded.
    axis : float
        To find the rotation axis; 0 where it is given.
    """

    workers: int
    threads: int
    rows: int
    stages: Mapping[str, float]
    processor: float
    first: float
    axis: float

    @property
    def seconds_per_row(self) -> float:
        """Of one worker that does one stage after the other."""
        return sum(self.stages.values()) / self.rows

    @property
    def pace(self) -> float:
        """Seconds for a row where stages overlap: what takes longest alone, or all of it on all threads."""
        return max(*self.stages.values(), self.processor / self.threads) / self.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a reconstruction would take with other resources.

    Attributes
    ----------
    work : Work
        What is to be done.
    calibration : Calibration
        What is known of its speed. Workers are taken to be as fast as those that were timed.
    """

    work: Work
    calibration: Calibration

    def memory(self, workers: int, threads: int) -> int:
        """Tell with how much memory for each worker more would make nothing faster, bytes."""
        return memory_wanted(self.work, threads, min(fair_rows(self.work, workers), ENOUGH_ROWS))

    def seconds(self, workers: int, threads: int, memory: int) -> float:
        """Predict the wall time, from the first look at the scan to the verified volume.

        Raises
        ------
        ScanError
            If the memory of each worker (bytes) does not suffice.
        """
        resources = Resources(workers=workers, memory=memory, threads=threads)
        return predicted_seconds(make_plan(self.work, resources), self.calibration)


def predicted_seconds(plan: Plan, calibration: Calibration) -> float:
    """Predict the wall time of a plan: its workers' turns, in each of which stages may overlap."""
    turns = math.ceil(len(plan.chunks) / plan.resources.workers)
    tallest = max(chunk.rows for chunk in plan.chunks)
    first = calibration.seconds_per_row
    each = first if plan.at_once == 1 else min(calibration.pace, first)
    return calibration.axis + calibration.first + tallest * (first + (turns - 1) * each)


def describe_time(plan: Plan, calibration: Calibration) -> str:
    """Write the prediction, and what it rests on, for people."""
    stages = ", ".join(f"{name} {seconds:.2g} s" for name, seconds in calibration.stages.items())
    who = "a worker" if calibration.workers == 1 else f"{calibration.workers} workers at once"
    axis = f", the axis took {calibration.axis:.2g} s" if calibration.axis else ""
    return (
        f"{format_duration(predicted_seconds(plan, calibration))} predicted: "
        f"{calibration.rows} rows by {who}: {stages}{axis}"
    )

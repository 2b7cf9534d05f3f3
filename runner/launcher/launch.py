"""The life of one rank, from top to bottom: place, allocation, meeting, roles, job, stop.

place        who am I?                        place.py
allocation   what have we?                    runner.batch
crew         Dask is being imported           crew.py, nursery.py
meeting      where is rank 0?                 meeting.py, rendezvous/
roles        who does what?                   roles.py (on rank 0: lead.py, leader.py)
serving      every rank does its part         member.py
stop         all gone, with the job's code    leader.py, crew.py
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import replace

from runner.batch import ask
from runner.batch.allocation import Allocation
from runner.batch.detect import detect
from runner.errors import UsageError
from runner.files import check_target
from runner.launcher.ancestors import read_ancestors
from runner.launcher.crew import Crew, adopt_orphans
from runner.launcher.facts import RankFacts, gather_facts
from runner.launcher.meeting import choose_meeting, enter, receive_ticket
from runner.launcher.options import LaunchOptions
from runner.launcher.parent import stop_without_parent
from runner.launcher.place import Place, find_place, started_by
from runner.launcher.program import Program
from runner.launcher.rank import Rank, find_walltime, make_member
from runner.launcher.report import check_report
from runner.launcher.roles import local_workers
from runner.node import open_files, scratch


def launch(program: Program, options: LaunchOptions, environ: Mapping[str, str], parent: int) -> int:
    """Live the life of one rank and return its exit code: the job's, on rank 0.

    Parameters
    ----------
    program : Program
        What to run on the cluster.
    options : LaunchOptions
        The same on every rank.
    environ : mapping
        The environment that this rank was started with.
    parent : int
        The process that started this one.

    Raises
    ------
    RunnerError
        If the ranks cannot become a cluster.
    """
    started = time.monotonic()
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)  # warnings before the walltime; the clock decides, not they
    adopt_orphans()
    place, allocation = find_out(options, environ)
    if options.requeue:
        ask.check_requeue(allocation)
    find_walltime(allocation, options, started)  # an end that is over is seen by every rank, and none waits
    meeting = choose_meeting(place, options)
    program.check()
    check_target(options.summary, "--summary")
    check_target(options.scheduler_file, "--scheduler-file")
    check_target(options.report, "--report")
    check_report(options.report)
    scratch.check_scratch(scratch.scratch_root(environ, options.scratch))
    open_files.raise_limit()
    crew = Crew(environ)
    try:
        if place.launcher != "none":  # a person may well close the shell that started us in the background
            stop_without_parent(parent, environ)
        facts = gather_facts(place, allocation, environ, options)
        rank = Rank(
            place=place,
            allocation=allocation,
            facts=facts,
            program=program,
            options=_with_workers(options, place, facts),
            environ=environ,
            meeting=meeting,
            started=started,
        )
        if place.rank != 0:
            return _follow(rank, crew)
        from runner.launcher.lead import lead  # a hundredth of a second that the other ranks do not need

        return lead(rank, crew)
    except BaseException:
        asyncio.run(crew.kill())
        raise


def find_out(options: LaunchOptions, environ: Mapping[str, str]) -> tuple[Place, Allocation]:
    """Find out who we are and what we have.

    Raises
    ------
    UsageError
        In a batch script that forgot its launcher: waiting for the other ranks would be for ever.
    """
    ancestors = read_ancestors()
    if started_by(ancestors) == "none":  # a batch script is in no step: such variables are its submitter's
        environ = {name: value for name, value in environ.items() if not name.startswith("SLURM_STEP")}
    allocation = detect(environ)
    if options.local:
        return Place(launcher="none", rank=0, size=1, local_size=1), allocation
    place = find_place(environ, attempt=allocation.attempt, parent=os.getppid(), ancestors=ancestors)
    tasks = allocation.tasks or 1
    if place.launcher == "none" and tasks > 1:
        job = f"{allocation.system.upper()} job {allocation.job_id}"
        raise UsageError(
            f"this is one process in {job}, which is for {tasks} ranks",
            "put srun (or mpirun) in front: srun python -m runner ...; or use this machine alone: --local",
        )
    return place, allocation


def _follow(rank: Rank, crew: Crew) -> int:
    ticket = receive_ticket(rank.meeting, rank.place, rank.facts.host, rank.options)

    async def enter_and_serve() -> int:
        found, channel = await enter(rank.meeting, rank.place, rank.facts, rank.options, ticket)
        return await make_member(rank, crew, channel, found).serve()

    return asyncio.run(enter_and_serve())


def _with_workers(options: LaunchOptions, place: Place, facts: RankFacts) -> LaunchOptions:
    """Choose the number of workers where there is no launcher whose ranks give it."""
    if options.workers is not None or place.launcher != "none":
        return options
    return replace(options, workers=len(facts.gpus) or local_workers(len(facts.cpus)))

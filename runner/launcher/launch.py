"""The life of one rank, from top to bottom: place, allocation, meeting, roles, job, stop.

place        who am I?                        place.py
allocation   what have we?                    runner.batch
crew         Dask is being imported           crew.py, nursery.py
meeting      where is rank 0?                 meeting.py, rendezvous/
roles        who does what?                   roles.py (on rank 0, by leader.py)
serving      every rank does its part         member.py
stop         all gone, with the job's code    leader.py, crew.py
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version

from runner import __version__
from runner.batch import ask
from runner.batch.allocation import Allocation
from runner.batch.detect import detect
from runner.errors import PartialError, UsageError
from runner.launcher import control, election
from runner.launcher.ancestors import read_ancestors
from runner.launcher.channel import Channel
from runner.launcher.control import Event
from runner.launcher.crew import Crew, adopt_orphans
from runner.launcher.facts import RankFacts, gather_facts
from runner.launcher.journal import Journal, check_target
from runner.launcher.leader import Cluster, Leader
from runner.launcher.logs import log_supervisor, make_folder
from runner.launcher.meeting import Meeting, OpenDoors, choose_meeting, enter, receive_ticket
from runner.launcher.member import Member
from runner.launcher.options import LaunchOptions
from runner.launcher.parent import stop_without_parent
from runner.launcher.place import TITLES, Place, find_place, started_by
from runner.launcher.program import Program
from runner.launcher.record import Record, name_job
from runner.launcher.rendezvous.ticket import Ticket
from runner.launcher.report import check_report
from runner.launcher.rival import refuse_rival, watch_for_rival
from runner.launcher.roles import local_workers
from runner.launcher.scheduler_file import Invitation, SchedulerFile
from runner.launcher.speak import say
from runner.launcher.walltime import Walltime, plan_walltime
from runner.node import net, open_files

_INSECURE = (
    "WARNING: nothing is encrypted and nobody has to prove who he is (--insecure): "
    "whoever reaches the scheduler's port runs code as you"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rank:
    """All that one rank knows before it meets the others."""

    place: Place
    allocation: Allocation
    facts: RankFacts
    program: Program
    options: LaunchOptions
    environ: Mapping[str, str]
    meeting: Meeting
    started: float


def launch(program: Program, options: LaunchOptions, environ: Mapping[str, str]) -> int:
    """Live the life of one rank and return its exit code: the job's, on rank 0.

    Parameters
    ----------
    program : Program
        What to run on the cluster.
    options : LaunchOptions
        The same on every rank.
    environ : mapping
        The environment that this rank was started with.

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
    _walltime(allocation, options, started)  # an end that is over is seen by every rank, and none waits
    meeting = choose_meeting(place, options)
    program.check()
    check_target(options.summary, "--summary")
    check_target(options.scheduler_file, "--scheduler-file")
    check_target(options.report, "--report")
    check_report(options.report)
    open_files.raise_limit()
    crew = Crew(environ)
    try:
        if place.launcher != "none":  # a person may well close the shell that started us in the background
            stop_without_parent()
        facts = gather_facts(place, allocation, environ, options.scratch)
        rank = _Rank(
            place=place,
            allocation=allocation,
            facts=facts,
            program=program,
            options=_with_workers(options, place, facts),
            environ=environ,
            meeting=meeting,
            started=started,
        )
        return _lead(rank, crew) if place.rank == 0 else _follow(rank, crew)
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


def _lead(rank: _Rank, crew: Crew) -> int:
    place = rank.place
    one_machine = place.local_size == place.size or len(rank.allocation.hosts) == 1
    apart = not one_machine and (place.local_size is not None or len(rank.allocation.hosts) > 1)
    asyncio.run(refuse_rival(rank.meeting.file, rank.facts, place.size))
    doors = OpenDoors(
        rank.meeting,
        place,
        host=rank.facts.host,
        job=name_job(rank.allocation, rank.facts),
        options=rank.options,
        one_machine=one_machine,
        apart=apart,
    )
    walltime = _walltime(ask.with_end(rank.allocation), rank.options, rank.started)
    with doors:
        code = asyncio.run(_lead_and_serve(rank, crew, doors, walltime))
    if rank.options.requeue and code == PartialError.exit_code:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # SLURM now ends this run of the job
        say("runner", ask.requeue(rank.allocation))
    return code


def _walltime(allocation: Allocation, options: LaunchOptions, started: float) -> Walltime | None:
    """Find out when the job ends."""
    return plan_walltime(
        allocation,
        started_at=time.time() - (time.monotonic() - started),
        time_limit=options.time_limit,
        drain=options.drain,
    )


async def _lead_and_serve(rank: _Rank, crew: Crew, doors: OpenDoors, walltime: Walltime | None) -> int:
    hub = control.Hub(doors.ticket)
    await hub.open(doors.listeners)
    watch = asyncio.create_task(watch_for_rival(rank.meeting.file, rank.facts, hub, doors.ticket))

    def choose_host() -> str:
        others = [address for number, address in hub.reached.items() if number != 0]
        return control.best_address(doors.ticket, others) if others else net.LOOPBACK

    def announce(cluster: Cluster) -> None:
        if not rank.options.encrypt:
            say("runner", _INSECURE)
        scheduler_file.write(Invitation(address=cluster.address, credentials=doors.ticket.credentials))
        found = replace(_election(rank, hub, cluster), walltime=walltime)
        journal.note(Event(0, {"event": "running", **election.reach(found)}))
        if not rank.options.quiet:
            say("runner", election.describe(found))

    journal = Journal(
        _first_record(rank, doors.ticket.job, walltime),
        hub.facts,
        folder=rank.options.status_folder,
        summary=rank.options.summary,
    )
    scheduler_file = SchedulerFile(rank.options.scheduler_file)
    ours, theirs = socket.socketpair()
    member = _member(rank, crew, await Channel.over(ours), doors.ticket)
    taken_in = asyncio.create_task(hub.serve(await Channel.over(theirs), rank.facts, reached=""))
    serving = asyncio.create_task(member.serve())
    leader = Leader(
        size=rank.place.size,
        hub=hub,
        options=rank.options,
        choose_host=choose_host,
        announce=announce,
        walltime=walltime,
        observe=journal.note,
    )
    with journal, scheduler_file:
        code = await leader.lead()
        await asyncio.wait([serving], timeout=1.0)
        journal.note(Event(0, {"event": "gone", "code": code}))
    await hub.close()
    watch.cancel()
    taken_in.cancel()
    return code


def _follow(rank: _Rank, crew: Crew) -> int:
    ticket = receive_ticket(rank.meeting, rank.place, rank.facts.host, rank.options)

    async def enter_and_serve() -> int:
        found, channel = await enter(rank.meeting, rank.place, rank.facts, rank.options, ticket)
        return await _member(rank, crew, channel, found).serve()

    return asyncio.run(enter_and_serve())


def _member(rank: _Rank, crew: Crew, channel: Channel, ticket: Ticket) -> Member:
    folder = make_folder(rank.options.logs, ticket.job) if rank.options.logs is not None else None
    log_supervisor(folder, rank.facts, verbose=rank.options.verbose)
    return Member(
        facts=rank.facts,
        crew=crew,
        channel=channel,
        credentials=ticket.credentials,
        program=rank.program,
        options=rank.options,
        environ=rank.environ,
        logs=folder,
    )


def _first_record(rank: _Rank, job: str, walltime: Walltime | None) -> Record:
    now = time.time()
    return Record(
        name=job,
        version=__version__,
        system=rank.allocation.system,
        job_id=rank.allocation.job_id,
        program=tuple(rank.program.argv),
        host=rank.facts.host,
        pid=rank.facts.pid,
        size=rank.place.size,
        started=now - (time.monotonic() - rank.started),
        updated=now,
        ends_at=walltime.ends_at if walltime else None,
    )


def _election(rank: _Rank, hub: control.Hub, cluster: Cluster) -> election.Election:
    address = cluster.address.split("://")[1].rsplit(":", 1)[0].strip("[]")
    carriers = [name for name, listed in net.machine_addresses().items() if address in listed]
    return election.Election(
        version=f"runner {__version__}, Dask {version('distributed')}",
        launcher=TITLES.get(rank.place.launcher, rank.place.launcher),
        meeting=str(rank.meeting),
        allocation=rank.allocation,
        facts=[hub.facts[duty.rank] for duty in cluster.duties],
        duties=cluster.duties,
        scheduler=cluster.address,
        interface=carriers[0] if carriers else "?",
        dashboard=cluster.dashboard,
        wants_dashboard=rank.options.dashboard,
        encrypted=rank.options.encrypt,
        seconds=time.monotonic() - rank.started,
    )


def _with_workers(options: LaunchOptions, place: Place, facts: RankFacts) -> LaunchOptions:
    """Choose the number of workers where there is no launcher whose ranks give it."""
    if options.workers is not None or place.launcher != "none":
        return options
    return replace(options, workers=len(facts.gpus) or local_workers(len(facts.cpus)))

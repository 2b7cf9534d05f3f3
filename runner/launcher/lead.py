"""The life of rank 0: it opens the doors, elects, writes down what happens, and leads to the end.

Only rank 0 imports this: where many ranks share a machine, what each of them imports delays the start.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from dataclasses import replace
from importlib.metadata import version

from runner import __version__
from runner.batch import ask
from runner.errors import PartialError, RunnerError
from runner.launcher import control, election
from runner.launcher.channel import Channel
from runner.launcher.control import Event
from runner.launcher.crew import Crew
from runner.launcher.journal import Journal
from runner.launcher.leader import Cluster, Leader
from runner.launcher.meeting import OpenDoors
from runner.launcher.place import TITLES
from runner.launcher.rank import Rank, find_walltime, make_member
from runner.launcher.record import Record, name_job
from runner.launcher.relieve import relieve_srun
from runner.launcher.rendezvous.mpi import EveryRankError
from runner.launcher.rival import refuse_rival, watch_for_rival
from runner.launcher.scheduler_file import Invitation, SchedulerFile
from runner.launcher.speak import say
from runner.launcher.walltime import Walltime
from runner.node import net

_INSECURE = (
    "WARNING: nothing is encrypted and nobody has to prove who he is (--insecure): "
    "whoever reaches the scheduler's port runs code as you"
)


def lead(rank: Rank, crew: Crew) -> int:
    """Live the life of rank 0 and return the job's exit code.

    Parameters
    ----------
    rank : Rank
        What it knows.
    crew : Crew
        Its processes.

    Raises
    ------
    RunnerError
        If the ranks cannot become a cluster.
    """
    try:
        doors = _open_doors(rank)
    except RunnerError as error:
        if rank.place.launcher != "srun" or rank.place.size == 1 or isinstance(error, EveryRankError):
            raise  # no rank waits, or the launcher ends all with the first one that fails
        say("runner", str(error))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        relieve_srun(rank.environ, error.exit_code)
        ask.cancel_step(rank.allocation, rank.environ)  # the other ranks would look for us in vain
        return error.exit_code
    allocation = ask.with_end(rank.allocation)
    walltime = find_walltime(allocation, rank.options, rank.started)
    with doors:
        code = asyncio.run(_lead_and_serve(rank, crew, doors, walltime))
    if rank.options.requeue and code == PartialError.exit_code:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # SLURM now ends this run of the job
        say("runner", ask.requeue(allocation))
    return code


def _open_doors(rank: Rank) -> OpenDoors:
    place = rank.place
    one_machine = place.local_size == place.size or len(rank.allocation.hosts) == 1
    apart = not one_machine and (place.local_size is not None or len(rank.allocation.hosts) > 1)
    asyncio.run(refuse_rival(rank.meeting.file, rank.facts, place.size))
    return OpenDoors(
        rank.meeting,
        place,
        host=rank.facts.host,
        job=name_job(rank.allocation, rank.facts),
        options=rank.options,
        one_machine=one_machine,
        apart=apart,
    )


async def _lead_and_serve(rank: Rank, crew: Crew, doors: OpenDoors, walltime: Walltime | None) -> int:
    hub = control.Hub(doors.ticket)
    await hub.open(doors.listeners)
    watch = asyncio.create_task(watch_for_rival(rank.meeting.file, rank.facts, hub, doors.ticket))

    def choose_host() -> str:
        others = [address for number, address in hub.reached.items() if number != 0]
        return control.best_address(doors.ticket, others) if others else net.LOOPBACK

    async def announce(cluster: Cluster) -> None:
        if not rank.options.encrypt:
            say("runner", _INSECURE)
        scheduler_file.write(Invitation(address=cluster.address, credentials=doors.ticket.credentials))
        if rank.options.scheduler_file is not None:
            await crew.bequeath(rank.options.scheduler_file, holding=cluster.address)
        found = replace(_election(rank, hub, cluster), walltime=walltime)
        journal.note(Event(0, {"event": "running", **election.reach(found)}))
        if not rank.options.quiet:
            say("runner", election.describe(found))

    if rank.meeting.file is not None:
        await crew.bequeath(rank.meeting.file.path, holding=doors.ticket.nonce)
    journal = Journal(
        _first_record(rank, doors.ticket.job, walltime),
        hub.facts,
        folder=rank.options.status_folder,
        summary=rank.options.summary,
    )
    scheduler_file = SchedulerFile(rank.options.scheduler_file)
    ours, theirs = socket.socketpair()
    member = make_member(rank, crew, await Channel.over(ours), doors.ticket)
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
    if leader.missing:
        relieve_srun(rank.environ, code)
    return code


def _first_record(rank: Rank, job: str, walltime: Walltime | None) -> Record:
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


def _election(rank: Rank, hub: control.Hub, cluster: Cluster) -> election.Election:
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

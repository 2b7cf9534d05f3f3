"""The life of one rank, from top to bottom: place, allocation, meeting, roles, job, stop.

place        who am I?                        place.py
allocation   what have we?                    runner.batch
crew         Dask is being imported           crew.py, nursery.py
meeting      where is rank 0?                 rendezvous/
roles        who does what?                   roles.py (on rank 0, by leader.py)
serving      every rank does its part         member.py
stop         all gone, with the job's code    leader.py, crew.py
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from runner.batch.allocation import Allocation
from runner.batch.detect import detect
from runner.errors import StartError, UsageError
from runner.launcher import control, election
from runner.launcher.channel import Channel
from runner.launcher.crew import Crew, adopt_orphans
from runner.launcher.deadline import Deadline
from runner.launcher.facts import RankFacts, gather_facts
from runner.launcher.leader import Cluster, Leader
from runner.launcher.member import Member
from runner.launcher.options import LaunchOptions
from runner.launcher.parent import stop_without_parent
from runner.launcher.place import JOB_NAME_VARIABLE, Place, find_place
from runner.launcher.program import Program
from runner.launcher.rendezvous import mpi
from runner.launcher.rendezvous.file import TicketFile, default_folder
from runner.launcher.rendezvous.ticket import Ticket, new_nonce
from runner.launcher.roles import local_workers
from runner.launcher.security import make_credentials
from runner.launcher.speak import say
from runner.node import net

_LOOK_SECONDS = 0.05  # between two looks at the rendezvous folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """All that one rank knows before it meets the others."""

    place: Place
    allocation: Allocation
    facts: RankFacts
    program: Program
    options: LaunchOptions
    environ: Mapping[str, str]
    started: float

    @property
    def alone(self) -> bool:
        """Whether there is nobody to meet."""
        return self.place.size == 1

    @property
    def one_machine(self) -> bool:
        """Whether all ranks are known to be on this machine."""
        return self.place.local_size == self.place.size or len(self.allocation.hosts) == 1


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
    program.check()
    if place.launcher != "none":  # a person may well close the shell that started us in the background
        stop_without_parent()
    crew = Crew(environ)
    try:
        facts = gather_facts(place, allocation, environ)
        rank = Rank(
            place=place,
            allocation=allocation,
            facts=facts,
            program=program,
            options=_with_workers(options, place, facts),
            environ=environ,
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
    allocation = detect(environ)
    if options.local:
        return Place(launcher="none", rank=0, size=1, local_size=1), allocation
    place = find_place(environ, attempt=allocation.attempt, parent=os.getppid())
    tasks = allocation.tasks or 1
    if place.launcher == "none" and tasks > 1:
        job = f"{allocation.system.upper()} job {allocation.job_id}"
        raise UsageError(
            f"this is one process in {job}, which is for {tasks} ranks",
            "put srun (or mpirun) in front: srun python -m runner ...; or use this machine alone: --local",
        )
    return place, allocation


# -- rank 0 ------------------------------------------------------------------------------------------


def _lead(rank: Rank, crew: Crew) -> int:
    listeners: tuple[socket.socket, ...] = () if rank.alone else control.listen(_offered(rank))
    ticket = Ticket(
        addresses=tuple(listener.getsockname()[:2] for listener in listeners),
        nonce=new_nonce(),
        host=rank.facts.host,
        size=rank.place.size,
        credentials=make_credentials() if rank.options.encrypt else None,
    )
    meeting, file = _meeting(rank)
    if file is not None:
        file.publish(ticket)
    elif not rank.alone:
        _broadcast(rank, ticket)
    try:
        return asyncio.run(_lead_and_serve(rank, crew, ticket, listeners, meeting))
    finally:
        if file is not None:
            file.withdraw(ticket)


def _offered(rank: Rank) -> list[str]:
    """Return the addresses of rank 0 on which it listens, best first."""
    if rank.one_machine and rank.options.interface is None:
        return [net.LOOPBACK]
    addresses = [entry.address for entry in net.order(net.machine_addresses(), rank.options.interface)]
    return addresses if rank.options.interface else [*addresses, net.LOOPBACK]


async def _lead_and_serve(
    rank: Rank, crew: Crew, ticket: Ticket, listeners: Sequence[socket.socket], meeting: str
) -> int:
    hub = control.Hub(ticket)
    await hub.open(listeners)

    def choose_host() -> str:
        others = [address for number, address in hub.reached.items() if number != 0]
        return control.best_address(ticket, others) if others else net.LOOPBACK

    def announce(cluster: Cluster) -> None:
        if not rank.options.quiet:
            say("runner", election.describe(_election(rank, hub, cluster, meeting)))

    ours, theirs = socket.socketpair()
    member = _member(rank, crew, await Channel.over(ours), ticket)
    taken_in = asyncio.create_task(hub.serve(await Channel.over(theirs), rank.facts, reached=""))
    serving = asyncio.create_task(member.serve())
    leader = Leader(
        size=rank.place.size, hub=hub, options=rank.options, choose_host=choose_host, announce=announce
    )
    code = await leader.lead()
    await asyncio.wait([serving], timeout=1.0)
    await hub.close()
    taken_in.cancel()
    return code


def _election(rank: Rank, hub: control.Hub, cluster: Cluster, meeting: str) -> election.Election:
    address = cluster.address.split("://")[1].rsplit(":", 1)[0].strip("[]")
    carriers = [name for name, listed in net.machine_addresses().items() if address in listed]
    return election.Election(
        version=f"runner {version('tomo-runner')}, Dask {version('distributed')}",
        launcher=rank.place.launcher,
        meeting=meeting,
        allocation=rank.allocation,
        facts=[hub.facts[duty.rank] for duty in cluster.duties],
        duties=cluster.duties,
        scheduler=cluster.address,
        interface=carriers[0] if carriers else "?",
        dashboard=cluster.dashboard,
        encrypted=rank.options.encrypt,
        seconds=time.monotonic() - rank.started,
    )


# -- the other ranks ---------------------------------------------------------------------------------


def _follow(rank: Rank, crew: Crew) -> int:
    _, file = _meeting(rank)
    ticket = _broadcast(rank, None) if file is None else None
    return asyncio.run(_join_and_serve(rank, crew, file, ticket))


async def _join_and_serve(rank: Rank, crew: Crew, file: TicketFile | None, ticket: Ticket | None) -> int:
    deadline = Deadline(rank.options.start_timeout)
    while not deadline.over:
        found = file.read() if file else ticket
        channel = await control.join(found, rank.facts, deadline) if found else None
        if found and channel:
            return await _member(rank, crew, channel, found).serve()
        await asyncio.sleep(_LOOK_SECONDS)
    where = f"a ticket in {file.path}" if file else "the address that MPI brought"
    raise StartError(
        f"rank {rank.place.rank} @ {rank.facts.host}: rank 0 did not answer to {where} "
        f"within {rank.options.start_timeout:.0f} s",
        "did rank 0 start, and do all ranks see that folder (--rendezvous-dir)?",
    )


# -- both --------------------------------------------------------------------------------------------


def _member(rank: Rank, crew: Crew, channel: Channel, ticket: Ticket) -> Member:
    return Member(
        facts=rank.facts,
        crew=crew,
        channel=channel,
        credentials=ticket.credentials,
        program=rank.program,
        options=rank.options,
        environ=rank.environ,
    )


def _meeting(rank: Rank) -> tuple[str, TicketFile | None]:
    """Choose how the ranks meet: in words, and the file if it is one.

    Raises
    ------
    StartError
        If neither a file nor MPI can serve.
    """
    if rank.alone:
        return "nobody else", None
    wish, name = rank.options.rendezvous, rank.place.shared_name
    if wish == "mpi" or (wish == "auto" and name is None and mpi.available()):
        return "MPI broadcast", None
    if name is None:
        raise StartError(
            f"{rank.place.launcher} gives its ranks no name that they share, so they cannot agree on a file",
            f"set {JOB_NAME_VARIABLE} to a new name for each start (mpirun -genv {JOB_NAME_VARIABLE} "
            f"{secrets.token_hex(4)} ...), or: pip install 'tomo-runner[mpi]'",
        )
    folder = rank.options.rendezvous_folder or default_folder()
    return f"a private file in {folder}", TicketFile(Path(folder), name)


def _broadcast(rank: Rank, ticket: Ticket | None) -> Ticket:
    """Pass the ticket by MPI, which itself knows no deadline."""
    limit = rank.options.start_timeout

    def give_up() -> None:
        say(
            f"rank {rank.place.rank} @ {rank.facts.host}",
            f"MPI did not connect the {rank.place.size} ranks within {limit:.0f} s; try --rendezvous file",
        )
        os._exit(StartError.exit_code)

    timer = threading.Timer(limit, give_up)
    timer.daemon = True
    timer.start()
    try:
        return mpi.broadcast(rank.place, ticket)
    finally:
        timer.cancel()


def _with_workers(options: LaunchOptions, place: Place, facts: RankFacts) -> LaunchOptions:
    """Choose the number of workers where there is no launcher whose ranks give it."""
    if options.workers is not None or place.launcher != "none":
        return options
    return replace(options, workers=len(facts.gpus) or local_workers(len(facts.cpus)))

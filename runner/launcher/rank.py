"""One rank before it meets the others: all that it knows, and what follows from that alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from runner.batch.allocation import Allocation
from runner.launcher.channel import Channel
from runner.launcher.crew import Crew
from runner.launcher.facts import RankFacts
from runner.launcher.logs import log_supervisor, make_folder
from runner.launcher.meeting import Meeting
from runner.launcher.member import Member
from runner.launcher.options import LaunchOptions
from runner.launcher.place import Place
from runner.launcher.program import Program
from runner.launcher.rendezvous.ticket import Ticket
from runner.launcher.walltime import Walltime, plan_walltime


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """All that one rank knows before it meets the others.

    Attributes
    ----------
    place : Place
        Which rank this is.
    allocation : Allocation
        What the batch system gave.
    facts : RankFacts
        What the rank tells the others of itself.
    program : Program
        What to run on the cluster.
    options : LaunchOptions
        The same on every rank.
    environ : mapping
        The environment that this rank was started with.
    meeting : Meeting
        How the ranks find each other.
    started : float
        When the rank began, by ``time.monotonic``.
    """

    place: Place
    allocation: Allocation
    facts: RankFacts
    program: Program
    options: LaunchOptions
    environ: Mapping[str, str]
    meeting: Meeting
    started: float


def find_walltime(allocation: Allocation, options: LaunchOptions, started: float) -> Walltime | None:
    """Find out when the job ends."""
    return plan_walltime(
        allocation,
        started_at=time.time() - (time.monotonic() - started),
        time_limit=options.time_limit,
        drain=options.drain,
    )


def make_member(rank: Rank, crew: Crew, channel: Channel, ticket: Ticket) -> Member:
    """Make the rank's worker for rank 0, and open the rank's own log."""
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
        last_warning=rank.allocation.last_warning,
    )

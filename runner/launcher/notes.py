"""What people should know before the job starts, although nothing is wrong: each thing said once."""

from __future__ import annotations

from collections.abc import Sequence

from runner.launcher.facts import RankFacts
from runner.launcher.roles import Duty, devices_of
from runner.listing import few
from runner.node.open_files import shortage

_NAMED = 4  # hosts; more are counted


def before_start(ranks: Sequence[RankFacts], duties: Sequence[Duty]) -> list[str]:
    """Return one line for each thing to be said.

    Parameters
    ----------
    ranks : sequence of RankFacts
        Those that are there; the first one holds the scheduler.
    duties : sequence of Duty
        Theirs.
    """
    hosts: dict[str, dict[str, None]] = {}  # a dictionary keeps the order, a set does not
    for facts in ranks:
        for note in facts.notes:
            hosts.setdefault(note, {})[facts.host] = None
    for host in dict.fromkeys(facts.host for facts in ranks):
        if note := _idle_gpus([facts for facts in ranks if facts.host == host], duties):
            hosts.setdefault(note, {})[host] = None
    lines = [f"{few(list(named), _NAMED)}: {note}" for note, named in hosts.items()]
    short = shortage(sum(len(duty.workers) for duty in duties), ranks[0].open_files)
    return [*lines, f"{ranks[0].host}: {short}"] if short else lines


def _idle_gpus(local: Sequence[RankFacts], duties: Sequence[Duty]) -> str:
    """Say how many devices of one machine no worker has; nothing where each has one."""
    devices = devices_of(local)
    there = len({device for seen in devices.values() for device in seen})
    # a device is given to workers of one rank only, and ranks may call different ones the same
    used = {
        (duty.rank, plan.gpu) for duty in duties if duty.rank in devices for plan in duty.workers if plan.gpu
    }
    idle = there - len(used)
    if idle <= 0:
        return ""
    return (
        f"GPUs without a worker: {idle} of {there}; start a rank for each, or give ranks several (--workers)"
    )

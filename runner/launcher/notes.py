"""What people should know before the job starts, although nothing is wrong: each thing said once."""

from __future__ import annotations

from collections.abc import Sequence

from runner.launcher.facts import RankFacts
from runner.launcher.roles import Duty
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
    lines = [f"{_some(list(named))}: {note}" for note, named in hosts.items()]
    short = shortage(sum(len(duty.workers) for duty in duties), ranks[0].open_files)
    return [*lines, f"{ranks[0].host}: {short}"] if short else lines


def _some(hosts: list[str]) -> str:
    """List hosts, in short.

    >>> _some(["node1", "node2", "node3", "node4", "node5", "node6"])
    'node1, node2, node3, node4 and 2 more'
    """
    more = f" and {len(hosts) - _NAMED} more" if len(hosts) > _NAMED else ""
    return ", ".join(hosts[:_NAMED]) + more

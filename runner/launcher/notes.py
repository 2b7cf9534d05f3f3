"""What people should know before the job starts, although nothing is wrong: each thing said once."""

from __future__ import annotations

from collections.abc import Sequence

from runner.launcher.facts import RankFacts
from runner.launcher.roles import Duty
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
    lines = [f"{few(list(named), _NAMED)}: {note}" for note, named in hosts.items()]
    short = shortage(sum(len(duty.workers) for duty in duties), ranks[0].open_files)
    return [*lines, f"{ranks[0].host}: {short}"] if short else lines

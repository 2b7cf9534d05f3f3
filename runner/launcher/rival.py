"""Two starts under one name, each with a rank 0 of its own: they notice."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from runner.errors import StartError
from runner.launcher import control
from runner.launcher.deadline import Deadline
from runner.launcher.facts import RankFacts
from runner.launcher.place import JOB_NAME_VARIABLE
from runner.launcher.rendezvous.file import TicketFile
from runner.launcher.rendezvous.ticket import Ticket

_KNOCK_SECONDS = 3.0
_LOOK_SECONDS = 1.0


async def refuse_rival(
    file: TicketFile | None, facts: RankFacts, size: int, ours: Ticket | None = None
) -> None:
    """Knock at the ticket that lies where rank 0 is about to put its own, or has put it.

    Parameters
    ----------
    file : TicketFile or None
        Where; None if the ranks do not meet by a file.
    facts : RankFacts
        Rank 0.
    size : int
        The number of its ranks.
    ours : Ticket, optional
        What may lie there.

    Raises
    ------
    StartError
        If another rank 0 answers; the message names both. A ticket that nobody answers to is an old one.
    """
    found = None
    if file is not None:
        with suppress(StartError):  # not even a ticket of ours
            found = file.read()
    if file is None or found is None or (ours is not None and found.nonce == ours.nonce):
        return
    try:
        channel = await control.join(found, facts, size, Deadline(_KNOCK_SECONDS))
    except StartError as refusal:
        raise StartError(
            f"{refusal.problem}, both under the name {file.name}",
            f"end one of them, or set {JOB_NAME_VARIABLE} to another name",
        ) from refusal
    if channel is not None:
        await channel.close()


async def watch_for_rival(file: TicketFile | None, facts: RankFacts, hub: control.Hub, ours: Ticket) -> None:
    """Look, until all ranks are there, whether another rank 0 has replaced the ticket; tell it to `hub`."""
    while file is not None and len(hub.facts) < ours.size:
        await asyncio.sleep(_LOOK_SECONDS)
        try:
            await refuse_rival(file, facts, ours.size, ours)
        except StartError as error:
            hub.events.put_nowait(control.Event(0, {"event": "displaced", "problem": str(error)}))
            return

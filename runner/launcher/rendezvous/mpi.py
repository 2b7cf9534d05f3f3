"""Meeting through MPI: one broadcast of the ticket, and MPI is done.

Only the supervisor ever touches MPI, before it has children; no later failure of a process can then
make MPI abort the job on its own account.
"""

from __future__ import annotations

import importlib.util

from runner.errors import StartError
from runner.launcher.place import Place
from runner.launcher.rendezvous.ticket import Ticket

_INSTALL = "install it with: pip install 'tomo-runner[mpi]', or use --rendezvous file"


class EveryRankError(StartError):
    """What every rank of the job finds out by itself: none waits for another one."""


def available() -> bool:
    """Tell whether mpi4py is installed, without loading an MPI library."""
    return importlib.util.find_spec("mpi4py") is not None


def broadcast(place: Place, ticket: Ticket | None) -> Ticket:
    """Hand rank 0's ticket to all ranks.

    Parameters
    ----------
    place : Place
        Which rank this is.
    ticket : Ticket or None
        The ticket on rank 0, None elsewhere.

    Raises
    ------
    StartError
        If MPI is not there.
    EveryRankError
        If MPI sees other ranks than the launcher started.
    """
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        mpi4py.rc.finalize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise StartError(f"--rendezvous mpi needs mpi4py and an MPI library ({error})", _INSTALL) from error
    MPI.Init()
    try:
        world = MPI.COMM_WORLD
        # asked of all: a rank that fits must not wait for the broadcast of one that does not
        same = (world.size, world.rank) == (place.size, place.rank)
        if not world.allreduce(same, op=MPI.LAND):
            seen = "numbers other ranks in its own way" if same else f"sees rank {world.rank} of {world.size}"
            raise EveryRankError(
                f"{place.launcher} started rank {place.rank} of {place.size}, but MPI {seen}",
                "the launcher and mpi4py's MPI library do not fit (with srun try --mpi=pmix or --mpi=pmi2); "
                "or use --rendezvous file",
            )
        return Ticket.from_bytes(world.bcast(ticket.to_bytes() if ticket else None, root=0))
    finally:
        MPI.Finalize()

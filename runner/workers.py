"""The workers of a Dask cluster: asked for, not remembered.

``Client.scheduler_info`` returns what the client remembers, and every two seconds that is overwritten by an
answer without workers: on a busy machine it says now and then that there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.errors import LostError

if TYPE_CHECKING:
    from distributed import Client

CONNECTION_LOST = (
    "the connection to the cluster is lost",
    "see what its scheduler said last; the same command goes on with what is missing",
)
"""What is said of it: the problem, and the remedy."""

_SECONDS = 60.0


def workers_of(client: Client) -> dict[str, dict[str, Any]]:
    """Ask a cluster for its workers: what it knows of each, by address.

    Raises
    ------
    LostError
        If it does not answer.
    """
    scheduler = client.scheduler
    if scheduler is None:  # the client was closed
        raise LostError(*CONNECTION_LOST)
    try:
        return dict(client.sync(scheduler.identity, callback_timeout=_SECONDS)["workers"])
    except OSError as error:
        raise LostError(*CONNECTION_LOST) from error

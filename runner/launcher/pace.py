"""How often Dask's processes look at themselves when nothing happens.

A worker that does nothing takes 3 % of a core as Dask has it: every 10 ms a thread looks at what the tasks
do, for the dashboard's profile, and every 20 ms the event loop sees whether it is late. On a node with a
worker for each core that is missing in the end. Both still happen, a tenth as often.
"""

from __future__ import annotations

import dask
import distributed  # noqa: F401 - its own settings come first

_SETTINGS = {
    "distributed": {
        "worker": {"profile": {"interval": "100 ms"}},
        "admin": {"tick": {"interval": "200 ms"}},  # it warns of 3 s
    }
}


def slow_down() -> None:
    """Set what the user has not set otherwise."""
    dask.config.update_defaults(_SETTINGS)

"""Connect to a machine by the first of its addresses that answers, the best ones first."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Sequence

# A network that works answers within milliseconds; one that swallows everything costs the others this.
_HEAD_START_SECONDS = 0.25


async def reach(
    addresses: Sequence[tuple[str, int]], seconds: float
) -> AsyncGenerator[tuple[str, socket.socket], None]:
    """Connect to the addresses of one machine, each a moment after the one before.

    Only the network is waited for: a machine answers at once even if the program behind the address is busy,
    so that a good address is not passed over for a worse one.

    Parameters
    ----------
    addresses : sequence of (str, int)
        IP address and port, best first.
    seconds : float
        For all of them.

    Yields
    ------
    address, connected : str, socket
        In the order in which they answer. The receiver closes the socket.
    """
    end = asyncio.get_running_loop().time() + seconds
    attempts = [
        asyncio.create_task(_connect(address, port, number * _HEAD_START_SECONDS, end))
        for number, (address, port) in enumerate(addresses)
    ]
    given: set[socket.socket] = set()
    try:
        for attempt in asyncio.as_completed(attempts):
            address, connected = await attempt
            if connected is not None:
                given.add(connected)
                yield address, connected
    finally:
        for task in attempts:
            task.cancel()
        for outcome in await asyncio.gather(*attempts, return_exceptions=True):
            if isinstance(outcome, tuple) and outcome[1] is not None and outcome[1] not in given:
                outcome[1].close()


async def _connect(address: str, port: int, after: float, end: float) -> tuple[str, socket.socket | None]:
    await asyncio.sleep(after)
    loop = asyncio.get_running_loop()
    connecting = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    connecting.setblocking(False)
    try:
        async with asyncio.timeout_at(end):
            await loop.sock_connect(connecting, (address, port))
    except OSError:  # TimeoutError is one
        connecting.close()
        return address, None
    except asyncio.CancelledError:
        connecting.close()
        raise
    return address, connecting

"""Messages between processes: one JSON object a line, over any stream."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

Message = dict[str, Any]

LONGEST_LINE = 1 << 20


class Channel:
    """One end of a connection between two of our processes.

    Parameters
    ----------
    reader, writer : asyncio streams
        Connected; TLS or not is the maker's business.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, connected: socket.socket) -> Channel:
        """Make a channel of a connected socket."""
        reader, writer = await asyncio.open_connection(sock=connected, limit=LONGEST_LINE)
        return cls(reader, writer)

    @property
    def local_address(self) -> str:
        """The IP address of this end, by which the other end's machine reaches this one."""
        return str(self._writer.get_extra_info("sockname")[0])

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; if the other end is gone it is dropped, and :meth:`receive` tells so."""
        with suppress(OSError, RuntimeError):
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Message | None:
        """Wait for the next message; None when the other end is gone."""
        try:
            line = await self._reader.readline()
            message = json.loads(line) if line.endswith(b"\n") else None
        except (OSError, ValueError, RecursionError):  # a line too long, or not JSON: not one of ours
            return None
        return message if isinstance(message, dict) else None

    async def receive_within(self, seconds: float) -> Message | None:
        """Wait for the next message, but not for longer than `seconds`.

        Raises
        ------
        TimeoutError
            If there was none. Time in which this process itself was stopped (Ctrl-Z) does not count.
        """
        part = seconds / 4
        silence = 0.0
        while silence < seconds:
            started = time.monotonic()
            try:
                return await asyncio.wait_for(self.receive(), timeout=part)
            except TimeoutError:
                silence += min(part, time.monotonic() - started)
        raise TimeoutError

    def abort(self) -> None:
        """End the connection at once, whether the other end listens or not."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """Send what is left and close."""
        self._writer.close()
        with suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), timeout=1.0)

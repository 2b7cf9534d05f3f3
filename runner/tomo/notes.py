"""What a worker has to say to the person who waits: a line that finds its way to the client."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

from distributed import Client, get_worker

_TOPIC = "tomography-notes"


@contextlib.contextmanager
def warnings_to_client(logger: str) -> Iterator[None]:
    """Send what is logged as a warning to the clients as well, where this runs on a Dask worker.

    Parameters
    ----------
    logger : str
        Name of the logger, with all below it.
    """
    try:
        get_worker()
    except ValueError:
        yield
        return
    handler = _ToClient(logging.WARNING)
    logging.getLogger(logger).addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger(logger).removeHandler(handler)


class _ToClient(logging.Handler):
    """Hands messages to the scheduler, which passes them on."""

    def emit(self, record: logging.LogRecord) -> None:
        get_worker().log_event(_TOPIC, record.getMessage())


@contextlib.contextmanager
def notes_from_workers(client: Client, on_note: Callable[[str], None]) -> Iterator[None]:
    """Hear what workers say, each line once: a hundred of them may say the same."""
    heard: set[str] = set()

    def hear(event: tuple[float, Any]) -> None:
        text = str(event[1])
        if text not in heard:
            heard.add(text)
            on_note(text)

    client.subscribe_topic(_TOPIC, hear)
    try:
        yield
    finally:
        client.unsubscribe_topic(_TOPIC)

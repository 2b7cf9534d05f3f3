"""Meeting through a file that only its owner can read, in a folder that all ranks see.

Rank 0 writes it whole or not at all; the others read it until it holds a ticket that rank 0 answers
to. A file left behind by an earlier start is therefore harmless: nobody answers, and the new rank 0
replaces it. Those of other starts go as well when their rank 0 was killed on this machine.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner import files
from runner.errors import StartError, WriteError
from runner.launcher.rendezvous.ticket import Ticket
from runner.node.processes import has_ended

FOLDER_VARIABLE = "RUNNER_RENDEZVOUS_DIR"


def default_folder() -> Path:
    """Return the folder used where none is chosen; home folders are shared on nearly every cluster."""
    return Path(os.environ.get(FOLDER_VARIABLE) or Path.home() / ".cache" / "runner")


@dataclass(frozen=True, slots=True)
class TicketFile:
    """The place where the ranks of one start look for rank 0.

    Parameters
    ----------
    folder : Path
        A folder on a file system that all ranks share.
    name : str
        A name that the ranks of this start share, and no other start has.
    """

    folder: Path
    name: str

    @property
    def path(self) -> Path:
        """The file itself."""
        return self.folder / f"{self.name}.ticket"

    def publish(self, ticket: Ticket) -> None:
        """Write the ticket, in place of any that an earlier start left.

        Raises
        ------
        WriteError
            If the folder cannot be used.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
            files.write_atomically(self.path, ticket.to_bytes(), mode=0o600)
        except OSError as error:
            raise WriteError(
                f"rendezvous folder {self.folder} cannot be used ({error.strerror or error})",
                f"choose one that all ranks can write, with --rendezvous-dir or {FOLDER_VARIABLE}",
            ) from error

    def _sweep(self) -> None:
        """Remove the tickets of starts that were killed before they could, or before it had its name."""
        for path in (*self.folder.glob("*.ticket"), *self.folder.glob(".*.ticket.*")):
            with suppress(OSError, StartError):
                if has_ended(Ticket.from_bytes(path.read_bytes()).owner):
                    path.unlink()

    def read(self) -> Ticket | None:
        """Return the ticket, or None while there is no whole one.

        Raises
        ------
        StartError
            If the file is somebody else's or open to others: it is not ours to trust.
        """
        try:
            # open, not stat: on NFS only opening asks the server again
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                content = file.read()
        except PermissionError as error:
            raise StartError(f"{self.path} cannot be read", "is it another user's? remove it") from error
        except OSError:  # not there yet, or (NFS) replaced while we read
            # a listing makes NFS drop what it remembers of a folder
            with suppress(OSError):
                os.listdir(self.folder)  # noqa: PTH208 - the names do not matter
            return None
        if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise StartError(
                f"{self.path} belongs to user {status.st_uid} with mode {stat.S_IMODE(status.st_mode):o}, "
                f"a ticket belongs to user {os.getuid()} with mode 600",
                "remove it, and choose a private folder with --rendezvous-dir",
            )
        with suppress(StartError):  # half-written by a file system without atomic renames: look again
            return Ticket.from_bytes(content)
        return None

    def withdraw(self, ticket: Ticket) -> None:
        """Remove the file, if it is still the one of this start."""
        with suppress(OSError, StartError):
            current = self.read()
            if current is not None and current.nonce == ticket.nonce:
                self.path.unlink()

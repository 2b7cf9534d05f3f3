"""A file for clients that are not the job: where the scheduler is, and the credentials that let them in.

It has the form of Dask's own scheduler files, so that ``Client(scheduler_file=...)`` and ``dask worker
--scheduler-file`` read it where the job is not encrypted. Where it is, ``runner.connect`` reads the
credentials as well; whoever can read the file belongs to the job, so its owner alone can.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from runner import files
from runner.errors import MissingFileError, StartError, WriteError
from runner.launcher.security import Credentials


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """What the file says.

    Attributes
    ----------
    address : str
        The scheduler's.
    credentials : Credentials or None
        None where the job goes without encryption.
    """

    address: str
    credentials: Credentials | None

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        keys = self.credentials
        content = {
            "type": "Scheduler",
            "address": self.address,
            "services": {},
            "workers": {},
            "credentials": keys and {"certificate": keys.certificate, "key": keys.key},
        }
        return json.dumps(content).encode()


class SchedulerFile:
    """The file, for as long as the job runs: use it as a context manager.

    Parameters
    ----------
    path : Path or None
        Where to write it; None writes none.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path and path.absolute()  # the job may change the folder, we do not
        self._written = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path and self._written:
            with suppress(OSError):
                if self._path.read_bytes() == self._written:  # not that of another start meanwhile
                    self._path.unlink()

    def write(self, invitation: Invitation) -> None:
        """Write the file, whole or not at all, readable by its owner alone.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        if self._path is None:
            return
        content = invitation.to_bytes()
        try:
            files.write_atomically(self._path, content, mode=0o600)
        except OSError as error:
            raise WriteError(
                f"the scheduler file {self._path} cannot be written ({error.strerror or error})",
                "choose another place with --scheduler-file",
            ) from error
        self._written = content


def read_invitation(path: Path) -> Invitation:
    """Read a scheduler file.

    Parameters
    ----------
    path : Path
        As written by ``runner --scheduler-file``, or by Dask itself.

    Raises
    ------
    MissingFileError
        If it is not there.
    StartError
        If it is something else, or not private: it would connect its reader to whoever wrote it.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = json.load(file)
        keys = content.get("credentials")
        invitation = Invitation(address=str(content["address"]), credentials=keys and Credentials(**keys))
    except FileNotFoundError as error:
        raise MissingFileError(
            f"there is no scheduler file {path}", "does the job run, with --scheduler-file?"
        ) from error
    except PermissionError as error:
        raise StartError(f"{path} cannot be read", "only the user who runs the job can use it") from error
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise StartError(f"{path} is no scheduler file", "name the one given to --scheduler-file") from error
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.getuid() or mode & (0o077 if invitation.credentials else 0o022):
        raise StartError(
            f"{path} belongs to user {status.st_uid} with mode {mode:o}: others could write or read it",
            f"it must belong to user {os.getuid()} with mode 600; start the job again",
        )
    return invitation

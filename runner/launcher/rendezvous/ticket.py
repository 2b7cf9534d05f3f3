"""The ticket: all that a rank needs to reach rank 0 and to prove that it belongs to this job."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass

from runner.errors import StartError
from runner.launcher.security import Credentials

_FORMAT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """How to reach rank 0.

    Attributes
    ----------
    addresses : tuple of (str, int)
        IP address and port of each of rank 0's listeners, best first.
    nonce : str
        New for every start: tells a live rank 0 from one that left its ticket behind.
    host : str
        The machine of rank 0, for messages.
    size : int
        The number of ranks.
    job : str
        Our name of the job, for files.
    credentials : Credentials or None
        None where the job goes without encryption.
    owner : str
        The process of rank 0, as by ``runner.node.processes.this_process``.
    """

    addresses: tuple[tuple[str, int], ...]
    nonce: str
    host: str
    size: int
    job: str
    credentials: Credentials | None
    owner: str = ""

    def to_bytes(self) -> bytes:
        """Return the ticket as it travels."""
        keys = self.credentials
        content = {
            "format": _FORMAT,
            "addresses": self.addresses,
            "nonce": self.nonce,
            "host": self.host,
            "size": self.size,
            "job": self.job,
            "credentials": keys and {"certificate": keys.certificate, "key": keys.key},
            "owner": self.owner,
        }
        return json.dumps(content).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Ticket:
        """Read what :meth:`to_bytes` wrote.

        Raises
        ------
        StartError
            If it is something else: empty, cut short, or of another version.
        """
        try:
            read = json.loads(content)
            if read["format"] != _FORMAT:
                raise StartError(
                    f"the ticket has format {read['format']}, this version reads {_FORMAT}",
                    "use the same version of tomo-runner on every rank",
                )
            keys = read["credentials"]
            return cls(
                addresses=tuple((str(address), int(port)) for address, port in read["addresses"]),
                nonce=str(read["nonce"]),
                host=str(read["host"]),
                size=int(read["size"]),
                job=str(read["job"]),
                credentials=keys and Credentials(**keys),
                owner=str(read["owner"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise StartError(f"not a whole ticket ({error})") from error


def new_nonce() -> str:
    """Return a name that nobody can guess."""
    return secrets.token_urlsafe(16)

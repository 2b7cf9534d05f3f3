"""A Dask client for a running job, from another process of the same user."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.errors import LostError
from runner.launcher.scheduler_file import read_invitation
from runner.launcher.security import Credentials

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security


def connect(path: str | os.PathLike[str], *, timeout: float = 10.0, **options: Any) -> Client:
    """Return a client of the job that wrote a scheduler file.

    Parameters
    ----------
    path : str or path
        What was given to ``runner --scheduler-file``.
    timeout : float
        Seconds for the scheduler to answer.
    **options
        Further ones of :class:`distributed.Client`.

    Raises
    ------
    MissingFileError
        If the file is not there: the job does not run yet, or no longer.
    StartError
        If the file is something else, or not private.
    LostError
        If the scheduler does not answer: the job was killed and left its file behind, or its network
        cannot be reached from here.
    """
    invitation = read_invitation(Path(path))
    return reach(invitation.address, timeout=timeout, security=_security(invitation.credentials), **options)


def reach(address: str, *, timeout: float, **options: Any) -> Client:
    """Return a client of the scheduler at an address.

    Parameters
    ----------
    address : str
        Like ``tcp://HOST:PORT``.
    timeout : float
        Seconds for the scheduler to answer.
    **options
        Further ones of :class:`distributed.Client`.

    Raises
    ------
    LostError
        If it does not answer.
    """
    from distributed import Client

    try:
        return Client(address, timeout=timeout, **options)
    except OSError as error:
        raise LostError(
            f"the scheduler at {address} does not answer",
            f"does the job still run, and does its network reach {os.uname().nodename}?",
        ) from error


def _security(credentials: Credentials | None) -> Security | None:
    from distributed.security import Security

    if credentials is None:
        return None
    return Security(
        require_encryption=True,
        tls_ca_file=credentials.certificate,
        tls_client_cert=credentials.certificate,
        tls_client_key=credentials.key,
    )

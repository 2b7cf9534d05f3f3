"""One-time credentials: every connection of a job is encrypted and open to its own ranks alone.

Rank 0 makes one self-signed certificate. It is its own authority, so whoever holds the key belongs to
the job and nobody else does; it travels in the ticket (see ``rendezvous``), never on a command line.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

_VALID = timedelta(days=60)  # longer than any walltime
_CLOCKS_DIFFER = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A certificate and its key, as PEM text."""

    certificate: str
    key: str

    def __repr__(self) -> str:
        return "Credentials(...)"  # never into a log


def make_credentials() -> Credentials:
    """Make a key and a self-signed certificate for one job."""
    # imported here: only rank 0 makes credentials, and every rank starts faster without
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "runner")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER)
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return Credentials(
        certificate=certificate.public_bytes(pem).decode(),
        key=key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode(),
    )


def control_context(credentials: Credentials, *, server: bool) -> ssl.SSLContext:
    """Return the context of the control channel: TLS 1.3, both sides show the job's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the certificate names the job, not a host
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=credentials.certificate)
    # the ssl module reads keys from files only; this one lives in memory
    descriptor = os.memfd_create("runner-credentials")
    try:
        os.write(descriptor, (credentials.certificate + credentials.key).encode())
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context


def dask_settings(credentials: Credentials | None) -> dict[str, Any]:
    """Return the Dask configuration with which every process of the job speaks TLS, and only that."""
    if credentials is None:
        return {}
    settings: dict[str, Any] = {
        "distributed.comm.require-encryption": True,
        "distributed.comm.tls.ca-file": credentials.certificate,
    }
    for role in ("scheduler", "worker", "client"):
        settings[f"distributed.comm.tls.{role}.key"] = credentials.key
        settings[f"distributed.comm.tls.{role}.cert"] = credentials.certificate
    return settings

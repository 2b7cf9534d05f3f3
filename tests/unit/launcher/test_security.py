"""One certificate per job: whoever holds it is in, nobody else is, and nothing is in clear."""

from __future__ import annotations

import ssl

import dask
import pytest
from distributed.security import Security

from runner.launcher.security import Credentials, control_context, dask_settings, make_credentials


@pytest.fixture(scope="module")
def credentials() -> Credentials:
    return make_credentials()


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> str | None:
    """Let two ends talk in memory until both are content; return the protocol's version."""
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        server.wrap_bio(up, down, server_side=True),
        client.wrap_bio(down, up, server_side=False),
    ]
    for _ in range(5):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return ends[0].version()


def test_two_ranks_of_a_job(credentials: Credentials) -> None:
    server, client = (control_context(credentials, server=server) for server in (True, False))
    assert shake_hands(server, client) == "TLSv1.3"


@pytest.mark.parametrize("stranger_is_server", [True, False])
def test_a_rank_of_another_job(credentials: Credentials, stranger_is_server: bool) -> None:
    stranger = make_credentials()
    server, client = (stranger, credentials) if stranger_is_server else (credentials, stranger)
    with pytest.raises(ssl.SSLError, match=r"certificate|alert"):
        shake_hands(control_context(server, server=True), control_context(client, server=False))


def test_a_stranger_without_a_certificate(credentials: Credentials) -> None:
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    with pytest.raises(ssl.SSLError, match="peer did not return a certificate"):
        shake_hands(control_context(credentials, server=True), anybody)


def test_each_job_has_its_own_key(credentials: Credentials) -> None:
    another = make_credentials()
    assert another.key != credentials.key
    assert another.certificate != credentials.certificate


def test_a_key_never_gets_into_a_log(credentials: Credentials) -> None:
    assert repr(credentials) == str(credentials) == "Credentials(...)"


def test_no_file_holds_the_key(credentials: Credentials, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile._get_candidate_names", lambda: pytest.fail("a temporary file was made"))
    control_context(credentials, server=True)


def test_dask_speaks_tls_and_only_that(credentials: Credentials) -> None:
    with dask.config.set(dask_settings(credentials)):
        security = Security()
        assert security.require_encryption is True
        for role in ("scheduler", "worker", "client"):
            arguments = security.get_connection_args(role)
            assert arguments["ssl_context"].verify_mode == ssl.CERT_REQUIRED
            assert arguments["require_encryption"] is True


def test_without_encryption_dask_is_left_alone() -> None:
    assert dask_settings(None) == {}

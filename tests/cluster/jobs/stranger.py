"""Somebody on the same network, who holds no key: knocks at every port, then holds 500 connections at each.

Arguments: the scheduler's address, then ``address:port`` of each door of rank 0. The environment variable
``STOLEN`` is the nonce of the job. Prints what was given away, then ``holding``, and holds on.
"""

import json
import os
import random
import resource
import socket
import ssl
import sys
import tempfile
import time
from pathlib import Path

from distributed import Client
from distributed.security import Security

HELD = 500

scheduler, *doors = sys.argv[1:]
ports = [scheduler.split("://")[1], *doors]


def connected(place):
    host, port = place.rsplit(":", 1)
    return socket.create_connection((host.strip("[]"), int(port)), timeout=3)


def said(connection, words):
    """What comes back; an alert of TLS says nothing."""
    try:
        connection.sendall(words)
        answer = connection.recv(1000)
    except OSError:
        return ""
    return "" if answer.startswith(b"\x15\x03") else answer.decode(errors="replace")


def client(address, **options):
    patience = 2 if scheduler.startswith("tls") else 30  # who is let in, is let in when there is time for it
    try:
        with Client(address, timeout=patience, set_as_default=False, **options) as made:
            return made.submit(os.getpid).result(timeout=patience)
    except (OSError, TypeError) as error:
        return "" if not isinstance(error, TypeError) else f"wrong test: {error}"


def with_another_certificate(place, security, words):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with tempfile.TemporaryDirectory() as folder:
        pem = Path(folder) / "pem"
        pem.write_text(security.tls_client_cert + security.tls_client_key)
        context.load_cert_chain(pem)
    try:
        with context.wrap_socket(connected(place)) as secured:
            return said(secured, words)
    except OSError:
        return ""


hello = json.dumps({"nonce": os.environ["STOLEN"], "facts": {"rank": 1}, "size": 4, "reached": ""}).encode()
security = Security.temporary()
got = {"plain client": client(scheduler.replace("tls://", "tcp://"))}
if scheduler.startswith("tls"):
    got["client with another certificate"] = client(scheduler, security=security)
for port in ports:
    got[f"garbage at {port}"] = said(connected(port), random.Random(0).randbytes(1 << 16))
    got[f"stolen nonce at {port}"] = said(connected(port), hello + b"\n")
    got[f"another certificate at {port}"] = with_another_certificate(port, security, hello + b"\n")
for what, answer in got.items():
    print(f"{what}: {answer!r}", flush=True)

_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
held = [connected(port) for port in ports for _ in range(HELD)]
print("holding", len(held), flush=True)
time.sleep(60)

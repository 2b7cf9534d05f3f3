"""The limit of open files."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from runner.node.open_files import shortage

LIMITS = """
import resource
from runner.node.open_files import limit, raise_limit
resource.setrlimit(resource.RLIMIT_NOFILE, ({}, {}))
raise_limit()
print(limit(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "after"), [(256, 4096, "4096 4096 4096"), (256, 256, "256 256 256")]
)
def test_the_soft_limit_becomes_the_hard_one(soft: int, hard: int, after: str) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < hard:
        pytest.skip(f"no more than {hard} open files are allowed here")
    argv = [sys.executable, "-c", LIMITS.format(soft, hard)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == after


@pytest.mark.parametrize(("workers", "allowed", "short"), [(64, 256, False), (65, 256, True)])
def test_shortage(workers: int, allowed: int, short: bool) -> None:
    assert (shortage(workers, allowed) is not None) == short

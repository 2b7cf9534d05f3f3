"""What a process's end means."""

from __future__ import annotations

import os
import signal

import pytest

from runner.launcher.exits import describe, exit_code


@pytest.mark.parametrize("code", [0, 1, 3, 70, 255])
def test_an_exit_code_is_kept(code: int) -> None:
    child = os.posix_spawn("/bin/sh", ["sh", "-c", f"exit {code}"], {})
    assert exit_code(os.waitpid(child, 0)[1]) == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_signal_is_what_a_shell_makes_of_it(number: signal.Signals) -> None:
    child = os.posix_spawn("/bin/sh", ["sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"], {})
    assert exit_code(os.waitpid(child, 0)[1]) == 128 + number


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "ended with exit code 0"),
        (3, "ended with exit code 3"),
        (128, "ended with exit code 128"),
        (130, "killed by signal 2 (SIGINT)"),
        (137, "killed by signal 9 (SIGKILL)"),
        (139, "killed by signal 11 (SIGSEGV)"),
        (255, "ended with exit code 255"),
    ],
)
def test_words(code: int, text: str) -> None:
    assert describe(code) == text

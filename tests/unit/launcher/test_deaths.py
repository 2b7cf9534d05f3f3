"""What is said about a worker that died."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.launcher.deaths import describe_death, last_words

GIB = 1 << 30


@pytest.mark.parametrize(
    ("code", "last", "outgrown", "text"),
    [
        (1, 0, False, "ended with exit code 1"),
        (1, GIB, False, "ended with exit code 1, with 1.0 GiB of its 2.0 GiB of memory"),
        (139, GIB, False, "killed by signal 11 (SIGSEGV), with 1.0 GiB of its 2.0 GiB of memory"),
        (137, GIB, False, "killed by signal 9 (SIGKILL), with 1.0 GiB of its 2.0 GiB of memory"),
        (
            137,
            int(1.8 * GIB),
            False,
            "killed by signal 9 (SIGKILL), with 1.8 GiB of its 2.0 GiB of memory: out of memory?",
        ),
        (137, int(1.95 * GIB), True, "out of memory: it had 1.9 GiB of its 2.0 GiB of memory"),
    ],
)
def test_how_it_ended(code: int, last: int, outgrown: bool, text: str) -> None:
    assert describe_death(code, last=last, limit=2 * GIB, outgrown=outgrown) == text


def test_last_words_are_the_unusual_ones(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    usual = [f"2026-11-29 12:00:00,000 INFO distributed.worker: {number}" for number in range(40)]
    log.write_text("\n".join([*usual, "WARNING distributed: hot", "", "Fatal Python error: " + 600 * "x"]))
    words = last_words(log)
    assert words[0] == "WARNING distributed: hot"
    assert [len(word) for word in words[1:]] == [500]


def test_last_words_are_few_even_from_a_huge_log(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("".join(f"WARNING {number}\n" for number in range(200_000)))
    assert last_words(log) == [f"WARNING {number}" for number in range(199_980, 200_000)]


def test_no_log_no_words(tmp_path: Path) -> None:
    assert last_words(tmp_path / "nothing.log") == []

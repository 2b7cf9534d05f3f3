"""From old arguments to options, and what is refused or has no effect."""

from __future__ import annotations

import psutil
import pytest

from runner.compat import WorldTooSmallException, execute, initialize, rerun
from runner.errors import UsageError
from runner.launcher.place import LAUNCHERS


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for launcher in LAUNCHERS:
        monkeypatch.delenv(launcher.rank, raising=False)
    monkeypatch.delenv(rerun.INSIDE_VARIABLE, raising=False)


def ranks(monkeypatch: pytest.MonkeyPatch, size: int, rank: int = 0) -> None:
    monkeypatch.setenv("RUNNER_RANK", str(rank))
    monkeypatch.setenv("RUNNER_SIZE", str(size))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((None, None, None, "auto"), []),
        ((None, 1, "", None), ["--threads", "1"]),
        (
            ("ib0", 4, "/scratch", "4GB"),
            ["--interface", "ib0", "--threads", "4", "--scratch", "/scratch", "--memory-limit", "4GB"],
        ),
        ((None, None, None, 1000), ["--memory-limit", "1000"]),
        ((None, None, None, 2e9), ["--memory-limit", "2000000000"]),
        ((None, None, None, 0.5), ["--memory-limit", str(int(psutil.virtual_memory().total * 0.5))]),
        ((None, None, None, 0), []),
    ],
)
def test_options_of_workers(arguments: tuple, words: list[str]) -> None:
    assert rerun.worker_words(*arguments) == words


@pytest.mark.parametrize(
    ("size", "exclusive", "words"),
    [
        (3, True, ["--roles", "dedicated"]),
        (2, True, ["--roles", "shared"]),
        (4, False, ["--roles", "shared"]),
    ],
)
def test_roles(monkeypatch: pytest.MonkeyPatch, size: int, exclusive: bool, words: list[str]) -> None:
    ranks(monkeypatch, size)
    assert rerun.role_options(needed=2, why="", exclusive=exclusive) == words


def test_one_machine_without_a_launcher_needs_no_ranks() -> None:
    assert rerun.role_options(needed=3, why="") == []


@pytest.mark.parametrize("call", [initialize, lambda: execute(print)])
def test_too_few_ranks(monkeypatch: pytest.MonkeyPatch, call) -> None:
    ranks(monkeypatch, 1)
    with pytest.raises(WorldTooSmallException, match="found 1, needs at least"):
        call()


def test_ranks_are_not_handed_back() -> None:
    with pytest.raises(UsageError, match=r"initialize\(exit=\) would hand ranks back"):
        initialize(exit=False)


def test_execute_needs_a_function() -> None:
    with pytest.raises(UsageError, match="runner serve"):
        execute()


def test_inside_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rerun.INSIDE_VARIABLE, "1")
    assert initialize(exit=False, comm=object()) is True
    said = []
    execute(lambda *args, **kwargs: said.append((args, kwargs)), (1,), {"x": 2}, client_rank=3)
    assert said == [((1,), {"x": 2})]


@pytest.mark.parametrize(("rank", "said"), [(0, 1), (1, 0)])
def test_what_has_no_effect_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rank: int, said: int
) -> None:
    ranks(monkeypatch, 3, rank)
    rerun.mention_ignored("initialize", protocol=("ucx", None), nanny=(False, False), worker_options=({}, {}))
    assert capsys.readouterr().err.count("runner: initialize(protocol=) has no effect here\n") == said

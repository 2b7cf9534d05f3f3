"""What several components print at the same time goes to the file of each."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runner.maps.output import captured, tail


@pytest.fixture(autouse=True)
def streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the streams and the threads of this process as they were."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.setattr(threading.Thread, "start", threading.Thread.start)


def test_threads_do_not_mix(tmp_path: Path) -> None:
    together = threading.Barrier(4, timeout=60)

    def work(number: int) -> None:
        with captured(tmp_path / f"{number}.txt"):
            for line in range(50):
                together.wait()
                print(f"{number}: {line}")
                print(f"{number}: problem {line}", file=sys.stderr)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for number in range(4):
        lines = (tmp_path / f"{number}.txt").read_text().splitlines()
        assert len(lines) == 100
        assert all(line.startswith(f"{number}: ") for line in lines)


def test_a_thread_prints_for_the_component_that_started_it(tmp_path: Path) -> None:
    with captured(tmp_path / "a.txt"):
        thread = threading.Thread(target=lambda: print("from a thread"))
        thread.start()
        thread.join()
    assert (tmp_path / "a.txt").read_text() == "from a thread\n"


def test_outside_of_components_nothing_changes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with captured(tmp_path / "a.txt"):
        print("inside", file=sys.stderr)
    print("outside")
    assert capsys.readouterr().out == "outside\n"
    assert (tmp_path / "a.txt").read_text() == "inside\n"


def test_who_prints_nothing_has_no_file(tmp_path: Path) -> None:
    with captured(tmp_path / "a.txt"):
        pass
    assert not (tmp_path / "a.txt").exists()


def test_what_cannot_be_written_is_no_error_of_the_component(tmp_path: Path) -> None:
    with captured(tmp_path / "missing" / "a.txt"):
        print("lost")


def test_the_end_of_a_file(tmp_path: Path) -> None:
    assert tail(tmp_path / "none.txt") == ""
    (tmp_path / "a.txt").write_text("\n".join(str(number) for number in range(100_000)))
    assert tail(tmp_path / "a.txt").splitlines() == [str(number) for number in range(99_980, 100_000)]

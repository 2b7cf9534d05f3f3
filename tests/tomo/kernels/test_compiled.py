"""Where compiled kernels are kept and who waits, with real processes."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import runner
from runner.tomo.kernels import compiled
from runner.tomo.kernels.compiled import ensure_compiled
from runner.tomo.reconstruct.gridding import spread

RECONSTRUCT = """
import logging, sys, time
import numpy as np
logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
from runner.tomo import Reconstructor
from runner.tomo.kernels import compiled
compiled._PATIENCE = 250  # on a machine that is busy it takes far longer than 15 s
assert "numba" not in sys.modules, "numba was imported before it was needed"
started = time.process_time()
with Reconstructor(angles=np.arange(0, 180, 3.0), columns=64) as reconstruct:
    slices = reconstruct(np.ones((3, 60, 64), np.float32))
print(time.process_time() - started, slices[1, 30, 30])
"""


def start(environment, program=RECONSTRUCT):
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, errors = process.communicate(timeout=280)
    assert process.returncode == 0, errors
    seconds, value = map(float, out.split())
    return seconds, value, errors


@pytest.fixture(name="places")
def _places(tmp_path):
    """Folders of this test alone in place of the user's and the host's."""
    (tmp_path / "tmp").mkdir()
    return {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "tmp")}


patient = pytest.mark.timeout(300)  # it compiles, beside other tests that do


@pytest.mark.slow
@patient
def test_one_process_compiles_the_others_wait_and_later_ones_are_quick(places):
    together = [finish(process) for process in [start(places) for _ in range(3)]]
    assert sum("compiling the reconstruction" in errors for *_, errors in together) == 1
    seconds, value, errors = finish(start(places))
    assert errors == ""
    assert seconds < 5  # of the processor, whoever else is busy: about half a second, or 15 to compile
    assert {found for _, found, _ in together} == {value}


@pytest.mark.slow
@patient
@pytest.mark.parametrize("processor", ["x86-64", "nehalem", "haswell"])
def test_older_processors_compute_the_same(places, processor):
    """x86-64 has none of AVX, AVX2, FMA and AVX-512."""
    if os.uname().machine != "x86_64":
        pytest.skip("these are processors of another kind")
    _, value, _ = finish(start(places | {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}))
    _, here, _ = finish(start({}))
    assert value == pytest.approx(here, rel=1e-5)


@pytest.mark.slow
@patient
def test_without_a_folder_to_write_to_every_process_compiles(tmp_path, places):
    blocked = tmp_path / "file"
    blocked.write_text("in the way of a folder")
    places |= {"NUMBA_CACHE_DIR": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    _, _, errors = finish(start(places))
    assert f"kept in {tmp_path}/tmp/tomo-runner-{os.getuid()}" in errors


def folder_with(environment, **more):
    program = "from runner.tomo.kernels.cache import cache_folder; print(cache_folder())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **more,
    )
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_the_folder_is_ours_alone_and_named_for_the_processor(tmp_path, places):
    folder = folder_with(places)
    assert folder.parent == tmp_path / "cache"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.iterdir()) == []  # the probe is gone
    assert folder_with(places) == folder
    other = folder_with(places | {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""})
    assert other.name != folder.name


def test_another_installation_has_a_folder_of_its_own(tmp_path, places):
    """Numba would not find there what the first one compiled, and every process would compile in silence."""
    shutil.copytree(Path(runner.__file__).parent, tmp_path / "there" / "runner")
    places |= {"PYTHONPATH": str(tmp_path / "there")}
    there = folder_with(places, cwd=tmp_path / "there")
    assert there != folder_with(places | {"PYTHONPATH": ""}, cwd=tmp_path)
    assert there == folder_with(places, cwd=tmp_path / "there")
    source = Path(tmp_path, "there", *Path(spread.__file__).parts[-5:])
    os.utime(source, (0, 0))
    assert there != folder_with(places, cwd=tmp_path / "there")


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, places):
    folder = folder_with(places)
    folder.chmod(0o777)
    places |= {"XDG_CACHE_HOME": str(tmp_path / "home")}
    assert folder_with(places).parent == tmp_path / "home" / "tomo-runner"


@pytest.fixture(name="locked")
def _locked(tmp_path, monkeypatch):
    """Another process holds the lock of a folder of this test alone: what a killed one left is not found."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path / "kept")
    lock = tmp_path / f"kept-{os.getuid()}.lock"
    program = (
        f"import fcntl, time; f = open({str(lock)!r}, 'w'); fcntl.flock(f, 2);"
        "print(flush=True); time.sleep(110)"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    holder.stdout.readline()
    yield holder
    holder.kill()
    holder.wait(60)
    holder.stdout.close()


def test_nobody_waits_for_ever(locked, monkeypatch):
    monkeypatch.setattr(compiled, "_PATIENCE", 0.5)
    calls = []
    started = time.monotonic()
    ensure_compiled("test-patience", lambda: calls.append(1))
    assert calls == [1]
    assert 0.5 <= time.monotonic() - started < 60


def test_who_waited_finds_it_done(locked, tmp_path):
    done = tmp_path / "kept" / "test-waited.done"
    calls = []
    program = (
        f"import time, pathlib, os; time.sleep(0.5); pathlib.Path({str(done)!r}).touch();"
        f"os.kill({locked.pid}, 9)"
    )
    other = subprocess.Popen([sys.executable, "-c", program])
    ensure_compiled("test-waited", lambda: calls.append(1))
    other.wait(60)
    assert calls == []

"""One device per worker, by whatever name it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.node.gpus import gpu_for, present_gpus, visible_gpus


@pytest.mark.parametrize(
    ("listed", "visible"),
    [
        (None, ("0", "1")),  # not set: all that the machine has
        ("", ()),
        ("0", ("0",)),
        ("1,0", ("1", "0")),
        (" 2 , 3 ", ("2", "3")),
        ("GPU-8932f937,GPU-5ebe9b3a", ("GPU-8932f937", "GPU-5ebe9b3a")),
        ("MIG-a1,MIG-GPU-5e/1/0", ("MIG-a1", "MIG-GPU-5e/1/0")),
        ("-1", ()),
        ("NoDevFiles", ()),
        ("0,-1,1", ("0",)),  # as in CUDA: nothing behind an invalid entry counts
        ("0,,1", ("0",)),
        (",0", ()),
        ("0,1,", ("0", "1")),
    ],
)
def test_visible(listed: str | None, visible: tuple[str, ...]) -> None:
    environ = {} if listed is None else {"CUDA_VISIBLE_DEVICES": listed}
    assert visible_gpus(environ, present=("0", "1")) == visible


@pytest.mark.parametrize(
    ("visible", "index", "workers", "device"),
    [
        ((), 0, 4, None),
        (("0",), 3, 4, "0"),  # the batch system gave this one
        (("GPU-1f",), 1, 1, "GPU-1f"),
        (("0", "1", "2", "3"), 0, 4, "0"),
        (("0", "1", "2", "3"), 3, 4, "3"),
        (("MIG-a", "MIG-b"), 1, 2, "MIG-b"),
        (("4", "7"), 1, 2, "7"),  # the name, never the position
        (("0", "1"), 2, 4, "0"),  # shared in turn
        (("0", "1"), 3, 4, "1"),
    ],
)
def test_device_of_a_worker(visible: tuple[str, ...], index: int, workers: int, device: str | None) -> None:
    assert gpu_for(visible, index, workers) == device


@given(st.lists(st.text("0123456789GPUMIG-", min_size=1), min_size=1, unique=True), st.integers(1, 16))
def test_workers_share_devices_evenly(visible: list[str], workers: int) -> None:
    chosen = [gpu_for(visible, index, workers) for index in range(workers)]
    counts = [chosen.count(name) for name in visible]
    assert sum(counts) == workers
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("script", "present"),
    [
        ("echo 0; echo 1", ("0", "1")),
        ("echo 'No devices were found'", ()),
        ("echo 'NVIDIA-SMI has failed because it could not communicate with the driver'; exit 9", ()),
        ("exit 0", ()),
    ],
)
def test_devices_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, present: tuple[str, ...]
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert present_gpus() == present


def test_a_machine_without_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert present_gpus() == ()

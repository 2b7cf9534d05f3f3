"""One device per worker, by whatever name it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.node import gpus
from runner.node.gpus import choose_gpu, present_gpus, visible_gpus


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
    ("visible", "used", "own", "device"),
    [
        ((), {}, False, None),
        (("0", "1", "2", "3"), {}, False, "0"),
        (("0", "1", "2", "3"), {"0": 1, "2": 1}, False, "1"),
        (("1", "0"), {"1": 1}, False, "0"),  # lists may be turned; names are the same devices
        (("MIG-a", "MIG-b"), {"MIG-a": 1}, False, "MIG-b"),
        (("4", "7"), {}, False, "4"),  # the name, never the position
        (("0", "1"), {"0": 1, "1": 1}, False, None),  # none left: this worker does without
        (("0",), {"0": 1}, False, None),  # the machine's only one
        (("0",), {"0": 3}, True, "0"),  # given to this rank by the batch system, like another one to others
        (("GPU-1f",), {}, True, "GPU-1f"),
    ],
)
def test_device_of_a_worker(
    visible: tuple[str, ...], used: dict[str, int], own: bool, device: str | None
) -> None:
    assert choose_gpu(visible, used, own=own) == device


@given(st.lists(st.text("0123456789GPUMIG-", min_size=1), unique=True), st.data())
def test_no_device_is_given_twice(visible: list[str], data: st.DataObject) -> None:
    uses: dict[str, int] = {}
    for _ in range(len(visible) + 1):
        device = choose_gpu(data.draw(st.permutations(visible)), uses, own=False)
        if device is not None:
            uses[device] = uses.get(device, 0) + 1
    assert uses == dict.fromkeys(visible, 1)


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
    monkeypatch.setattr(gpus, "_QUERY_SECONDS", 60.0)  # the machine may be busy
    assert present_gpus() == present


def test_a_machine_without_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert present_gpus() == ()

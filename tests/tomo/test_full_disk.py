"""A disk that fills up: it is said, what was written is kept, and with room again the volume is the same."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pytest

from runner.errors import WriteError
from runner.tomo.pipeline import reconstruct
from runner.tomo.settings import Settings
from runner.tomo.volume import forms
from runner.tomo.volume.place import partial_path
from tests.cluster.volumes import pixels

SETTINGS = Settings(center=24.5)
FORMS = ["volume.h5", "volume.tif", "volume.zarr", "volume.h5d", "volume"]


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of its own, with room for a volume or two."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, timeout=60).returncode:
        pytest.skip("may not mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True, timeout=60)


@pytest.fixture(scope="module")
def expected(small_scan, tmp_path_factory, client):
    """The volume of the small scan, where there is room for it."""
    return pixels(
        reconstruct(small_scan, tmp_path_factory.mktemp("room") / "volume.h5", SETTINGS, client).volume
    )


def fill(folder, but=0):
    """Take all room that there is, but for some bytes."""
    with (folder / "ballast").open("wb", buffering=0) as file:
        left = shutil.disk_usage(folder).free - but
        while left > 0:
            left -= file.write(bytes(min(left, 1 << 16)))


@pytest.mark.parametrize("name", FORMS)
def test_full_while_slices_are_written(small_scan, small_disk, client, expected, name):
    place = small_disk / name

    def fill_once(progress):
        if not (small_disk / "ballast").exists():
            fill(small_disk, but=500_000)  # there is room for three chunks of seven

    with pytest.raises(
        WriteError, match=r"of 100 slices could not be made: .*No space left on device"
    ) as error:
        reconstruct(small_scan, place, SETTINGS, client, on_progress=fill_once)
    assert f"{partial_path(place)} holds the others; the same command tries" in str(error.value)
    assert not place.exists()
    with pytest.raises(WriteError, match="No space left on device"):  # nor is the next try the end of it
        reconstruct(small_scan, place, SETTINGS, client)
    (small_disk / "ballast").unlink()
    outcome = reconstruct(small_scan, place, SETTINGS, client)
    assert outcome.made <= 84
    np.testing.assert_array_equal(pixels(place), expected)
    assert [path.name for path in small_disk.iterdir()] == [name]


@pytest.mark.parametrize("name", FORMS)
def test_full_when_a_volume_is_begun(small_scan, small_disk, client, monkeypatch, name):
    monkeypatch.setattr("runner.tomo.begin.check_space", lambda *_: None)  # it was enough a moment ago
    fill(small_disk, but=8192)
    with pytest.raises(WriteError, match=r"cannot be written .*No space left on device"):
        reconstruct(small_scan, small_disk / name, SETTINGS, client)
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


@pytest.mark.parametrize("name", FORMS)
def test_full_when_the_end_is_noted(small_scan, small_disk, client, expected, monkeypatch, name):
    place, noted = small_disk / name, forms.note_end

    def note_on_a_full_disk(*words):
        fill(small_disk)
        return noted(*words)

    monkeypatch.setattr(forms, "note_end", note_on_a_full_disk)
    with pytest.raises(WriteError, match=r"cannot be finished .*No space left on device"):
        reconstruct(small_scan, place, SETTINGS, client)
    assert not place.exists()
    monkeypatch.undo()
    (small_disk / "ballast").unlink()
    assert reconstruct(small_scan, place, SETTINGS, client).made == 0
    np.testing.assert_array_equal(pixels(place), expected)
    assert [path.name for path in small_disk.iterdir()] == [name]

"""When there is a page, and what it says of runs that did not end well."""

import math
import re
import time
from dataclasses import replace

import h5py
import numpy as np
import pytest

from runner.errors import LostError, PartialError
from runner.tomo.parameters import Axis
from runner.tomo.pipeline import plan_for, reconstruct
from runner.tomo.plan import Resources
from runner.tomo.report.pictures import cut_volume, sample_values
from runner.tomo.report.run import Run
from runner.tomo.report.write import report_path
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.volume.content import Content
from runner.tomo.volume.forms import create_volume
from runner.tomo.volume.provenance import collect

SETTINGS = Settings(center=24.5)


def text_of(volume):
    return report_path(volume).read_text(encoding="utf-8")


def test_nothing_in_it_leads_outside(volume):
    page = text_of(volume)
    assert not re.search(r"""(?:src|href|url\()\s*=?\s*["']?(?!data:)[\w./]""", page)
    assert "<script" not in page


@pytest.mark.parametrize("name", ["volume.tif", "volume.zarr", "volume.h5d", "volume"])
def test_every_form_has_its_page(small_scan, tmp_path, client, name):
    outcome = reconstruct(small_scan, tmp_path / name, SETTINGS, client, report=report_path(tmp_path / name))
    assert outcome.report == tmp_path / f"{name}.report.html"
    page = text_of(tmp_path / name)
    assert page.count("data:image/png") == 4
    assert "all 100 slices written and verified" in page


def test_what_the_scan_says_cannot_become_a_tag(small_scan, tmp_path, client):
    scan = tmp_path / "scan.nx"
    scan.write_bytes(small_scan.read_bytes())
    with h5py.File(scan, "r+") as file:
        file["entry"].pop("title", None)
        file["entry/title"] = "<img src=x onerror=alert(1)> & more"
    volume = tmp_path / "volume.h5"
    reconstruct(scan, volume, SETTINGS, client, report=report_path(volume))
    assert "<img src=x" not in text_of(volume)
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; more" in text_of(volume)


def test_a_run_out_of_time_has_a_page_and_the_next_one_its_own(small_scan, tmp_path, client):
    def look(progress):
        nonlocal left
        left = 0.0 if progress.done else math.inf  # the last chunk has not been handed out

    left, volume = math.inf, tmp_path / "volume.h5"
    words = {"command_line": ["runner", "reconstruct", "scan.nx"], "report": report_path(volume)}
    with pytest.raises(PartialError):
        reconstruct(
            small_scan, volume, SETTINGS, client, on_progress=look, seconds_left=lambda: left, **words
        )
    page = text_of(volume)
    assert re.search(r"the time was over: \d+ of 100 slices are there, rows [\d:, ]+ are missing", page)
    assert re.search(r"go on</div><code>runner reconstruct scan.nx</code>", page)
    outcome = reconstruct(small_scan, volume, SETTINGS, client, **words)
    page = text_of(volume)
    assert f"all 100 slices written and verified, {100 - outcome.made} of them by an earlier run" in page
    assert "Of this run alone" in page


def test_what_could_not_be_made_is_said(small_scan, tmp_path, client):
    scan = tmp_path / "scan.nx"
    scan.write_bytes(small_scan.read_bytes())
    with h5py.File(scan, "r+") as file:
        frames = file["entry/instrument/detector/data"][:]
        del file["entry/instrument/detector/data"]
        data = file["entry/instrument/detector"].create_dataset(
            "data", data=frames, chunks=(1, 16, 48), compression="gzip"
        )
        data.id.write_direct_chunk((60, 32, 0), b"not a gzip stream")
    volume, notes = tmp_path / "volume.h5", []
    with pytest.raises(LostError):
        reconstruct(
            scan,
            volume,
            replace(SETTINGS, rows="24:56"),
            client,
            on_note=notes.append,
            report=report_path(volume),
        )
    page = text_of(volume)
    assert "slices could not be made: 16 of 32 slices are there, rows 32:48 are missing" in page
    assert "rows 32:48 could not be made: " in page
    assert page.count("data:image/png") == 3  # the sinogram was to be of a row that is missing
    again = [note for note in notes if note.startswith("warning: rows 32:48 are made again (")]
    assert len(again) == 2
    assert "slice of row 48 (x, y)" in page


def test_a_page_that_cannot_be_written_costs_no_volume(small_scan, tmp_path, client):
    volume, notes = tmp_path / "volume.h5", []
    report_path(volume).mkdir()
    outcome = reconstruct(
        small_scan, volume, SETTINGS, client, on_note=notes.append, report=report_path(volume)
    )
    assert outcome.report is None
    assert volume.is_file()
    assert any(note.startswith("warning: no report was written") for note in notes)


def test_without_being_asked_there_is_none(small_scan, tmp_path, client):
    assert reconstruct(small_scan, tmp_path / "volume.h5", SETTINGS, client).report is None
    assert [path.name for path in tmp_path.iterdir()] == ["volume.h5"]


def test_of_a_large_volume_little_is_read(small_scan, tmp_path):
    """A sparse file of 2048 slices of 2048 x 2048 pixels: reading all of it would take a minute."""
    shape = (2048, 2048, 2048)
    content = Content(
        title="",
        first_row=0,
        shape=shape,
        units="1/cm",
        pixel_size=1e-6,
        provenance=collect(small_scan, (), ()),
    )
    scan = open_scan(small_scan)
    run = Run(
        volume=tmp_path / "volume.h5",
        target=create_volume(tmp_path / "volume.h5", content),
        scan=scan,
        plan=plan_for(scan, SETTINGS, Resources(workers=1, memory=1 << 30, threads=1)),
        content=content,
        axis=Axis(position=24.5, origin="command line"),
        findings=(),
        notes=(),
        results=(),
        retries=(),
        failures=(),
        left=(),
        begun=0.0,
    )
    started, used = time.monotonic(), time.process_time()
    assert np.all(sample_values(run) == 0)
    pictures = cut_volume(run, (0.0, 1.0))
    assert [(one.width, one.height) for one in pictures] == [(2048, 2048)] * 3
    assert time.process_time() - used < 10
    assert time.monotonic() - started < 40

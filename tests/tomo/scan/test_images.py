"""Series of images are scans: TIFF and EDF, a folder of them or a file with many."""

import fabio
import numpy as np
import pytest
import tifffile

from runner.errors import ScanError
from runner.tomo.scan import images, open_scan
from runner.tomo.scan.images import missing_numbers
from runner.tomo.scan.read import read_frames
from runner.tomo.sources import Sources

from .conftest import frames_of

SOURCES = Sources(flats="flats", darks="darks", angles="0:180:12")
STORED = frames_of(12) + 1000


def write_tiff(path, image, **options):
    tifffile.imwrite(path, image, **options)


def write_edf(path, image):
    fabio.edfimage.EdfImage(data=image).write(path)


@pytest.fixture(params=["tiff", "deflate", "big-endian", "edf"])
def folder(request, tmp_path):
    """A folder of projections, and one each of flats and darks."""
    options = {"deflate": {"compression": "zlib"}, "big-endian": {"byteorder": ">"}}.get(request.param, {})
    suffix, write = ("edf", write_edf) if request.param == "edf" else ("tif", write_tiff)
    for name, frames in (("projections", STORED), ("flats", frames_of(2)), ("darks", frames_of(1))):
        (tmp_path / name).mkdir()
        for number, frame in enumerate(frames):
            write(str(tmp_path / name / f"{name}_{number}.{suffix}"), frame, **options)
    return tmp_path / "projections"


def test_a_folder_of_images_is_a_scan(folder):
    scan = open_scan(folder, SOURCES)
    assert (scan.format, scan.projections.count, scan.rows, scan.columns) == ("images", 12, 3, 8)
    assert scan.angles[-1] == 165
    assert [group.frames.count for group in (*scan.flats, *scan.darks)] == [2, 1]
    read = read_frames(scan.projections, slice(1, 3))
    assert read.dtype == np.uint16
    assert np.array_equal(read, STORED[:, 1:3])  # 2 before 10
    assert folder / scan.projections.names[0] in scan.projections.files


@pytest.mark.parametrize("suffix", ["tif", "edf"])
def test_a_file_with_many_images_is_a_scan(tmp_path, suffix):
    if suffix == "tif":
        tifffile.imwrite(tmp_path / "scan.tif", STORED, photometric="minisblack")
    else:
        series = fabio.edfimage.EdfImage(data=STORED[0])
        for frame in STORED[1:]:
            series.append_frame(data=frame)
        series.write(tmp_path / "scan.edf")
    tifffile.imwrite(tmp_path / "flat.tif", frames_of(1)[0])
    path = tmp_path / f"scan.{suffix}"
    scan = open_scan(path, Sources(flats="flat.tif,flat.tif", darks="flat.tif", angles="0:180:12"))
    assert np.array_equal(read_frames(scan.projections, slice(0, 2)), STORED[:, :2])
    assert [group.position for group in scan.flats] == [0, 12]


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["p_1.tif", "p_2.tif", "p_4.tif"], [3]),
        (["p_08.tif", "p_09.tif", "p_10.tif"], []),
        (["p_0.tif", "p_5.tif", "p_10.tif", "p_20.tif"], [15]),
        (["a.tif"], []),
        (["a.tif", "b.tif"], []),
        (["s1_p1.tif", "s2_p2.tif"], []),
    ],
)
def test_holes_in_the_numbers_are_found(names, missing):
    assert missing_numbers(names) == missing


def test_a_missing_image_is_named(folder):
    next(folder.glob("projections_5.*")).unlink()
    with pytest.raises(ScanError, match=r"1 images are missing in .*: the names lack the numbers 5; "):
        open_scan(folder, SOURCES)


def test_damaged_and_other_images_are_named(tmp_path):
    (tmp_path / "p").mkdir()
    for number in range(12):
        tifffile.imwrite(tmp_path / "p" / f"{number}.tif", STORED[number])
    tifffile.imwrite(tmp_path / "flat.tif", frames_of(1)[0])
    sources = Sources(flats="flat.tif", darks="flat.tif", angles="0:180:12")
    scan = open_scan(tmp_path / "p", sources)
    tifffile.imwrite(tmp_path / "p" / "3.tif", np.zeros((3, 9), np.uint16))
    with pytest.raises(ScanError, match=r"3\.tif is not of the size of the first image"):
        read_frames(scan.projections, slice(0, 3))
    (tmp_path / "p" / "3.tif").write_bytes(b"no image")
    with pytest.raises(ScanError, match=r"3\.tif cannot be read as TIFF"):
        read_frames(scan.projections, slice(0, 3))
    tifffile.imwrite(tmp_path / "p" / "0.tif", np.zeros((3, 8, 3), np.uint8), photometric="rgb")
    with pytest.raises(ScanError, match="give images of one grey value"):
        open_scan(tmp_path / "p", sources)


def test_images_need_angles(folder):
    with pytest.raises(ScanError, match=r"nothing tells the angles of its projections; .*--angles"):
        open_scan(folder, Sources(flats="flats", darks="darks"))


def test_a_library_that_is_not_there_is_named():
    with pytest.raises(ScanError, match=r"images are read by nolib, .*; pip install 'tomo-runner\[images\]'"):
        images._library("nolib")

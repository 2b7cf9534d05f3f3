from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import MissingFileError, UsageError
from runner.tomo.series.entries import entries_of_paths, read_table, value_of
from runner.tomo.settings import Settings


def table(tmp_path, text):
    path = tmp_path / "scans.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_line_goes_before_what_is_the_same_for_all(tmp_path):
    path = table(
        tmp_path,
        "scan,volume,center,window,mask,rings\n"
        'a.nx, out/a.h5, 85.75, hann, true, "sorting:size=31"\n'
        "\n"
        "/data/b.nx,b.tif,,,,\n",
    )
    base = Settings(window="cosine", units="1/pixel", origins={"window": "command line", "units": "x.toml"})
    first, second = read_table(path, base)
    assert (first.scan, first.volume) == (tmp_path / "a.nx", tmp_path / "out" / "a.h5")
    assert (second.scan, second.volume) == (Path("/data/b.nx"), tmp_path / "b.tif")
    assert (first.settings.center, first.settings.window, first.settings.mask) == (85.75, "hann", True)
    assert str(first.settings.rings) == "sorting:size=31"
    assert first.settings.units == "1/pixel"
    assert first.settings.origin("window") == f"{path}, line 2"
    assert first.settings.origin("units") == "x.toml"
    assert second.settings == base


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scan,volume\n", "no lines below"),
        ("", "no column 'scan'"),
        ("scan,windov\na,hann\n", "no column 'volume'.*unknown column 'windov', did you mean window?"),
        ("scan,volume,scan\na,b,c\n", "two columns 'scan'"),
        ("scan,volume\na.nx,\n,b.h5\n", "line 2: no volume, line 3: no scan"),
        ("scan,volume\na.nx,a.h5,1\n", "line 2: more values than columns"),
        ("scan,volume,window\na.nx,a.h5,tukey\nb.nx,b.h5,hann\n", "line 2: .*tukey"),
        ("scan,volume\na.nx,v.h5\nb.nx,v.h5\n", "v.h5 is the volume of 2 scans"),
    ],
)
def test_all_faults_of_a_table_are_named(tmp_path, text, said):
    with pytest.raises(UsageError, match=f"{said}.*nothing was begun"):
        read_table(table(tmp_path, text), Settings())


def test_a_table_that_is_not_there_or_is_none(tmp_path):
    with pytest.raises(MissingFileError, match="there is no table"):
        read_table(tmp_path / "scans.csv", Settings())
    (tmp_path / "scans.csv").write_bytes(b"scan,volume\n\xff\xfe,b\n")
    with pytest.raises(UsageError, match="cannot be read as a table"):
        read_table(tmp_path / "scans.csv", Settings())


def test_scans_and_a_folder(tmp_path):
    entries = entries_of_paths([Path("x/a.nx"), Path("b.h5"), Path("tiffs")], tmp_path, Settings())
    assert [entry.volume for entry in entries] == [tmp_path / name for name in ("a.h5", "b.h5", "tiffs.h5")]
    with pytest.raises(UsageError, match=r"a\.h5 is the volume of 2 scans"):
        entries_of_paths([Path("x/a.nx"), Path("y/a.nx")], tmp_path, Settings())
    with pytest.raises(UsageError, match="is no folder, and 2 scans are given"):
        entries_of_paths([Path("a.nx"), Path("b.nx")], tmp_path / "nowhere", Settings())


@given(st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6), st.booleans()))
def test_numbers_keep_their_value(value):
    assert value_of(str(value).lower()) == value


@pytest.mark.parametrize("text", ["2026-11-30", "07:30:00", "[1, 2]", "inf:", "a = 1\nvalue = 2", "0x", "é"])
def test_what_is_no_number_stays_text(text):
    assert value_of(text) == text

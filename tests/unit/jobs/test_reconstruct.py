import subprocess
import sys
from pathlib import Path

import click
import dask
import h5py
import pytest
from distributed import LocalCluster

from runner.errors import LostError, MissingFileError, UsageError, WriteError
from runner.jobs.reconstruct import command, run
from runner.jobs.settings_options import themes
from runner.tomo.settings import NAMES
from runner.tomo.simulate import Settings, write_scan


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Settings(rows=20, columns=48, angles=60, noise=False))
    return path


@pytest.fixture(scope="module")
def reached():
    """What the launcher gives a job: ``Client()`` without arguments reaches the cluster."""
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0", "memory_limit": "1GB"}
    with (
        LocalCluster(processes=True, **options) as cluster,
        dask.config.set(scheduler_address=cluster.scheduler_address),
    ):
        yield


def test_reading_the_command_line_loads_nothing_heavy():
    code = (
        "import sys; from runner.jobs.reconstruct import command;"
        "command.make_context('reconstruct', ['scan.nx', 'volume.h5', '--center', 'auto']);"
        "heavy = ('numpy', 'dask', 'distributed', 'h5py', 'finufft', 'numba');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "SCAN"),
        ("scan.nx", "VOLUME"),
        ("scan.nx volume.h5 extra", "extra is no folder, and 2 scans are given"),
        ("scans.csv", "there is no table scans.csv"),
        ("scans.csv volume.h5", "a table names the volumes"),
        ("scan.nx volume.h5 --slice left", "left"),
        ("a.nx b.nx . --slice middle", "--slice is for one scan; name one scan and its volume"),
        ("scan.nx volume.h5 --centre 3", "--center"),
        ("scan.nx volume.h5 --center left", "left"),
        ("scan.nx volume.h5 --center nan", "a number from 0 up, or auto"),
        ("scan.nx volume.h5 --center -5", "a number from 0 up, or auto"),
        ("scan.nx volume.h5 --method gridrec", "fourier"),
        ("scan.nx volume.h5 --method fbp --device gpu", "does not run on a GPU"),
        ("scan.nx volume.h5 --window tukey", "ram-lak"),
        ("scan.nx volume.h5 --cutoff 2", "above 0 and up to 1"),
        ("scan.nx volume.h5 --rows 3", "FIRST:END"),
        ("scan.nx volume.h5 --rings sorted", "did you mean sorting?"),
        ("scan.nx volume.h5 --unsharp gaussian:sigma=0", "a number from 0.1"),
        ("scan.nx volume.h5 --zingers -1", "from 0.001 to 1000"),
        ("scan.nx volume.h5 --delta-beta 0", "from 0.001 to 1e+06"),
        ("scan.nx volume.h5 --energy 1e9", "from 0.1 to 2000 keV"),
        ("scan.nx volume.h5 --distance nan", "from 1e-06 to 500 m"),
        ("scan.nx volume.h5 --pixel-size 1.1", "from 1e-09 to 0.002 m"),
        ("scan.nx volume.h5 --greys 0:1", "--dtype uint16"),
        ("scan.nx volume.h5 --angles 0:0:9", "not spread over anything"),
        ("scan.nx volume.h5 --subset half", "no range of projections"),
        ("scan.nx volume.h5 --config wrong.toml", "did you mean window?"),
        ("--config wrong.toml", "did you mean window?"),
    ],
)
def test_a_wrong_command_line_is_known_before_there_is_a_cluster(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong.toml").write_text('windwo = "hann"\n')
    with pytest.raises((click.UsageError, UsageError, MissingFileError)) as refusal:
        command.make_context("reconstruct", words.split())
    error = refusal.value
    assert said in (error.format_message() if isinstance(error, click.UsageError) else str(error))
    with pytest.raises((UsageError, MissingFileError)):
        run(tuple(words.split()))


def test_a_file_may_name_scan_and_volume_and_the_command_line_goes_before_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("recon.toml").write_text('scan = "a.nx"\nvolume = "a.h5"\nwindow = "hann"\n')
    given = command.make_context("reconstruct", ["--config", "recon.toml"]).params
    assert (given["scan"], given["volume"]) == (Path("a.nx"), Path("a.h5"))
    assert (given["settings"].window, given["settings"].origin("window")) == ("hann", "recon.toml")
    given = command.make_context(
        "reconstruct", ["--config", "recon.toml", "b.nx", "--window", "cosine"]
    ).params
    assert (given["scan"], given["volume"]) == (Path("b.nx"), Path("a.h5"))
    assert (given["settings"].window, given["settings"].origin("window")) == ("cosine", "command line")


def test_every_setting_has_one_option_and_its_help_stands_under_one_theme():
    options = [option for group in themes().values() for option in group]
    assert sorted(option.name for option in options) == sorted(NAMES)
    text = command.get_help(click.Context(command))
    assert [text.count(f"\n  --{name.replace('_', '-')} ") for name in NAMES] == [1] * len(NAMES)
    assert [text.index(f"\n{theme}:\n") for theme in themes()] == sorted(
        text.index(f"\n{theme}:\n") for theme in themes()
    )


def test_it_reconstructs_and_says_what_it_made(scan, tmp_path, reached, capsys):
    config = tmp_path / "recon.toml"
    config.write_text('window = "hann"\nrows = "2:18"\n')
    volume = tmp_path / "volume.h5"
    assert run((str(scan), str(volume), "--config", str(config), "--center", "25.0")) == 0
    out, err = capsys.readouterr()
    assert f"{volume}  /entry/data/data" in out
    assert "16 x 48 x 48 (slice, y, x), float32, 1/cm" in out
    assert "column 25.00 (command line)" in out
    assert "all 16 slices written and verified" in out
    assert f"silx view {volume}" in out
    assert f"report   {volume}.report.html" in out
    assert "all 16 slices written and verified" in (tmp_path / "volume.h5.report.html").read_text()
    assert "16/16 slices" in err
    with h5py.File(volume) as file:
        parameters = file["entry/reconstruction/parameters"]
        assert parameters["window"].asstr()[()] == "hann"
        assert Path(parameters["window"].attrs["origin"]) == config
        assert parameters["rows"].asstr()[()] == "2:18"
        assert parameters["center"][()] == 25.0


def test_it_finds_the_axis_by_itself(scan, tmp_path, reached, capsys):
    assert run((str(scan), str(tmp_path / "volume.h5"))) == 0
    assert "axis     column 24.9" in capsys.readouterr().out


def test_the_plan_is_told_and_nothing_written(scan, tmp_path, reached, capsys):
    volume = tmp_path / "volume.h5"
    assert run((str(scan), str(volume), "--plan")) == 0
    out = capsys.readouterr().out
    assert "20 of 48 x 48 pixels, rows 0:20" in out
    assert "2 of 4 to 16 rows" in out
    assert "predicted peak" in out
    assert list(tmp_path.iterdir()) == []


def test_no_report_is_none(scan, tmp_path, reached, capsys):
    assert run((str(scan), str(tmp_path / "volume.h5"), "--center", "25", "--no-report")) == 0
    assert "report   " not in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["volume.h5"]


def test_a_table_of_scans_ends_with_how_each_ended(scan, tmp_path, reached, capsys):
    table = tmp_path / "scans.csv"
    table.write_text(f"scan,volume,center\n{scan},one.h5,25\ngone.nx,two.h5,25\n")
    with pytest.raises(LostError, match="1 of 2 scans are done, 1 failed"):
        run((str(table), "--window", "hann"))
    out, err = capsys.readouterr()
    assert [line.split()[2] for line in out.splitlines()] == ["state", "done", "failed"]
    assert err.index("gone.nx: no such file") < err.index(f"scan 1 of 2: {scan}")
    with h5py.File(tmp_path / "one.h5") as file:
        parameters = file["entry/reconstruction/parameters"]
        assert parameters["window"].asstr()[()] == "hann"
        assert parameters["center"].attrs["origin"] == f"{table}, line 2"
    table.write_text(f"scan,volume,center\n{scan},one.h5,25\n")
    assert run((str(table), "--window", "hann")) == 0
    assert "already there" in capsys.readouterr().out


def test_several_scans_and_a_folder(scan, tmp_path, reached, capsys):
    other = tmp_path / "other.nx"
    other.write_bytes(scan.read_bytes())
    (tmp_path / "volumes").mkdir()
    words = (str(scan), str(other), str(tmp_path / "volumes"), "--center", "25")
    assert run((*words, "--plan")) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["slices", "20", "20", "40"]
    assert list((tmp_path / "volumes").iterdir()) == []
    assert run((*words, "--no-report")) == 0
    assert sorted(path.name for path in (tmp_path / "volumes").iterdir()) == ["other.h5", "scan.h5"]


def test_what_is_wrong_with_a_table_is_known_before_there_is_a_cluster(tmp_path):
    assert command.make_context("reconstruct", ["scan.nx", "volume.h5"]).params["entries"] == ()
    (tmp_path / "scans.csv").write_text("scan,volume,windov\na,b,c\n")
    with pytest.raises(UsageError, match=r"did you mean window\?"):
        command.make_context("reconstruct", [str(tmp_path / "scans.csv")])


def test_a_slice_is_shown_beside_the_volume(scan, tmp_path, reached, capsys):
    volume = tmp_path / "volume.h5"
    assert run((str(scan), str(volume), "--center", "25", "--slice", "middle")) == 0
    made = [tmp_path / "volume_slice_00010.png", tmp_path / "volume_slice_00010.tif"]
    assert sorted(tmp_path.iterdir()) == made
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[:2]] == [str(path) for path in made]
    assert lines[2].startswith("greys    black is ")
    assert lines[3] == "axis     column 25.00 (command line)"


def test_a_picture_alone_is_not_written_over(scan, tmp_path, reached):
    picture = tmp_path / "look.png"
    words = (str(scan), str(picture), "--center", "25", "--slice", "3")
    picture.write_text("precious")
    with pytest.raises(WriteError, match=r"look\.png exists already; say --overwrite"):
        run(words)
    assert picture.read_text() == "precious"
    assert run((*words, "--overwrite")) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]
    with pytest.raises(WriteError, match="there is no folder"):
        run((str(scan), str(tmp_path / "nowhere" / "look.png"), "--slice", "3"))
    with pytest.raises(UsageError, match="left"):
        run((str(scan), str(picture), "--slice", "left"))

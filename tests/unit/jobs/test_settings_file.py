"""A file of settings for a scan, from its beginning to a volume."""

from pathlib import Path

import pytest

from runner.errors import MissingFileError, ScanError, UsageError, WriteError
from runner.jobs.reconstruct import command, run
from runner.jobs.settings_file import values_in
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings, load_settings, read_config
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Simulation(rows=20, columns=48, angles=60, noise=False))
    return path


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_it_is_called_recon_toml_and_says_what_the_scan_is(scan, capsys):
    assert run(("--init", str(scan))) == 0
    assert capsys.readouterr().out.splitlines() == [
        "written  recon.toml",
        "next     name the volume in it, then: runner reconstruct --config recon.toml",
    ]
    text = Path("recon.toml").read_text()
    assert "# angles       0 to 177 degrees, in steps of 3" in text
    assert "\n#energy = 25.0\n" in text
    file = read_config(Path("recon.toml"))
    assert (file.scan, load_settings(file, {})) == (scan, Settings())


def test_what_was_given_stands_in_it(scan, capsys):
    Path("old.toml").write_text('volume = "volume.h5"\nwindow = "hann"\ncutoff = 0.5\n')
    assert run(("--init", str(scan), "new.toml", "--config", "old.toml", "--cutoff", "0.8")) == 0
    assert "next     runner reconstruct --config new.toml" in capsys.readouterr().out
    file = read_config(Path("new.toml"))
    assert dict(file.settings) == {"window": "hann", "cutoff": 0.8}
    assert file.volume == Path("volume.h5").absolute()


def test_it_is_not_written_over_unless_asked(scan):
    Path("recon.toml").write_text("mine\n")
    with pytest.raises(WriteError, match="there already"):
        run(("--init", str(scan)))
    assert Path("recon.toml").read_text() == "mine\n"
    assert run(("--init", str(scan), "--overwrite")) == 0
    assert read_config(Path("recon.toml")).scan == scan


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["nothing.nx"], MissingFileError, "nothing.nx"),
        (["SCAN", "nowhere/recon.toml"], WriteError, "a folder that exists"),
        (["SCAN", "--angles", "0:180:7"], ScanError, "7 angles"),
        (["SCAN", "--center", "-1"], UsageError, "a number from 0 up"),
        ([], UsageError, "SCAN"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(scan, tmp_path, words, error, said):
    with pytest.raises(error, match=said):
        run(("--init", *(str(scan) if word == "SCAN" else word for word in words)))
    assert list(tmp_path.iterdir()) == []


def test_the_values_of_a_scan_are_allowed(scan):
    values = values_in(open_scan(scan))
    assert set(values) == {"entry", "rows", "energy", "distance", "pixel_size"}
    settings = Settings(**values)
    assert (settings.rows, settings.sources.entry) == ((0, 20), "entry")
    assert open_scan(scan, settings.sources).rows == 20


def test_with_a_volume_named_it_is_all_that_a_reconstruction_needs(scan):
    run(("--init", str(scan)))
    file = Path("recon.toml")
    file.write_text(file.read_text().replace("#volume = ", "volume = ").replace("#window = ", "window = "))
    given = command.make_context("reconstruct", ["--config", "recon.toml"]).params
    assert (given["scan"], given["volume"]) == (scan, Path("volume.h5"))


NABU = """
[dataset]
location = {scan}
[phase]
method = paganin
delta_beta = 250
unsharp_coeff = 3
unsharp_sigma = 0.8
[reconstruction]
end_z = 9
rotation_axis_position = {axis}
[resources]
workers = 4
"""
UNSHARP = ("--unsharp", "gaussian:sigma=0.8,coeff=3")


def test_the_file_of_another_program_becomes_one_of_ours(scan, capsys):
    Path("nabu.conf").write_text(NABU.format(scan=scan, axis="24.5"))
    with pytest.raises(UsageError, match=r"give --unsharp gaussian:sigma=0\.8,coeff=3"):
        run(("--init", "--config", "nabu.conf"))
    assert run(("--init", "--config", "nabu.conf", *UNSHARP)) == 0
    assert "nabu.conf: resources.workers = 4 is not used" in capsys.readouterr().err
    file = read_config(Path("recon.toml"))
    assert (file.scan, file.volume) == (scan, scan.with_name("scan_rec.hdf5"))
    assert dict(file.settings) == {
        "delta_beta": 250.0,
        "rows": ":10",
        "center": 24.5,
        "unsharp": "gaussian:sigma=0.8,coeff=3.0",
    }


def test_all_that_is_not_done_here_is_said_a_line_each(scan, capsys):
    Path("nabu.conf").write_text(NABU.format(scan=scan, axis="").replace("paganin", "CTF"))
    with pytest.raises(UsageError, match=r"nabu.conf asks for 3 things that are not done here; see above"):
        run(("--config", "nabu.conf"))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == [
        "phase.method",
        "phase.unsharp_coeff",
        "reconstruction.rotation_axis_position",
    ]


def test_a_volume_that_nabu_names_in_another_form_is_named_on_the_command_line(scan):
    text = NABU.format(scan=scan, axis="24.5").replace("unsharp_coeff = 3", "")
    Path("nabu.conf").write_text(text + "[output]\nfile_format = jp2\n")
    with pytest.raises(UsageError, match="name VOLUME"):
        command.make_context("reconstruct", ["--config", "nabu.conf"])
    given = command.make_context("reconstruct", ["--config", "nabu.conf", str(scan), "a.h5"]).params
    assert (given["volume"], given["settings"].center) == (Path("a.h5"), 24.5)
    given = command.make_context("reconstruct", ["--config", "nabu.conf", "--init"]).params
    assert (given["init"], given["volume"]) == (Path("recon.toml"), None)

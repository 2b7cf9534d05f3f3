"""Every command that takes a scan opens it in the same ways."""

import pytest

from runner.errors import ScanError, UsageError
from runner.jobs import center, check, reconstruct
from runner.jobs.scan_options import sources_of
from runner.tomo.settings import Settings, load_settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from runner.tomo.sources import NAMES, Sources


@pytest.mark.parametrize("module", [check, center, reconstruct])
def test_all_commands_have_all_options(module):
    options = {name for parameter in module.command.params for name in parameter.opts}
    assert {f"--{name.replace('_', '-')}" for name in NAMES} <= options


def test_sources_are_settings_too(tmp_path):
    given = dict.fromkeys(NAMES) | {"flats": "a.h5", "angles": "0:180:9"}
    expected = Sources(flats="a.h5", angles="0:180:9")
    assert sources_of(given) == load_settings(None, given).sources == expected
    config = tmp_path / "recon.toml"
    config.write_text('flats = "a.h5"\nangles = "0:180:9"\n')
    assert load_settings(config, {}).sources == expected
    assert Settings().sources == Sources()
    with pytest.raises(UsageError, match="flats ' ' is no name of a place"):
        sources_of(given | {"flats": " "})


def test_the_axis_is_found_with_what_is_left_and_what_was_said(tmp_path, capsys):
    path = tmp_path / "scan.nx"
    write_scan(path, Simulation(rows=8, columns=64, angles=120, center=33.0, noise=False))
    assert center.run((str(path), "--subset", "::2", "--bands", "2")) == 0
    out, err = capsys.readouterr()
    assert "60 of 120 projections are used, as was asked" in err
    assert float(out.split()[2]) == pytest.approx(33, abs=0.2)
    with pytest.raises(ScanError, match="7 angles are given"):
        center.run((str(path), "--angles", "0:180:7"))

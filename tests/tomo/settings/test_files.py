from pathlib import Path

import pytest

from runner.errors import MissingFileError, UsageError
from runner.tomo.settings import NAMES, load_settings, read_config


def test_the_command_line_goes_before_the_file_and_the_file_before_the_defaults(tmp_path):
    config = tmp_path / "recon.toml"
    config.write_text('center = 296\nwindow = "hann"\nrows = "4:20"\nmask = true\n')
    settings = load_settings(config, {"window": "cosine", "padding": None, "method": "fbp"})
    assert settings.center == 296.0
    assert settings.window == "cosine"
    assert settings.method == "fbp"
    assert settings.padding == "edge"
    assert settings.rows == (4, 20)
    assert settings.mask is True
    from_file = dict.fromkeys(("center", "rows", "mask"), str(config))
    typed = dict.fromkeys(("method", "window"), "command line")
    origins = {name: settings.origin(name) for name in NAMES}
    assert origins == dict.fromkeys(NAMES, "default") | from_file | typed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("centre = 3", "did you mean center"),
        ("windw = 'hann'", "did you mean window"),
        ("qqqq = 1", "it may hold scan, volume, entry, projections"),
        ("window = 'tukey'", "choose one of ram-lak, "),
        ("method = 3", "choose one of fourier, exact, fbp"),
        ("quality = 'best'", "choose one of standard, high"),
        ("cutoff = 0", "above 0 and up to 1"),
        ("cutoff = true", "above 0 and up to 1"),
        ("cutoff = 'half'", "above 0 and up to 1"),
        ("units = '1/mm'", "choose one of 1/cm, 1/pixel"),
        ("center = true", "auto"),
        ("center = -1", "auto"),
        ("center = nan", "auto"),
        ("center = 'left'", "auto"),
        ("rows = 3", "FIRST:END"),
        ("rows = [3, true]", "FIRST:END"),
        ("rows = '3-5'", "FIRST:END"),
        ("mask = 1", "neither true nor false"),
        ("entry = 5", "no name"),
        ("center = ", "TOML"),
        ("origins = 3", "unknown setting"),
        ("rings = 'sortng'", "did you mean sorting?"),
        ("rings = {method = 'sorting', siize = 3}", "did you mean size?"),
        ("zingers = 0", "from 0.001 to 1000"),
        ("delta_beta = true", "from 0.001 to 1e+06"),
        ("energy = '20 keV'", "from 0.1 to 2000 keV"),
        ("energy = 20000", "from 0.1 to 2000 keV"),
        ("pixel_size = 1.1", "from 1e-09 to 0.002 m"),
        ("distance = 800", "from 1e-06 to 500 m"),
        ("unsharp = 'gaussian:sigma=0'", "a number from 0.1 to 100"),
        ("rings = 3", "NAME:PARAMETER=NUMBER"),
        ("angles = '5:5:100'", "not spread over anything"),
        ("subset = '9:0:-1'", "FIRST:END:STEP"),
        ("scan = 3", "no name of a file"),
        ("volume = ''", "no name of a file"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, said):
    config = tmp_path / "recon.toml"
    config.write_text(text)
    with pytest.raises(UsageError) as refusal:
        load_settings(config, {})
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_may_say_what_becomes_what(tmp_path):
    config = tmp_path / "recon.toml"
    config.write_text('scan = "scan.nx"\nvolume = "out/volume.h5"\nwindow = "hann"\n')
    file = read_config(config)
    assert (file.scan, file.volume, dict(file.settings)) == (
        Path("scan.nx"),
        Path("out/volume.h5"),
        {"window": "hann"},
    )
    assert load_settings(file, {}) == load_settings(config, {})


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml", {})

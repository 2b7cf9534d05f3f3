import pytest

from runner.errors import MissingFileError, UsageError
from runner.tomo import settings as module
from runner.tomo.reconstruct import filters, reconstructor
from runner.tomo.reconstruct.gridding import quality
from runner.tomo.settings import NAMES, Settings, load_settings, parse_rows, rows_within


def test_the_choices_are_those_of_the_engine():
    assert tuple(reconstructor.METHODS) == module.METHODS
    assert tuple(quality.QUALITIES) == module.QUALITIES
    assert tuple(filters.WINDOWS) == module.WINDOWS
    assert filters.PADDINGS == module.PADDINGS


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
        ("xyz = 1", "it may hold entry, projections"),
        ("window = 'parzen'", "choose one of ram-lak, "),
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
    ],
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, said):
    config = tmp_path / "recon.toml"
    config.write_text(text)
    with pytest.raises(UsageError) as refusal:
        load_settings(config, {})
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingFileError, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml", {})


@pytest.mark.parametrize(
    ("text", "bounds"), [("10:20", (10, 20)), (":20", (None, 20)), ("10:", (10, None)), (":", (None, None))]
)
def test_rows_read_like_a_slice(text, bounds):
    assert parse_rows(text) == bounds
    assert Settings(rows=text).rows == bounds


@pytest.mark.parametrize("text", ["10", "a:b", "1:2:3", "1.5:3", ""])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(UsageError, match="FIRST:END"):
        parse_rows(text)


@pytest.mark.parametrize(
    ("rows", "result"),
    [(None, (0, 50)), ((None, None), (0, 50)), ((3, None), (3, 50)), ((None, 3), (0, 3)), ((0, 50), (0, 50))],
)
def test_rows_on_the_detector(rows, result):
    assert rows_within(rows, 50) == result


@pytest.mark.parametrize("rows", [(0, 51), (-1, 3), (5, 5), (6, 5), (50, None), (None, 0)])
def test_rows_outside_are_refused_with_what_is_there(rows):
    with pytest.raises(UsageError, match="0:50"):
        rows_within(rows, 50)

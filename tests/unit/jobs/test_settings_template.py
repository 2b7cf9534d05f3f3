"""A file of settings says the same as none, setting by setting, until somebody changes it."""

import tomllib
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.jobs.settings_options import themes
from runner.jobs.settings_template import template, toml_value
from runner.tomo.correct.rings.methods import METHODS as RINGS_METHODS
from runner.tomo.settings import (
    DTYPES,
    METHODS,
    NAMES,
    PADDINGS,
    WINDOWS,
    Settings,
    allowed_for,
    load_settings,
    read_config,
)
from runner.tomo.settings.allowed import ITERATIVE

FOUND = {"entry": "entry0000", "rows": "0:64", "energy": 25.0, "distance": 0.1, "pixel_size": 4e-5}
WITHOUT = [name for name in NAMES if getattr(Settings(), name) is None]


def written(folder, settings, *, volume=None, about=()):
    file = folder / "recon.toml"
    file.write_text(template(file.name, Path("/a/scan.nx"), volume, settings, about=about, found=FOUND))
    return file


def with_line_of(name, file):
    """Take the # from the line of a setting."""
    lines = file.read_text().splitlines()
    assert sum(line.startswith(f"#{name} = ") for line in lines) == 1
    file.write_text(
        "\n".join(line.removeprefix("#" if line.startswith(f"#{name} = ") else "") for line in lines)
    )
    return file


def values(settings):
    return {name: getattr(settings, name) for name in NAMES}


def test_unchanged_it_says_the_same_as_no_file(tmp_path):
    file = read_config(written(tmp_path, Settings()))
    assert (file.scan, file.volume, dict(file.settings)) == (Path("/a/scan.nx"), None, {})
    assert load_settings(file, {}) == Settings()


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_has_its_default_what_the_scan_says_or_a_word_for_it(tmp_path, name):
    file = with_line_of(name, written(tmp_path, Settings()))
    if name not in WITHOUT:
        assert values(load_settings(file, {})) == values(Settings())
    elif name in FOUND:
        assert values(load_settings(file, {})) == values(Settings(**{name: FOUND[name]}))
    else:  # whoever forgets to replace the word is told
        word = next(option.metavar for group in themes().values() for option in group if option.name == name)
        assert word in file.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_allowed_stands_there(tmp_path, name):
    text = " ".join(written(tmp_path, Settings()).read_text().replace("\n# ", " ").split())
    assert allowed_for(name) in text


def possible(given):
    """Leave out what goes with other methods only."""
    others = ("window", "cutoff", "padding") if given.get("method") in ITERATIVE else ("iterations",)
    return {name: value for name, value in given.items() if name not in others}


NUMBERS = st.floats(0.5, 100.0)
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "entry": st.text(min_size=1).filter(str.strip),
        "flats": st.text(st.characters(codec="utf-8", categories=["L", "Cc", "Po"]), min_size=1).filter(
            str.strip
        ),
        "angles": st.just("0:180:900"),
        "subset": st.sampled_from(["::2", "10:", "0:90:3"]),
        "center": st.one_of(st.just("auto"), st.floats(0, 1e4)),
        "method": st.sampled_from([name for name in METHODS if name not in ITERATIVE]),
        "bin": st.sampled_from([1, 2, 4, 8]),
        "air": st.integers(1, 99),
        "no_darks": st.just(True),
        "window": st.sampled_from(WINDOWS),
        "cutoff": st.floats(0, 1, exclude_min=True),
        "padding": st.sampled_from(PADDINGS),
        "iterations": st.integers(1, 500),
        "rows": st.tuples(st.none() | st.integers(0, 99), st.none() | st.integers(100, 999)),
        "rings": st.sampled_from([*RINGS_METHODS, "sorting:size=9", "wavelet-fft:sigma=0.3"]),
        "unsharp": st.sampled_from(["none", "gaussian:sigma=2.5"]),
        "zingers": NUMBERS,
        "delta_beta": NUMBERS,
        "energy": NUMBERS,
        "distance": NUMBERS,
        "pixel_size": st.floats(1e-9, 1e-3),
        "mask": st.booleans(),
        "dtype": st.sampled_from(DTYPES),
    },
).map(possible)


@given(GIVEN)
@hypothesis.settings(max_examples=40)
def test_what_was_given_is_read_again(tmp_path_factory, given):
    settings = load_settings(None, given)
    file = written(tmp_path_factory.mktemp("written"), settings, volume=Path("/b/volume.h5"))
    again = load_settings(file, {})
    assert values(again) == values(settings)
    assert {name for name in NAMES if again.origin(name) == str(file)} == set(given)
    assert read_config(file).volume == Path("/b/volume.h5")


@given(st.text())
def test_every_text_is_written_as_toml_reads_it(text):
    assert tomllib.loads(f"name = {toml_value(text)}") == {"name": text}


def test_a_scan_may_be_called_anything(tmp_path):
    file = written(tmp_path, Settings(), about=["title  two\nwindow = 'hann'\x00", "note: \r\x85"])
    assert load_settings(file, {}) == Settings()


def test_a_word_that_was_not_replaced_is_no_number(tmp_path):
    with pytest.raises(UsageError, match="TOML"):
        load_settings(with_line_of("zingers", written(tmp_path, Settings())), {})

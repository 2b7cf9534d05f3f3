from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.report.pictures import scale_bar


@given(st.integers(16, 10_000), st.one_of(st.none(), st.floats(1e-8, 1e-3)))
def test_a_scale_bar_is_round_and_no_longer_than_a_third(width, pixel_size):
    length, text = scale_bar(width, pixel_size)
    assert 0.1 * width < length <= width / 3 * (1 + 1e-6)
    number, unit = text.split()
    assert float(number.lstrip("0.").rstrip("0.") or 1) in {1, 2, 5}
    if pixel_size is not None:
        metres = float(number) * {"cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "nm": 1e-9}[unit]
        assert abs(length * pixel_size - metres) < 1e-6 * metres

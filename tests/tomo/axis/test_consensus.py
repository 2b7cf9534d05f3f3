"""Three methods, one axis: a table of what they may say."""

import numpy as np
import pytest

from runner.errors import ScanError
from runner.tomo.axis.consensus import consensus, spread_about
from runner.tomo.axis.finding import Finding


def findings(*places):
    """Numbers are certain; a number in a tuple is in doubt."""
    names = ("opposite views", "sinogram", "sharpness")
    return tuple(
        Finding(method=name, position=place[0], spread=0.2, doubt="faint")
        if isinstance(place, tuple)
        else Finding(method=name, position=place, spread=0.1)
        for name, place in zip(names, places, strict=False)
    )


@pytest.mark.parametrize(
    ("places", "position", "confidence"),
    [
        ((40.0, 40.1, 40.4), 40.1, "high"),
        ((40.0, 40.4, (90.0,)), 40.2, "fair"),
        ((40.0, (7.0,), (np.inf,)), 40.0, "low"),
        ((40.0, 40.9), 40.45, "fair"),
        (((40.0,), (7.0,), 40.5), 40.5, "low"),  # confirmed by one that is certain
        (((40.0,), 40.2, 40.4), 40.3, "fair"),
        ((40.0, 40.1, 40.9), 40.1, "fair"),  # the third one is further away
    ],
)
def test_methods_that_agree(places, position, confidence):
    found, trust = consensus(findings(*places))
    assert found == pytest.approx(position)
    assert trust == confidence


@pytest.mark.parametrize(
    "places", [(40.0, 41.1), (40.0, 40.5, 38.9), ((40.0,), (40.0,), 41.5), ((np.inf,), 40.0)]
)
def test_methods_that_disagree_are_refused_by_name(places):
    with pytest.raises(ScanError, match=r"disagree: opposite views .*, (sinogram|sharpness) .*--center PX"):
        consensus(findings(*places))


def test_doubts_alone_are_refused():
    with pytest.raises(ScanError, match=r"no method is certain: opposite views 40.00 \+- 0.20 \(faint\)"):
        consensus(findings((40.0,), (40.0,), (40.0,)))


@pytest.mark.parametrize(
    ("of_rows", "places", "spread"),
    [(0.2, (40.0, 40.1, 40.0), 0.2), (0.0, (33.38, 33.43), 0.025), (0.0, (40.0, 40.0), 0.01)],
)
def test_the_spread_is_that_of_rows_and_of_methods(of_rows, places, spread):
    findings = tuple(
        Finding(method=f"method {number}", position=place, spread=of_rows)
        for number, place in enumerate(places)
    )
    position, _ = consensus(findings)
    assert spread_about(position, findings) == pytest.approx(spread)

"""Each chart says what its numbers say."""

import re

import numpy as np
import pytest

from runner.tomo.axis import AxisEstimate
from runner.tomo.axis.finding import Band, Curve, Finding
from runner.tomo.chunk import ChunkResult
from runner.tomo.plan import Chunk
from runner.tomo.report.axis_charts import bands_outside, draw_bands, draw_curves
from runner.tomo.report.defects_chart import draw_defects
from runner.tomo.report.histogram import draw_histogram
from runner.tomo.report.timeline import draw_timeline, span_of
from runner.tomo.scan.defects import pack
from runner.tomo.volume.greys import Greys


def made(worker, begun, read, reconstruct, write, first_row=0):
    seconds = {"read": read, "reconstruct": reconstruct, "write": write}
    chunk = Chunk(first_row=first_row, end_row=first_row + 16)
    begins = {"read": begun, "reconstruct": begun + read, "write": begun + read + reconstruct}
    return ChunkResult(chunk=chunk, worker=worker, begun=begins, seconds=seconds)


def bars(drawn, stage):
    """The bars of a stage: left, top, right, bottom."""
    (path,) = re.findall(rf'<path class="{stage}" d="([^"]*)"', drawn)
    return [tuple(map(float, bar)) for bar in re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H", path)]


def test_a_chunk_is_as_long_as_it_took_and_in_the_lane_of_its_worker():
    results = [made("tcp://b", 1002, 2, 4, 2), made("tcp://a", 1000, 4, 1, 1), made("tcp://a", 1007, 1, 1, 1)]
    assert span_of(results) == (1000, 1010)
    drawn = draw_timeline(results)
    read, worked, wrote = (bars(drawn, stage) for stage in ("read", "reconstruct", "write"))
    second = (read[1][2] - read[1][0]) / 4
    assert read[0][0] - read[1][0] == pytest.approx(2 * second, abs=0.2)
    assert worked[0][2] - worked[0][0] == pytest.approx(4 * second, abs=0.2)
    assert wrote[0][2] == pytest.approx(wrote[2][2], abs=0.2)
    assert [bar[0] for bar in worked] == [bar[2] for bar in read]
    assert read[1][1] == read[2][1] < read[1][3] < read[0][1]  # the first worker's lane is the upper one


def test_a_thousand_workers_and_many_chunks_stay_small():
    results = [made(f"tcp://{number % 1000}", number, 1, 1, 1) for number in range(5000)]
    assert len(draw_timeline(results)) < 800_000


def test_nothing_made_is_drawn_as_nothing():
    assert bars(draw_timeline([]), "read") == []


def test_each_bin_of_whole_numbers_holds_as_many_levels():
    greys = Greys(dtype="uint8", low=-1.0, high=1.0)
    values = np.arange(256, dtype=np.float32) * greys.step + greys.low
    (points,) = re.findall(r'<polygon class="bars" points="([^"]*)"', draw_histogram(values, "1/cm", greys))
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert len(set(heights[1:-1])) == 1


@pytest.mark.parametrize("values", [[], [3.0, 3.0], [0.0, 1e30]])
def test_odd_values_are_drawn(values):
    assert "nan" not in draw_histogram(np.array(values, np.float32), "1/cm", Greys())


@pytest.fixture
def tilted():
    centers = np.linspace(40, 60, 41)
    finding = Finding(
        method="sinogram",
        position=50.0,
        spread=0.1,
        curve=Curve(centers=centers, scores=-((centers - 50) ** 2)),
    )
    bands = tuple(
        Band(start=row, stop=row + 10, position=position, weight=2.0)
        for row, position in ((0, 48.1), (45, 50.0), (90, 52.0), (60, 70.0))
    )
    return AxisEstimate(
        position=50.0,
        slope=0.04,
        spread=0.1,
        confidence="high",
        agreement=1.0,
        score=0.99,
        method="consensus",
        findings=(finding, Finding(method="none", position=np.inf, spread=np.inf)),
        bands=bands,
        pairs=(0.0,),
    )


def test_the_curve_is_highest_at_the_axis(tilted):
    (points,) = re.findall(r'<polyline class="curve c0" points="([^"]*)"', draw_curves(tilted))
    places = [tuple(map(float, point.split(","))) for point in points.split()]
    top = min(places, key=lambda place: place[1])
    assert top == places[20]


def test_every_defective_pixel_is_marked_where_it_is():
    pixels = np.zeros((100, 300), np.uint8)
    pixels[10, 20] = pixels[99, 299] = 1
    pixels[50, 99:102] = 3
    drawn = draw_defects(pack(pixels))
    paths = dict(re.findall(r'<path class="f(\d)" d="([^"]*)"', drawn))
    marks = {
        kind: [tuple(map(float, place)) for place in re.findall(r"M([\d.]+) ([\d.]+)", path)]
        for kind, path in paths.items()
    }
    assert [len(marks[str(kind)]) for kind in range(5)] == [2, 0, 1, 0, 0]  # three neighbours in one cell
    (left, top), (right, bottom) = marks["0"]
    assert left < marks["2"][0][0] < right
    assert top < marks["2"][0][1] < bottom


def test_a_detector_full_of_defects_makes_no_huge_page():
    pixels = np.random.default_rng(1).integers(0, 6, (2048, 2048)).astype(np.uint8)
    assert len(draw_defects(pack(pixels))) < 1_000_000


def test_bands_beyond_the_chart_are_counted(tilted):
    drawn = draw_bands(tilted, 100)
    assert drawn.count("<circle") == 3
    assert bands_outside(tilted, 100) == 1
    rows = [float(place) for place in re.findall(r'cy="([\d.]+)"', drawn)]
    assert rows == sorted(rows)

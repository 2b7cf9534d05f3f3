"""The page in a real browser: nothing is missing, nothing is asked of a network, nothing is wider than it."""

import pytest

from runner.tomo.report.write import report_path
from runner.tomo.scan import open_scan


@pytest.fixture(params=["light", "dark"])
def page(request, browser, volume):
    """The page in a window, with all that went wrong and all that was asked for."""
    page = browser.new_page(color_scheme=request.param, viewport={"width": 1200, "height": 900})
    page.set_default_timeout(60_000)
    page.said, page.asked, page.scheme = [], [], request.param
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda call: page.asked.append(call.url))
    page.goto(report_path(volume).as_uri())
    yield page
    page.close()


def test_it_opens_without_a_complaint_and_without_a_network(page, volume):
    assert page.said == []
    assert [url for url in page.asked if not url.startswith("data:")] == [report_path(volume).as_uri()]


def test_every_picture_is_there(page):
    sizes = page.evaluate("[...document.images].map(image => [image.naturalWidth, image.naturalHeight])")
    assert sizes == [[48, 48], [48, 100], [48, 100], [48, 40]]  # slice, two cuts, sinogram
    drawn = page.evaluate(
        "[...document.querySelectorAll('svg')].map(one => one.getBoundingClientRect().height)"
    )
    assert len(drawn) == 4  # histogram, curves, bands, timeline
    assert min(drawn) > 50


def test_a_scale_bar_is_as_long_as_it_says(page, small_scan):
    widths = page.evaluate(
        "[...document.querySelectorAll('.image')].map(image => ["
        "image.querySelector('.bar').getBoundingClientRect().width / image.getBoundingClientRect().width,"
        "image.querySelector('.bar').textContent])"
    )
    width = 48 * open_scan(small_scan).pixel_size
    for share, text in widths:
        length, unit = text.split()
        metres = float(length) * {"mm": 1e-3, "µm": 1e-6}[unit]
        assert share == pytest.approx(metres / width, rel=0.02)


def test_its_words_are_those_of_the_run(page):
    text = page.inner_text("main")
    for words in ("all 100 slices written and verified", "100 × 48 × 48", "consensus", "confidence"):
        assert words in text
    assert page.inner_text("tr:has(th:text-is('window'))").split() == ["window", "ram-lak", "default"]


@pytest.mark.parametrize("width", [1200, 420])
def test_nothing_is_wider_than_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_letters_stand_out_from_what_is_behind_them(page):
    """The contrast of WCAG 2 for normal text: 4.5."""
    for selector, behind in (
        ("main .soft", "body"),
        ("td", "section"),
        (".state", ".state"),
        ("h2", "section"),
    ):
        ink, paper = (
            page.eval_on_selector(where, f"one => getComputedStyle(one).{what}")
            for where, what in ((selector, "color"), (behind, "backgroundColor"))
        )
        assert contrast(ink, paper) > 4.5, (page.scheme, selector)


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    """Of ``rgb(r, g, b)``, as WCAG 2 defines it."""
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

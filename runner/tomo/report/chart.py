"""What all charts of a page share: a plane with scales, drawn as SVG that takes its colours from the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 14.0, 8.0, 36.0  # around the plane, units of the drawing


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Choose round numbers within a range: steps of 1, 2 or 5 times a power of ten.

    >>> ticks(0, 47), ticks(-0.31, 0.98, most=4)
    ([0.0, 10.0, 20.0, 30.0, 40.0], [0.0, 0.5])
    """
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most)
    digits = max(0, 2 - math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, digits) for number in range(first, last + 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """A plane with a scale along each side.

    Attributes
    ----------
    x, y : (float, float)
        Values at the left and the right, at the bottom and the top.
    width, height : float
        Of the whole drawing: that of the page, so that all charts have letters of one size.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = 1060.0
    height: float = 240.0

    def across(self, value: float) -> float:
        """Tell where a value lies from left to right."""
        return _LEFT + (value - self.x[0]) / _span(self.x) * (self.width - _LEFT - _RIGHT)

    def down(self, value: float) -> float:
        """Tell where a value lies from top to bottom."""
        return _TOP + (self.y[1] - value) / _span(self.y) * (self.height - _TOP - _BOTTOM)

    def line(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Write the points of a line."""
        return " ".join(f"{self.across(x):.1f},{self.down(y):.1f}" for x, y in zip(xs, ys, strict=True))

    def scales(self, x_name: str, y_name: str, *, y_ticks: bool = True) -> Markup:
        """Draw both scales with their names."""
        bottom, end = self.height - _BOTTOM, self.width - _RIGHT
        parts = [Markup('<path class="frame" d="M{} {}V{}H{}"/>').format(_LEFT, _TOP, bottom, end)]
        for value in ticks(*self.x):
            place = f"{self.across(value):.1f}"
            parts.append(Markup('<path class="tick" d="M{} {}v4"/>').format(place, bottom))
            parts.append(
                Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
                    place, bottom + 16, f"{value:g}"
                )
            )
        for value in ticks(min(self.y), max(self.y), most=5) if y_ticks else []:
            place = f"{self.down(value):.1f}"
            parts.append(Markup('<path class="grid" d="M{} {}H{}"/>').format(_LEFT, place, end))
            parts.append(
                Markup('<text x="{}" y="{}" text-anchor="end" dy="4">{}</text>').format(
                    _LEFT - 6, place, f"{value:g}"
                )
            )
        middle, side = (_LEFT + end) / 2, (_TOP + bottom) / 2
        parts.append(
            Markup('<text class="name" x="{}" y="{}" text-anchor="middle">{}</text>').format(
                middle, self.height - 3, x_name
            )
        )
        turned = f"translate(13 {side}) rotate(-90)"
        parts.append(
            Markup('<text class="name" transform="{}" text-anchor="middle">{}</text>').format(turned, y_name)
        )
        return Markup("").join(parts)


def drawing(plane: Plane, parts: Sequence[Markup], title: str) -> Markup:
    """Put a drawing together; the title is what a screen reader says."""
    return Markup('<svg viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
        plane.width, plane.height, title, Markup("").join(parts)
    )


def _span(ends: tuple[float, float]) -> float:
    return (ends[1] - ends[0]) or 1.0

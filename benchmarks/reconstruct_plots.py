"""The pictures of `benchmarks.reconstruct`: how long each contender takes, and what its slice looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchmarks.reconstruct import Row


def plot_times(rows: Sequence[Row], engine: str, path: Path) -> None:
    """Draw the processor time of all contenders."""
    from matplotlib.figure import Figure

    problems = sorted({(row.columns, row.angles) for row in rows})
    figure = Figure(figsize=(5.2 * len(problems), 4.2), layout="tight")
    for panel, problem in zip(figure.subplots(1, len(problems), squeeze=False)[0], problems, strict=True):
        here = [
            row for row in rows if (row.columns, row.angles) == problem and row.threads == rows[0].threads
        ]
        here.sort(key=lambda row: row.cpu, reverse=True)
        colors = [
            "tab:red" if row.name == engine else "tab:blue" if row.errors else "tab:gray" for row in here
        ]
        bars = panel.barh([row.name for row in here], [row.cpu for row in here], color=colors)
        labels = [f"{row.cpu:.3g}" if row.cpu < 100 else f"{row.cpu:.0f}" for row in here]
        panel.bar_label(bars, labels, padding=3)
        panel.set(
            xscale="log",
            xlabel="processor time, ms for a slice",
            title=f"{problem[0]} columns, {problem[1]} angles",
        )
        panel.set_xlim(right=5 * max(row.cpu for row in here))  # room for the labels
    figure.savefig(path, dpi=120)


_ALIKE = ("runner fourier, high", "runner exact")  # look as "runner fourier" does


def plot_slices(images: Mapping[str, np.ndarray], truth: np.ndarray, path: Path) -> None:
    """Draw the phantom and a part of each slice, and below how far the slice is from the phantom."""
    from matplotlib.figure import Figure

    shown = {"the phantom": truth} | {name: images[name] for name in images if name not in _ALIKE}
    size, top = len(truth), truth.max()
    part = np.s_[size // 2 : 2 * size // 3, size // 4 : 5 * size // 12]
    figure = Figure(figsize=(1.6 * len(shown), 3.7), layout="tight")
    for (above, below), (name, image) in zip(figure.subplots(2, len(shown)).T, shown.items(), strict=True):
        above.imshow(image[part], cmap="gray", vmin=0, vmax=top)
        below.imshow((image - truth)[part], cmap="coolwarm", vmin=-0.1 * top, vmax=0.1 * top)
        above.set_title(name, fontsize=9)
        for panel in (above, below):
            panel.set_axis_off()
    figure.savefig(path, dpi=110)

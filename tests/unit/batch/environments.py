"""The recorded environments of ``tests/env``."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "env"


def recorded(name: str, **changes: str) -> dict[str, str]:
    """Read ``tests/env/NAME.env``, with variables replaced."""
    lines = (FOLDER / f"{name}.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#")) | changes

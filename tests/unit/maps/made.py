"""Maps for tests, written but not run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from runner.maps.layout import Layout
from runner.maps.make import prepare


def made(folder: Path, function: Callable[[Any], Any], arguments: Iterable[Any], **options: Any) -> Layout:
    """Write a map named scan42 into a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNNER_MAPS", os.fspath(folder))
        return prepare(function, arguments, name="scan42", **options)

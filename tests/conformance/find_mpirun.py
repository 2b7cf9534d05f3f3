"""A plugin of pytest: Dask's `popen` looks for programs beside the interpreter only; let it use the path."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any

from distributed import utils_test

_popen = utils_test.popen


def popen(words: Sequence[str], **options: Any) -> Any:
    return _popen([shutil.which(words[0]) or words[0], *words[1:]], **options)


utils_test.popen = popen

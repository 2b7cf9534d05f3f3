"""Functions by name: imported, or looked for without running anything."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.maps.by_name import check_function, load_function

WRONG = [
    ("textwrap", "names no function"),
    (":f", "names no function"),
    ("package.:f", "names no function"),
    ("no_such_module:f", "there is no no_such_module:f"),
    ("textwrap:no_such_function", "there is no textwrap:no_such_function"),
]


def test_functions() -> None:
    assert load_function("textwrap:dedent") is textwrap.dedent
    assert load_function("pathlib:Path.exists") is Path.exists


@pytest.mark.parametrize(("name", "message"), [*WRONG, ("math:pi", "is no function")])
def test_what_is_no_function(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_function(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of modules that say so where they are run."""
    files = {
        "plain.py": "def f(a): pass\nclass C:\n    def g(self, a): pass\nh = f\nfrom os import path as p\n",
        "later.py": "def make():\n    global f\n    f = print\nmake()\n",
        "loops.py": "for f in (print, len):\n    pass\n",
        "starred.py": "from os.path import *\n",
        "lazy.py": "def __getattr__(name): return print\n",
        "by_table.py": "for n in ('f', 'g'):\n    globals()[n] = print\n",
        "instead.py": "import sys, math\nsys.modules[__name__ + '.inner'] = math\n",
        "broken.py": "def f(:\n",
        "package/__init__.py": "from .inner import h\n",
        "package/inner.py": "def h(a): pass\n",
        "bare/inner.py": "def h(a): pass\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text + "raise SystemExit('it was run')\n")
    return tmp_path


def look(name: str, folder: Path) -> None:
    check_function(name, (str(folder), *sys.path))


@pytest.mark.parametrize(
    "name",
    [
        *("plain:f", "plain:C", "plain:C.g", "plain:h", "plain:p"),
        *("later:f", "loops:f", "starred:isfile", "lazy:f", "by_table:g", "instead.inner:f"),
        *("package:h", "package.inner:h", "package:inner.h", "bare.inner:h"),
        *("textwrap:dedent", "os.path:exists", "math:sin", "_pickle:dumps", "numpy.linalg:norm", "sys:exit"),
    ],
)
def test_what_may_be_there_passes_and_is_not_run(name: str, folder: Path) -> None:
    loaded = set(sys.modules)
    look(name, folder)
    assert set(sys.modules) == loaded


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *WRONG,
        ("plain:ff", "there is no plain:ff \\(plain has no 'ff'\\)"),
        ("plain:a", "plain has no 'a'"),
        ("package:hh", "package has no 'hh'"),
        ("package.outer:h", "package has no 'outer'"),
        ("package.inner:hh", "inner has no 'hh'"),
        ("bare:h", "bare has no 'h'"),
        ("bare.outer:h", "bare has no 'outer'"),
        ("broken:f", r"broken\.py cannot be read \(invalid syntax"),
        ("__main__.no:f", "there is no"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_is_run(name: str, message: str, folder: Path) -> None:
    loaded = set(sys.modules)
    with pytest.raises(UsageError, match=message):
        look(name, folder)
    assert set(sys.modules) == loaded


def test_what_can_be_imported_is_never_refused() -> None:
    """Whatever modules of this installation hold is found in them before."""
    for module in (
        "ast",
        "asyncio",
        "concurrent.futures",
        "json.decoder",
        "click",
        "dask.array",
        "scipy.signal",
    ):
        loaded = __import__(module, fromlist=["x"])
        for name in loaded.__all__ if hasattr(loaded, "__all__") else dir(loaded):
            check_function(f"{module}:{name}", sys.path)

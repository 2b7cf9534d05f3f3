"""Errors that a user can mend: one line, and an exit code of its own."""

from __future__ import annotations

import os
import pickle

import pytest

from runner import errors
from runner.errors import RunnerError, ScanError

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RunnerError)]


def test_exit_codes_tell_the_kinds_apart() -> None:
    assert {kind.__name__: kind.exit_code for kind in KINDS} == {
        "RunnerError": 1,
        "UsageError": os.EX_USAGE,
        "ScanError": os.EX_DATAERR,
        "MissingFileError": os.EX_NOINPUT,
        "StartError": os.EX_UNAVAILABLE,
        "LostError": os.EX_SOFTWARE,
        "WriteError": os.EX_CANTCREAT,
        "PartialError": os.EX_TEMPFAIL,
    }


@pytest.mark.parametrize(
    ("problem", "remedy", "text"),
    [
        ("no flats", "", "no flats"),
        ("no flats", "give them with --flats", "no flats; give them with --flats"),
        ("Unable to open\n   (file signature\n\tnot found)", "", "Unable to open (file signature not found)"),
    ],
)
def test_one_line(problem: str, remedy: str, text: str) -> None:
    error = ScanError(problem, remedy)
    assert str(error) == text
    assert (error.problem, error.remedy) == (problem, remedy)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_a_task_travels_to_the_client(kind: type[RunnerError]) -> None:
    there_and_back = pickle.loads(pickle.dumps(kind("no flats in scan.h5", "give them")))
    assert type(there_and_back) is kind
    assert str(there_and_back) == "no flats in scan.h5; give them"

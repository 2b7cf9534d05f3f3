"""Click's ways out of a job become ours."""

import click
import pytest

from runner.errors import ScanError, UsageError
from runner.jobs.commands import run_command


@click.command("work")
@click.argument("what")
def work(what):
    if what == "interrupted":
        raise KeyboardInterrupt
    if what == "bad":
        raise ScanError("a bad scan")


def test_a_job_that_ends_well_is_0():
    assert run_command(work, ("well",)) == 0


def test_ctrl_c_is_an_exit_code_and_no_traceback():
    assert run_command(work, ("interrupted",)) == 130


def test_wrong_arguments_name_the_help():
    with pytest.raises(UsageError, match=r"WHAT.*see work --help"):
        run_command(work, ())


def test_other_errors_pass_through():
    with pytest.raises(ScanError, match="a bad scan"):
        run_command(work, ("bad",))

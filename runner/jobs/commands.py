"""Running a click command as a job on the cluster: what is wrong is said as for every other mistake."""

from __future__ import annotations

import click

from runner.errors import UsageError


def run_command(command: click.Command, args: tuple[str, ...]) -> int:
    """Run a command with arguments as on the command line, and return the exit code.

    Raises
    ------
    UsageError
        If the arguments are wrong.
    RunnerError
        As from the command.
    """
    try:
        command.main(args=list(args), prog_name=command.name, standalone_mode=False)
    except click.UsageError as error:
        raise UsageError(error.format_message(), f"see {command.name} --help") from error
    except click.Abort:  # click's word for Ctrl-C, which the launcher reports: no traceback of ours
        return 130
    return 0

"""The tool ``runner launch-hosts``: start ranks over something like ssh, where no launcher does."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runner.errors import WriteError

if TYPE_CHECKING:
    from runner.batch.fanout.seats import Seat


@click.command(
    "launch-hosts",
    context_settings={"allow_interspersed_args": False},
    short_help="Start ranks over ssh, oarsh, qrsh or pbsdsh.",
    epilog="Example: runner launch-hosts --hosts node1,node2 --ranks-per-host 4 -- python -m runner job.py",
)
@click.option(
    "--hosts",
    metavar="FILE|LIST",
    help="A file with a line per rank (or host:ranks), or a list like node[1-4].  [the batch job's]",
)
@click.option("--ranks-per-host", type=click.IntRange(1), help="So many ranks on each host.")
@click.option(
    "--ssh",
    "shell",
    metavar="COMMAND",
    help="What reaches a host, which goes behind it, or where {host} stands; {rank} is the rank's number.  "
    "[oarsh or qrsh -inherit in their jobs, else ssh]",
)
@click.option(
    "--stop-timeout",
    metavar="TIME",
    default="15s",
    show_default=True,
    help="For ranks to end when rank 0 has ended, or a signal asked for it; then they are ended.",
)
@click.option(
    "--no-stdin", is_flag=True, help="COMMAND passes no standard input on: tell the ranks by files."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGS]...")
def command(
    *,
    hosts: str | None,
    ranks_per_host: int | None,
    shell: str | None,
    stop_timeout: str,
    no_stdin: bool,
    command: tuple[str, ...],
) -> int:
    """Start COMMAND once per rank: with RUNNER_RANK and RUNNER_SIZE, this environment and this folder.

    Signals are passed on, the exit code is that of rank 0, and no rank outlives this command.
    """
    from runner.batch.fanout.seats import take_seats, usual_shell
    from runner.batch.fanout.start import FanOut, run
    from runner.units import parse_duration

    with ExitStack() as stack:
        plan = FanOut(
            seats=take_seats(_hosts(hosts), ranks_per_host),
            argv=command,
            shell=shell or usual_shell(os.environ),
            python=sys.executable,
            environ=os.environ,
            folder=Path.cwd(),
            job=f"hosts-{os.uname().nodename}-{os.getpid()}-{time.time():.0f}",
            patience=parse_duration(stop_timeout),
            letters=_letters(stack) if no_stdin else None,
        )
        return run(plan, _tell)


def _tell(seat: Seat, code: int) -> None:
    from runner.launcher.exits import describe
    from runner.launcher.speak import say

    say(f"rank {seat.rank} @ {seat.host}", describe(code))


def _hosts(given: str | None) -> tuple[str, ...]:
    from runner.batch.detect import detect
    from runner.batch.fanout.seats import read_host_file, read_host_list

    if given is None:
        return detect(os.environ).hosts
    path = Path(given)
    return read_host_file(path.read_text(encoding="utf-8")) if path.is_file() else read_host_list(given)


def _letters(stack: ExitStack) -> Path:
    """Make a folder that all hosts see, for what only we may read."""
    from runner.launcher.rendezvous.file import default_folder
    from runner.node.scratch import owned_prefix, sweep_scratch

    parent = default_folder()
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep_scratch(parent)  # they hold environments
        folder = Path(tempfile.mkdtemp(prefix=owned_prefix("hosts"), dir=parent))
    except OSError as error:
        raise WriteError(
            f"no files for ranks can be written in {parent} ({error.strerror})",
            "choose a folder that all hosts see with RUNNER_RENDEZVOUS_DIR",
        ) from error
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder

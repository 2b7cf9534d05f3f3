"""The command line: launch options, then a job (a script, a module or a built-in one) and its arguments."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from runner import __version__
from runner.errors import MissingFileError, RunnerError, UsageError
from runner.jobs.registry import BUILT_INS
from runner.launcher.ancestors import read_ancestors
from runner.launcher.exits import leave
from runner.launcher.launch import launch
from runner.launcher.options import RENDEZVOUS, ROLE_POLICIES, LaunchOptions
from runner.launcher.place import find_place
from runner.launcher.program import Program
from runner.launcher.resources import parse_resources
from runner.launcher.speak import say
from runner.units import parse_duration, parse_size

# mpirun kills all ranks when the first of them ends with an error: rank 0 must have said why by then.
_RANK_0_SPEAKS_SECONDS = 1.0

_HELP = """Run JOB on a Dask cluster made of the ranks of this batch job, or of this machine alone.

JOB is a Python script, a module (-m), code (-c), standard input (-), or one of the built-in jobs and
tools below. The script needs no change: in it, Client() reaches the cluster. Everything ends with the job,
with its exit code.

\b
  srun -n 16 python -m runner job.py ...           in a SLURM job
  mpirun -n 16 python -m runner job.py ...         under any MPI
  python -m runner --workers 4 job.py ...          on a laptop
"""


class _Size(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return parse_size(str(value))
        except RunnerError as error:
            self.fail(str(error), param, ctx)


class _Duration(click.ParamType):  # type: ignore[type-arg]
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return parse_duration(str(value))
        except RunnerError as error:
            self.fail(str(error), param, ctx)


class _Resources(click.ParamType):  # type: ignore[type-arg]
    name = "tags"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        try:
            return parse_resources(value)
        except RunnerError as error:
            self.fail(str(error), param, ctx)


class _JobEnded(SystemExit):
    """The job is over, with this exit code, and nothing is left to be done."""


class JobCommand(click.Command):
    """A command whose options end where the job begins."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse, with our exit code for wrong usage, said by one rank only."""
        with _one_voice():
            return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give everything behind ``-m MODULE`` and ``-c CODE`` to the job, as Python does."""
        with_value = {name for option in self.params if not _is_flag(option) for name in option.opts}
        position = 0
        while position < len(args) and args[position].startswith("-") and args[position] not in ("-", "--"):
            if args[position].startswith(("-m", "-c")):
                end = position + (2 if args[position] in ("-m", "-c") else 1)  # -m MODULE or -mMODULE
                if end <= len(args):
                    args = [*args[:end], "--", *args[end:]]
                break
            position += 2 if args[position] in with_value else 1
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the built-in commands before the options."""
        with formatter.section("Built-in jobs and tools (runner NAME --help)"):
            formatter.write_dl([(name, built_in.summary) for name, built_in in BUILT_INS.items()])
        super().format_options(ctx, formatter)


@click.command(
    cls=JobCommand, help=_HELP, context_settings={"allow_interspersed_args": False}, no_args_is_help=True
)
@click.option("-m", "module", metavar="MODULE", help="Run a module as the job, as python -m does.")
@click.option("-c", "code", metavar="CODE", help="Run a line of code as the job, as python -c does.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Worker processes on each rank. [default: 1; without a launcher, from the cores]",
)
@click.option(
    "--threads", type=click.IntRange(1), help="Threads of each worker. [default: its share of the cores]"
)
@click.option(
    "--memory-limit", type=_Size(), help="Memory of each worker, like 16G. [default: its share of the job's]"
)
@click.option(
    "--resources",
    type=_Resources(),
    metavar="NAME=N,...",
    help="What each worker has for its tasks, like big=1; ranks may differ. [default: GPU=1 with a GPU]",
)
@click.option(
    "--roles",
    type=click.Choice(ROLE_POLICIES),
    default="auto",
    show_default=True,
    help="Ranks of their own for scheduler and client, or shared with workers.",
)
@click.option(
    "--rendezvous",
    type=click.Choice(RENDEZVOUS),
    default="auto",
    show_default=True,
    help="How ranks find each other.",
)
@click.option(
    "--rendezvous-dir",
    "rendezvous_folder",
    type=click.Path(path_type=Path),
    help="Folder that all ranks see. [default: ~/.cache/runner]",
)
@click.option("--interface", help="Network interface for all connections. [default: the best one that works]")
@click.option("--local", is_flag=True, help="Use this machine alone, whatever the batch system gave.")
@click.option(
    "--start-timeout",
    type=_Duration(),
    default="5m",
    show_default=True,
    help="For all ranks and workers to be there.",
)
@click.option(
    "--silence-timeout",
    type=_Duration(),
    default="10s",
    show_default=True,
    help="After which a rank whose machine hangs, or is cut off, counts as lost.",
)
@click.option(
    "--stop-timeout",
    type=_Duration(),
    default="0.8s",
    show_default=True,
    help="For a process to end in order, before it is killed.",
)
@click.option(
    "--min-workers",
    type=click.IntRange(1),
    help="Start, and go on, with this many. [default: all to start, 1 to go on]",
)
@click.option(
    "--restarts",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="How often each rank replaces dead workers.",
)
@click.option(
    "--max-worker-deaths",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="After so many workers died with the same task, the task fails.",
)
@click.option(
    "--time-limit",
    type=_Duration(),
    help="Stop the job after so long, with exit code 75. [default: shortly before the batch system does]",
)
@click.option(
    "--drain",
    type=_Duration(),
    help="Tell the job so long before its end; 0: never. [default: 60s, or a quarter of a short job]",
)
@click.option("--requeue", is_flag=True, help="Have SLURM run the job again when it ends with 75.")
@click.option(
    "--scratch",
    type=click.Path(path_type=Path),
    help="Folder on each machine for spilled data. [default: TMPDIR or /tmp]",
)
@click.option(
    "--logs",
    type=click.Path(path_type=Path),
    help="Folder for logs: in it one of the job, a file per process. [default: not kept]",
)
@click.option("-v", "--verbose", is_flag=True, help="Show what goes to the logs on standard error.")
@click.option(
    "--status-dir",
    "status_folder",
    type=click.Path(path_type=Path),
    help="Folder for the job's state, read by: runner status. [default: ~/.cache/runner/jobs]",
)
@click.option(
    "--summary",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what happened as JSON when the job ends, also when it fails.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write Dask's performance report (HTML) when the job ends, also when it fails.",
)
@click.option(
    "--scheduler-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Private file that lets clients elsewhere connect (runner.connect), while the job runs.",
)
@click.option(
    "--scheduler-port", type=click.IntRange(0, 65535), default=0, help="Port of the scheduler. [default: any]"
)
@click.option(
    "--dashboard-port",
    type=click.IntRange(0, 65535),
    default=8787,
    show_default=True,
    help="Port of the dashboard, on loopback; another one if it is taken.",
)
@click.option(
    "--dashboard/--no-dashboard",
    default=True,
    show_default=True,
    help="Serve Dask's dashboard, where bokeh is installed.",
)
@click.option("--insecure", is_flag=True, help="No encryption and no authentication between the ranks.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but problems.")
@click.version_option(__version__, prog_name="runner")
@click.argument("job", nargs=-1, type=click.UNPROCESSED, metavar="JOB [ARGS]...")
@click.pass_context
def runner(
    ctx: click.Context,
    /,
    *,
    module: str | None,
    code: str | None,
    job: tuple[str, ...],
    insecure: bool,
    resources: dict[str, float] | None,
    **options: Any,
) -> None:
    """Run a job or a tool, and leave with its exit code."""
    try:
        launch_options = LaunchOptions(encrypt=not insecure, resources=resources or {}, **options)
        program = _program(module, code, job)
        if program is None:
            sys.exit(_run_built_in(ctx, job[0], job[1:], launch_options))
        if program.kind == "stdin" and launch_options.roles == "auto":
            launch_options = replace(launch_options, roles="shared")  # mpirun gives its input to rank 0 alone
        raise _JobEnded(launch(program, launch_options, os.environ, ctx.obj))
    except RunnerError as error:
        # What is wrong with the command line is wrong on every rank, and said once.
        if _rank() == 0 or not isinstance(error, (UsageError, MissingFileError)):
            say("runner", str(error))
        else:
            time.sleep(_RANK_0_SPEAKS_SECONDS)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # before there was a job to stop
        sys.exit(130)


def main(parent: int | None = None) -> None:
    """Run the command line.

    Parameters
    ----------
    parent : int, optional
        The process that started this one, if somebody looked earlier.
    """
    try:
        runner(prog_name="runner", obj=os.getppid() if parent is None else parent)
    except _JobEnded as end:
        leave(end.args[0])


def _program(module: str | None, code: str | None, job: tuple[str, ...]) -> Program | None:
    """Return what is to run on the cluster, None for one of our own jobs and tools."""
    if module is not None:
        return Program(kind="module", target=module, args=job)
    if code is not None:
        return Program(kind="code", target=code, args=job)
    if not job:
        raise UsageError(
            "no job was given", "give a Python script, -m MODULE or a built-in job (runner --help)"
        )
    name, args = job[0], job[1:]
    if name == "-":
        return Program(kind="stdin", target=name, args=args)
    return None if name in BUILT_INS else Program(kind="script", target=name, args=args)


def _run_built_in(ctx: click.Context, name: str, args: Sequence[str], options: LaunchOptions) -> int:
    built_in = BUILT_INS[name]
    command = built_in.command()
    # Wrong arguments end here, and --help is answered, before any process is started for the job.
    with _one_voice():
        inner = command.make_context(f"{ctx.info_name} {name}", list(args))
    built_in.check(inner.params)
    if built_in.on_cluster and not _runs_here(inner.params):
        program = Program(kind="function", target=f"{built_in.module}:run", args=tuple(args))
        raise _JobEnded(launch(program, options, os.environ, ctx.obj))
    with inner:
        return int(command.invoke(inner) or 0)


def _runs_here(params: Mapping[str, Any]) -> bool:
    """Tell whether a job needs no cluster of our making: it runs on another one, or only writes a file.

    Raises
    ------
    UsageError
        If this process is one of several ranks: each of them would do the whole job there.
    """
    where = params.get("where")
    if params.get("init"):
        option = "--init"
    elif where not in (None, "allocation"):
        option = f"--cluster {where}"
    else:
        return False
    if find_place(os.environ, ancestors=read_ancestors()).size > 1:
        raise UsageError(f"{option} is for a single process", "leave out srun or mpirun")
    return True


@contextmanager
def _one_voice() -> Iterator[None]:
    """Let only rank 0 speak while all ranks parse the same command line, and use our exit code."""
    with ExitStack() as stack:
        if _rank() != 0:
            nowhere = stack.enter_context(Path(os.devnull).open("w"))
            stack.enter_context(redirect_stdout(nowhere))
            stack.enter_context(redirect_stderr(nowhere))
        try:
            yield
        except click.UsageError as error:
            error.show()
            if _rank() != 0:
                time.sleep(_RANK_0_SPEAKS_SECONDS)
            sys.exit(UsageError.exit_code)


def _is_flag(option: click.Parameter) -> bool:
    return isinstance(option, click.Option) and option.is_flag


def _rank() -> int:
    try:
        return find_place(os.environ, ancestors=read_ancestors()).rank
    except RunnerError:
        return 0

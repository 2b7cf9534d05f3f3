"""The tool ``runner jobscript``: print a job script for a batch system."""

from __future__ import annotations

import click


@click.command(
    context_settings={"allow_interspersed_args": True},
    short_help="Print a job script for a batch system.",
    epilog="Example: runner jobscript slurm --nodes 2 --ntasks-per-node 4 --time 1:00:00 -- job.py > job.sh",
)
@click.argument("system", type=click.Choice(["slurm", "pbs", "sge", "oar", "mpi"]))
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- JOB [ARGS]...")
@click.option("--nodes", type=click.IntRange(1), default=1, show_default=True, help="Machines.")
@click.option(
    "--ntasks-per-node", type=click.IntRange(1), default=1, show_default=True, help="Ranks on each machine."
)
@click.option("--cpus-per-task", type=click.IntRange(1), help="CPUs of each rank.")
@click.option("--gpus-per-node", type=click.IntRange(1), help="GPUs on each machine.")
@click.option("--mem", metavar="SIZE", help="Memory on each machine, like 400G.")
@click.option("--time", metavar="TIME", help="When the system may end the job, like 2:00:00 (h:mm:ss).")
@click.option("--queue", "--partition", metavar="NAME", help="Queue or partition.")
@click.option("--account", metavar="NAME", help="Account or project that pays.")
@click.option("--name", metavar="NAME", default="runner", show_default=True, help="Name of the job.")
@click.option(
    "--parallel-environment",
    metavar="NAME",
    default="mpi",
    show_default=True,
    help="For sge: the site's name of it.",
)
@click.option(
    "--directive",
    "directives",
    metavar="TEXT",
    multiple=True,
    help="A further option of the system, word for word.",
)
def command(
    *,
    system: str,
    command: tuple[str, ...],
    nodes: int,
    ntasks_per_node: int,
    cpus_per_task: int | None,
    gpus_per_node: int | None,
    mem: str | None,
    time: str | None,
    queue: str | None,
    account: str | None,
    name: str,
    parallel_environment: str,
    directives: tuple[str, ...],
) -> None:
    """Print a script that asks SYSTEM for nodes and runs JOB on them with the runner.

    SYSTEM is a batch system, or mpi for machines without one. Behind -- stands what follows
    "python -m runner": its options, the job, the job's arguments. Options that are not given
    are left to the site.
    """
    from runner.batch.script import JobRequest, render
    from runner.units import parse_duration, parse_size

    request = JobRequest(
        command=command,
        nodes=nodes,
        tasks_per_node=ntasks_per_node,
        cpus_per_task=cpus_per_task,
        gpus_per_node=gpus_per_node,
        memory=None if mem is None else parse_size(mem),
        walltime=None if time is None else parse_duration(time),
        queue=queue,
        account=account,
        name=name,
        parallel_environment=parallel_environment,
        directives=directives,
    )
    click.echo(render(system, request), nl=False)

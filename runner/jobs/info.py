"""``runner info``: what the launcher sees from here, without starting anything."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

from runner.batch.allocation import Allocation
from runner.batch.hostlist import fold
from runner.launcher.facts import RankFacts
from runner.launcher.options import LaunchOptions
from runner.launcher.place import TITLES, Place

_PACKAGES = ("tomo-runner", "dask", "distributed", "numpy", "h5py", "hdf5plugin", "numba", "finufft", "scipy")
_OPTIONAL = {"mpi4py": "mpi", "cupy-cuda12x": "gpu", "cufinufft": "gpu", "bokeh": "dashboard"}


@click.command()
def command() -> None:
    """Print what the launcher sees: place, allocation, GPUs, memory, network, versions.

    Under srun or mpirun rank 0 prints everything, each other rank one line.
    """
    from runner.batch.detect import detect
    from runner.launcher.ancestors import read_ancestors
    from runner.launcher.facts import gather_facts
    from runner.launcher.place import find_place

    allocation = detect(os.environ)
    place = find_place(
        os.environ, attempt=allocation.attempt, parent=os.getppid(), ancestors=read_ancestors()
    )
    facts = gather_facts(place, allocation, os.environ, LaunchOptions())
    if place.rank != 0:
        click.echo(_in_one_line(place, facts))
        return
    sections = {
        "place": _place(place, facts),
        "allocation": _allocation(allocation),
        "resources": _resources(facts),
        "network": _network(),
        "meeting": _meeting(place),
        "versions": _versions(),
    }
    lines = []
    for title, rows in sections.items():
        lines.append(title)
        lines += [f"  {name:<18} {value}" for name, value in rows.items()]
    click.echo("\n".join(lines))


def _in_one_line(place: Place, facts: RankFacts) -> str:
    from runner.units import format_size

    gpus = ",".join(facts.gpus) or "none"
    return (
        f"rank {place.rank} @ {facts.host}: {len(facts.cpus)} cores, {format_size(facts.memory)}, GPUs {gpus}"
    )


def _place(place: Place, facts: RankFacts) -> dict[str, str]:
    return {
        "rank": f"{place.rank} of {place.size}",
        "started by": "hand: local mode"
        if place.launcher == "none"
        else TITLES.get(place.launcher, place.launcher),
        "host": facts.host,
        "process": str(facts.pid),
    }


def _allocation(allocation: Allocation) -> dict[str, str]:
    from datetime import datetime

    from runner.units import format_size

    def size(value: int | None) -> str | None:
        return None if value is None else format_size(value)

    ends = None if allocation.ends_at is None else datetime.fromtimestamp(allocation.ends_at).astimezone()
    values = {
        "system": allocation.system,
        "job": allocation.job_id,
        "array index": allocation.array_index,
        "components": allocation.components if allocation.components > 1 else None,
        "ranks": allocation.tasks,
        "hosts": fold(allocation.hosts) or None,
        "cores per rank": allocation.cpus_per_task,
        "memory per host": size(allocation.memory_per_node),
        "GPUs on this host": allocation.gpus_here,
        "ends": None if ends is None else ends.isoformat(timespec="seconds"),
        "restarted": allocation.restarts or None,
        "submitted in": allocation.submit_folder,
        "scratch of the job": allocation.scratch,
        "stop with": allocation.cancel_command,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _resources(facts: RankFacts) -> dict[str, str]:
    from runner.node.scratch import scratch_root
    from runner.units import format_size

    return {
        "cores": f"{len(facts.cpus)} ({', '.join(map(str, facts.cpus))})",
        "memory of the job": f"{format_size(facts.memory)} on this host",
        "GPUs": ", ".join(facts.gpus) or "none",
        "scratch": str(scratch_root(os.environ)),
    }


def _network() -> dict[str, str]:
    from runner.node.net import machine_addresses, order

    found = order(machine_addresses())
    if not found:
        return {"-": "no address but loopback: one host only"}
    rows: dict[str, str] = {}
    for entry in found:
        rows[entry.interface] = (
            f"{rows[entry.interface]}, {entry.address}" if entry.interface in rows else entry.address
        )
    return rows


def _meeting(place: Place) -> dict[str, str]:
    from runner.errors import RunnerError
    from runner.launcher.meeting import choose_meeting

    try:
        return {"ranks meet by": str(choose_meeting(place, LaunchOptions()))}
    except RunnerError as error:
        return {"ranks cannot meet": str(error)}


def _versions() -> dict[str, str]:
    rows = {"python": f"{platform.python_version()} ({sys.executable})"}
    for name in _PACKAGES:
        rows[name] = version(name)
    for name, extra in _OPTIONAL.items():
        try:
            rows[name] = version(name)
        except PackageNotFoundError:
            rows[name] = f"not installed (pip install 'tomo-runner[{extra}]')"
    return rows

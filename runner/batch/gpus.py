"""How a batch system is asked for GPUs: each has its way, some have several, and sites allow some of them."""

from __future__ import annotations

import string

from runner.batch.request import OPTIONS, JobRequest
from runner.errors import UsageError

_NAMES = ("type", "per_node", "per_task", "total")

#: The words of each system. The first style is the one that is used if none is chosen; systems that are not
#: listed ask in one way only, which stands in their template, or not at all.
STYLES = {
    "slurm": {
        "gpus-per-node": "--gpus-per-node={type}{per_node}",
        "gpus-per-task": "--gpus-per-task={type}{per_task}",
        "gres": "--gres=gpu:{type}{per_node}",
        "gpus": "--gpus={type}{total}",
    },
    "pbs": {"ngpus": "ngpus={per_node}"},
    "pbs-pals": {"ngpus": "ngpus={per_node}"},
    "oar": {"gpu": "gpu={per_node}"},
    "lsf": {"gpu": '-gpu "num={per_node}"'},
    "sge": {},  # every site has a name of its own for them
}


def gpu_words(system: str, request: JobRequest) -> str:
    """Return the words that ask for GPUs; empty if none are wanted, or the template has them.

    Parameters
    ----------
    system : str
        The batch system.
    request : JobRequest
        Its `gpu_style` is the name of one of the system's styles, or a site's own words with
        ``{per_node}``, ``{per_task}``, ``{total}`` or ``{type}`` in it.

    Raises
    ------
    UsageError
        If the system cannot be asked so, or the numbers do not come out even.
    """
    if request.gpus_per_node is None:
        return ""
    if system not in STYLES:
        _refuse_style(system, request)
        return ""
    pattern = _pattern(system, request)
    used = {field for _, field, _, _ in string.Formatter().parse(pattern) if field is not None}
    if request.gpu_type and "type" not in used:
        raise UsageError(
            f"{OPTIONS['gpu_type']} cannot be given for {system}",
            "use --directive, or a --gpu-style with {type} in it",
        )
    return pattern.format(
        type=f"{request.gpu_type}:" if request.gpu_type else "",
        per_node=request.gpus_per_node,
        per_task=gpus_per_task(request) if "per_task" in used else 0,
        total=request.gpus_per_node * request.nodes,
    )


def gpus_per_task(request: JobRequest) -> int:
    """Return how many GPUs each rank gets where each gets the same number.

    Raises
    ------
    UsageError
        If they do not come out even.
    """
    gpus, tasks = request.gpus_per_node or 0, request.tasks_per_node
    if gpus % tasks:
        raise UsageError(
            f"{gpus} GPUs per node cannot be shared evenly by {tasks} ranks",
            "ask for a multiple of the ranks, or for GPUs per node where the system can",
        )
    return gpus // tasks


def _pattern(system: str, request: JobRequest) -> str:
    styles = STYLES[system]
    style = request.gpu_style
    if style is None:
        if not styles:
            raise UsageError(
                f"{OPTIONS['gpus_per_node']} cannot be given for {system} alone",
                'sites name it differently: ask yours, and add --gpu-style "-l NAME={per_node}"',
            )
        return next(iter(styles.values()))
    if style in styles:
        return styles[style]
    if "{" in style and style.isprintable():
        _check(style)
        return style
    named = ", ".join(styles) or "no name"
    raise UsageError(
        f"{style!r} is no way to ask {system} for GPUs", f"use {named}, or words with {{per_node}} in it"
    )


def _check(pattern: str) -> None:
    try:
        fields = {field for _, field, _, _ in string.Formatter().parse(pattern) if field is not None}
    except ValueError:
        fields = {""}
    if not fields or fields - set(_NAMES):
        raise UsageError(
            f"{pattern!r} cannot be filled in", f"in braces may stand {', '.join(_NAMES)}, nothing else"
        )


def _refuse_style(system: str, request: JobRequest) -> None:
    for field in ("gpu_style", "gpu_type"):
        if getattr(request, field):
            raise UsageError(
                f"{OPTIONS[field]} cannot be given for {system}",
                "it can be asked in one way only: leave it out",
            )

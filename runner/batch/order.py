"""What was asked for in several places, put together: command line, dask-jobqueue's file, site profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.batch.jobqueue import JobQueue
from runner.batch.request import JobRequest
from runner.batch.script import not_there
from runner.batch.sites import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a person ordered.

    Attributes
    ----------
    system : str
        The batch system, by the name of its job script.
    request : JobRequest
        Everything that was said, put together.
    passed_over : dict of str to str
        What stood in the file and is not used, and why.
    longest : float or None
        Seconds after which the site ends a job of this queue, where its profile tells.
    """

    system: str
    request: JobRequest
    passed_over: dict[str, str]
    longest: float | None = None


def put_together(
    system: str, command: tuple[str, ...], typed: Mapping[str, Any], file: JobQueue, site: Site
) -> Order:
    """Put together what a job shall be: the command line goes before the file, the file before the site.

    Directives and lines of shell do not replace each other: they stand in the script from the general to the
    particular, and most systems believe the last.

    Parameters
    ----------
    system : str
        The batch system.
    command : tuple of str
        What follows ``python -m runner``.
    typed : mapping
        Fields of the request as they were typed.
    file : JobQueue
        What dask-jobqueue's file says. What must stand there, and the system has no common words for, is
        passed over.
    site : Site
        The profile.

    Raises
    ------
    UsageError
        If the request is none, or the site would refuse it.
    """
    refused = {field: why for field, why in not_there(system).items() if field in file.wishes}
    from_file = {field: wish for field, wish in file.wishes.items() if field not in refused}
    wishes = {**site.wishes, **from_file, **typed}
    with_gpus = bool(wishes.get("gpus_per_node"))
    if not with_gpus:  # the site's way to ask for what nobody asked for
        wishes = {field: wish for field, wish in wishes.items() if field in typed or field[:4] != "gpu_"}
    by_gpus = {"directives": site.with_gpus if with_gpus else site.without_gpus}
    for field in ("directives", "prologue"):
        wishes[field] = tuple(
            line for said in (by_gpus, site.wishes, from_file, typed) for line in said.get(field, ())
        )
    request = JobRequest(command=command, **wishes)
    site.check(request)
    return Order(
        system=system,
        request=request,
        passed_over=file.passed_over | refused,
        longest=site.queues.get(request.queue or ""),
    )

"""A run of a map, from the claim of its folder to the word how it ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runner.batch.detect import detect
from runner.errors import PartialError, RunnerError, WriteError
from runner.listing import few
from runner.maps.component import Work
from runner.maps.elsewhere import describe_from_afar
from runner.maps.failures import write_failure
from runner.maps.here import run_here
from runner.maps.layout import Layout
from runner.maps.plan import in_order, too_long
from runner.maps.record import Component, MapRecord, read_record
from runner.maps.runs import Heart, claim, latest_run
from runner.maps.versions import check_versions, versions
from runner.units import format_duration
from runner.walltime import time_left

if TYPE_CHECKING:
    from distributed import Client

_ENDS = {KeyboardInterrupt: "a person stopped it", SystemExit: "it was told to stop"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many components a map has, and how they are."""

    total: int
    done: int
    failed: int

    @property
    def left(self) -> int:
        """How many have not come to an end."""
        return self.total - self.done - self.failed


def tally(layout: Layout, record: MapRecord) -> Tally:
    """Count what is in the folder."""
    done, failed = layout.outcomes()
    keys = record.keys
    return Tally(
        total=len(keys),
        done=sum(key in done for key in keys),
        failed=sum(key in failed for key in keys),
    )


def run_map(
    layout: Layout,
    client: Client | None,
    *,
    function: Callable[[Any], Any] | None = None,
    on_progress: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Do what is to be done of a map: all components without a value and without a failure.

    Parameters
    ----------
    layout : Layout
        The map.
    client : Client or None
        Of the cluster that does it; None for this process alone.
    function : callable, optional
        To be debugged: it is called as it is, and what it prints is seen.
    on_progress : callable
        Told now and then how far it is.

    Returns
    -------
    Tally
        How it is now; some may be left only if a failure was to stop it.

    Raises
    ------
    PartialError
        If the time was over before all was done.
    UsageError
        If another process works at the map.
    StartError
        If it was made with other versions, or a worker cannot load the function.
    WriteError
        If results cannot be written.
    LostError
        If the cluster is lost.
    """
    record = read_record(layout)
    check_versions(record.versions, versions(), os.uname().nodename)
    with _claimed(layout) as (heart, cut):
        record = read_record(layout)  # another program may have written a new one before it was ours
        components = _to_do(layout, record, cut)
        before = tally(layout, record)

        def told(done: int, failed: int) -> None:
            on_progress(replace(before, done=before.done + done, failed=before.failed + failed))

        told(0, 0)
        if client is None or record.cluster_per_component:
            left = run_here(
                Work.of(layout, record),
                components,
                heart=heart,
                seconds_left=time_left,
                on_progress=told,
                stop_on_error=record.on_error == "stop",
                function=function,
            )
        else:
            left = _run_on(client, layout, record, components, heart=heart, on_progress=told)
        now = tally(layout, record)
        if left and not (now.failed and record.on_error == "stop"):
            raise _partial(layout, now, heart.run.cut)
    return now


@contextmanager
def _claimed(layout: Layout) -> Iterator[tuple[Heart, dict[str, float]]]:
    """Claim a map for the block; give our heart, and what the time interrupted in the run before."""
    before = latest_run(layout)
    heart = Heart(layout, claim(layout, detect(os.environ)))
    try:
        yield heart, before.cut if before else {}
    except BaseException as error:
        heart.close(str(error) if isinstance(error, RunnerError) else _ENDS.get(type(error), repr(error)))
        raise
    heart.close()


def _run_on(
    client: Client,
    layout: Layout,
    record: MapRecord,
    components: list[Component],
    *,
    heart: Heart,
    on_progress: Callable[[int, int], None],
) -> int:
    from runner.maps.drive import Drive

    for address, theirs in client.run(versions).items():
        check_versions(record.versions, theirs, f"worker {address}")
    drive = Drive(
        client,
        layout,
        record,
        work=Work.of(layout, record),
        components=components,
        heart=heart,
        seconds_left=time_left,
        on_progress=on_progress,
    )
    return drive.to_the_end()


def _to_do(layout: Layout, record: MapRecord, cut: dict[str, float]) -> list[Component]:
    """Return what is to be done; call those failed that need more time than this job has."""
    done, failed = layout.outcomes()
    components = [one for one in record.components if one.key not in done and one.key not in failed]
    hopeless = too_long({key: had for key, had in cut.items() if key not in done}, time_left())
    for component in components:
        if component.key in hopeless:
            had = hopeless[component.key]
            why = f"it was not done in {format_duration(had)}, and this job has no more: ask for more time"
            failure = describe_from_afar(Work.of(layout, record), component, why, seconds=had)
            try:
                write_failure(layout, failure)
            except OSError as error:
                raise WriteError(f"results cannot be written to {layout.results} ({error})") from error
    return in_order([one for one in components if one.key not in hopeless], cut)


def _partial(layout: Layout, now: Tally, cut: dict[str, float]) -> PartialError:
    name = layout.folder.name
    interrupted = f" (interrupted: {few(sorted(cut))})" if cut else ""
    return PartialError(
        f"the time was over with {now.left} of {now.total} components of map {name} left{interrupted}",
        f"go on with the same call, or: runner resume {name}",
    )

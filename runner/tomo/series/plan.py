"""What several scans will take: each of them, and all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from distributed import Client

from runner.errors import RunnerError, ScanError
from runner.listing import columns
from runner.tomo.calibrate import calibrate
from runner.tomo.check import checked_scan
from runner.tomo.forecast import predicted_seconds
from runner.tomo.plan import Plan
from runner.tomo.series.entries import Entry
from runner.units import format_duration, format_size


def plan_all(entries: Sequence[Entry], client: Client, *, on_note: Callable[[str], None]) -> str:
    """Time a chunk of each scan, and write for people what all will take.

    Parameters
    ----------
    entries : sequence of Entry
        Which, and how.
    client : Client
        Whose workers make the chunks.
    on_note : callable
        Called with what is found in the scans, and what is wrong with one.

    Raises
    ------
    ScanError
        If one of them cannot be reconstructed; after all were looked at.
    """
    lines = [("scan", "slices", "read", "written", "time")]
    plans: list[Plan] = []
    total = 0.0
    for entry in entries:
        try:
            scan = checked_scan(entry.scan, entry.settings.sources, say=on_note)
            plan, timed = calibrate(scan, entry.volume.absolute(), entry.settings, client)
        except RunnerError as error:
            on_note(f"error: {entry.scan}: {error}")
            continue
        seconds = predicted_seconds(plan, timed)
        lines.append((str(entry.scan), *_amounts([plan]), format_duration(seconds)))
        plans.append(plan)
        total += seconds
    if len(plans) < len(entries):
        raise ScanError(f"{len(entries) - len(plans)} of {len(entries)} scans cannot be reconstructed")
    return columns([*lines, ("all", *_amounts(plans), format_duration(total))])


def _amounts(plans: Sequence[Plan]) -> tuple[str, str, str]:
    """Add up slices, bytes read and bytes written."""
    return (
        str(sum(plan.work.rows for plan in plans)),
        format_size(sum(plan.bytes_read for plan in plans)),
        format_size(sum(plan.bytes_written for plan in plans)),
    )

"""What several scans will take: each of them, and all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from distributed import Client

from runner.listing import columns
from runner.tomo.forecast import predicted_seconds
from runner.tomo.plan import Plan
from runner.tomo.series.entries import Entry
from runner.tomo.series.forecast import plan_each
from runner.units import format_duration, format_size


def plan_all(entries: Sequence[Entry], client: Client, *, on_note: Callable[[str], None]) -> str:
    """Write for people what all scans will take, from a chunk of one of each kind.

    Parameters
    ----------
    entries, client, on_note
        As for :func:`runner.tomo.series.forecast.plan_each`.

    Raises
    ------
    ScanError
        If one of them cannot be reconstructed; after all were looked at.
    """
    planned = plan_each(entries, client, on_note=on_note)
    seconds = [predicted_seconds(one.plan, one.calibration) for one in planned]
    lines = [
        (str(entry.scan), *_amounts([one.plan]), format_duration(each))
        for entry, one, each in zip(entries, planned, seconds, strict=True)
    ]
    total = ("all", *_amounts([one.plan for one in planned]), format_duration(sum(seconds)))
    return columns([("scan", "slices", "read", "written", "time"), *lines, total])


def _amounts(plans: Sequence[Plan]) -> tuple[str, str, str]:
    """Add up slices, bytes read and bytes written."""
    return (
        str(sum(plan.work.rows for plan in plans)),
        format_size(sum(plan.bytes_read for plan in plans)),
        format_size(sum(plan.bytes_written for plan in plans)),
    )

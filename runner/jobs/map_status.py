"""What ``runner status`` shows of a map: now, or until it is over."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import click

from runner.listing import few
from runner.maps.status import describe

if TYPE_CHECKING:
    from runner.maps.map import Map
    from runner.maps.status import MapStatus

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 15.0  # many people who ask every second bring a batch system down
_GROWTH = 1.2
_SHOWN_FAILURES = 5


def show(opened: Map, *, watch: bool, as_json: bool = False) -> None:
    """Print how a map is, for people or for programs; with `watch`, each change of that until it is over."""
    status = opened.status()
    if watch:
        status = _watch(opened, status, err=as_json)
    click.echo(json.dumps(asdict(status), indent=1) if as_json else details(opened, status))


def details(opened: Map, status: MapStatus) -> str:
    """Return all about a map as text."""
    failures = list(opened.failures().values())
    values = {
        "state": status.in_words,
        "function": opened.record.function,
        "components": f"{status.total}: {status.done} done, {status.failed} failed, {status.left} left",
        "running": str(status.running or ""),
        "lost": few(status.lost),
        "job": status.job,
        "reason": status.reason,
        "ends": "" if status.ends_at is None else _clock(status.ends_at),
        "folder": str(opened.folder),
    }
    lines = [f"{opened.name}:", *(f"  {name:<10} {value}" for name, value in values.items() if value)]
    lines += [f"    {failure.key}: {failure.error}" for failure in failures[:_SHOWN_FAILURES]]
    if len(failures) > _SHOWN_FAILURES:
        lines.append(f"    and {len(failures) - _SHOWN_FAILURES} more")
    if failures:
        lines.append(f"  see runner log {opened.name} KEY; try again: runner rerun {opened.name}")
    return "\n".join(lines)


def _watch(opened: Map, status: MapStatus, *, err: bool) -> MapStatus:
    said, pause, live = "", _FIRST_PAUSE, sys.stdout.isatty()
    while not status.is_over:
        text = describe(opened.name, status)
        if text != said:
            click.echo(f"\r{text}\x1b[K" if live else text, nl=not live, err=err)
            said = text
        time.sleep(pause)
        pause = _FIRST_PAUSE if status.running else min(_LONGEST_PAUSE, pause * _GROWTH)
        status = opened.status()
    if live and said:
        click.echo()
    return status


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")

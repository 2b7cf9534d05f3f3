"""How long several scans will take: one of each kind is timed.

And the first one of all: it also pays for what every process loads once, and so tells about no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from distributed import Client

from runner.errors import RunnerError, ScanError
from runner.tomo.calibrate import calibrate
from runner.tomo.check import checked_scan
from runner.tomo.dispatch import resources_of
from runner.tomo.forecast import Calibration, Forecast
from runner.tomo.pipeline import plan_for
from runner.tomo.plan import Plan, make_plan
from runner.tomo.series.entries import Entry
from runner.tomo.settings import AUTO, NAMES, Settings
from runner.tomo.sources import NAMES as SOURCE_NAMES
from runner.tomo.volume.place import check_place

# what tells one scan from another of its kind, and takes no time
_OF_ONE_SCAN = (*SOURCE_NAMES, "rows", "energy", "distance", "pixel_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What is known beforehand of a scan.

    Attributes
    ----------
    plan : Plan
        Of its reconstruction.
    calibration : Calibration
        What a chunk of it took, or of another scan of its kind.
    kind : tuple
        Equal for scans of which each row takes the same.
    """

    plan: Plan
    calibration: Calibration
    kind: tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesForecast:
    """What a series would take with other resources: one scan after the other, each with all of them.

    Attributes
    ----------
    forecasts : tuple of Forecast
        Of each scan.
    """

    forecasts: tuple[Forecast, ...]

    def memory(self, workers: int, threads: int) -> int:
        """Tell with how much memory for each worker more would make no scan faster, bytes."""
        return max(one.memory(workers, threads) for one in self.forecasts)

    def seconds(self, workers: int, threads: int, memory: int) -> float:
        """Predict the wall time of all.

        Raises
        ------
        ScanError
            If the memory of each worker (bytes) does not suffice.
        """
        return sum(one.seconds(workers, threads, memory) for one in self.forecasts)


def plan_each(entries: Sequence[Entry], client: Client, *, on_note: Callable[[str], None]) -> list[Planned]:
    """Plan each scan, and time a chunk of the first one, and of one of each kind.

    Scans whose axis is to be found are taken to have that of the one of their kind that was timed.

    Parameters
    ----------
    entries : sequence of Entry
        Which, and how.
    client : Client
        Whose workers make the chunks.
    on_note : callable
        Called with what is found in the scans, what is wrong with one, and how many were timed.

    Raises
    ------
    ScanError
        If one of them cannot be reconstructed; after all were looked at.
    """
    found: list[Planned] = []
    for entry in entries:
        try:
            found.append(_plan(entry, client, found[1:], on_note))
        except RunnerError as error:
            on_note(f"error: {entry.scan}: {error}")
    if len(found) < len(entries):
        raise ScanError(f"{len(entries) - len(found)} of {len(entries)} scans cannot be reconstructed")
    if (timed := len({id(one.calibration) for one in found})) < len(found):
        on_note(f"timed: {timed} of {len(found)} scans; each of the others is like one of them")
    return found


def _plan(entry: Entry, client: Client, known: Sequence[Planned], on_note: Callable[[str], None]) -> Planned:
    place, settings = entry.volume.absolute(), entry.settings
    scan = checked_scan(entry.scan, settings.sources, say=on_note)
    plan = plan_for(scan, settings, resources_of(client))
    kind = kind_of(plan, settings, place.suffix)
    like = next((one for one in known if one.kind == kind), None)
    if like is None:
        plan, timed = calibrate(scan, place, settings, client)
        return Planned(plan=plan, calibration=timed, kind=kind)
    check_place(place, overwrite=True)  # as it may be there already, and be what is wanted
    if settings.center == AUTO:
        rows = {name: getattr(plan.work, name) for name in ("first_row", "end_row", "detector_rows")}
        plan = make_plan(replace(like.plan.work, **rows), plan.resources)
    return Planned(plan=plan, calibration=like.calibration, kind=kind)


def kind_of(plan: Plan, settings: Settings, form: str) -> tuple[object, ...]:
    """Say what decides how long a row takes: equal for scans of which one tells about the others.

    Parameters
    ----------
    plan : Plan
        Made before the axis was found.
    settings : Settings
        How.
    form : str
        Of the volume: the ending of its name.
    """
    work = replace(plan.work, first_row=0, end_row=0, detector_rows=0, size=0, extent=None, seen=0)
    values = [getattr(settings, name) for name in NAMES if name not in (*_OF_ONE_SCAN, "center")]
    return work, settings.center == AUTO, form, *values

"""What was submitted: kept, so that a job can be followed and ended by its id alone, from any folder."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from runner import files

_FORMAT = 1
_KEPT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One job, or one chain of jobs.

    Attributes
    ----------
    system : str
        The batch system, by the name of its job script.
    job_ids : tuple of str
        The job, or the parts of a chain in their order.
    name : str
        The job's name.
    folder : Path
        Where it was submitted; output goes there.
    script : Path
        What was submitted.
    submitted : float
        When, in seconds since 1970.
    """

    system: str
    job_ids: tuple[str, ...]
    name: str
    folder: Path
    script: Path
    submitted: float

    def left_of(self, job_id: str) -> tuple[str, ...]:
        """Return the job and the parts of its chain behind it."""
        return self.job_ids[self.job_ids.index(job_id) :]


def save(submission: Submission, folder: Path) -> None:
    """Keep a submission, and forget the oldest of many.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = json.dumps({"format": _FORMAT, **asdict(submission)}, default=os.fspath, indent=1)
    path = folder / f"{submission.system}-{_safe(submission.job_ids[0])}.json"
    files.write_atomically(path, content.encode(), mode=0o600)
    newest_first = sorted(folder.glob("[!.]*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in newest_first[_KEPT:]:
        old.unlink(missing_ok=True)


def find(job_id: str, folder: Path, systems: Collection[str] | None = None) -> Submission | None:
    """Return the newest submission that a job belongs to; PBS's server may be left out of the id.

    Parameters
    ----------
    job_id : str
        The batch system's id.
    folder : Path
        Where submissions are kept.
    systems : collection of str, optional
        Only those to one of these systems: two systems may give the same number.
    """
    known = [one for one in _read_all(folder) if systems is None or one.system in systems]
    found = [one for one in known if job_id in one.job_ids]
    if not found:
        found = [one for one in known if job_id in {name.partition(".")[0] for name in one.job_ids}]
    return max(found, key=lambda one: one.submitted, default=None)


def _read_all(folder: Path) -> list[Submission]:
    submissions = []
    for path in folder.glob("[!.]*.json"):
        try:
            content = json.loads(path.read_bytes())
            if content.pop("format") != _FORMAT:
                continue
            content["job_ids"] = tuple(content["job_ids"])
            content["folder"], content["script"] = Path(content["folder"]), Path(content["script"])
            submissions.append(Submission(**content))
        except (OSError, ValueError, KeyError, TypeError):  # removed meanwhile, or of another version
            continue
    return submissions


def _safe(job_id: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".-_" else "_" for letter in job_id)

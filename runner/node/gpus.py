"""Which GPU a worker gets: exactly one, chosen from those that this rank may see.

Devices stay strings all the way: an index, a UUID (``GPU-...``) or a MIG name (``MIG-...``) are all
valid in ``CUDA_VISIBLE_DEVICES``, and some sites forbid anything but the names they gave.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence

_QUERY_SECONDS = 10.0


def visible_gpus(environ: Mapping[str, str], present: Sequence[str]) -> tuple[str, ...]:
    """Return the devices that this process may use.

    Parameters
    ----------
    environ : mapping
        Where ``CUDA_VISIBLE_DEVICES`` is looked up. Set but empty (or ``NoDevFiles``, or ``-1``)
        means none; as in CUDA itself, nothing behind an invalid entry counts.
    present : sequence of str
        The devices of the machine, used where the variable is not set.
    """
    listed = environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return tuple(present)
    devices: list[str] = []
    for name in (part.strip() for part in listed.split(",")):
        if not name or name == "NoDevFiles" or name.startswith("-"):
            break
        devices.append(name)
    return tuple(devices)


def choose_gpu(visible: Sequence[str], uses: Mapping[str, int], *, own: bool) -> str | None:
    """Choose the device of one worker.

    Parameters
    ----------
    visible : sequence of str
        What the worker's rank may see, by names that differ for different devices of the machine.
    uses : mapping of str to int
        How many workers of the machine have each device already.
    own : bool
        Whether no other rank sees what this one sees: several workers of the rank then share its only device.

    Returns
    -------
    str or None
        The first device that no worker has yet; None where there is none left, and the worker does without.
    """
    if own and len(visible) == 1:
        return visible[0]
    return next((device for device in visible if not uses.get(device)), None)


def present_gpus() -> tuple[str, ...]:
    """List the indices of the machine's NVIDIA devices, without making a CUDA context."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    try:
        listing = subprocess.run(
            [program, "--query-gpu=index", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=_QUERY_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ()  # a driver that does not answer is no GPU that we could use
    return tuple(line.strip() for line in listing.splitlines() if line.strip().isdigit())

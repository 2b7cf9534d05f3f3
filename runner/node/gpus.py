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


def gpu_for(visible: Sequence[str], index: int, workers: int) -> str | None:
    """Choose the device of one worker.

    Parameters
    ----------
    visible : sequence of str
        What the worker's rank may see.
    index : int
        Which GPU worker of its node this is, from 0. Not the local rank: scheduler and client
        ranks hold no GPU, and launchers number local ranks as they like.
    workers : int
        How many GPU workers the node has.

    Returns
    -------
    str or None
        The name for ``CUDA_VISIBLE_DEVICES``; None without any device. A rank that sees a single
        device has been given it by the batch system and takes it, whatever its index. With fewer
        devices than workers they are shared in turn.
    """
    if not visible:
        return None
    if len(visible) == 1 or workers < 1:
        return visible[0]
    return visible[index % len(visible)]


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

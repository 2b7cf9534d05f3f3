"""SLURM's short form of a list of hosts: ``node[01-03,7],login1``, both ways."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from runner.errors import UsageError

_ITEM = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBERED = re.compile(r"(.*?)(\d+)")


def expand(text: str) -> tuple[str, ...]:
    """Write a host list out.

    Parameters
    ----------
    text : str
        As in ``SLURM_JOB_NODELIST``; several brackets in one name multiply, zeros in front are kept.

    Returns
    -------
    tuple of str
        The hosts in the order of the list.

    Raises
    ------
    UsageError
        If the text is not a host list.

    Examples
    --------
    >>> expand("node[08-10],gpu1")
    ('node08', 'node09', 'node10', 'gpu1')
    """
    items = _ITEM.findall(text)
    if ",".join(items) != text:
        raise _not_a_list(text)
    return tuple(host for item in items for host in _expand_item(item, text))


def fold(hosts: Iterable[str]) -> str:
    """Write hosts in the short form; the order stays, so `expand` gives back the same.

    Examples
    --------
    >>> fold(["node1", "node2", "node3", "login"])
    'node[1-3],login'
    """
    groups: list[tuple[str, list[str]]] = []  # runs of hosts that differ in their last number only
    for host in hosts:
        match = _NUMBERED.fullmatch(host)
        name, number = (match[1], match[2]) if match else (host, "")
        if number and groups and groups[-1][0] == name and groups[-1][1][0]:
            groups[-1][1].append(number)
        else:
            groups.append((name, [number]))
    return ",".join(_fold_group(name, numbers) for name, numbers in groups)


def _expand_item(item: str, text: str) -> Iterator[str]:
    before, bracket, rest = item.partition("[")
    if not bracket:
        yield before
        return
    inside, _, after = rest.partition("]")
    endings = list(_expand_item(after, text)) if after else [""]
    for number in _numbers(inside, text):
        for ending in endings:
            yield f"{before}{number}{ending}"


def _numbers(inside: str, text: str) -> Iterator[str]:
    for part in inside.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise _not_a_list(text)
        first, last = match[1], match[2] or match[1]
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}d}"


def _fold_group(name: str, numbers: list[str]) -> str:
    if len(numbers) == 1:
        return f"{name}{numbers[0]}"
    ranges: list[list[str]] = []
    for number in numbers:
        if ranges and number == f"{int(ranges[-1][-1]) + 1:0{len(ranges[-1][0])}d}":
            ranges[-1].append(number)
        else:
            ranges.append([number])
    return f"{name}[{','.join(run[0] if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in ranges)}]"


def _not_a_list(text: str) -> UsageError:
    return UsageError(f"{text!r} is not a host list of SLURM", "it is written like node[1-4,7] or a,b")

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.hostlist import expand, fold
from runner.errors import UsageError

# What `scontrol show hostnames` of SLURM 22.05 prints, and the form with a suffix that later ones take.
KNOWN = {
    "node[1-4]": ("node1", "node2", "node3", "node4"),
    "n[01-03,7],m1": ("n01", "n02", "n03", "n7", "m1"),
    "a[1-2]b[3-4]": ("a1b3", "a1b4", "a2b3", "a2b4"),
    "n[008-011]": ("n008", "n009", "n010", "n011"),
    "n[8-11]": ("n8", "n9", "n10", "n11"),
    "node1": ("node1",),
    "": (),
    "x[1-2]-ib,login": ("x1-ib", "x2-ib", "login"),
}


@pytest.mark.parametrize("text", KNOWN)
def test_expand(text: str) -> None:
    assert expand(text) == KNOWN[text]


@pytest.mark.parametrize("text", ["n[1-2", "n1-2]", "n[a-b]", "n[1-]", "n[]", "a,,b", ",a", "n[[1]]"])
def test_what_is_no_host_list_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="host list"):
        expand(text)


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        (["node1", "node2", "node3"], "node[1-3]"),
        (["n08", "n09", "n10", "gpu1"], "n[08-10],gpu1"),
        (["n9", "n10"], "n[9-10]"),
        (["n1", "n3", "n4"], "n[1,3-4]"),
        (["n2", "n1"], "n[2,1]"),
        (["n01", "n2"], "n[01,2]"),
        (["login"], "login"),
        ([], ""),
    ],
)
def test_fold(hosts: list[str], text: str) -> None:
    assert fold(hosts) == text


names = st.from_regex(r"[a-z][a-z0-9.-]{0,6}", fullmatch=True)
numbered = st.builds("{}{}".format, st.sampled_from(["n", "node", "gpu-a"]), st.integers(0, 120))
padded = st.builds("rack{:03d}".format, st.integers(0, 1100))


@given(st.lists(names | numbered | padded, min_size=1, max_size=30))
def test_a_folded_list_expands_to_the_same_hosts(hosts: list[str]) -> None:
    assert expand(fold(hosts)) == tuple(hosts)


@given(st.integers(0, 200), st.integers(1, 200))
def test_consecutive_hosts_fold_into_one_range(first: int, count: int) -> None:
    hosts = [f"n{number}" for number in range(first, first + count)]
    assert len(fold(hosts)) < 12

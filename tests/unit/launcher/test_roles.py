"""Who does what, for clusters of every shape."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.launcher.facts import RankFacts
from runner.launcher.options import LaunchOptions
from runner.launcher.roles import Duty, assign, assign_late, local_workers
from tests.unit.launcher.ranks import GIB, rank, ranks

AUTO = LaunchOptions()


def written(duties: Sequence[Duty]) -> str:
    """Write duties short: S scheduler, C client, then the workers' devices (``-`` for none)."""
    return " ".join(
        "S" * duty.scheduler + "C" * duty.client + "".join(f"[{plan.gpu or '-'}]" for plan in duty.workers)
        for duty in duties
    )


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, "SC[-]"),
        (2, "SC[-] [-]"),
        (3, "SC[-] [-] [-]"),
        (4, "SC[-] [-] [-] [-]"),
        (7, "SC[-] [-] [-] [-] [-] [-] [-]"),
        (8, "S C [-] [-] [-] [-] [-] [-]"),
        (16, "S C" + 14 * " [-]"),
    ],
)
def test_ranks_on_one_host_without_gpus(number: int, expected: str) -> None:
    assert written(assign(ranks(*number * ["node1"]), AUTO)) == expected


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        ("ab", "SC[-] [-]"),
        ("aabb", "SC[-] [-] [-] [-]"),
        ("aaaabbbb", "S C [-] [-] [-] [-] [-] [-]"),
        ("abababab", "S C [-] [-] [-] [-] [-] [-]"),
        ("abcdefgh", "SC[-]" + 7 * " [-]"),  # a rank each: nobody can be spared
        ("aabcdefg", "SC" + 7 * " [-]"),  # the only spare rank has both
        ("abbcdefg", "SC[-]" + 7 * " [-]"),
        ("aabbcdef", "S [-] C [-] [-] [-] [-] [-]"),  # a keeps a worker, so the client goes to b
    ],
)
def test_hosts_keep_a_worker_each(hosts: str, expected: str) -> None:
    assert written(assign(ranks(*hosts), AUTO)) == expected


@pytest.mark.parametrize(
    ("hosts", "gpus", "expected"),
    [
        ("a", "0", "SC[0]"),
        ("aaaa", "0,1,2,3", "SC[0] [1] [2] [3]"),
        ("aaaaa", "0,1,2,3", "SC [0] [1] [2] [3]"),
        ("aaaaaa", "0,1,2,3", "S C [0] [1] [2] [3]"),
        ("aaaaabbbbb", "0,1,2,3", "S [0] [1] [2] [3] C [0] [1] [2] [3]"),
        ("aaaabbbb", "0,1,2,3", "SC[0] [1] [2] [3] [0] [1] [2] [3]"),
        ("aaaa", "0", "SC[0] [0] [0] [0]"),  # one each from the batch system, all called 0
        ("aaa", "GPU-1f,GPU-2e", "SC [GPU-1f] [GPU-2e]"),
        ("aaaa", "MIG-7a,MIG-7b", "S C [MIG-7a] [MIG-7b]"),
        ("aa", "0,1,2", "SC[0] [1]"),  # a rank is one worker, where nobody asks for more
        ("aaaabb", "0,1", "S C [0] [1] [0] [1]"),
    ],
)
def test_hosts_with_gpus(hosts: str, gpus: str, expected: str) -> None:
    assert written(assign(ranks(*hosts, gpus=gpus), AUTO)) == expected


def test_each_rank_keeps_the_one_device_that_it_was_given() -> None:
    given_one_each = [rank(number, gpus=f"{3 - number}") for number in range(4)]
    assert written(assign(given_one_each, AUTO)) == "SC[3] [2] [1] [0]"


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("0", "1", "2"), "SC[0] [0] [0]"),  # one each, under a device control group
        (("0", "0"), "SC [0]"),  # both see the only one
        (("0", "0", "1", "1"), "S [0] C [0]"),
        (("3", "3", "3", "2"), "S C [0] [0]"),
    ],
)
def test_a_batch_system_may_tell_which_device_it_is_that_all_ranks_call_0(
    ids: tuple[str, ...], expected: str
) -> None:
    told = [rank(number, gpus="0", gpu_ids=name) for number, name in enumerate(ids)]
    assert written(assign(told, AUTO)) == expected


def test_hosts_of_different_kinds() -> None:
    # two GPUs and three ranks, no GPU and two ranks, four GPUs and four ranks
    mixed = (
        [rank(number, "two", gpus="0,1") for number in range(3)]
        + [rank(number, "none") for number in (3, 4)]
        + [rank(number, "four", gpus="0,1,2,3") for number in range(5, 9)]
    )
    assert written(assign(mixed, AUTO)) == "S [0] [1] C [-] [0] [1] [2] [3]"


def test_a_rank_without_gpus_takes_none_of_its_neighbours() -> None:
    beside = [rank(0), *(rank(number, gpus="0,1") for number in (1, 2))]
    assert written(assign(beside, AUTO)) == "SC[-] [0] [1]"


def test_a_rank_with_a_gpu_of_its_own_is_not_spared_for_a_neighbour_without() -> None:
    # under a device control group all of them are called 0
    mixed = [rank(number, "ab"[number // 5], gpus="" if number % 5 == 0 else "0") for number in range(10)]
    assert written(assign(mixed, AUTO)) == "S [0] [0] [0] [0] C [0] [0] [0] [0]"


def test_ranks_beyond_the_devices_work_without_one_when_roles_are_shared() -> None:
    duties = assign(ranks(*3 * ["a"], gpus="0,1"), LaunchOptions(roles="shared"))
    assert written(duties) == "SC[0] [1] [-]"


@pytest.mark.parametrize(
    ("number", "expected"), [(3, "S C [-]"), (4, "S C [-] [-]"), (8, "S C [-] [-] [-] [-] [-] [-]")]
)
def test_dedicated(number: int, expected: str) -> None:
    assert written(assign(ranks(*number * ["a"]), LaunchOptions(roles="dedicated"))) == expected


@pytest.mark.parametrize("number", [1, 2])
def test_dedicated_needs_three_ranks(number: int) -> None:
    with pytest.raises(UsageError) as caught:
        assign(ranks(*number * ["a"]), LaunchOptions(roles="dedicated"))
    assert str(caught.value) == (
        f"--roles dedicated needs 3 ranks or more, there are {number}; "
        "start more ranks, or use --roles shared"
    )


@pytest.mark.parametrize("number", [1, 2, 8, 16])
def test_shared(number: int) -> None:
    duties = assign(ranks(*number * ["a"]), LaunchOptions(roles="shared"))
    assert written(duties) == "SC[-]" + (number - 1) * " [-]"


@pytest.mark.parametrize(
    ("gpus", "workers", "expected", "sharing"),
    [
        ("", 3, "SC[-][-][-]", [False, False, False]),
        ("0,1", 2, "SC[0][1]", [False, False]),
        ("0", 2, "SC[0][0]", [True, True]),
        ("MIG-a", 1, "SC[MIG-a]", [False]),
    ],
)
def test_several_workers_on_one_rank(gpus: str, workers: int, expected: str, sharing: list[bool]) -> None:
    duties = assign([rank(0, gpus=gpus)], LaunchOptions(workers=workers))
    assert written(duties) == expected
    assert [plan.shared_gpu for plan in duties[0].workers] == sharing


def test_workers_of_several_ranks_share_the_devices_of_a_host() -> None:
    duties = assign(ranks("a", "a", "b", gpus="0,1,2,3"), LaunchOptions(workers=2))
    assert written(duties) == "SC[0][1] [2][3] [0][1]"


def resources(duties: Sequence[Duty]) -> list[dict[str, float]]:
    return [plan.resources for duty in duties for plan in duty.workers]


def test_tags_of_workers() -> None:
    mixed = [
        rank(0, resources={"big": 2}),
        rank(1, gpus="0"),
        rank(2, gpus="0", resources={"GPU": 4, "big": 1}),
    ]
    assert resources(assign(mixed, AUTO)) == [{"big": 2}, {"GPU": 1}, {"GPU": 4, "big": 1}]
    late = rank(3, resources={"disk": 1})
    assert assign_late(late, mixed, AUTO).workers[0].resources == {"disk": 1}


@pytest.mark.parametrize(
    ("tagged", "expected"),
    [
        ((), "S C [-] [-] [-] [-] [-] [-]"),
        ((0,), "SC[-]" + 7 * " [-]"),  # the only one with the tag: it works
        ((1,), "S [-] C [-] [-] [-] [-] [-]"),
        ((1, 2), "S C [-] [-] [-] [-] [-] [-]"),
        ((0, 1), "S [-] C [-] [-] [-] [-] [-]"),  # one of them is enough
        (range(8), "S C [-] [-] [-] [-] [-] [-]"),
    ],
)
def test_no_tag_is_lost_for_the_scheduler_or_the_client(tagged: Sequence[int], expected: str) -> None:
    members = [rank(number, resources={"big": 1} if number in tagged else {}) for number in range(8)]
    duties = assign(members, AUTO)
    assert written(duties) == expected
    assert any(resources(duties)) == bool(tagged)


def test_names_of_workers() -> None:
    two = ranks("a", "b")
    assert [plan.name for duty in assign(two, AUTO) for plan in duty.workers] == ["0", "1"]
    names = [plan.name for duty in assign(two, LaunchOptions(workers=2)) for plan in duty.workers]
    assert names == ["0-0", "0-1", "1-0", "1-1"]


@pytest.mark.parametrize(
    ("local", "options", "threads"),
    [
        ([rank(0, cpus=range(8))], AUTO, [8]),
        ([rank(0, cpus=range(8))], LaunchOptions(workers=3), [2, 2, 2]),
        ([rank(0, cpus=range(2))], LaunchOptions(workers=4), [1, 1, 1, 1]),
        ([rank(0, cpus=range(8))], LaunchOptions(workers=2, threads=1), [1, 1]),
        # bound to cores of their own, or all on the same ones
        ([rank(0, cpus=range(4)), rank(1, cpus=range(4, 8))], AUTO, [4, 4]),
        ([rank(0, cpus=range(8)), rank(1, cpus=range(8))], AUTO, [4, 4]),
        ([rank(0, cpus=[0]), rank(1, cpus=[1])], AUTO, [1, 1]),
        ([rank(number, cpus=range(2)) for number in range(4)], AUTO, [1, 1, 1, 1]),
        # other hosts have cores with the same numbers
        ([rank(0, "a", cpus=range(8)), rank(1, "b", cpus=range(8))], AUTO, [8, 8]),
        # what the batch system meant for each rank
        ([rank(number, cpus=range(8), cpus_per_rank=2) for number in range(2)], AUTO, [2, 2]),
        ([rank(number, cpus=range(8), cpus_per_rank=2) for number in range(4)], AUTO, [2, 2, 2, 2]),
        # mpirun with more ranks than the batch system knows of: the cores remain the same
        ([rank(number, cpus=range(8), cpus_per_rank=8) for number in range(4)], AUTO, [2, 2, 2, 2]),
        ([rank(0, cpus=range(2), cpus_per_rank=8)], AUTO, [2]),
    ],
)
def test_threads(local: list[RankFacts], options: LaunchOptions, threads: list[int]) -> None:
    assert [plan.threads for duty in assign(local, options) for plan in duty.workers] == threads


def test_ranks_without_a_worker_leave_their_cores_to_the_others() -> None:
    duties = assign(ranks(*3 * ["a"]), LaunchOptions(roles="dedicated"))
    assert [plan.threads for plan in duties[2].workers] == [8]


def test_memory_is_shared_among_the_workers_of_a_host() -> None:
    local = [rank(0, "a", memory=100 * GIB), rank(1, "a", memory=90 * GIB), rank(2, "b", memory=10 * GIB)]
    memory = [plan.memory for duty in assign(local, LaunchOptions(workers=2)) for plan in duty.workers]
    assert memory == [int(90 * GIB * 0.95) // 4] * 4 + [int(10 * GIB * 0.95) // 2] * 2


def test_a_memory_limit_that_was_asked_for_is_taken_as_it_is() -> None:
    (duty,) = assign([rank(0)], LaunchOptions(workers=2, memory_limit=5 * GIB))
    assert [plan.memory for plan in duty.workers] == [5 * GIB, 5 * GIB]


def test_ranks_that_are_missing_leave_their_numbers_free() -> None:
    duties = assign([rank(0), rank(3), rank(7)], LaunchOptions(roles="dedicated"))
    assert [(duty.rank, duty.scheduler, duty.client, len(duty.workers)) for duty in duties] == [
        (0, True, False, 0),
        (3, False, True, 0),
        (7, False, False, 1),
    ]


def test_duties_travel_as_messages() -> None:
    for duty in assign(ranks(*5 * ["a"], gpus="0,1,2,3"), AUTO):
        assert Duty.from_message(json.loads(json.dumps(duty.to_message()))) == duty


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (2, 2), (4, 4), (8, 4), (16, 4), (64, 8), (100, 10)])
def test_workers_of_a_machine_where_nobody_said(cores: int, workers: int) -> None:
    assert local_workers(cores) == workers


# -- properties ------------------------------------------------------------------------------------------

_GPUS = st.sampled_from(["", "0", "0,1", "0,1,2,3", "GPU-a,GPU-b", "MIG-1,MIG-2,MIG-3", "one each", "each 0"])


@st.composite
def hosts_of_ranks(draw: st.DrawFn, name: str) -> list[dict[str, object]]:
    """The ranks of one host: their cores, memory and devices; some may see no device at all."""
    number = draw(st.integers(1, 7))
    cores = draw(st.integers(1, 8))
    memory = draw(st.integers(1, 512)) * GIB
    bound = draw(st.booleans())
    listed = draw(_GPUS)
    without = draw(st.integers(0, number - 1)) if listed and draw(st.booleans()) else 0
    members = []
    for index in range(number):
        gpus = {"one each": f"{index}", "each 0": "0"}.get(listed, listed)
        first = cores * index if bound else 0
        members.append(
            {
                "host": name,
                "cpus": range(first, first + (cores if bound else cores * number)),
                "gpus": "" if index < without else gpus,
                "memory": memory,
                "cpus_per_rank": draw(st.sampled_from([None, cores])),
            }
        )
    return members


@st.composite
def clusters(draw: st.DrawFn) -> list[RankFacts]:
    """Several hosts, their ranks numbered host by host or in turn."""
    hosts = [draw(hosts_of_ranks(f"node{number}")) for number in range(draw(st.integers(1, 4)))]
    members = [member for host in hosts for member in host]
    if draw(st.booleans()):
        members = draw(st.permutations(members))
    return [rank(number, **member) for number, member in enumerate(members)]  # type: ignore[arg-type]


@st.composite
def wishes(draw: st.DrawFn) -> LaunchOptions:
    return LaunchOptions(
        roles=draw(st.sampled_from(["auto", "shared", "dedicated"])),
        workers=draw(st.none() | st.integers(1, 3)),
    )


def by_host(members: Sequence[RankFacts]) -> dict[str, list[RankFacts]]:
    ordered = sorted(members, key=lambda facts: facts.host)
    return {host: list(local) for host, local in groupby(ordered, key=lambda facts: facts.host)}


def devices_on(local: Sequence[RankFacts]) -> int:
    """Count the devices of a host as `hosts_of_ranks` made it."""
    seeing = [facts for facts in local if facts.gpus]
    if all(len(facts.gpus) == 1 for facts in seeing):
        return len(seeing)
    return len({name for facts in seeing for name in facts.gpus})


@given(cluster=clusters(), options=wishes())
def test_whatever_the_cluster(cluster: list[RankFacts], options: LaunchOptions) -> None:
    if options.roles == "dedicated" and len(cluster) < 3:
        return
    duties = {duty.rank: duty for duty in assign(cluster, options)}
    plans = [plan for duty in duties.values() for plan in duty.workers]
    assert list(duties) == [facts.rank for facts in cluster]
    assert [duty.rank for duty in duties.values() if duty.scheduler] == [0]
    assert sum(duty.client for duty in duties.values()) == 1
    assert plans
    assert max(Counter(plan.name for plan in plans).values()) == 1
    for facts in cluster:
        assert {plan.gpu for plan in duties[facts.rank].workers} <= {None, *facts.gpus}
    for local in by_host(cluster).values():
        here = [plan for facts in local for plan in duties[facts.rank].workers]
        assert sum(plan.memory for plan in here) <= local[0].memory
        assert all(plan.threads >= 1 and plan.memory > 0 for plan in here)
        cores = len({cpu for facts in local for cpu in facts.cpus})
        if (options.workers or 1) <= cores // len(local):
            assert sum(plan.threads for plan in here) <= cores


@given(cluster=clusters())
def test_no_host_and_no_gpu_idles_for_the_scheduler_or_the_client(cluster: list[RankFacts]) -> None:
    duties = {duty.rank: duty for duty in assign(cluster, AUTO)}
    for local in by_host(cluster).values():
        here = [plan for facts in local for plan in duties[facts.rank].workers]
        assert here
        seeing = sum(bool(facts.gpus) for facts in local)
        working = [plan.gpu for plan in here if plan.gpu is not None]
        assert len(working) == min(devices_on(local), seeing)
        if any(len(facts.gpus) > 1 for facts in local):
            assert len(set(working)) == len(working)

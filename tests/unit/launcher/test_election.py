"""The block that a person reads before the job starts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from runner.batch.allocation import Allocation
from runner.launcher.election import Election, describe
from runner.launcher.facts import RankFacts
from runner.launcher.options import LaunchOptions
from runner.launcher.roles import Duty, assign
from runner.launcher.walltime import Walltime
from tests.unit.launcher.ranks import GIB, rank

SLURM = Allocation(system="slurm", job_id="9", cancel_command="scancel 9")


def elected(
    number: int = 5, *, hosts: int = 1, gpus: str = "", options: LaunchOptions | None = None
) -> Election:
    """An election of `number` ranks in order on `hosts` hosts."""
    facts = [
        rank(index, f"node{index * hosts // number + 1}", gpus=gpus, memory=80 * GIB)
        for index in range(number)
    ]
    return Election(
        version="runner 0.1.0, Dask 2026.1.0",
        launcher="srun",
        meeting="a private file in /home/ana/.cache/runner",
        allocation=SLURM,
        facts=facts,
        duties=assign(facts, options or LaunchOptions()),
        scheduler="tls://10.0.0.1:40000",
        interface="ib0",
        dashboard=8787,
        wants_dashboard=True,
        encrypted=True,
        seconds=2.345,
    )


@pytest.mark.parametrize(
    ("drain", "told"),
    [(60, ", the job is told 60 s before it is stopped"), (0, "")],
    ids=["told", "not told"],
)
def test_the_end_of_the_job(drain: int, told: str) -> None:
    walltime = Walltime(ends_at=1_780_000_000, drain=drain, reason="SLURM ends job 9 at 12:34:56")
    lines = describe(replace(elected(), walltime=walltime)).splitlines()
    assert f"  end        SLURM ends job 9 at 12:34:56{told}" in lines


def test_a_job_with_gpus() -> None:
    assert describe(elected(gpus="0,1,2,3")).splitlines() == [
        "runner 0.1.0, Dask 2026.1.0, SLURM job 9: 5 ranks on 1 host, 4 workers, ready in 2.3 s",
        "  rank  host   pid   roles               threads  memory    GPU",
        "  0     node1  1000  scheduler + client  -        -         -",
        "  1     node1  1001  worker              2        19.0 GiB  0",
        "  2     node1  1002  worker              2        19.0 GiB  1",
        "  3     node1  1003  worker              2        19.0 GiB  2",
        "  4     node1  1004  worker              2        19.0 GiB  3",
        "  ranks      started by srun, met by a private file in /home/ana/.cache/runner",
        "  scheduler  tls://10.0.0.1:40000 on ib0, TLS with this job's own certificate",
        "  dashboard  http://127.0.0.1:8787/status after: ssh -N -L 8787:127.0.0.1:8787 node1",
        "  stop       scancel 9, or Ctrl-C where it was started",
    ]


def test_tags_are_shown_where_they_work() -> None:
    facts = [rank(number, resources={"big": 1} if number < 2 else {}) for number in range(3)]
    duties = assign(facts, LaunchOptions(roles="shared"))
    assert roles_shown(facts, duties) == ["scheduler + client + worker (big=1)", "worker (big=1)", "worker"]
    duties = assign(facts, LaunchOptions(roles="dedicated"))
    assert roles_shown(facts, duties) == ["scheduler", "client", "worker"]


def roles_shown(facts: list[RankFacts], duties: tuple[Duty, ...]) -> list[str]:
    rows = describe(replace(elected(), facts=facts, duties=duties)).splitlines()[2 : 2 + len(facts)]
    return [re.split(r"\s{2,}", row)[4] for row in rows]


def test_a_laptop() -> None:
    alone = replace(elected(1, gpus="0", options=LaunchOptions(workers=2)), launcher="none", interface="lo")
    alone = replace(alone, allocation=Allocation(), scheduler="tls://127.0.0.1:40000")
    assert describe(alone).splitlines() == [
        "runner 0.1.0, Dask 2026.1.0, no batch system: 1 rank on 1 host, 2 workers, ready in 2.3 s",
        "  rank  host   pid   roles                           threads  memory         GPU",
        "  0     node1  1000  scheduler + client + 2 workers  4 each   38.0 GiB each  0*,0*",
        "  scheduler  tls://127.0.0.1:40000 on lo, TLS with this job's own certificate",
        "  dashboard  http://127.0.0.1:8787/status",
        "  stop       Ctrl-C, or kill 1000 on node1",
    ]


def test_without_encryption_it_is_said_aloud() -> None:
    text = describe(replace(elected(), encrypted=False, scheduler="tcp://10.0.0.1:40000"))
    assert "  scheduler  tcp://10.0.0.1:40000 on ib0, NOT ENCRYPTED (--insecure)" in text.splitlines()


def test_without_a_dashboard_there_is_no_line_for_it() -> None:
    assert "dashboard" not in describe(replace(elected(), dashboard=None, wants_dashboard=False))
    assert "pip install 'tomo-runner[dashboard]'" in describe(replace(elected(), dashboard=None))


@pytest.mark.parametrize(("number", "lines"), [(32, 1 + 32), (33, 1 + 4), (128, 1 + 4)])
def test_many_ranks_are_summed_up_by_host(number: int, lines: int) -> None:
    text = describe(replace(elected(number, hosts=4), dashboard=None, wants_dashboard=False)).splitlines()
    assert len(text) == 1 + lines + 3


def test_hosts_of_a_large_job() -> None:
    rows = describe(elected(64, hosts=2, gpus="0,1,2,3")).splitlines()[1:4]
    assert rows == [
        "  rank    host   pid  roles                            threads  memory    GPU",
        "  0..31   node1       scheduler + client + 30 workers  30       76.0 GiB  4",
        "  32..63  node2       32 workers                       32       76.0 GiB  4",
    ]


def test_ranks_of_a_host_that_are_not_in_a_row() -> None:
    facts = [rank(number, f"node{number % 2}") for number in range(40)]
    text = describe(replace(elected(), facts=facts, duties=assign(facts, LaunchOptions())))
    assert "  0..38" in text
    assert "  1..39" in text

"""Who is believed where the command line, a file of dask-jobqueue and a site's profile differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.batch.order import Order
from runner.batch.request import JobRequest
from runner.batch.script import SYSTEMS as SCRIPTS
from runner.errors import UsageError
from runner.jobs.request_options import SYSTEMS, read_order

SITE = """
system = "slurm"
[job]
queue = "site"
account = "site"
nodes = 7
gpu-style = "gres"
directives = ["--site"]
prologue = ["site"]
directives-with-gpus = ["--gpus"]
directives-without-gpus = ["--cpus"]
"""
FILE = """
jobqueue:
  slurm: {queue: file, account: file, job-extra-directives: [--file], death-timeout: 9}
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with a profile ``here``, and a file of dask-jobqueue."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    sites = tmp_path / "runner" / "sites"
    sites.mkdir(parents=True)
    (sites / "here.toml").write_text(SITE)
    (tmp_path / "jobqueue.yaml").write_text(FILE)
    return tmp_path


def order(system: str | None = None, **given: object) -> Order:
    wanted: dict[str, object] = {"site": None, "jobqueue": None} | given
    return read_order(system, ("job.py",), find_system=lambda: "oar", **wanted)  # type: ignore[arg-type]


def test_the_command_line_then_the_file_then_the_site(config: Path) -> None:
    found = order(site="here", jobqueue=config / "jobqueue.yaml", queue="typed", directives=("--typed",))
    assert found.system == "slurm"
    assert found.request == JobRequest(
        command=("job.py",),
        queue="typed",
        account="file",
        nodes=7,
        directives=("--cpus", "--site", "--file", "--typed"),
        prologue=("site",),
    )
    assert found.passed_over == {"death-timeout": "workers end with their job"}


def test_with_gpus_the_site_asks_for_them_in_its_way() -> None:
    request = order(site="here", gpus_per_node=4).request
    assert (request.gpu_style, request.directives) == ("gres", ("--gpus", "--site"))


def test_sizes_and_times_are_read() -> None:
    request = order(memory="4G", walltime="1:30:00").request
    assert (request.memory, request.walltime) == (4 << 30, 5400.0)


@pytest.mark.parametrize(
    ("system", "site", "jobqueue", "expected"),
    [
        (None, None, False, "oar"),  # what is found here
        ("flux", None, False, "flux"),
        (None, "here", False, "slurm"),
        (None, None, True, "slurm"),
        ("slurm", "here", True, "slurm"),
    ],
)
def test_who_tells_the_system(
    config: Path, system: str | None, site: str | None, jobqueue: bool, expected: str
) -> None:
    file = config / "jobqueue.yaml" if jobqueue else None
    assert order(system, site=site, jobqueue=file).system == expected


def test_a_site_with_another_system_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="site here has slurm, not flux"):
        order("flux", site="here")


def test_what_the_file_must_say_and_the_system_has_no_words_for_is_named(tmp_path: Path) -> None:
    file = tmp_path / "sge.yaml"
    file.write_text("jobqueue: {sge: {cores: 4, memory: 16GB}}")
    found = order(jobqueue=file)
    assert found.request.memory is None
    assert found.request.cpus_per_task == 4
    assert found.passed_over["memory"].startswith("sites name it differently")


def test_a_style_that_was_typed_without_gpus_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="--gpu-style says nothing without GPUs"):
        order(gpu_style="gres")


def test_the_systems_are_those_of_the_scripts() -> None:
    assert SYSTEMS == SCRIPTS

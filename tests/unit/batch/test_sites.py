"""Profiles of computing centres: ours, and what is wrong with a user's own."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from runner.batch.request import JobRequest
from runner.batch.script import render
from runner.batch.sites import folders, load_site, read_site, user_folder
from runner.batch.templates import template_folder
from runner.errors import MissingFileError, UsageError

OURS = sorted((template_folder() / "sites").glob("*.toml"))
FULL = """
title = "Somewhere"
source = "https://somewhere.org/jobs"
read = 2026-11-30
system = "slurm"
account-needed = true
[job]
nodes = 2
ntasks-per-node = 5
cpus-per-task = 8
gpus-per-node = 4
gpu-type = "a100"
gpu-style = "gres"
mem = "400G"
time = "2:00:00"
queue = "gpu"
account = "abc"
interface = "ib0"
scratch = "/nvme/$USER"
modules = ["mpi"]
prologue = ["ulimit -c 0"]
directives = ["--exclusive"]
directives-with-gpus = ["--constraint=gpu"]
directives-without-gpus = ["--constraint=cpu"]
[queues.gpu]
time = "1-00:00:00"
[queues.free]
"""


def write(folder: Path, text: str, name: str = "somewhere") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def test_everything_that_a_profile_can_say(tmp_path: Path) -> None:
    site = read_site(write(tmp_path, FULL))
    assert site.wishes == {
        "nodes": 2,
        "tasks_per_node": 5,
        "cpus_per_task": 8,
        "gpus_per_node": 4,
        "gpu_type": "a100",
        "gpu_style": "gres",
        "memory": 400 << 30,
        "walltime": 7200.0,
        "queue": "gpu",
        "account": "abc",
        "interface": "ib0",
        "scratch": "/nvme/$USER",
        "prologue": ("module load mpi", "ulimit -c 0"),
        "directives": ("--exclusive",),
    }
    assert (site.name, site.system, site.account_needed) == ("somewhere", "slurm", True)
    assert (site.with_gpus, site.without_gpus) == (("--constraint=gpu",), ("--constraint=cpu",))
    assert site.queues == {"gpu": 86400.0, "free": None}
    assert site.read == date(2026, 11, 30)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_profiles_can_be_read_and_say_where_and_when_they_were_found(path: Path) -> None:
    site = read_site(path)
    assert site.title
    assert site.source
    assert site.read is not None
    if site.system is not None:
        wishes = {"account": "abc", "gpus_per_node": 4, "tasks_per_node": 4} | site.wishes
        request = JobRequest(command=("job.py",), **wishes)
        site.check(request)
        assert render(site.system, request)


def test_the_sites_of_the_documentation_are_there() -> None:
    assert {path.stem for path in OURS} == {
        "alcf-polaris",
        "cc-in2p3",
        "cscs-alps",
        "diamond",
        "esrf",
        "gricad",
        "grid5000",
        "ncar",
        "nersc-perlmutter",
        "olcf-frontier",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system = ", "is not TOML"),
        ('system = "cobalt"', "system = 'cobalt' is not right; write one of slurm, pbs"),
        ("batch = 1", "there is no key batch; known: title, source"),
        ("[job]\nque = 'gpu'", "there is no key job.que; known: nodes"),
        ("[job]\nqueue = 3", "job.queue = 3 is not right; write text"),
        ("[job]\nnodes = 0", "job.nodes = 0 is not right; write a whole number from 1 on"),
        ("[job]\nnodes = true", "job.nodes = True is not right"),
        ("[job]\nmem = 'lots'", "job.mem: 'lots' is not a memory size; write it like 400G"),
        ("[job]\ntime = 'soon'", "job.time: 'soon' is not a duration"),
        ("[job]\nmodules = 'mpi'", "job.modules = 'mpi' is not right; write a list of texts"),
        ("[job]\nqueue = 'a b'", "'a b' cannot stand in a directive"),
        ("[job]\nscratch = 'a b'", "cannot be a scratch folder"),
        ("account-needed = 'yes'", "account-needed = 'yes' is not right; write true or false"),
        ("read = '2026-11-30'", "read = .* is not right; write a date"),
        ("job = 3", "job = 3 is not right; write a table"),
        ("queues = {gpu = 3}", "queues.gpu is not right; write a table"),
        ("[queues.gpu]\nlimit = 3", "there is no key queues.gpu.limit"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError, match=message) as error:
        read_site(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="cannot be read"):
        read_site(tmp_path / "x.toml")


def test_a_users_own_profile_goes_before_ours(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/nowhere"}
    own = user_folder(environ)
    assert own == tmp_path / "runner" / "sites"
    assert load_site("esrf", folders(environ)).title == "ESRF"
    own.mkdir(parents=True)
    write(own, "title = 'mine'", "esrf")
    assert load_site("esrf", folders(environ)).title == "mine"


@pytest.mark.parametrize("name", ["nowhere", "../esrf", "", "a/b"])
def test_a_site_that_is_not_known(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        UsageError, match=r"no profile of a site 'nowhere'; known: alcf|is not the name of a site"
    ):
        load_site(name, folders({"XDG_CONFIG_HOME": str(tmp_path)}))


def test_what_the_site_would_refuse(tmp_path: Path) -> None:
    site = read_site(write(tmp_path, FULL))
    with pytest.raises(UsageError, match="site somewhere takes no job without an account; add --account"):
        site.check(JobRequest(command=("job.py",)))
    fits = JobRequest(command=("job.py",), account="abc", queue="gpu", walltime=86400.0)
    site.check(fits)
    with pytest.raises(UsageError, match=r"queue gpu of site somewhere ends jobs after 24:00:00, 24:00:01"):
        site.check(JobRequest(command=("job.py",), account="abc", queue="gpu", walltime=86401.0))
    for queue in ("free", "other", None):
        site.check(JobRequest(command=("job.py",), account="abc", queue=queue, walltime=1e6))

"""In which words each system is asked for GPUs."""

from __future__ import annotations

import pytest

from runner.batch.gpus import STYLES, gpu_words, gpus_per_task
from runner.batch.request import JobRequest
from runner.batch.script import SYSTEMS, render
from runner.errors import UsageError


def request(**values: object) -> JobRequest:
    """Two nodes of two ranks and four GPUs."""
    return JobRequest(
        **({"command": ("job.py",), "nodes": 2, "tasks_per_node": 2, "gpus_per_node": 4} | values)
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("system", "style", "kind", "words"),
    [
        ("slurm", None, None, "--gpus-per-node=4"),
        ("slurm", "gpus-per-node", "a100", "--gpus-per-node=a100:4"),
        ("slurm", "gpus-per-task", None, "--gpus-per-task=2"),
        ("slurm", "gres", None, "--gres=gpu:4"),
        ("slurm", "gres", "v100", "--gres=gpu:v100:4"),
        ("slurm", "gpus", "h100", "--gpus=h100:8"),
        ("slurm", "--gpus-per-socket={per_task}", None, "--gpus-per-socket=2"),
        ("pbs", None, None, "ngpus=4"),
        ("pbs-pals", "ngpus={per_node}:system=polaris", None, "ngpus=4:system=polaris"),
        ("sge", "-l nvidia_v100={per_node}", None, "-l nvidia_v100=4"),
        ("oar", None, None, "gpu=4"),
        ("oar", "gpudevice={per_node}", None, "gpudevice=4"),
        ("lsf", None, None, '-gpu "num=4"'),
        ("lsf", '-gpu "num={per_task}/task"', None, '-gpu "num=2/task"'),
        ("lsf-jsrun", None, None, ""),  # the template says it
        ("flux", None, None, ""),
    ],
)
def test_words(system: str, style: str | None, kind: str | None, words: str) -> None:
    asked = request(gpu_style=style, gpu_type=kind)
    assert gpu_words(system, asked) == words
    assert words in render(system, asked)


@pytest.mark.parametrize("system", [system for system in SYSTEMS if system not in ("mpi", "sge")])
def test_four_gpus_per_node_are_four_in_every_script(system: str) -> None:
    bare = render(system, request(gpus_per_node=None))
    added = [line for line in render(system, request()).splitlines() if line not in bare.splitlines()]
    per_task = system == "htcondor"
    assert any(("2" if per_task else "4") in line for line in added), added


def test_no_gpus_no_words() -> None:
    for system in SYSTEMS:
        assert gpu_words(system, request(gpus_per_node=None)) == ""


@pytest.mark.parametrize(
    ("system", "values", "message"),
    [
        ("sge", {}, "--gpus-per-node cannot be given for sge alone; .*--gpu-style"),
        (
            "slurm",
            {"gpu_style": "gpu"},
            "'gpu' is no way to ask slurm for GPUs; use .*per_node",
        ),
        ("slurm", {"gpu_style": "--gpus={many}"}, "'--gpus={many}' cannot be filled in; .*type, per_node"),
        ("slurm", {"gpu_style": "--gpus={"}, "cannot be filled in"),
        ("slurm", {"gpu_style": "--gpus={0}"}, "cannot be filled in"),
        ("slurm", {"gpu_style": "a\n{per_node}"}, "is no way to ask"),
        ("slurm", {"gpu_style": "gpus-per-task", "tasks_per_node": 5}, "4 GPUs per node .* by 5 ranks"),
        ("htcondor", {"tasks_per_node": 5}, "4 GPUs per node .* by 5 ranks"),
        ("pbs", {"gpu_type": "a100"}, "--gpu-type cannot be given for pbs"),
        ("flux", {"gpu_type": "a100"}, "--gpu-type cannot be given for flux"),
        ("flux", {"gpu_style": "gres"}, "--gpu-style cannot be given for flux"),
    ],
)
def test_what_cannot_be_asked(system: str, values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        render(system, request(**values))


@pytest.mark.parametrize("field", ["gpu_type", "gpu_style"])
def test_a_word_about_gpus_without_gpus_is_a_mistake(field: str) -> None:
    with pytest.raises(UsageError, match=f"--{field.replace('_', '-')} says nothing without GPUs"):
        request(gpus_per_node=None, **{field: "gres"})


def test_shares() -> None:
    assert gpus_per_task(request()) == 2
    assert gpus_per_task(request(gpus_per_node=None)) == 0


def test_the_first_style_of_each_system_fills_in_everything_it_names() -> None:
    for system, styles in STYLES.items():
        for style in styles:
            assert "{" not in gpu_words(system, request(gpu_style=style))

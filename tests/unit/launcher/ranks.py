"""Ranks as tests write them."""

from __future__ import annotations

from collections.abc import Sequence

from runner.launcher.facts import RankFacts

GIB = 1 << 30


def rank(
    number: int,
    host: str = "node1",
    *,
    cpus: Sequence[int] = range(8),
    memory: int = 64 * GIB,
    gpus: str = "",
    gpus_given: bool = True,
    gpu_ids: str = "",
    cpus_per_rank: int | None = None,
    resources: dict[str, float] | None = None,
) -> RankFacts:
    """One rank; `gpus` is written as in ``CUDA_VISIBLE_DEVICES``."""
    return RankFacts(
        rank=number,
        host=host,
        pid=1000 + number,
        cpus=tuple(cpus),
        memory=memory,
        gpus=tuple(gpus.split(",")) if gpus else (),
        gpus_given=gpus_given,
        gpu_ids=tuple(gpu_ids.split(",")) if gpu_ids else (),
        cpus_per_rank=cpus_per_rank,
        resources=resources or {},
    )


def ranks(*hosts: str, gpus: str = "") -> list[RankFacts]:
    """Ranks in order on the given hosts: ``ranks("node1", "node1", "node2")``."""
    return [rank(number, host, gpus=gpus) for number, host in enumerate(hosts)]

"""Training on a Ray cluster of this machine: its start, its memory, and two runs side by side."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks.results import Result, interleaved, paired_ratio, seconds
from benchmarks.training import CONFIG
from playground.jobs import JobHandle, Request
from playground.jobs.cluster import ClusterPool
from playground.training.recipe import Recipe
from playground.training.variants import Training, TrainingState

RECIPE = Recipe(steps=300, lr=1e-3)

ROUNDS = 2


def measure() -> Iterable[Result]:
    """Start a cluster, measure, end it."""
    before = children_bytes()
    pool = ClusterPool("local")
    started = seconds(pool.connect)
    try:
        yield Result("a Ray cluster on this machine: start", started, unit="s")
        yield Result("… its processes' memory while nothing runs", (children_bytes() - before) / 1e6, unit="MB")
        seed = iter(range(10**6))

        def start() -> JobHandle[TrainingState]:
            recipe = replace(RECIPE, seed=next(seed))
            return pool.join(recipe, Request(Training, (CONFIG, recipe)))

        def one_after_the_other() -> None:
            for _ in range(2):
                wait(start())

        def side_by_side() -> None:
            for job in [start(), start()]:
                wait(job)

        times = interleaved({"side by side": side_by_side, "one after the other": one_after_the_other}, ROUNDS)
        ratio = paired_ratio(times["side by side"], times["one after the other"])
        note = f"{min(times['side by side']):.1f} s / {min(times['one after the other']):.1f} s"
        yield Result("two trainings side by side / one after the other", ratio, 0.75, note=note)
    finally:
        pool.close()


def wait(job: JobHandle[TrainingState]) -> None:
    """Wait for the end of a run, which has to be a good one."""
    job.job.over.wait()
    if job.status != "finished":
        raise RuntimeError(f"A run {job.status}: {job.error}")


def children_bytes() -> int:
    """Memory of all processes below this one; what several share is divided among them (Linux's Pss)."""
    parents = dict(map(parent, Path("/proc").glob("[0-9]*")))
    family = {os.getpid()}
    while len(family) < len(family := family | {child for child, of in parents.items() if of in family}):
        pass
    return sum(map(proportional_bytes, family - {os.getpid()}))


def parent(process: Path) -> tuple[int, int]:
    """A process's own id and its parent's; 0 where it has ended."""
    try:
        return int(process.name), int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return int(process.name), 0


def proportional_bytes(process_id: int) -> int:
    """A process's proportional set size; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))

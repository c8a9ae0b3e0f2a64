"""Sentences on an experiment, the same on every page that has one."""

from typing import Any

from playground.accounting.readable import duration
from playground.config import ModelConfig
from playground.training.recipe import Recipe
from playground.training.tasks.task_list import TASKS
from playground.web.session.experiments import Experiment


def pending_sentence(experiment: Experiment[Any]) -> str:
    """The status while the computation has nothing to say of it: it waits, starts or ends; else empty."""
    status, begun = experiment.job.status, experiment.state is not None
    if status == "waiting":
        continues = "continues" if begun else "starts"
        place, wait = ordinal(experiment.job.position), experiment.job.expected_wait
        when = f" in about {duration(wait)}" if wait >= 1 else ""
        return f"Waiting for a seat: {place} in the queue. It {continues}{when} by itself, on any page."
    if experiment.cancelling:
        return "Cancelling after the current step …"
    if begun or status == "failed":
        return ""
    if status == "cancelled":
        return f"{cancelled_clause(experiment)} before the first step."
    return "Paused before the first step." if status == "paused" else "Getting ready."


def continuing_sentence(experiment: Experiment[Any], at: str) -> str:
    """The status of an experiment that is paused or running, and how long it still takes; `at` is where it is."""
    if experiment.job.status == "paused":
        if experiment.job.missed_end:
            return f"Paused for you: {at}. The run has come to its end for others; Resume shows it."
        others = experiment.job.others
        if experiment.job.aside and others:
            return (
                f"Paused for you: {at}. The run goes on for {count_people(others)}; Resume shows how far it is by then."
            )
        return f"Paused: {at}. Others may train meanwhile; Resume queues it again."
    done = experiment.progress
    left = f", about {duration(experiment.job.seconds * (1 / done - 1))} to go" if done > 0.02 else ""
    return f"Training: {at}{left}."


def sharing_sentence(experiment: Experiment[Any]) -> str:
    """Who else takes part in the run, and what Pause and Cancel mean then; empty where it is this visitor's alone."""
    job, others = experiment.job, experiment.job.others
    if job.status in ("waiting", "running") and others:
        return (
            f"You share this run with {count_people(others)}, who started the same one. Pause and Cancel take only you "
            "out of it; it goes on while anyone stays."
        )
    if job.status == "finished" and job.joined == "finished":
        return "The same run had been computed here before; this is its result."
    return ""


def count_people(n: int) -> str:
    """`1 other visitor`, `2 other visitors`, …."""
    return f"{n} other visitor{'' if n == 1 else 's'}"


def cancelled_clause(experiment: Experiment[Any]) -> str:
    """How a sentence on a cancelled experiment begins."""
    if not experiment.disconnected:
        return "Cancelled"
    consequence = "you left the run" if experiment.job.left else "the run was cancelled"
    return f"The connection to your browser broke, and {consequence}"


def ordinal(position: int) -> str:
    """A place in the queue: `next`, `2nd`, `3rd`, `4th` …."""
    if position == 1:
        return "next"
    ending = "th" if position % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(position % 10, "th")
    return f"{position}{ending}"


def run_differences(before: tuple[ModelConfig, Recipe], now: tuple[ModelConfig, Recipe]) -> list[str]:
    """The settings in which two runs differ, as `lr 0.002 → 0.01`."""
    differences = []
    for old, new in zip(before, now, strict=True):
        for name, was in vars(old).items():
            value = vars(new)[name]
            if value != was and name == "task":
                differences.append(f"task {TASKS[was].title} → {TASKS[value].title}")
            elif value != was and name not in ("vocab_size", "text"):
                differences.append(f"{name} {was} → {value}")
    if before[1].text != now[1].text:
        differences.append("another text")
    return differences


def difference_sentence(experiment: Experiment[Any], measured: str, differences: list[str]) -> str:
    """Which settings what is drawn was `measured` with, and the first six in which the page differs from them."""
    listed = f"{', '.join(differences[:6])}{' …' if len(differences) > 6 else ''}"
    advice = "It has to end before another can start." if experiment.active else "**Start** takes the present ones."
    return (
        f"What is drawn was measured with other settings than the page has now: {measured}. The difference: {listed}. "
        f"{advice}"
    )

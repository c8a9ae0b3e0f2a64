"""A trained network among others: what its run is called in links and files, and how it went."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Literal

from playground.config import ModelConfig
from playground.training.network import History
from playground.training.recipe import FORMER, Recipe
from playground.training.tasks import TASKS
from playground.training.trained_network import FORMAT, TrainedNetwork

Origin = Literal["trained", "stored", "opened"]
"""By this session, by another one on this server, or of a visitor's file."""


def run_key(config: ModelConfig, recipe: Recipe) -> str:
    """Return a hash of all that a run depends on; the architecture's dropout does not count, the recipe's do."""
    parts = [FORMAT, asdict(replace(config, dropout=0.0)), asdict(recipe) | FORMER]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def name_run(trained: TrainedNetwork) -> str:
    """Return what a link calls a run: its key, and its share of right answers in ten thousandths."""
    return f"{run_key(trained.config, trained.recipe)}-{round(10_000 * trained.results.validation_accuracy)}"


_NAME = re.compile("([0-9a-f]{32})(?:-([0-9]{1,5}))?")
"""What `name_run` gives; the share may be missing."""


def key_in(name: str) -> str:
    """Return the key in a run's name; empty where it is none."""
    match = _NAME.fullmatch(name)
    return match[1] if match else ""


def share_in(name: str) -> float | None:
    """Return the share of right answers in a run's name, if it has one."""
    match = _NAME.fullmatch(name)
    return int(match[2]) / 10_000 if match and match[2] else None


def list_changed_settings(before: tuple[ModelConfig, Recipe], now: tuple[ModelConfig, Recipe]) -> list[str]:
    """The settings in which two trainings differ, as `lr 0.002 → 0.01`."""
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


@dataclass(frozen=True, eq=False)
class KeptRun:
    """A trained network and how its training went, as far as that is known."""

    network: TrainedNetwork
    origin: Origin
    steps: tuple[int, ...] = ()
    """After which it was measured."""
    right: tuple[float, ...] = ()
    """The share of the validation set that was right after each of them."""

    @cached_property
    def name(self) -> str:
        """What a link calls it."""
        return name_run(self.network)

    @cached_property
    def key(self) -> str:
        """What it is stored by."""
        return key_in(self.name)


def keep_history(network: TrainedNetwork, history: History) -> KeptRun:
    """Return a run of this session with the curve of its right answers."""
    measured = {each.step: each.validation.accuracy for each in history.evaluations}
    return KeptRun(network, "trained", tuple(measured), tuple(measured.values()))


def describe_origin(run: KeptRun, name: str) -> str:
    """Return what has to be said of a run that a link names: that it is from this server's store, or trained anew."""
    share, right = share_in(name), run.network.results.validation_accuracy
    stored = "It was trained on this server before." if run.origin == "stored" else ""
    differs = share is not None and round(10_000 * share) != round(10_000 * right)
    near = f"It is right in {right:.2%}; the link's network was in {share:.2%}." if differs else ""
    return f"{stored} {near}".strip()

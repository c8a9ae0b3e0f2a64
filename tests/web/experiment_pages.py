"""The pages Training and Regularisers with runs that are soon over, and the same runs without the app."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground.config import ModelConfig
from playground.presets import PRESETS
from playground.training.recipe import Recipe
from playground.training.trained_network import TrainedNetwork
from playground.training.trainer import Trainer
from playground.training.variants import comparison_recipe
from playground.web.session.own_models import OWN
from tests.waiting import running_jobs, until
from tests.web.app_test import grey_buttons, open_page, press, status_text, working

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32}
SHORT = {"length": 8, "n_symbols": 5, "n_train": 64, "steps": 5, "batch_size": 16}
N_STEPS = 6
"""Of every run of the Regularisers page."""
TEXT = "the cat sat on the mat and the dog sat on the log. " * 6 + "what a day it was for all of them, 3 * 4 = 12!"
OWN_TEXT = {"training_task": "Next character", "training_text": TEXT}
"""A link to a run that learns from this text."""


def training_page(**query: object) -> AppTest:
    """The Training page under a link, with a small model and a short run."""
    link = {"weights": "random", **SIZES, **{f"training_{name}": value for name, value in SHORT.items()}}
    return open_page("training", **link | query)


def regularisers_page(*chosen: str, **query: object) -> AppTest:
    """The Regularisers page under a link, with these regularisers chosen, or those that it begins with."""
    return open_page("regularisers", **({"regularisers_chosen": chosen} if chosen else {}), **query)


def ended(app: AppTest, page: str = "training") -> AppTest:
    """The page once its run is over."""
    until(lambda: not running_jobs())
    assert "stop" in grey_buttons(working(app.run()), page)
    return app


def measured(app: AppTest, page: str = "training") -> AppTest:
    """The page once it was started and all of it is done."""
    return ended(press(app, f"{page}_start"), page)


def until_step(app: AppTest, status: str = "", at_least: int = 1) -> AppTest:
    """The page of a run that goes on, once it has got so far and its status begins like this."""

    def arrived() -> bool:
        text = status_text(working(app.run()))
        found = re.search(r"step ([0-9,]+) of", text)
        return text.startswith(status) and found is not None and int(found[1].replace(",", "")) >= at_least

    until(arrived)
    return app


def train(app: AppTest) -> TrainedNetwork:
    """Start, wait, and return the network in the slot in the end."""
    found = measured(app).session_state[OWN].trained
    assert isinstance(found, TrainedNetwork)
    return found


def short_comparison(task: str, amount: str, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The Regularisers page's recipe, but soon over."""
    recipe = comparison_recipe(task, amount, seed, strengths)
    return replace(recipe, n_train=min(recipe.n_train, 200), n_validation=40, steps=N_STEPS)


def endless_comparison(*args: Any) -> Recipe:
    """The Regularisers page's recipe, which does not end while a test runs."""
    return replace(short_comparison(*args), steps=5_000)


def recipe(**changes: Any) -> Recipe:
    """The recipe behind the Training page."""
    return Recipe(**{"lr": 2e-3, **SHORT, **changes})


def config(**changes: Any) -> ModelConfig:
    """The architecture behind the Training page: its sizes, and the sidebar's rest, which is the trained model's."""
    return replace(PRESETS["minilm-l6"].config, **{"vocab_size": 1, **SIZES, **changes})


def run(asked: Recipe, asked_config: ModelConfig | None = None) -> Trainer:
    """A run, made without the app."""
    trainer = Trainer(asked_config or config(), asked)
    for _ in trainer.run():
        pass
    return trainer


def floats(values: Sequence[float]) -> NDArray[np.float32]:
    """Numbers as a chart holds them."""
    return np.array(values, np.float32)

"""The Regularisers page runs what is chosen, shows what was measured, and says in plain words what can't be."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground.presets import PRESETS
from playground.training.trainer import Speed
from playground.training.variants import SIZES, VariantTraining, regulariser_runs
from playground.views.regularisers import READY, tabulate_effects
from playground.web.session import experiments
from tests.web.app_test import captions, choose, grey_buttons, press, prose, sentences, status_text, table
from tests.web.experiment_pages import measured, regularisers_page, short_comparison

PAGE = "regularisers"
ARCHITECTURE = replace(PRESETS["minilm-l6"].config, **SIZES)

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def test_what_it_will_cost_stands_beside_start(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Speed(0.5, 1e-12)
    monkeypatch.setattr(experiments, "machine_speed", lambda: slow)
    app = regularisers_page("Weight decay", "Knowledge distillation")
    # three runs and a teacher, 6 steps, 2 layers, the head, and what is around
    assert f"About **{4 * 6 * 4 * 0.5:.0f} s** here" in captions(app)
    monkeypatch.setattr(experiments, "machine_speed", lambda: Speed(experiments.most_seconds() / 20, 1e-12))
    app = regularisers_page("Weight decay")
    assert "would train for about" in sentences(app)
    assert "start" in grey_buttons(app, PAGE)


@pytest.mark.long
def test_the_runs_are_those_chosen_and_their_numbers_are_shown() -> None:
    changes: dict[str, Any] = {"norm": "none", "norm_placement": "pre"}  # the sidebar's architecture counts
    chosen = ("Token masking", "Gradient clipping", "Without layer normalisation")
    app = regularisers_page(*chosen, regularisers_clip=0.5, regularisers_seeds=3, seed=7, weights="random", **changes)
    assert "It can change nothing here: Without layer normalisation." in captions(app)
    app = measured(app, PAGE)
    recipe = short_comparison("reverse", "small", 7, {"clip": 0.5})
    training = VariantTraining(regulariser_runs(replace(ARCHITECTURE, **changes), recipe, ["token_masking", "clip"], 3))
    for _ in training.run():
        pass
    assert status_text(app).startswith("Done: 9 runs")
    shown, wanted = (each.drop(columns="outcome") for each in (table(app, "gap"), tabulate_effects(training.state)))
    np.testing.assert_allclose(shown, wanted, atol=1e-3)
    assert "changed since this run" in prose(choose(app, regularisers_seeds="1"))


@pytest.mark.parametrize("ready", READY)
def test_one_press_sets_up_a_ready_comparison_of_two_runs(ready: str) -> None:
    app = press(regularisers_page(), f"regularisers_ready_{ready}")
    assert {key: app.session_state[key] for key in READY[ready]} == READY[ready]
    assert app.button(key="regularisers_start").label == "Start 2 runs"

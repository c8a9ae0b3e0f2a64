"""The Regularisers page runs what is chosen, shows what was measured, and says in plain words what can't be."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground.link.params import COMPARED
from playground.presets import PRESETS
from playground.training.ablation import Ablation, AblationTraining
from playground.training.ablation_report import COLUMNS, ablation_table
from playground.training.cost import Speed
from playground.training.regularisers import SIZES, ablation_trainings
from playground.views.regularisers import BEFORE_ANY, READY, ReadyExperiment
from playground.web.session import experiments
from playground.web.session.experiments import EXPERIMENTS
from playground.web.views import regularisers
from playground.web.views.regularisers import list_differences
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    grey_buttons,
    open_panels,
    press,
    prose,
    sentences,
    status_text,
    table,
    widgets,
)  # fmt: skip
from tests.web.experiment_pages import (
    N_STEPS,
    config,
    ended,
    endless_ablation,
    measured,
    regularisers_page,
    short_ablation,
    until_step,
)  # fmt: skip

PAGE = "regularisers"
DETAILS = "regularisers_details_open"
ARCHITECTURE = replace(PRESETS["minilm-l6"].config, **SIZES)

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def test_a_link_keeps_earlier_words_and_what_is_good_and_says_what_is_not() -> None:
    app = regularisers_page("Weight decay", "Without padding mask", "Without layer normalisation")
    chosen = ["Weight decay", "Without padding mask", "Without layer normalisation"]
    assert list(app.session_state["regularisers_chosen"]) == app.query_params["regularisers_chosen"] == chosen
    assert {f"regularisers_{field}" for field in COMPARED} <= widgets(app).keys()
    assert sentences(app) == ""
    assert "4 runs of" in captions(app)
    app = regularisers_page("Weight decay", "<b>x</b>", regularisers_patience=99, regularisers_clip="nan")
    assert app.session_state["regularisers_chosen"] == ["Weight decay"]
    assert all(f"regularisers_{key}=“" in sentences(app) for key in ("chosen", "patience", "clip"))
    for app in (regularisers_page(regularisers_chosen=()), regularisers_page("Without causal mask")):
        assert "Choose at least one that can matter here" in sentences(app)
        assert "start" in grey_buttons(app, PAGE)
        assert not app.error


def test_what_it_will_cost_stands_beside_start(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Speed(0.5, 1e-12)
    monkeypatch.setattr(experiments, "machine_speed", lambda: slow)
    app = regularisers_page("Weight decay", "Knowledge distillation")
    assert "4 runs of 6 steps, each on the same 100 sequences" in captions(app)
    assert "4 runs" in app.button(key="regularisers_start").label
    strengths = {field: param.default for field, param in COMPARED.items()}
    runs = ablation_trainings(
        ARCHITECTURE, short_ablation("reverse", "small", 0, strengths), ["weight_decay", "distill"]
    )
    seconds = sum(slow.seconds(replace(ARCHITECTURE, vocab_size=11), run.recipe) for run in runs)
    # four runs and two teachers, 6 steps, 2 layers, the head, and what is around
    assert seconds == pytest.approx(6 * 6 * 4 * 0.5, rel=0.01)
    assert f"About **{seconds:.0f} s** here" in captions(app)
    longest = experiments.most_seconds()
    one = Speed(longest / (2 * 2 * 4 * N_STEPS), 1e-12)  # two runs of six steps, four layers' worth: half of the limit
    monkeypatch.setattr(experiments, "machine_speed", lambda: one)
    assert not regularisers_page("Weight decay").error
    app = regularisers_page("Weight decay", regularisers_seeds="3")
    assert "These 6 runs would take about" in sentences(app)
    assert "start" in grey_buttons(app, PAGE)


@pytest.mark.long
def test_the_runs_are_those_chosen_and_their_numbers_are_shown() -> None:
    changes: dict[str, Any] = {"norm": "none", "norm_placement": "pre"}  # the sidebar's architecture counts
    chosen = ("Embedding noise", "Without padding mask", "Gradient clipping", "Without layer normalisation")
    app = regularisers_page(*chosen, regularisers_clip=0.5, regularisers_seeds=3, seed=7, weights="random", **changes)
    assert "**Without layer normalisation** is left out: the architecture has no norms anyway." in captions(app)
    assert "15 runs of 6 steps, 5 with each of the seeds 7, 8 and 9" in captions(app)
    app = open_panels(measured(app, PAGE), DETAILS)
    recipe = short_ablation("reverse", "small", 7, {"noise": 0.3, "clip": 0.5})
    runs = ablation_trainings(replace(ARCHITECTURE, **changes), recipe, ["mask_padding", "noise", "clip"], 3)
    ablation = Ablation(runs)
    for _ in ablation.run():
        pass
    assert "All 15 runs are done" in status_text(app)
    shown, wanted = table(app, COLUMNS["gap"]), ablation_table(ablation.results(), runs)
    np.testing.assert_allclose(shown.drop(columns=COLUMNS["ending"]), wanted.drop(columns=COLUMNS["ending"]), atol=1e-3)
    assert list(shown[COLUMNS["ending"]]) == list(wanted[COLUMNS["ending"]])
    for line, result in zip(charts(app)["regularisers_train"][1:], ablation.results(), strict=True):
        accuracies = [look.train.accuracy for look in result.history.evaluations]
        np.testing.assert_allclose(array([line], 0, "y"), accuracies, rtol=1e-4, atol=1e-6)
    assert all(f"At {strength}, " in captions(app) for strength in (0.3, 0.5)), "the cards of noise and clipping"
    assert "Settings" not in sentences(app)
    assert "seeds 3 → 1" in prose(choose(app, regularisers_seeds="1"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("title", "idle"),
    [
        ("Fill in the gaps", {"Without causal mask", "Without padding mask"}),
        ("Next character", {"Without padding mask", "Token swapping"}),
        ("Copy, with a decoder", {"Without causal mask"}),
    ],
)
def test_every_kind_of_task_can_be_run_without_what_is_idle_there(title: str, idle: set[str]) -> None:
    chosen = ("Without causal mask", "Token swapping", "Without padding mask")
    app = measured(regularisers_page(*chosen, regularisers_task=title), PAGE)
    assert {name for name in chosen if f"**{name}** is left out" in captions(app)} == idle
    assert f"{'Both' if len(idle) == 2 else 'All 3'} runs are done" in status_text(app)


@pytest.mark.long
def test_one_press_shows_what_goes_wrong_without_a_mask() -> None:
    app = ended(press(regularisers_page(), "regularisers_ready_no_causal_mask"), PAGE)
    assert app.selectbox(key="regularisers_task").value == "Next character"
    assert app.session_state["regularisers_chosen"] == ["Without causal mask"]
    app = ended(press(app, "regularisers_ready_no_padding_mask"), PAGE)
    assert app.selectbox(key="regularisers_task").value == "Sort"
    assert app.session_state["regularisers_data"] == "plenty"
    assert "**Without the padding mask** a sequence gets other answers" in prose(open_panels(app, DETAILS))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ready", READY, ids=lambda ready: ready.name)
def test_one_press_starts_a_ready_experiment_and_the_answer_says_what_it_measured(ready: ReadyExperiment) -> None:
    app = regularisers_page()
    assert prose(app).startswith(BEFORE_ANY)
    app = ended(press(app, f"regularisers_ready_{ready.name}"), PAGE)
    assert {key: app.session_state[key] for key in ready.settings} == ready.settings
    none, other = app.session_state[EXPERIMENTS].get(PAGE).state.results
    recipes = [vars(each.training.recipe) for each in (none, other)]
    (changed,) = (name for name in recipes[0] if recipes[0][name] != recipes[1][name])
    assert recipes[1][changed] == ready.settings[f"regularisers_{changed}"]
    assert (recipes[0]["optimizer"], recipes[0]["lr"]) == tuple(
        ready.settings[f"regularisers_{name}"] for name in ("optimizer", "lr")
    )
    first = prose(app).splitlines()[0]
    assert all(f"**{each.unbatched.accuracy:.1%}**" in first for each in (none, other))
    assert ready.expectation in prose(app).splitlines()[1]


def test_a_link_that_sets_a_comparison_opens_its_panel() -> None:
    for linked, link in ((False, {}), (True, {"regularisers_clip": 0.5}), (False, {"regularisers_measure": "loss"})):
        app = regularisers_page(**link)
        assert app.session_state["regularisers_own_open"] is linked


def test_while_it_runs_the_other_runs_are_still_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regularisers, "ablation_recipe", endless_ablation)
    app = until_step(press(regularisers_page("Weight decay"), "regularisers_start"), "Training: run 1 of 2: plain run")
    shown = table(open_panels(app, DETAILS), COLUMNS["gap"])
    assert list(shown[COLUMNS["ending"]])[1] == "still to come"
    press(app, "regularisers_cancel")
    assert status_text(app) == "Cancelled in the first of 2 runs."


def test_the_differences_between_two_ablations_name_runs_and_settings() -> None:
    def inputs(fields: list[str], seed: int = 0, norm: Any = "layer") -> tuple[AblationTraining, ...]:
        recipe = short_ablation("reverse", "small", seed, {"weight_decay": 0.3})
        return ablation_trainings(config(norm=norm), recipe, fields)

    before = inputs(["weight_decay"])
    assert list_differences(before, inputs(["weight_decay"])) == []
    assert list_differences(before, inputs(["mask_padding"], seed=3, norm="rms")) == [
        "“Weight decay” is gone", "“without padding mask” is new", "norm layer → rms", "seed 0 → 3",
    ]  # fmt: skip

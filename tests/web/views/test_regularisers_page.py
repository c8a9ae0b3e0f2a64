"""The Regularisers page runs what is chosen, shows what was measured, and says in plain words what can't be."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground.link.params import COMPARED
from playground.presets import PRESETS
from playground.training.cost import Speed
from playground.training.regularisers.ablation import SIZES, Ablation, AblationResult, ablation_trainings
from playground.training.regularisers.ablation_report import (
    COLUMNS,
    SPREAD_COLUMNS,
    ablation_table,
    measure_effects,
    summarise_ablation,
)
from playground.training.regularisers.catalogue import REGULARISERS, TEN, explain_regulariser
from playground.training.tasks import TASKS, make_data
from playground.web.session.services import services
from playground.web.views.regularisers import ablation_plan
from playground.web.views.regularisers.ablation_view import ablation_differences, describe_use
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
    endless_ablation,
    measured,
    regularisers_page,
    short_ablation,
    until_step,
)  # fmt: skip

PAGE = "regularisers"
ARCHITECTURE = replace(PRESETS["minilm-l6"].config, **SIZES)

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def reference(
    fields: list[str], architecture: dict[str, Any] | None = None, n_seeds: int = 1, **strengths: Any
) -> list[AblationResult]:
    """Runs of “Reverse”, made without the app."""
    usual = {field: REGULARISERS[field].usual for field in fields if not REGULARISERS[field].on_by_default}
    recipe = short_ablation("reverse", "small", 0, {**usual, **strengths})
    ablation = Ablation(replace(ARCHITECTURE, **architecture or {}), ablation_trainings(recipe, fields, n_seeds))
    for _ in ablation.run():
        pass
    return ablation.results()


# --- before


def test_the_catalogue_has_ten_cards_with_every_switch() -> None:
    app = regularisers_page()
    for number, title in TEN.items():
        assert f"**{number} · {title}**" in prose(app)
    for regulariser in REGULARISERS.values():
        assert explain_regulariser(regulariser, "layer") in prose(app)
        assert f"Where: {regulariser.where}." in captions(app)
    assert captions(app).count("Not measured yet") == len(REGULARISERS)
    assert {f"regularisers_{field}" for field in COMPARED} <= widgets(app).keys()
    assert sentences(app) == ""


def test_what_a_card_says_of_masks_and_norms_is_of_the_chosen_task_and_norm() -> None:
    app = regularisers_page()
    assert "only “Next character” hides what comes later" in captions(app)
    assert "“Without padding mask” is chosen above" in captions(app)
    assert "“Without causal mask” is chosen above" not in captions(app), "nothing is hidden in this task"
    assert "mean 0 and variance 1" in prose(app)
    app = regularisers_page(regularisers_task="Next character", weights="random", norm="rms")
    assert "“Without causal mask” is chosen above" in captions(app)
    assert "“Without padding mask” is chosen above" not in captions(app), "windows are equally long"
    assert "mean 0 and variance 1" not in prose(app)
    assert "mean square of 1" in prose(app)


def test_what_in_use_means_is_said_of_the_task_that_was_run() -> None:
    for name, (padding, later) in {
        "reverse": (True, False), "characters": (False, True), "masked": (False, False), "seq2seq-copy": (True, False),
    }.items():  # fmt: skip
        told = describe_use(TASKS[name])
        assert ("without padding" in told, "later characters hidden" in told) == (padding, later)
    shown = captions(measured(regularisers_page("Weight decay"), PAGE))
    assert describe_use(TASKS["reverse"]) in shown


def test_an_earlier_links_words_for_what_is_taken_away_mean_the_same() -> None:
    app = regularisers_page("Weight decay", "Padding mask", "Layer normalisation")
    chosen = ["Weight decay", "Without padding mask", "Without layer normalisation"]
    assert list(app.session_state["regularisers_chosen"]) == chosen
    assert app.query_params["regularisers_chosen"] == chosen
    assert sentences(app) == ""
    assert "4 runs of" in captions(app)


def test_what_it_will_cost_stands_beside_start(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Speed(0.5, 1e-12)
    monkeypatch.setattr(ablation_plan, "machine_speed", lambda: slow)
    app = regularisers_page("Weight decay", "Knowledge distillation")
    assert "4 runs of 6 steps, each on the same 100 sequences" in captions(app)
    assert TASKS["reverse"].question in captions(app)
    strengths = {field: param.default for field, param in COMPARED.items()}
    runs = ablation_trainings(short_ablation("reverse", "small", 0, strengths), ["weight_decay", "distill"])
    seconds = sum(slow.seconds(replace(ARCHITECTURE, vocab_size=11), run.recipe) for run in runs)
    # four runs and two teachers, 6 steps, 2 layers, the head, and what is around
    assert seconds == pytest.approx(6 * 6 * 4 * 0.5, rel=0.01)
    assert f"About **{seconds:.0f} s** here" in captions(app)
    assert "on the same 200 sequences" in captions(choose(app, regularisers_data="plenty"))  # of 4,096, cut short here


def test_axes_and_levels_are_there_before_a_run() -> None:
    app = regularisers_page()
    data = make_data(short_ablation("reverse", "small", 0, {}))
    for measure, level in (("accuracy", data.baseline), ("loss", math.log(len(data.labels)))):
        choose(app, regularisers_measure=measure)
        for name in ("train", "validation"):
            (line,) = charts(app)[f"regularisers_{name}"]
            np.testing.assert_allclose(array([line], 0, "y"), [level] * 2, rtol=1e-6)


# --- the runs


def test_the_runs_are_those_chosen_and_their_numbers_are_shown() -> None:
    app = measured(
        regularisers_page(
            "Dropout at residual connections", "Without padding mask", "Gradient clipping", "Knowledge distillation",
            regularisers_clip=0.5, regularisers_dropout_residual=0.3,
        ),
        PAGE,
    )  # fmt: skip
    expected = reference(["mask_padding", "dropout_residual", "clip", "distill"], clip=0.5, dropout_residual=0.3)
    titles = [result.training.title for result in expected]
    assert "All 6 runs are done" in status_text(app)
    shown, wanted = table(app, COLUMNS["gap"]), ablation_table(expected, [result.training for result in expected])
    np.testing.assert_allclose(shown.drop(columns=COLUMNS["ending"]), wanted.drop(columns=COLUMNS["ending"]), atol=1e-3)
    assert list(shown[COLUMNS["ending"]]) == list(wanted[COLUMNS["ending"]])
    n_answers = int(make_data(expected[0].training.recipe).validation.mask.sum())
    assert "\n".join(f"- {sentence}" for sentence in summarise_ablation(expected, n_answers)) in prose(app)

    for measure in ("accuracy", "loss"):
        choose(app, regularisers_measure=measure)
        for name in ("train", "validation"):
            lines = charts(app)[f"regularisers_{name}"][1:]
            assert [line["name"] for line in lines] == titles
            for i, result in enumerate(expected):
                numbers = [getattr(getattr(look, name), measure) for look in result.history.evaluations]
                np.testing.assert_allclose(array(lines, i, "y"), numbers, rtol=1e-4, atol=1e-6)
                assert array(lines, i, "x").tolist() == list(range(N_STEPS + 1))
    column = f"{titles[-1]}, validation set"
    numbers = table(open_panels(app, "regularisers_curves_open"), column)[column]
    assert list(numbers.index) == list(range(N_STEPS + 1))
    np.testing.assert_allclose(numbers, [look.validation.loss for look in expected[-1].history.evaluations], rtol=1e-4)

    strengths = {"mask_padding": "Without it", "dropout_residual": "At 0.3", "clip": "At 0.5", "distill": "At 0.5"}
    effects = measure_effects(expected)
    for result in expected[1:-1]:
        apart = effects[result.training.name]
        points, nats = 100 * apart.accuracy_change, apart.loss_change
        assert (
            f"{strengths[result.training.name]}, on “Reverse” with 100 sequences: "
            f"right answers **{points:+.1f} points**, loss **{nats:+.2f} nats**, "
            f"gap {100 * apart.gap_change:+.1f} points."
        ) in captions(app)
    assert captions(app).count("Not measured yet") == len(REGULARISERS) - 4


def test_three_seeds_are_run_drawn_and_summarised() -> None:
    app = regularisers_page("Embedding noise", "Local shuffling", regularisers_seeds="3", seed=7)
    assert "12 runs of 6 steps, 4 with each of the seeds 7, 8 and 9" in captions(app)
    app = measured(app, PAGE)
    assert "All 12 runs are done" in status_text(app)
    runs = ablation_trainings(
        short_ablation("reverse", "small", 7, {"noise": 0.3, "shuffling": 0.1}), ["noise", "shuffling"], 3
    )
    ablation = Ablation(ARCHITECTURE, runs)
    for _ in ablation.run():
        pass
    expected = ablation.results()
    shown, wanted = table(app, COLUMNS["gap"]), ablation_table(expected, runs)
    assert set(SPREAD_COLUMNS.values()) <= set(shown.columns)
    np.testing.assert_allclose(shown.drop(columns=COLUMNS["ending"]), wanted.drop(columns=COLUMNS["ending"]), atol=1e-3)
    assert "\n".join(f"- {sentence}" for sentence in summarise_ablation(expected, ablation.n_answers)) in prose(app)
    lines = charts(app)["regularisers_validation"][1:]
    assert [line["name"] for line in lines] == [f"{run.title}, seed {run.recipe.seed}" for run in runs]
    assert {line["line"]["width"] for line in lines} == {1}
    for i, result in enumerate(expected):
        accuracies = [look.validation.accuracy for look in result.history.evaluations]
        np.testing.assert_allclose(array(lines, i, "y"), accuracies, atol=1e-6)
    assert captions(app).count("mean of 3 seeds") == 2
    assert "Settings" not in sentences(app)
    changed = choose(app, regularisers_seeds="1")
    assert "seeds 3 → 1" in sentences(changed)


def test_time_for_all_seeds_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = services().settings.max_training_seconds
    one = Speed(longest / (2 * 2 * 4 * N_STEPS), 1e-12)  # two runs of six steps, four layers' worth: half of the limit
    monkeypatch.setattr(ablation_plan, "machine_speed", lambda: one)
    assert not regularisers_page("Weight decay").error
    app = regularisers_page("Weight decay", regularisers_seeds="3")
    assert "These 6 runs would take about" in sentences(app)
    assert "start" in grey_buttons(app, PAGE)


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
    assert f"All {4 - len(idle)} runs are done" in status_text(app)


def test_the_sidebars_architecture_counts() -> None:
    changes = {"norm": "none", "norm_placement": "pre"}
    app = regularisers_page("Without layer normalisation", "Weight decay", weights="random", **changes)
    assert "**Without layer normalisation** is left out: the architecture has no norms anyway." in captions(app)
    expected = reference(["weight_decay"], changes)
    lines = charts(measured(app, PAGE))["regularisers_validation"]
    for i, result in enumerate(expected, start=1):
        accuracies = [look.validation.accuracy for look in result.history.evaluations]
        np.testing.assert_allclose(array(lines, i, "y"), accuracies, atol=1e-6)


def test_one_press_sets_up_what_goes_wrong_without_a_mask() -> None:
    app = press(regularisers_page(), "regularisers_show_no_causal_mask")
    assert app.selectbox(key="regularisers_task").value == "Next character"
    assert app.session_state["regularisers_chosen"] == ["Without causal mask"]
    assert "**no causal mask**. The task is Next character, and the data are small." in sentences(app)
    assert "2 runs" in captions(app)
    assert "without causal mask" in prose(measured(app, PAGE))
    assert "**Without the causal mask**" not in prose(app)  # so few steps do not teach to look ahead
    app = press(app, "regularisers_show_no_padding_mask")
    assert app.selectbox(key="regularisers_task").value == "Sort"
    assert app.session_state["regularisers_data"] == "plenty"
    assert "**no padding mask**" in sentences(app)
    assert "Set up" not in sentences(choose(app, regularisers_data="small"))
    choose(app, regularisers_data="plenty")
    assert "**Without the padding mask**" in prose(measured(app, PAGE))


def test_while_it_runs_the_other_runs_are_still_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation_plan, "ablation_recipe", endless_ablation)
    app = until_step(press(regularisers_page("Weight decay"), "regularisers_start"), "Training: run 1 of 2: none of")
    assert list(table(app, COLUMNS["gap"])[COLUMNS["ending"]])[1] == "still to come"
    press(app, "regularisers_cancel")
    assert status_text(app) == "Cancelled in the first of 2 runs."


def test_the_differences_between_two_ablations_name_runs_and_settings() -> None:
    def inputs(fields: list[str], seed: int = 0, norm: Any = "layer") -> ablation_plan.AblationInputs:
        recipe = short_ablation("reverse", "small", seed, {"weight_decay": 0.3})
        return config(norm=norm), tuple(ablation_trainings(recipe, fields))

    before = inputs(["weight_decay"])
    assert ablation_differences(before, inputs(["weight_decay"])) == []
    three = before[0], ablation_trainings(before[1][0].recipe, ["weight_decay"], 3)
    assert ablation_differences(before, three) == ["seeds 1 → 3"]
    assert ablation_differences(before, inputs(["mask_padding"], seed=3, norm="rms")) == [
        "“Weight decay” is gone", "“without padding mask” is new", "norm layer → rms", "seed 0 → 3",
    ]  # fmt: skip


# --- what can't be


def test_nothing_chosen_cannot_start() -> None:
    for app in (regularisers_page(regularisers_chosen=()), regularisers_page("Without causal mask")):
        assert "Choose at least one that can matter here" in sentences(app)
        assert "start" in grey_buttons(app, PAGE)
        assert not app.error


def test_a_link_with_junk_keeps_what_is_good_and_says_what_is_not() -> None:
    app = regularisers_page("Weight decay", "<b>x</b>", regularisers_patience=99, regularisers_clip="nan")
    assert app.session_state["regularisers_chosen"] == ["Weight decay"]
    assert all(f"regularisers_{key}=“" in sentences(app) for key in ("chosen", "patience", "clip"))
    assert "2 runs" in captions(app)

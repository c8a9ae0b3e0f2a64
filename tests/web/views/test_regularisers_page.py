"""The Regularisers page runs what is chosen, shows what was measured, and says in plain words what can't be."""

import gc
import math
import threading
import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from playground.presets import PRESETS
from playground.training.cost import Speed
from playground.training.recipe import Recipe
from playground.training.regularisers.ablation import (
    SIZES,
    Ablation,
    AblationResult,
    Amount,
    ablation_recipe,
    ablation_runs,
)
from playground.training.regularisers.ablation_report import (
    COLUMNS,
    ablation_table,
    compare_to_baseline,
    summarise_ablation,
)
from playground.training.regularisers.catalogue import REGULARISERS, TEN
from playground.training.tasks import TASKS, make_data
from playground.training.trainer import Trainer
from playground.web.choices.experiment_params import COMPARED
from playground.web.session import experiment_inputs, experiments, memory_budget
from playground.web.views.regularisers import ablation_plan
from tests.waiting import job_threads, until
from tests.web.app_test import (
    SESSION,
    array,
    captions,
    charts,
    grey_buttons,
    open_page,
    press,
    prose,
    sentences,
    status_text,
    table,
    working,
)  # fmt: skip

STEPS = 6


def short(task: str, amount: Amount, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The page's recipe, but soon over."""
    recipe = ablation_recipe(task, amount, seed, strengths)
    return replace(recipe, n_train=min(recipe.n_train, 200), n_validation=40, steps=STEPS)


@pytest.fixture(autouse=True)
def _short_runs(monkeypatch: pytest.MonkeyPatch, one_experiment_at_a_time: None) -> None:
    monkeypatch.setattr(ablation_plan, "ablation_recipe", short)
    monkeypatch.setattr(ablation_plan, "machine_speed", lambda: Speed(1e-4, 1e-12))


def page(*chosen: str, **query: str) -> AppTest:
    """The page under a link, with these regularisers chosen, or those that it begins with."""
    if chosen:
        query["regularisers_chosen"] = list(chosen)  # type: ignore[assignment]
    return working(open_page("regularisers", **query))


def ended(app: AppTest) -> AppTest:
    """The page once its runs are over."""
    until(lambda: "cancel" in grey_buttons(working(app.run()), "regularisers"), seconds=180)
    return app


def measured(*chosen: str, **query: str) -> AppTest:
    """The page once all runs of a link are over."""
    return ended(press(page(*chosen, **query), "regularisers_start"))


def drawings(app: AppTest) -> set[str]:
    """The names of what is no chart of Plotly's, but drawn by the page itself."""
    return {element.proto.id.rsplit("-", 1)[-1] for element in app.get("bidi_component")}


def reference(task: str, fields: list[str], amount: Amount = "small", **strengths: Any) -> list[AblationResult]:
    """The same runs, made without the app."""
    usual = {field: REGULARISERS[field].usual for field in fields if not REGULARISERS[field].on_by_default}
    recipe = short(task, amount, 0, {**usual, **strengths})
    ablation = Ablation(replace(PRESETS["minilm-l6"].config, **SIZES), ablation_runs(recipe, fields))
    for _ in ablation.run():
        pass
    return ablation.results()


# --- before


def test_the_catalogue_has_ten_cards_with_every_switch() -> None:
    app = page()
    text = prose(app)
    for number, title in TEN.items():
        assert f"**{number} · {title}**" in text
    for regulariser in REGULARISERS.values():
        assert regulariser.explanation in text
        assert f"Where: {regulariser.where}." in captions(app)
    assert captions(app).count("Not measured yet") == len(REGULARISERS)
    assert (
        len({widget.key for widget in (*app.select_slider, *app.slider)} & {f"regularisers_{f}" for f in COMPARED})
        == 13
    )
    assert sentences(app) == ""


def test_what_it_will_cost_stands_beside_start(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Speed(0.5, 1e-12)
    monkeypatch.setattr(ablation_plan, "machine_speed", lambda: slow)
    app = page("Weight decay", "Knowledge distillation")
    assert "4 runs of 6 steps, each on the same 100 sequences" in captions(app)
    assert TASKS["reverse"].question in captions(app)
    strengths = {field: param.default for field, param in COMPARED.items()}
    runs = ablation_runs(short("reverse", "small", 0, strengths), ["weight_decay", "distill"])
    config = replace(PRESETS["minilm-l6"].config, **SIZES, vocab_size=11)
    seconds = sum(slow.seconds(config, run.recipe) for run in runs)
    # four runs and two teachers, 6 steps, 2 layers, the head, and what is around
    assert seconds == pytest.approx(6 * 6 * 4 * 0.5, rel=0.01)
    assert f"About **{seconds:.0f} s** here" in captions(app)


def test_axes_and_names_are_there_before_a_run() -> None:
    app = page()
    data = make_data(short("reverse", "small", 0, {}))
    found = charts(app)
    assert {"regularisers_train", "regularisers_validation"} <= found.keys()
    for name in ("train", "validation"):
        (level,) = found[f"regularisers_{name}"]
        np.testing.assert_allclose(array([level], 0, "y"), [data.baseline] * 2, rtol=1e-6)
    app = page(regularisers_measure="loss")
    (level,) = charts(app)["regularisers_train"]
    np.testing.assert_allclose(array([level], 0, "y"), [math.log(len(data.labels))] * 2, rtol=1e-6)


# --- the runs


def test_the_runs_are_those_chosen_and_their_numbers_are_shown() -> None:
    fields = ["mask_padding", "dropout_residual", "clip", "distill"]
    app = measured(
        "Dropout at residual connections", "Padding mask", "Gradient clipping", "Knowledge distillation",
        regularisers_clip="0.5", regularisers_dropout_residual="0.3",
    )  # fmt: skip
    expected = reference("reverse", fields, clip=0.5, dropout_residual=0.3)
    assert "All 6 runs are done" in status_text(app)
    found = charts(app)
    for name, of in (("train", "train"), ("validation", "validation")):
        lines = found[f"regularisers_{name}"][1:]
        assert [line["name"] for line in lines] == [result.run.title for result in expected]
        for i, result in enumerate(expected):
            accuracies = [getattr(look, of).accuracy for look in result.history.evaluations]
            np.testing.assert_allclose(array(lines, i, "y"), accuracies, atol=1e-6)
            assert array(lines, i, "x").tolist() == list(range(STEPS + 1))
    shown = table(app, COLUMNS["gap"])
    wanted = ablation_table(expected, [result.run.title for result in expected])
    np.testing.assert_allclose(shown.drop(columns=COLUMNS["ending"]), wanted.drop(columns=COLUMNS["ending"]), atol=1e-3)
    assert list(shown[COLUMNS["ending"]]) == ["after 6 steps"] * 6
    n_answers = int(make_data(expected[0].run.recipe).validation.mask.sum())
    assert "\n".join(f"- {sentence}" for sentence in summarise_ablation(expected, n_answers)) in prose(app)


def test_every_card_shows_its_measured_effect() -> None:
    app = measured("Label smoothing", "Padding mask", regularisers_label_smoothing="0.3")
    baseline, masked, smoothed = reference("reverse", ["mask_padding", "label_smoothing"], label_smoothing=0.3)
    for result, how in ((masked, "Without it"), (smoothed, "At 0.3")):
        apart = compare_to_baseline(result, baseline)
        assert apart is not None
        assert result.evaluation is not None
        assert baseline.evaluation is not None
        wider = 100 * (result.evaluation.gap - baseline.evaluation.gap)
        assert (
            f"{how}, on “Reverse” with 100 sequences: right answers **{100 * apart.accuracy_change:+.1f} points**, "
            f"loss **{apart.loss_change:+.2f} nats**, gap {wider:+.1f} points."
        ) in captions(app)
    assert captions(app).count("Not measured yet") == len(REGULARISERS) - 2


def test_losses_can_be_drawn_and_all_numbers_read() -> None:
    app = measured("Weight decay", regularisers_measure="loss")
    expected = reference("reverse", ["weight_decay"])
    lines = charts(app)["regularisers_validation"][1:]
    losses = [look.validation.loss for look in expected[1].history.evaluations]
    np.testing.assert_allclose(array(lines, 1, "y"), losses, rtol=1e-4)
    app.session_state["regularisers_curves_open"] = True
    working(app.run())
    numbers = table(app, "Weight decay, validation set")
    np.testing.assert_allclose(numbers["Weight decay, validation set"], losses, rtol=1e-4)
    assert list(numbers.index) == list(range(STEPS + 1))


@pytest.mark.parametrize(
    "title", ["Reverse", "Match brackets", "Fill in the gaps", "Next character", "Copy, with a decoder"]
)
def test_every_kind_of_task_can_be_run(title: str) -> None:
    app = measured("Causal mask", "Token swapping", "Padding mask", regularisers_task=title)
    idle = {
        "Causal mask": title != "Next character",
        "Padding mask": title in ("Next character", "Fill in the gaps"),
        "Token swapping": title == "Next character",
    }
    for name, left_out in idle.items():
        assert (f"**{name}** is left out" in captions(app)) == left_out
    assert f"All {4 - sum(idle.values())} runs are done" in status_text(app)


def test_plenty_of_data_is_more_data() -> None:
    assert "on the same 200 sequences" in captions(page(regularisers_data="plenty"))  # of 4,096, cut short here


def test_the_sidebars_architecture_counts() -> None:
    app = page("Layer normalisation", "Weight decay", weights="random", norm="none", norm_placement="pre")
    assert "**Layer normalisation** is left out: the architecture has no norms anyway." in captions(app)
    app = ended(press(app, "regularisers_start"))
    config = replace(PRESETS["minilm-l6"].config, **SIZES, norm="none", norm_placement="pre")
    alone = Trainer(config, replace(short("reverse", "small", 0, {})))
    for _ in alone.run():
        pass
    accuracies = [look.validation.accuracy for look in alone.history.evaluations]
    np.testing.assert_allclose(array(charts(app)["regularisers_validation"], 1, "y"), accuracies, atol=1e-6)


def test_one_press_sets_up_what_goes_wrong_without_a_mask() -> None:
    app = press(page(), "regularisers_show_no_causal_mask")
    assert app.selectbox(key="regularisers_task").value == "Next character"
    assert app.session_state["regularisers_chosen"] == ["Causal mask"]
    assert "2 runs" in captions(app)
    app = ended(press(app, "regularisers_start"))
    assert "without causal mask" in prose(app)
    assert "**Without the causal mask**" not in prose(app)  # so few steps do not teach to look ahead
    app = press(app, "regularisers_show_no_padding_mask")
    assert app.selectbox(key="regularisers_task").value == "Sort"
    assert app.session_state["regularisers_data"] == "plenty"
    assert "**Without the padding mask**" in prose(ended(press(app, "regularisers_start")))


# --- on the way


def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation_plan, "ablation_recipe", lambda *args: replace(short(*args), steps=5_000))


def test_it_is_drawn_while_it_runs_and_can_pause_go_on_and_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    endless(monkeypatch)
    app = press(page("Weight decay"), "regularisers_start")
    assert grey_buttons(app, "regularisers") == {"start"}
    until(lambda: "step 2" in status_text(app.run()))
    assert "Training: run 1 of 2: none of them" in status_text(app)
    shown = table(app, COLUMNS["gap"])
    assert list(shown[COLUMNS["ending"]])[1] == "still to come"
    app = press(app, "regularisers_pause")
    assert "Paused: run 1 of 2" in status_text(app)
    at = status_text(app)
    time.sleep(0.1)
    assert status_text(app.run()) == at
    app = press(app, "regularisers_resume")
    until(lambda: status_text(app.run()) != at)
    app = press(app, "regularisers_cancel")
    assert status_text(app) == "Cancelled in the first of 2 runs."
    assert grey_buttons(app, "regularisers") == {"pause", "cancel"}
    until(lambda: not job_threads())
    app = press(app, "regularisers_reset")
    assert not app.get("progress")
    assert len(charts(app)["regularisers_train"]) == 1


def test_while_it_runs_it_takes_the_memory_of_its_largest_run(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    before = set(memory_budget.memory_users)
    endless(monkeypatch)
    app = press(page("Weight decay", "Knowledge distillation"), "regularisers_start")
    until(lambda: "step 2" in status_text(app.run()))
    press(app, "regularisers_pause")
    (reservation,) = set(memory_budget.memory_users) - before
    config = replace(PRESETS["minilm-l6"].config, **SIZES, vocab_size=1)
    trainer = Trainer(config, replace(short("reverse", "small", 0, {}), distill=0.5))
    assert trainer.teacher is not None
    assert reservation.n_bytes == experiment_inputs.training_bytes(trainer.config, trainer.recipe, trainer.data)
    assert reservation.n_bytes > 24 * sum(parameter.numel() for parameter in trainer.teacher.network.parameters())
    press(app, "regularisers_cancel")
    until(lambda: set(memory_budget.memory_users) == before)


def test_a_connection_that_breaks_is_said_and_leaves_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    endless(monkeypatch)
    app = press(page("Weight decay"), "regularisers_start")
    until(lambda: "step 2" in status_text(app.run()))
    clear_session_resource_cache(SESSION)
    until(lambda: not job_threads())
    assert (
        status_text(app.run())
        == "The connection to your browser broke, and the run was cancelled in the first of 2 runs."
    )
    assert len(charts(app)["regularisers_train"]) == 2  # the level and a line


def test_other_settings_than_those_measured_are_told() -> None:
    app = measured("Weight decay")
    assert sentences(app) == ""
    app.select_slider(key="regularisers_clip").set_value(0.5).run()
    assert sentences(app) == ""  # which is not chosen
    app.select_slider(key="regularisers_weight_decay").set_value(1.0).run()
    assert "measured with other settings than the page has now: “Reverse”, 100 sequences, seed 0" in sentences(app)
    assert "The difference: weight_decay 0.3 → 1.0." in sentences(app)
    assert "At 0.3, on “Reverse”" in captions(app)
    assert sentences(ended(press(app, "regularisers_start"))) == ""
    app.number_input(key="seed").set_value(3).run()
    assert "seed 0" in sentences(app)
    assert "The difference: seed 0 → 3." in sentences(app)


def test_other_runs_than_those_measured_are_told_and_dropout_makes_none() -> None:
    app = measured("Weight decay", weights="random")
    app.select_slider(key="dropout").set_value(0.5).run()
    assert sentences(app) == ""
    app.session_state["regularisers_chosen"] = ["Padding mask"]
    app.segmented_control(key="norm").set_value("rms").run()
    assert (
        "The difference: “Weight decay” is gone, “without padding mask” is new, norm layer → rms. **Start**"
    ) in sentences(app)


def test_who_has_no_seat_waits_and_is_told_so() -> None:
    gate = threading.Event()

    def block() -> Generator[None]:
        while not gate.wait(0.01):
            yield

    experiments.BACKEND.submit(block)
    try:
        app = press(page("Weight decay"), "regularisers_start")
        assert "Waiting for a seat: next in the queue." in status_text(app)
        assert "regularisers_train" not in charts(app), "Plotly's chart blinks while runs go on"
        assert {"regularisers_train_drawing", "regularisers_validation_drawing"} <= drawings(app)
    finally:
        gate.set()
    assert "All 2 runs are done" in status_text(ended(app))


# --- what can't be


def test_nothing_chosen_cannot_start() -> None:
    for app in (page(regularisers_chosen=""), page("Causal mask")):
        assert "Choose at least one that can matter here" in sentences(app)
        assert "start" in grey_buttons(app, "regularisers")
        assert not app.error


def test_too_many_runs_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation_plan, "machine_speed", lambda: Speed(10, 1e-12))
    app = page()
    assert "8 runs would take about" in app.error[0].value.replace("\\", "")
    assert "choose fewer" in app.error[0].value
    assert "start" in grey_buttons(app, "regularisers")


def test_a_link_with_junk_keeps_what_is_good_and_says_what_is_not() -> None:
    app = page("Weight decay", "<b>x</b>", "Weight decay", regularisers_patience="99", regularisers_clip="nan")
    assert app.session_state["regularisers_chosen"] == ["Weight decay"]
    told = sentences(app)
    assert "regularisers_chosen=“bx/b” is not an option there; Weight decay is used instead." in told
    assert "regularisers_patience=“99”" in told
    assert "regularisers_clip=“nan” is not a number; 1.0 is used instead." in told
    assert "2 runs" in captions(app)


def test_a_failure_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("secret /path")

    monkeypatch.setattr(Ablation, "run", fail)
    app = measured("Weight decay")
    assert "Something went wrong" in status_text(app)
    assert "secret" not in status_text(app)
    assert "start" not in grey_buttons(app, "regularisers")

"""What the Training page's settings mean once a network was trained, loaded, or is looked into."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import InputError
from playground.training import evaluation
from playground.training.after.trained_network import TrainedNetwork, from_trainer, save
from playground.training.recipe import Recipe
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.tasks import make_data
from playground.training.trainer import Trainer
from playground.web.session.experiment_inputs import validation_data
from playground.web.session.trained_slot import SLOT
from tests.training.after.trained import CONFIG, trainer
from tests.waiting import job_threads, until
from tests.web.app_test import array, captions, charts, press, sentences, upload, uploader, working
from tests.web.views.test_training_page import TEXT, page

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def train(app: AppTest) -> TrainedNetwork:
    """Start, wait, and return the network in the slot in the end."""
    press(app, "training_start")
    until(lambda: not job_threads())
    found = working(app.run()).session_state[SLOT].trained
    assert isinstance(found, TrainedNetwork)
    return found


def panel(app: AppTest) -> AppTest:
    """The page with its regularisers in sight."""
    app.session_state["training_regularisers_open"] = True
    return working(app.run())


def untrained(recipe: Recipe, **changes: Any) -> TrainedNetwork:
    """A network of a recipe whose training set nobody could make, as a file can claim it."""
    small = replace(recipe, n_train=16)
    made = from_trainer(Trainer(replace(CONFIG, max_len=64, **changes), small, data=make_data(small)))
    return replace(made, recipe=recipe)


# --- a file


@pytest.mark.parametrize("task", ["copy", "characters", "masked", "seq2seq-copy"])
def test_questions_are_those_of_the_whole_data(task: Any) -> None:
    recipe = Recipe(task=task, text=TEXT * (task in ("characters", "masked")), length=6, n_train=300, n_validation=20)
    whole, few = make_data(recipe), validation_data(recipe)
    assert (few.labels, few.vocabulary, few.example) == (whole.labels, whole.vocabulary, whole.example)
    for name, part in vars(whole.validation).items():
        theirs = getattr(few.validation, name)
        assert (part is None and theirs is None) or part.equal(theirs)


@pytest.mark.parametrize("task", ["copy", "characters"])
def test_a_file_that_claims_a_training_set_too_large_to_make_is_no_trap(task: Any) -> None:
    made = untrained(Recipe(task=task, length=60, n_train=100_000, n_validation=8))
    app = upload(page(), "training_file", save(made))
    assert not app.error
    assert "it says" in {column for frame in app.dataframe for column in frame.value}
    assert uploader(app, "training_file").value is None
    assert [button.proto.label for button in app.get("download_button")] == ["Download (safetensors)"]
    if task == "characters":
        assert "training_next" in charts(press(app, "training_write"))


def test_where_a_network_can_not_be_asked_a_file_can_still_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise InputError("Nothing can be asked.")

    app = page()
    monkeypatch.setattr("playground.web.views.training.after_training.answer_samples", refuse)
    train(app)
    assert sentences(app) == "Nothing can be asked."
    assert uploader(app, "training_file").value is None
    assert app.get("download_button")
    assert "training_look" in {button.key for button in app.button}


# --- a regulariser that can change nothing


@pytest.mark.parametrize(
    ("query", "idle"),
    [
        ({"training_task": "Reverse"}, {"causal"}),
        ({"training_task": "Next character"}, {"mask_padding", "token_swapping"}),
        ({"training_task": "Reverse", "weights": "random", "norm": "none"}, {"causal", "layer_norm"}),
    ],
)
def test_what_can_change_nothing_is_grey_and_says_why(query: dict[str, str], idle: set[str]) -> None:
    app = panel(page(**query))
    widgets = [*app.toggle, *app.select_slider, *app.slider]
    keys = {f"training_{field}": field for field in REGULARISERS}
    grey = {keys[widget.key] for widget in widgets if widget.key in keys and widget.disabled}
    assert grey == idle
    assert all(
        ("It changes nothing here" in widget.help) == (keys[widget.key] in idle)
        for widget in widgets
        if widget.key in keys
    )


# --- what a ruined run leaves


def test_a_run_that_learnt_nothing_leaves_the_network_before_it() -> None:
    app = page(training_optimizer="sgd", training_schedule="constant")
    good = train(app)
    working(app.select_slider(key="training_lr").set_value(100).run())
    assert train(app) is good
    assert "What was trained before it stays." in sentences(app)


def test_what_a_link_could_not_carry_is_said_until_it_is_trained() -> None:
    app = page(weights="trained here")
    assert "A link can't carry what was trained" in sentences(app)
    train(app)
    assert "A link can't carry what was trained" not in sentences(working(app.run()))


# --- what the sidebar keeps for the next run


def test_norms_come_back_for_the_next_run() -> None:
    app = page(training_layer_norm="false")
    assert train(app).config.norm == "none"
    press(app, "training_look")
    assert app.segmented_control(key="norm").value == "none"
    working(panel(app).toggle(key="training_layer_norm").set_value(True).run())
    again = train(app)
    assert again.recipe.layer_norm
    assert again.config.norm == "layer"
    assert "post-norm (layer)" in captions(app)


def test_the_norms_that_come_back_are_the_visitors_own() -> None:
    app = page(training_layer_norm="false", weights="random", norm="rms")
    train(app)
    press(app, "training_look")
    working(panel(app).toggle(key="training_layer_norm").set_value(True).run())
    assert train(app).config.norm == "rms"
    press(app, "training_look")
    assert app.segmented_control(key="norm").value == "rms"


def test_the_norms_come_back_for_the_regularisers_page() -> None:
    app = page(training_layer_norm="false")
    train(app)
    press(app, "training_look")
    working(app.switch_page("../../pages/regularisers.py").run())
    working(app.button_group(key="regularisers_chosen").set_value(["Layer normalisation"]).run())
    assert "2 runs of" in captions(app)
    assert "the architecture has no norms anyway" not in captions(app)


def test_the_seed_is_the_trained_networks() -> None:
    app = page(seed="3")
    first = train(app)
    working(app.number_input(key="seed").set_value(5).run())
    press(app, "training_look")
    assert (app.number_input(key="seed").value, app.number_input(key="seed").disabled) == (3, True)
    assert train(app).key == first.key
    working(app.segmented_control(key="weights").set_value("random").run())
    assert (app.number_input(key="seed").value, app.number_input(key="seed").disabled) == (5, False)


def test_the_seed_is_that_of_a_loaded_file() -> None:
    app = upload(page(seed="1"), "training_file", save(from_trainer(trainer(seed=9))))
    press(app, "training_look")
    assert app.number_input(key="seed").value == 9


def test_the_sidebars_dropout_makes_no_other_run() -> None:
    app = page(weights="random")
    first = train(app)
    working(app.select_slider(key="dropout").set_value(0.5).run())
    assert sentences(app) == ""
    again = train(app)
    assert all(a.equal(b) for a, b in zip(first.network.parameters(), again.network.parameters(), strict=True))


# --- the panel of regularisers


def regularisers(app: AppTest) -> Any:
    (found,) = (each for each in app.expander if each.label.startswith("Regularisers"))
    return found


def test_the_panel_keeps_its_name_whatever_is_set() -> None:
    assert {regularisers(app).label for app in (page(), page(training_clip="0.5"))} == {"Regularisers"}


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ({}, "none"),
        ({"training_clip": "0.5", "training_layer_norm": "false"}, "2"),
        ({"training_temperature": "5.0"}, "none"),
        ({"training_temperature": "5.0", "training_distill": "0.5"}, "2"),
        ({"training_causal": "false"}, "none"),
        ({"training_causal": "false", "training_task": "Next character", "training_text": TEXT}, "1"),
    ],
)
def test_what_counts_in_the_run_is_counted(query: dict[str, str], n: str) -> None:
    assert f"Regularisers that are set: {n}." in captions(page(**query))


# --- what is said


def test_advice_is_a_stop_of_the_slider() -> None:
    app = page(training_length="256", training_n_train="16384")
    assert "n_train=16384 sequences of up to 256" in sentences(app)
    assert "; 8192 would work." in sentences(app)
    working(app.select_slider(key="training_n_train").set_value(8192).run())
    assert "would work" not in sentences(app)


def test_a_steps_sequences_are_those_that_a_short_text_has() -> None:
    query = {"training_task": "Fill in the gaps", "training_text": TEXT, "training_n_train": "4096"}
    app = page(**query, training_batch_size="256", training_length="24")
    recipe = Recipe(task="masked", text=TEXT, length=24)
    assert len(make_data(recipe).train) < 256
    assert f"5 steps of {len(make_data(recipe).train)} sequences" in captions(app)


def test_a_step_that_was_not_saved_is_told_from_one_that_was_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    n = make_data(Recipe(length=8, n_symbols=5, n_train=64)).validation[slice(0, 1)].ids.shape[1]
    monkeypatch.setattr(
        evaluation, "MAX_SNAPSHOT_NUMBERS", 2 * 2 * n * n
    )  # of two heads: the first evaluation and the last
    app = page()
    train(app)
    working(app.slider(key="training_moment").set_value(12).run())
    assert "before training: random weights" in captions(app)
    assert "Of step 3 nothing was saved; this is the nearest saved step before." in captions(app)
    assert "has not been reached" not in captions(app)
    working(app.slider(key="training_moment").set_value(20).run())
    assert "nothing was saved" not in captions(app)


def test_a_step_that_was_not_reached_is_said() -> None:
    app = press(page(training_steps="5000"), "training_start")
    until(lambda: "training_pattern" in charts(working(app.run())))
    press(app, "training_cancel")
    until(lambda: not job_threads())
    assert "Step 5,000 has not been reached" in captions(working(app.run()))


def test_attention_that_is_too_large_to_keep_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MAX_SNAPSHOT_NUMBERS", 1)
    app = page()
    train(app)
    assert "too large to be kept while it learns" in captions(app)
    assert "training_pattern" not in charts(app)
    assert not app.error


def test_the_rate_reaches_the_peak_that_its_caption_tells() -> None:
    app = page(training_steps="5000", training_warmup="10")
    assert "at most 0.002, reached at step 10." in captions(app)
    at, rates = (array(charts(app)["training_rate"], 0, axis) for axis in "xy")
    assert (at[rates.argmax()], rates.max()) == (10, np.float32(0.002))

"""What a trained network is good for: it writes, goes to every page and into files, and can be trained anew."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import InputError
from playground.training.after.answers import answer_samples, generate
from playground.training.after.trained_network import TrainedNetwork, from_trainer, save
from playground.training.network import Tagger
from playground.training.recipe import Recipe
from playground.training.tasks import make_data
from playground.training.tasks.task import generator
from playground.training.trainer import Trainer
from playground.web.views import training
from tests.training.after.trained import CONFIG, trainer
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    open_panels,
    press,
    prose,
    sentences,
    table,
    upload,
    uploader,
    working,
)  # fmt: skip
from tests.web.experiment_pages import OWN_TEXT, TEXT, measured, recipe, run, train, training_page

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def answers(made: TrainedNetwork | Trainer) -> list[str]:
    return [" ".join(each.answer) for each in answer_samples(made.network, make_data(made.recipe), made.recipe)]


# --- a text goes on


def trained_on_text(**query: object) -> AppTest:
    return measured(training_page(**OWN_TEXT, training_prompt="the ", **query))


def written(app: AppTest) -> str:
    return str(app.code[1].value)


@pytest.mark.parametrize(("heat", "top_k", "n_shares"), [(0.0, 0, 1), (0.8, 3, 3)])
def test_a_network_writes_what_its_probabilities_say(
    heat: float, top_k: int, n_shares: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "LENGTH", 40)
    app = press(trained_on_text(training_heat=heat, training_top_k=top_k, seed=4), "training_write")
    expected = run(recipe(task="characters", text=TEXT, n_symbols=10, seed=4))
    assert isinstance(expected.network, Tagger)
    (ids,) = expected.data.tokenizer.encode_batch(["the "]).ids.tolist()
    how: dict[str, Any] = {"temperature": heat, "top_k": top_k, "generator": generator(4, "writing")}
    drawn = generate(expected.network, ids, 40, window=8, **how)
    assert written(app) == "the " + expected.data.text(list(drawn))
    shares = array(charts(app)["training_next"], 0, "x")
    assert (np.diff(shares) <= 0).all()
    assert len(shares) == n_shares
    assert math.isclose(shares.sum(), 1, rel_tol=1e-5)
    text = written(app)
    choose(app, training_heat=1.0)
    assert written(app) == text
    assert f"temperature {heat:g}, top-k {top_k}, seed 4" in captions(app)
    assert len(array(charts(app)["training_next"], 0, "x")) == (min(top_k, 10) or 10)


def test_prompts_that_are_empty_or_strange() -> None:
    app = trained_on_text(training_n_train=16_384)
    n = len(make_data(recipe(task="characters", text=TEXT, n_train=16_384)).train)
    assert n < 1_000
    assert f"{n:,} sequences of 8" in captions(app), "not as many as were asked for"
    app.text_input(key="training_prompt").set_value("")
    assert "needs something to start from" in sentences(press(app, "training_write"))
    app.text_input(key="training_prompt").set_value("the ♥*x*")
    assert "there was no `♥`" in captions(press(app, "training_write"))
    assert written(app).startswith("the [UNK]")


# --- to other pages and into files


def test_the_weights_go_to_every_page_and_the_untrained_ones_with_them() -> None:
    app = training_page(training_length=6, weights="trained here")
    assert "A link can't carry what was trained" in sentences(app)
    assert "A link can't carry what was trained" not in sentences(working(measured(app).run()))
    press(app, "training_look")
    assert app.session_state["weights"] == "trained here"
    assert app.session_state["text"] == make_data(recipe(length=6)).example
    working(app.switch_page("../../pages/attention.py").run())
    expected = run(recipe(length=6)).history.snapshots[-1].patterns["self"]
    np.testing.assert_allclose(array(charts(app)["attention_pattern"], name="customdata"), expected[0, 1], atol=1e-6)


def test_a_file_brings_a_network_back() -> None:
    made = from_trainer(run(recipe(steps=20)))
    app = upload(training_page(), "training_file", save(made))
    for _ in range(2):
        assert f"Validation loss {made.results.validation_loss:.6f} nats" in prose(app)
        assert list(table(app, "it says")["it says"]) == answers(made)
        assert uploader(app, "training_file").value is None
        upload(app, "training_file", b"\x00" * 30)
    assert "This file can't be used." in sentences(app)


@pytest.mark.parametrize("task", ["copy", "characters"])
def test_a_file_that_claims_a_training_set_too_large_to_make_is_no_trap(task: Any) -> None:
    asked = Recipe(task=task, length=60, n_train=100_000, n_validation=8)
    small = replace(asked, n_train=16)
    made = from_trainer(Trainer(replace(CONFIG, max_len=64), small, data=make_data(small)))
    app = upload(training_page(), "training_file", save(replace(made, recipe=asked)))
    assert not app.error
    assert not table(app, "it says").empty
    assert uploader(app, "training_file").value is None
    assert [button.proto.label for button in app.get("download_button")] == ["Download (safetensors)"]
    if task == "characters":
        assert "training_next" in charts(press(app, "training_write"))


def test_where_a_network_can_not_be_asked_a_file_can_still_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise InputError("Nothing can be asked.")

    app = training_page()
    monkeypatch.setattr("playground.web.views.training.answer_samples", refuse)
    assert sentences(measured(app)) == "Nothing can be asked."
    assert uploader(app, "training_file").value is None
    assert app.get("download_button")
    assert "training_look" in {button.key for button in app.button}


# --- what the sidebar keeps for the next run


@pytest.mark.parametrize(("query", "norm"), [({}, "layer"), ({"weights": "random", "norm": "rms"}, "rms")])
def test_the_visitors_own_norms_come_back_for_the_next_run(query: dict[str, str], norm: str) -> None:
    app = training_page(training_layer_norm=False, **query)
    assert train(app).config.norm == "none"
    press(app, "training_look")
    assert app.segmented_control(key="norm").value == "none"
    again = train(choose(open_panels(app, "training_regularisers_open"), training_layer_norm=True))
    assert (again.recipe.layer_norm, again.config.norm) == (True, norm)
    assert f"post-norm ({norm})" in captions(app)
    press(app, "training_look")
    assert app.segmented_control(key="norm").value == norm


def test_the_norms_come_back_for_the_regularisers_page() -> None:
    app = press(measured(training_page(training_layer_norm=False)), "training_look")
    working(app.switch_page("../../pages/regularisers.py").run())
    working(app.button_group(key="regularisers_chosen").set_value(["Without layer normalisation"]).run())
    assert "2 runs of" in captions(app)
    assert "the architecture has no norms anyway" not in captions(app)


def test_the_seed_is_the_trained_networks_whether_trained_here_or_loaded() -> None:
    app = training_page(seed=3)
    first = train(app)
    press(choose(app, seed=5), "training_look")
    field = app.number_input(key="seed")
    assert (field.value, field.disabled) == (3, True)
    assert train(app).key == first.key
    upload(app, "training_file", save(from_trainer(trainer(seed=9))))
    assert app.number_input(key="seed").value == 9
    field = choose(app, weights="random").number_input(key="seed")
    assert (field.value, field.disabled) == (5, False)

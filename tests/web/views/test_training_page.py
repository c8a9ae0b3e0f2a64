"""The Training page: settings describe a run, which goes on in the background, and whose network is taken along."""

import re
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import ARCHITECTURE, RECIPE, STRENGTHS
from playground.link.query import shape_to_train
from playground.training.network import answer_examples, right_answer
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, make_data
from playground.training.tasks.symbol_tasks import REVERSE
from playground.training.trained_network import TrainedNetwork, from_trainer, save
from playground.training.trainer import Trainer
from playground.training.variants import REGULARISERS
from playground.words import say
from tests.training.trained import CONFIG
from tests.views.scenes import unmarked
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    grey_buttons,
    open_page,
    open_panels,
    press,
    prose,
    sentences,
    status_text,
    upload,
    uploader,
    values,
    widgets,
    working,
)  # fmt: skip
from tests.web.experiment_pages import OWN_TEXT, floats, measured, recipe, run, train, training_page, until_step

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


def answers(made: TrainedNetwork | Trainer) -> list[str]:
    data = make_data(made.recipe)
    samples = answer_examples(made.network, data, data.validation[slice(0, 8)], made.recipe)
    return [" ".join(word or "–" for _, word in zip_longest(each.right_answer, each.answer)) for each in samples]


def shown_answers(app: AppTest) -> list[str]:
    """What the network says, without the marks of its mistakes; a dash where a symbol is missing."""
    return unmarked(app.table[-1].value["it says"])


# --- settings


@pytest.mark.parametrize("task", ["characters", "seq2seq-copy"])
def test_a_task_shows_a_question_with_its_answer_and_a_rule_to_beat(task: Any) -> None:
    app, data = training_page(training_task=TASKS[task].title), make_data(recipe(task=task))
    reads, separator = (data.example.replace(" ", "␣"), "") if data.task.reads_text else (data.example, " ")
    right = separator.join(right_answer(data, data.validation.targets[0]))
    assert app.code[0].value == f"reads   {reads}\nanswer  {right}"
    assert say("training", f"question-{task}") in prose(app)
    for number in (f"**{data.baseline:.1%}**", "5 steps of 16 sequences"):
        assert number in captions(app)
    assert grey_buttons(app, "training") == {"stop"}
    assert sentences(app) == ""


def test_every_setting_is_in_the_panels_with_its_name_in_the_code() -> None:
    assert set(STRENGTHS) == {*REGULARISERS, "temperature"}
    app = training_page(training_task="Next character", training_distill=0.0)
    assert "training_clip" not in widgets(app), "the panel is closed"
    shown = widgets(open_panels(app, "training_regularisers_open"))
    labels = {
        name: shown[f"training_{name}"].label for name in RECIPE if f"training_{name}" in shown and name != "text"
    }
    assert {name: label for name, label in labels.items() if not label.endswith(f" · `{name}`")} == {}
    assert {*RECIPE} - {*labels} == {"text", "n_symbols", "temperature"}, "what can change nothing is not offered"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"training_n_symbols": 2, "training_length": 2, "training_n_train": 4_096}, "would work"),
        ({**OWN_TEXT, "training_text": "   "}, "has 0 characters"),
        ({**OWN_TEXT, "training_text": "**x**:red[y]$z$"}, r"\*\*x\*\*\:red\[y\]\$z\$"),
    ],
)
def test_what_can_not_be_trained_is_said_in_one_sentence_in_which_nothing_acts_as_markdown(
    query: dict[str, Any], named: str
) -> None:
    app = working(training_page(**query))
    (error,) = app.error
    assert named in (error.value if "\\" in named else error.value.replace("\\", ""))
    assert "start" in grey_buttons(app, "training")


# --- a run


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("task", "changes"),
    [("reverse", {"clip": 0.5, "dropout_residual": 0.1, "seed": 3}), ("seq2seq-reverse", {"distill": 0.5})],
)
def test_a_link_reproduces_the_run_to_the_digit(task: Any, changes: dict[str, Any]) -> None:
    link = {name if name == "seed" else f"training_{name}": value for name, value in changes.items()}
    app = measured(training_page(training_task=TASKS[task].title, **link))
    expected = run(recipe(task=task, **changes))
    looks = expected.history.evaluations
    losses = [look.validation.loss for look in looks]
    np.testing.assert_array_equal(array(charts(app)["training_loss"], 2, "y"), floats(losses))
    np.testing.assert_array_equal(array(charts(app)["training_gradient"], 0, "y"), floats(expected.history.grad_norm))
    assert f"Validation loss {losses[-1]:.6f} nats" in captions(app)
    assert f"**{looks[-1].validation.accuracy:.1%}**" in prose(app).splitlines()[0]
    assert status_text(app) == "The run finished at step 5; the weights of step 5 are kept."
    assert grey_buttons(app, "training") == {"stop"}
    assert shown_answers(app) == answers(expected)


# --- to other pages, into files, and into the next run


def test_the_answer_is_that_of_the_network_that_is_there_and_names_settings_that_it_does_not_have() -> None:
    app = training_page()
    assert "**Start**" in prose(app).splitlines()[0]
    trained = train(app)
    for told, page in (("After", app), ("**Settings have changed since this run.", None)):
        answer = prose(page or choose(app, training_lr=0.01)).splitlines()[0]
        assert answer.startswith(told)
        assert f"**{trained.results.validation_accuracy:.1%}**" in answer


@pytest.mark.long
def test_of_a_stopped_run_one_step_is_kept_and_measured() -> None:
    app = press(until_step(press(training_page(training_steps=5_000), "training_start"), at_least=3), "training_stop")
    ((step, share),) = re.findall(r"weights of step ([0-9,]+): \*\*([0-9.]+%)\*\*", captions(app))
    assert f"Stopped at step {step}; the weights of that step are kept." in status_text(app)
    assert f"**{share}**" in prose(app).splitlines()[0]
    assert array(charts(app)["training_rate"], 0, "x")[-1] == int(step.replace(",", ""))


def test_a_visitors_sequence_is_answered() -> None:
    app = measured(training_page(training_sequence="aabb"))
    (sample,) = answer_examples(
        (made := run(recipe())).network, made.data, REVERSE.read("a a b b", made.recipe), made.recipe
    )
    own, others = (each.value for each in app.table)
    assert (list(own["right answer"]), unmarked(own["it says"])) == (["b b a a"], [" ".join(sample.answer)])
    assert len(others) == 8


def test_a_file_brings_a_network_back() -> None:
    made = from_trainer(run(recipe(steps=20)))
    app = upload(training_page(), "training_file", save(made))
    for _ in range(2):
        assert f"Validation loss {made.results.validation_loss:.6f} nats" in captions(app)
        assert shown_answers(app) == answers(made)
        assert uploader(app, "training_file").value is None
        upload(app, "training_file", b"\x00" * 30)
    assert "can't be used." in sentences(app)


def test_a_file_that_claims_a_training_set_too_large_to_make_is_no_trap() -> None:
    asked = Recipe(task="characters", length=60, n_train=100_000, n_validation=8)
    small = replace(asked, n_train=16)
    made = from_trainer(Trainer(replace(CONFIG, max_len=64), small, data=make_data(small)))
    app = upload(training_page(), "training_file", save(replace(made, recipe=asked)))
    assert not app.error
    assert shown_answers(app)
    assert [button.proto.label for button in app.get("download_button")] == ["Download (safetensors)"]
    assert "training_next" in charts(app)


@pytest.mark.parametrize(("weights", "d_ff"), [("minilm", 256), ("english", 128)])
def test_the_sidebars_architecture_is_trained_and_one_move_changes_one_thing(weights: str, d_ff: int) -> None:
    app = open_page("training", weights=weights)
    assert f"2 layers, 4 heads, width 64, d_ff {d_ff}, " in captions(app)
    before = shape_to_train(values(app, "weights", *ARCHITECTURE))
    key = "minilm_n_layers" if weights == "minilm" else "n_layers"
    working(app.select_slider(key=key).set_value(3).run())
    assert shape_to_train(values(app, "weights", *ARCHITECTURE)) == {**before, "n_layers": 3}

"""The Training page's settings describe a run before it starts, and say in plain words what can't be."""

from typing import Any

import numpy as np
import pytest

from playground.link.experiment_params import RECIPE, STRENGTHS, TITLES, TRAINED_SIZES
from playground.link.params import OWN
from playground.training.after.samples import answer_samples
from playground.training.network import build_network
from playground.training.optimiser import learning_rate
from playground.training.recipe import Recipe, architecture
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.tasks import TASKS, make_data
from playground.web.session import experiments
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    grey_buttons,
    open_page,
    open_panels,
    prose,
    sentences,
    widgets,
    working,
)  # fmt: skip
from tests.web.experiment_pages import OWN_TEXT, TEXT, config, floats, recipe, training_page

pytestmark = pytest.mark.usefixtures("one_experiment_at_a_time")


# --- the task and its run


@pytest.mark.parametrize("title", TITLES)
def test_a_task_shows_a_question_with_its_answer_and_a_rule_to_beat(title: str) -> None:
    app = training_page(training_task=title)
    asked = experiments.without_idle(recipe(task=TITLES[title]))
    data = make_data(asked)
    network = build_network(architecture(config(), asked, data), data.task, len(data.labels), asked.seed)
    (first,) = answer_samples(network, data, asked, n=1)
    reads, separator = (first.text.replace(" ", "␣"), "") if data.task.reads_text else (first.text, " ")
    assert app.code[0].value == f"reads  {reads}\nsays   {separator.join(first.right_answer)}"
    assert data.task.question in prose(app)
    n_parameters, n_encoder = (sum(each.numel() for each in part.parameters()) for part in (network, network.encoder))
    for number in (f"**{data.baseline:.1%}**", f"{len(data.labels)} classes", f"{n_parameters:,} parameters",
                   f"{n_parameters - n_encoder:,} among them",
                   "5 steps of 16 sequences"):  # fmt: skip
        assert number in captions(app)
    assert sentences(app) == ""


def test_a_steps_sequences_are_those_that_a_short_text_has() -> None:
    link = OWN_TEXT | {"training_task": "Fill in the gaps", "training_n_train": 4_096}
    app = training_page(**link, training_batch_size=256, training_length=24)
    n = len(make_data(Recipe(task="masked", text=TEXT, length=24)).train)
    assert n < 256
    assert f"5 steps of {n} sequences" in captions(app)


def test_before_a_start_the_schedule_is_what_is_known() -> None:
    app = training_page(training_warmup=10, training_lr=0.01, training_steps=5_000)
    at, rates = (array(charts(app)["training_rate"], 0, axis) for axis in "xy")
    np.testing.assert_array_equal(rates, floats([learning_rate(int(step), recipe(lr=0.01, warmup=10)) for step in at]))
    assert (at[rates.argmax()], rates.max()) == (10, np.float32(0.01))
    assert "at most 0.01, reached at step 10." in captions(app)
    assert grey_buttons(app, "training") == {"pause", "cancel", "reset"}


# --- settings


def test_every_setting_has_its_name_in_the_code_beside_its_words() -> None:
    app = open_panels(training_page(), "training_regularisers_open")
    names = set(RECIPE) | set(TRAINED_SIZES)
    labels = {name: widgets(app)[f"training_{name}"].label for name in names - {"text"}}
    assert {name: label for name, label in labels.items() if not label.endswith(f" · `{name}`")} == {}


def test_titles_are_the_links_words_and_must_not_change() -> None:
    assert list(TITLES) == [
        "Copy", "Reverse", "Sort", "Count", "Match brackets", "Fill in the gaps", "Next character",
        "Copy, with a decoder", "Reverse, with a decoder", "Translate, with a decoder",
    ]  # fmt: skip


def test_the_defaults_are_those_of_the_first_task_and_stand_on_stops() -> None:
    plain: dict[str, Any] = {name: param.default for name, param in RECIPE.items()}
    assert all(getattr(Recipe(**TASKS["reverse"].defaults), name) == value for name, value in plain.items())
    for task in TASKS.values():
        for name, value in task.defaults.items():
            assert RECIPE[name].read_all([f"{value:g}" if isinstance(value, float) else str(value)]) == (value, None)


def test_another_task_by_hand_brings_its_own_settings_and_a_link_keeps_its() -> None:
    app = open_page("training", training_steps=300, training_length=9)
    assert app.select_slider(key="training_steps").value == 300
    for title, defaults in (("Match brackets", TASKS["brackets"].defaults), ("Reverse", {})):
        choose(app, training_task=title)
        for name in TASKS["brackets"].defaults:
            assert app.session_state[f"training_{name}"] == defaults.get(name, OWN[f"training_{name}"].default)


def test_advice_is_a_stop_of_the_slider() -> None:
    app = training_page(training_length=256, training_n_train=16_384)
    assert "; 8192 would work." in sentences(app)
    assert "would work" not in sentences(choose(app, training_n_train=8192))


# --- the panel of regularisers


def test_every_field_of_a_recipe_and_every_regulariser_can_be_set() -> None:
    assert set(RECIPE) | {"task", "seed", "n_validation"} == set(Recipe.__dataclass_fields__)
    assert set(STRENGTHS) == {each.field for each in REGULARISERS.values()} | {"temperature"}
    app = training_page()
    assert "training_clip" not in widgets(app), "the panel is closed"
    assert {f"training_{name}" for name in STRENGTHS} <= widgets(open_panels(app, "training_regularisers_open")).keys()


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ({}, "none"),
        ({"training_clip": 0.5, "training_layer_norm": False}, "2"),
        ({"training_temperature": 5.0, "training_causal": False}, "none"),
        ({"training_temperature": 5.0, "training_distill": 0.5}, "2"),
        ({"training_causal": False, **OWN_TEXT}, "1"),
    ],
)
def test_what_counts_in_the_run_is_counted_and_what_a_link_sets_is_there(query: dict[str, Any], n: str) -> None:
    app = training_page(**query)
    assert f"Regularisers that are set: {n}." in captions(app)
    assert "Regularisers" in [panel.label for panel in app.expander], "another name would close it again"
    shown = widgets(app)
    assert all(shown[key].value == value for key, value in query.items() if key.removeprefix("training_") in STRENGTHS)


@pytest.mark.parametrize(
    ("query", "idle"),
    [
        ({"training_task": "Reverse", "training_schedule": "constant"}, {"causal", "warmup", "temperature"}),
        ({"training_task": "Next character"}, {"mask_padding", "token_swapping", "shuffling", "temperature"}),
        ({"weights": "random", "norm": "none", "training_distill": 0.5}, {"causal", "layer_norm"}),
    ],
)
def test_what_can_change_nothing_is_grey_and_says_why(query: dict[str, Any], idle: set[str]) -> None:
    shown = widgets(open_panels(training_page(**query), "training_regularisers_open"))
    grey = {name for name in RECIPE if f"training_{name}" in shown and shown[f"training_{name}"].disabled}
    assert grey == idle
    for field in REGULARISERS:
        assert ("It changes nothing here" in shown[f"training_{field}"].help) == (field in idle)


# --- what can't be


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"training_d_model": 16, "training_n_heads": 3}, "n_heads=3"),
        ({"training_n_symbols": 2, "training_length": 2, "training_n_train": 4_096}, "would work"),
        ({"training_length": 40, "weights": "random", "max_len": 32}, "length=40"),
        ({**OWN_TEXT, "training_text": "   "}, "blank"),
        ({**OWN_TEXT, "training_text": "aaaaaaaaaaaaaaaa"}, "one character only"),
        ({**OWN_TEXT, "training_text": "**x**:red[y]$z$"}, r"\*\*x\*\*\:red\[y\]\$z\$"),
        ({**OWN_TEXT, "training_length": 256}, "too long a window"),
    ],
)
def test_what_can_not_be_trained_is_said_in_one_sentence_in_which_nothing_acts_as_markdown(
    query: dict[str, Any], named: str
) -> None:
    app = working(training_page(**query))
    (error,) = app.error
    assert named in (error.value if "\\" in named else error.value.replace("\\", ""))
    assert "start" in grey_buttons(app, "training")

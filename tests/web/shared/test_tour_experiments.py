"""The second and the third experiment on the pages, each to its end."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.charts.markdown import escape_markdown
from playground.config import ModelConfig
from playground.learn.reverse_tour import REVERSE, is_own
from playground.learn.tour import TourState
from playground.link.params import ARCHITECTURE, RECIPE, SMALL, TRAINING
from playground.training.trained_network import TrainedNetwork
from tests.training.trained import trained
from tests.web.app_test import captions, choose, new_page, open_page, press, prose, sentences, trained_trace, working
from tests.web.sidebar.test_trained_panel import put

OWN = "The weather in Bonn was lovely on Sunday."
DENIED = "The weather in Bonn was not lovely on Sunday."
REPEATED = "On Sunday Bonn had beautiful sunshine."


def own(**changes: Any) -> TrainedNetwork:
    """A network of the experiment's own settings, after a few steps."""
    made = {field.removeprefix("training_"): param.default for field, param in TRAINING.items()}
    recipe = {name: made[name] for name in RECIPE} | {"steps": 6, "n_validation": 64}
    shape: dict[str, Any] = {name: param.default for name, param in ARCHITECTURE.items()}
    shape |= {**SMALL, "vocab_size": 1}
    for name, value in changes.items():
        (shape if name in shape else recipe)[name] = value
    return trained("reverse", ModelConfig(**shape), **recipe)


def step(app: AppTest) -> int:
    return int(app.session_state["tour"])


def cosine(first: str, second: str) -> float:
    """Of the means over the tokens, without the app."""
    one, other = (trained_trace(text)["final"][0].numpy().astype(np.float64).mean(axis=0) for text in (first, second))
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.long
def test_a_sentence_and_its_negation_are_compared_by_the_visitors_own_hand() -> None:
    app = open_page("similarity", text=OWN, tour=1, experiment="negation")
    assert step(press(app, "tour_answer_far")) == 2
    assert step(choose(app, similarity_list="Rates rose last week.")) == 2
    assert step(choose(app, similarity_list="Dogs bark.\nDogs do not bark.")) == 2
    assert "tour_on" not in {button.key for button in app.button}, "this pair is not the visitor's sentence"
    assert step(choose(app, similarity_list=DENIED)) == 2
    quoted = " and ".join(f"“{escape_markdown(each)}”" for each in (OWN, DENIED))
    assert f"{quoted} is {cosine(OWN, DENIED):.2f}. Your guess, “under 0.3”, was wrong." in prose(app)
    assert step(press(app, "tour_on")) == 3
    assert step(choose(app, similarity_view="leave a word out")) == 3
    assert f"without it they are {1 - cosine(OWN, DENIED):.2f} nearer" in prose(app), "without *not* they are equal"
    assert step(press(app, "tour_on")) == 4
    assert step(choose(app, similarity_list=f"{DENIED}\n{REPEATED}")) == 5
    assert f"have a cosine of {cosine(OWN, DENIED):.2f}" in prose(app)
    assert f"it is at {cosine(OWN, REPEATED):.2f}" in prose(app)
    assert "held" in prose(app)
    assert f"without it they are {1 - cosine(OWN, DENIED):.2f} nearer" in captions(app), "without *not* they are equal"


def test_the_buttons_lead_through_the_negation_too() -> None:
    app = press(open_page("similarity", text="Rates rose.", tour=2, experiment="negation"), "tour_set")
    for number in (2, 3):
        assert step(app) == number
        assert step(press(app, "tour_on")) == number + 1
        press(app, "tour_set")
    assert step(app) == 5, "nothing is to be read between the last step and the end"
    assert step(press(app, "tour_back")) == 4
    assert step(press(app, "tour_set")) == 4, "who has gone back decides when to go on"
    assert step(press(app, "tour_on")) == 5
    assert "refuted" in prose(app)


@pytest.mark.parametrize("query", [{"text": ""}, {"text": OWN}, {"text": f"{OWN}\n{DENIED}"}, {"text": "!\nnot !"}])
def test_the_negation_ends_without_a_pair_and_with_random_weights_too(query: dict[str, str]) -> None:
    app = open_page("similarity", tour=5, experiment="negation", weights="random", n_layers=1, **query)
    assert "What was measured" in prose(app)
    assert ("random" in prose(app)) >= (DENIED in query["text"])


def test_the_negation_names_long_sentences_by_their_beginnings() -> None:
    long = f"The weather was lovely {'and so was the sea ' * 10}on Sunday."
    small = {"weights": "random", "n_layers": 1}
    app = open_page(
        "similarity", tour=5, experiment="negation", text=f"{long}\n{long.replace('was', 'was not', 1)}", **small
    )
    assert f"“{long[:119]}…” and “The weather was not" in prose(app)
    assert long not in prose(app)


def walk_reversal(one: TrainedNetwork) -> AppTest:
    app = put(new_page("training", tour=1, experiment="reverse"), one)
    assert step(app) == 1
    assert f"gets {one.results.validation_accuracy:.1%} of the letters right" in prose(app)
    assert step(press(app, "tour_on")) == 2
    assert step(press(app, "tour_answer_nowhere")) == 2
    shown = (app.session_state["training_layer"], app.session_state["training_head"])
    assert shown == (app.session_state["layer"], app.session_state["head"]), "one head is carried through"
    assert "You were right: no head gives half of its weight to the mirrored place." in prose(app)
    assert step(press(app, "tour_on")) == 3
    assert step(press(app, "tour_set")) == 3
    assert f"Every page now runs your network, on an example of its task: “{one.example}”." in prose(app)
    assert step(press(app, "tour_on")) == 4
    head = f"layer {app.session_state['layer']}, head {app.session_state['head']}"
    assert app.session_state["query"] + app.session_state["key"] == len(one.example.split()) - 1, "on the line"
    app = working(app.switch_page("../../pages/attention.py").run())
    assert f"The large map shows {head}, which looks at the mirrored place most." in prose(app)
    layer = app.session_state["layer"]
    app.session_state["layer"] = 1 - layer
    working(app.run())
    assert f"This is another head: {head} looks at the mirrored place most." in captions(app)
    assert f"shows {head}" not in prose(app)
    app.session_state["layer"] = layer
    assert step(press(app, "tour_set")) == 5
    off = app.session_state["layer"], app.session_state["head"]
    assert step(press(app, "tour_answer_all")) == 5
    assert "% stay right. Your guess, “over 80 %”, was wrong." in prose(app)
    assert step(press(app, "tour_on")) == 6
    other = f"layer {app.session_state['layer']}, head {app.session_state['head']}"
    assert other != head, "the next one is opened"
    assert f"The large map shows {other}: of the other heads, it looks at the mirrored place most." in prose(app)
    opened = app.session_state["layer"], app.session_state["head"]
    app.session_state["layer"], app.session_state["head"] = off
    working(app.run())
    assert f"Of the other heads, {other} looks at the mirrored place most." in captions(app)
    assert f"shows {other}" not in prose(app)
    app.session_state["layer"], app.session_state["head"] = opened
    assert step(press(app, "tour_set")) == 7
    return app


@pytest.mark.long
def test_a_network_that_found_no_anti_diagonal_says_so() -> None:
    one = own()
    app = walk_reversal(one)
    assert "no head has found the anti-diagonal" in prose(app)
    assert "refuted" in prose(app)
    assert "You guessed “over 80 %”, and it is “under 40 %”." in captions(app)
    links: Any = app.get("page_link")
    assert "All experiments" in {link.proto.label for link in links}
    assert f"{one.results.validation_accuracy:.1%} of the letters right" in prose(app)


@pytest.mark.parametrize("page", ["training", "attention", "what_if"])
def test_the_reversal_ends_without_a_network_and_says_what_is_missing(page: str) -> None:
    app = open_page(page, tour=7, experiment="reverse", do="1.0:zero")
    assert "no network of this experiment here" in prose(app)
    assert "not tested" in prose(app)
    other = put(open_page("training", tour=7, experiment="reverse"), trained("sort"))
    assert "no network of this experiment here" in prose(other)


def test_no_head_that_the_network_lacks_is_switched_off() -> None:
    app = put(new_page("training", tour=7, experiment="reverse", do="9.9:zero"), own())
    assert "What was measured" in prose(app)


def with_network_taken_along(one: TrainedNetwork) -> AppTest:
    """The reversal at its fourth step, of a visitor with a sentence and random weights of their own."""
    app = put(open_page("overview", text=OWN, weights="random", layer=1, head=2), one)
    app = put(working(press(app, "start_reverse").switch_page("../../pages/training.py").run()), one)
    press(press(press(app, "tour_on"), "tour_answer_nowhere"), "tour_on")
    return press(press(app, "training_look"), "tour_on")


def test_a_long_text_that_is_taken_along_is_quoted_in_one_line_by_its_beginning() -> None:
    one = own()
    mine = "a *b* c\n\n" + "c b a " * 200
    app = put(open_page("training", tour=3, experiment="reverse", text=mine), one)
    press(app, "training_look")
    assert app.session_state["text"] == mine, "the network knows its letters"
    beginning = escape_markdown(f"a *b* c {'c b a ' * 20}"[:119])
    assert f"Every page now runs your network, on your text: “{beginning}…”." in prose(app)


def test_after_the_reversal_the_visitors_own_sentence_and_weights_are_back() -> None:
    one = own()
    app = with_network_taken_along(one)
    assert (app.session_state["weights"], app.session_state["text"]) == ("trained here", one.example)
    press(app, "tour_end")
    assert (app.session_state["weights"], app.session_state["text"]) == ("random", OWN)
    assert (app.session_state["layer"], app.session_state["head"]) == (1, 2)
    assert "Your sentence and the weights that you had before the experiment are back." in sentences(app)


def test_the_reversals_end_makes_way_on_the_front_page() -> None:
    app = with_network_taken_along(own())
    while step(app) <= len(REVERSE.steps):
        press(app, "tour_skip" if "tour_skip" in {button.key for button in app.button} else "tour_on")
    app = working(app.switch_page("../../pages/overview.py").run())
    assert step(app) == 0
    assert (app.session_state["weights"], app.session_state["text"]) == ("random", OWN)
    assert "Your sentence and the weights that you had before the experiment are back." in sentences(app)


def test_a_lesson_that_begins_within_the_reversal_ends_with_what_there_was_before_both() -> None:
    app = with_network_taken_along(own())
    app = press(working(app.switch_page("../../pages/lessons.py").run()), "begin_attention-in-30-minutes")
    assert app.session_state["weights"] == "minilm"
    press(app, "tour_end")
    assert (app.session_state["weights"], app.session_state["text"]) == ("random", OWN)


def test_the_way_out_of_the_reversal_names_the_text_only_where_that_comes_back() -> None:
    app = with_network_taken_along(own())
    assert "your text and the weights" in app.button(key="tour_end").help
    choose(app, text="c a b")
    assert "text" not in app.button(key="tour_end").help
    press(app, "tour_end")
    assert (app.session_state["weights"], app.session_state["text"]) == ("random", "c a b")


def test_a_field_that_is_late_does_not_keep_the_networks_example() -> None:
    app = with_network_taken_along(own())
    app.text_area(key="text").set_value(OWN)  # what the browser's field said before the example took its place
    press(app, "tour_end")
    assert (app.session_state["weights"], app.session_state["text"]) == ("random", OWN)


@pytest.mark.parametrize(
    "changed", [{"positions": "rotary"}, {"norm": "rms"}, {"length": 6}, {"d_model": 16}, {"lr": 0.01}]
)
def test_only_a_network_of_its_own_settings_counts(changed: dict[str, Any]) -> None:
    app = put(open_page("training", tour=1, experiment="reverse"), own(**changed))
    assert "Step 1 of 6: done" not in prose(app)
    put(app, own())
    assert "Step 1 of 6: done" in prose(app)
    values = dict(TourState(page="training").values)
    page = {f"training_{name}": value for name, value in changed.items() if f"training_{name}" in values}
    assert is_own(own(**changed), values | page) == bool(page), "what the page was set to by hand is the visitor's own"


def test_on_another_page_a_step_names_none_of_its_buttons() -> None:
    for number in (1, 4):
        app = open_page("norms", tour=number, experiment="reverse")
        assert f"tep {number} of 6** is on the page" in prose(app)
        assert "ress **" not in prose(app)

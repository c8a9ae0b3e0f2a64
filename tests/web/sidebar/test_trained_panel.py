"""What the sidebar does with a trained network: its shape, its tokens, its results, and what comes back afterwards."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from playground.config import SETTINGS
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT
from playground.training import trained_network
from playground.training.trained_network import TrainedNetwork
from playground.web.session.own_models import OWN, OwnModels
from playground.web.sidebar.controls import IN_SIGHT
from playground.web.sidebar.weights_panels import EXAMPLE
from tests.training.trained import trained, trainer
from tests.web.app_test import captions, choose, locked, new_page, open_page, press, sentences, values, widgets, working

KINDS = ("reverse", "characters", "seq2seq-reverse")


def put(app: AppTest, one: TrainedNetwork) -> AppTest:
    """Put a network into the session's slot, as a training thread does, and draw the page again."""
    if OWN not in app.session_state:
        app.session_state[OWN] = OwnModels()
    app.session_state[OWN].put(one)
    return working(app.run())


def opened(one: TrainedNetwork, page: str = "overview", *, example: bool = True, **query: object) -> AppTest:
    """A page that shows a network, on an example of its task or on the text that everybody starts with."""
    app = new_page(page, **({"text": one.example} if example else {}), **query, weights="trained here")
    return put(app, one)


def switch(app: AppTest, key: str = "untrained") -> AppTest:
    return choose(app, **{key: not values(app, key)[key]})


def test_its_shape_is_locked_its_tokens_are_its_own_and_its_results_are_told() -> None:
    one = trained("sort")
    app = opened(one, n_layers=5, d_model=32, n_heads=8, tokenizer="char", causal=True, seed=5)
    assert values(app) == {key: getattr(one.config, key) for key in ARCHITECTURE}
    assert "tokenizer" not in widgets(app)
    assert values(app, "causal", "seed") == {"causal": True, "seed": one.recipe.seed}
    assert locked(app) == {key for key in ARCHITECTURE if SETTINGS[key].has_effect(values(app))} - {*IN_SIGHT}
    assert "seed" not in widgets(app)
    for number in ("**Sort**, trained for 6 steps", one.results.validation_accuracy, one.results.baseline):
        assert (number if isinstance(number, str) else f"{number:.1%}") in captions(app)


@pytest.mark.parametrize("causal", [True, False])
def test_where_the_next_character_is_learnt_the_mask_is_the_trainings(causal: bool) -> None:
    one = trained_network.from_trainer(trainer(task="characters", causal=causal))
    app = opened(one, "attention", causal=str(not causal))
    assert "causal" in locked(app)
    assert values(app, "causal") == {"causal": causal}


def test_an_unknown_text_is_told_and_stays_until_the_button_is_pressed() -> None:
    app = choose(put(open_page(), trained()), weights="trained here")
    assert "knows no token of this sentence" in sentences(app)
    assert "It knows `a` `b` `c` `d` `e` `f` `g` `h` `i` `j`." in captions(app)
    assert values(app, "text") == {"text": DEFAULT_TEXT}
    choose(app, text="a x b y")
    assert "2 of 4 tokens are unknown to it and read as [UNK]." in captions(app)
    assert not sentences(app)
    press(app, EXAMPLE)
    assert values(app, "text") == {"text": trained().example}
    assert EXAMPLE not in {button.key for button in app.button}


@pytest.mark.parametrize(
    ("task", "text", "told"),
    [
        ("characters", "it's ñ", ["1 of 6 tokens are unknown", "It knows 95 characters."]),
        ("reverse", "a b " * 20, ["The sentence is cut after 20 tokens; 20 more are left out."]),
        ("reverse", "  \n ", ["Type a sentence"]),
    ],
    ids=["letters", "too long", "empty"],
)
def test_texts_are_read_as_the_network_learnt_to(task: str, text: str, told: list[str]) -> None:
    app = choose(opened(trained(task), example=False), text=text)
    assert all(words in f"{captions(app)}\n{sentences(app)}" for words in told)


def test_a_network_whose_initial_weights_are_not_known_has_no_switch_to_them() -> None:
    old = replace(trained(), has_initial=False)
    app = opened(old, "attention", untrained="true")
    assert "untrained" not in widgets(app)
    assert "trained here: Reverse" in captions(app)


@pytest.mark.parametrize("page", ["attention", "training"])
def test_a_link_opens_on_random_weights_of_its_shape(page: str) -> None:
    app = open_page(page, weights="trained here", untrained="true", d_model="64", n_heads="4", n_layers="3")
    assert "This server has not kept what the link's network has learnt" in sentences(app)
    assert ":orange-badge[random weights] Nothing was trained in this session yet." in captions(app)
    assert values(app, "weights", "n_layers") == {"weights": "trained here", "n_layers": 3}
    assert not {*ARCHITECTURE, "seed"} & locked(app)
    assert "untrained" not in widgets(app)

"""The front page: what this is, a field for a sentence, and a card for each tour with a true small picture."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from playground.learn.pronoun_tour import PRONOUN
from playground.learn.tours import TOURS
from playground.weights import checkpoint
from tests.web.app_test import SMALL, captions, choose, open_page, press, prose, trained_trace, working

TEXT = "Anna gave Tom the book because he had asked for one."
HE, ANNA, TOM, BOOK = 7, 1, 3, 5


def trained_tokens(text: str) -> list[str]:
    return checkpoint.load("minilm")[1].encode_batch([text]).tokens[0]


def small_maps(app: AppTest) -> list[np.ndarray]:
    """How opaque the dots of each card's picture are, from 0 to 1."""
    texts = "".join(each.proto.body for each in app.get("html"))
    files = re.findall(r'small-map"[^>]*base64,([^)]+)', texts)
    return [np.asarray(Image.open(BytesIO(b64decode(file))))[..., 3] / 255 for file in files]


def test_every_tour_has_a_card_with_its_steps_and_how_long_they_take_where_that_is_known() -> None:
    app = open_page("overview")
    for name, tour in TOURS.items():
        assert app.button(key=f"start_{name}").label == "Start"
        assert tour.title in prose(app)
        assert f"{len(tour.steps)} steps" in captions(app)
        assert (f"{len(tour.steps)} steps · {tour.minutes} minutes" in captions(app)) == bool(tour.minutes)


def test_the_picture_is_the_head_of_the_visitors_sentence_with_the_pronouns_row_lit() -> None:
    app = choose(open_page("overview"), text=TEXT)
    weights = trained_trace(TEXT)["layers.3.attn.pattern"][0, 1].numpy()
    words, nouns = trained_tokens(TEXT), (ANNA, TOM, BOOK)
    first, second = sorted(sorted(nouns, key=lambda place: -weights[HE, place])[:2])
    assert f"*{words[first]}* or *{words[second]}*: at which of them does *he* look more?" in prose(app)
    assert "## Who does *he* mean?" in prose(app)
    assert "Layer 3, head 1, one of 72 attention patterns" in captions(app)
    texts = "".join(each.proto.body for each in app.get("html"))
    assert re.findall(r'<span class="(\w+)"[^>]*>(\w+)', texts) == [
        ("row", "he"),
        ("column", words[first]),
        ("column", words[second]),
    ]
    shades, weights = small_maps(app)[0], weights[1:-1, 1:-1]  # without what the tokenizer adds
    np.testing.assert_allclose(shades[HE - 1], np.sqrt(weights[HE - 1]), atol=0.003)
    others = np.arange(len(shades)) != HE - 1
    np.testing.assert_allclose(shades[others], 0.4 * np.sqrt(weights[others]), atol=0.003)


@pytest.mark.parametrize("changes", [{}, SMALL, {"n_layers": 1, "n_heads": 1, **SMALL}])
def test_a_sentence_without_a_pronoun_and_random_weights_are_named(changes: dict[str, object]) -> None:
    app = open_page("overview", text="dogs bark", **changes)
    assert "no pronoun, a word such as *it* or *she*" in prose(app)
    assert len(small_maps(app)) == 1, "the reversal's alone: no row asks"
    app.button(key="start_pronoun").click().run()
    assert app.session_state["text"] == PRONOUN.example
    chosen = {key: app.session_state[key] for key in ("tour", "layer", "head", "query")}
    assert chosen == {"tour": 1, "layer": 3, "head": 1, "query": 11}


@pytest.mark.parametrize(("text", "told"), [("it ran", "two nouns"), ("!", "no pronoun"), ("…?", "no pronoun")])
def test_where_no_word_can_look_at_another_the_card_says_what_to_type(text: str, told: str) -> None:
    assert told in prose(open_page("overview", text=text))


def test_the_card_of_the_negation_gives_the_cosine_that_is_to_be_guessed_away_nowhere() -> None:
    app = open_page("overview")
    numbers = re.findall(r"<strong>([^<]+)</strong> ([^<]+)", "".join(each.proto.body for each in app.get("html")))
    assert [of for number, of in numbers if number == "?"] == ["without", "good – not good"]
    assert len(numbers) == 4


def test_without_a_text_the_field_and_the_cards_stay() -> None:
    app = working(choose(open_page("overview"), text=""))
    assert app.text_input(key="front_text").value == ""
    (reversal,) = small_maps(app)  # the picture that needs no text
    np.testing.assert_array_equal(reversal, np.fliplr(np.eye(len(reversal))))
    assert "start_pronoun" in {button.key for button in app.button}


def test_what_is_typed_into_the_field_is_the_sidebars_text_and_several_lines_have_an_area() -> None:
    app = open_page("overview")
    app.text_input(key="front_text").set_value(TEXT)
    assert working(press(app, "front_look")).session_state["text"] == TEXT
    several = choose(app, text="one\ntwo")
    assert "front_text" not in {field.key for field in several.text_input}
    assert several.text_area(key="phone_text").value == "one\ntwo"


def test_the_start_button_opens_the_first_step_with_the_trained_head_and_the_pronouns_row() -> None:
    app = open_page("overview", **SMALL, text=TEXT, layer=1, head=2, do="0.1:zero")
    app.button(key="start_pronoun").click().run()
    chosen = {key: app.session_state[key] for key in ("tour", "layer", "head", "query", "weights")}
    assert chosen == {"tour": 1, "layer": 3, "head": 1, "query": HE, "weights": "minilm"}
    assert not app.session_state["do"]

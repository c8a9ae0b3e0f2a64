"""The live page Decoder: what its widgets, links and texts choose, and what it says where there is no pair."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.training.tasks.translation import ENGLISH
from tests.training.tasks.test_translation import translate
from tests.web.app_test import (
    SMALL,
    answer,
    captions,
    charts,
    choose,
    open_page,
    press,
    prose,
    sentences,
    values,
    working,
)

TEXT, TARGET = "a cat sat\na <b>rather</b> longer cat", "een kat\neen <i>kat</i> zat"
FRENCH = "le petit chat noir voit une maison blanche"


def page(**query: object) -> AppTest:
    return open_page("encoder_decoder", **query)


def own(**query: object) -> AppTest:
    """The page with a small model and two pairs of sentences."""
    return page(**SMALL | {"text": TEXT, "encdec_target": TARGET} | query)


def choose_sentence(app: AppTest, sentence: str) -> None:
    working(app.text_input(key="encdec_example").set_value(sentence).run())


def test_the_page_opens_with_a_translation_and_its_widgets_have_keys_of_their_own() -> None:
    assert "After `chat`₃" in answer(page(encdec_example_position=3))
    app = page()
    assert values(app, "encdec_source") == {"encdec_source": "trained example"}
    assert sentences(app) == ""
    assert f"**{FRENCH}**" in prose(app)
    assert "The translation is right." in captions(app)
    choose_sentence(app, "My Dog draws a door.")
    choose(app, encdec_example_attention="decoder self", encdec_example_head=2)
    assert "decoder self, layer 1, head 2" in captions(app)
    choose_sentence(app, " .,! ")
    assert app.error
    assert not charts(app)


def test_another_sentence_is_one_of_the_grammar_and_the_sidebar_changes_nothing_in_it() -> None:
    app = page(weights="random", n_layers="3", seed="5", text="", causal="true")
    assert f"**{FRENCH}**" in prose(app)
    drawn = [str(press(app, "encdec_another").text_input(key="encdec_example").value) for _ in range(3)]
    assert len(set(drawn)) > 1
    assert set(" ".join(drawn).split()) <= set(ENGLISH)
    assert f"**{' '.join(translate(drawn[-1].split()))}**" in prose(app)


@pytest.mark.parametrize(("key", "blank"), [("encdec_target", " \n\x00"), ("text", "")])
def test_a_blank_line_is_asked_for_and_the_other_stays_where_it_is(key: str, blank: str) -> None:
    app = own(**{key: blank})
    assert app.info or app.error
    assert not charts(app)
    assert charts(choose(app, **{key: "kat"}))
    (other,) = {"text", "encdec_target"} - {key}
    assert app.text_area(key=other).value == {"text": TEXT, "encdec_target": TARGET}[other]

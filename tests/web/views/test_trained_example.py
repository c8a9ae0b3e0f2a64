"""The Decoder page opens with the shipped translator; the visitor's own text is one switch away."""

import logging
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import DEFAULT_TARGET
from playground.runs.pair_run import PairRun, run_pair
from playground.training.after import shipped_network
from playground.training.after.shipped_network import load_translator
from playground.training.tasks.translation import ENGLISH, WORDS
from playground.web.session.result_cache import FunctionCaches
from playground.web.session.services import other_services
from tests.training.tasks.test_translation import translate
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    open_page,
    press,
    prose,
    sentences,
    table,
    values,
    working,
)  # fmt: skip

OLD_TARGET = "Het dier was te moe.\nDaarom stak het de straat niet over."
FRENCH = "le petit chat noir voit une maison blanche"


def page(**query: str) -> AppTest:
    return open_page("encoder_decoder", **query)


def computed(english: str, french: str) -> PairRun:
    """The run behind the page, made without the app."""
    trained = load_translator()
    batches = (trained.tokenizer.encode_batch([text]) for text in (english, f"[BOS] {french}"))
    return run_pair(trained.network, *batches)  # type: ignore[arg-type]


def source(app: AppTest) -> str:
    return str(values(app, "encdec_source")["encdec_source"])


# --- the example


def test_the_page_opens_with_a_translation_that_is_right_and_its_alignment() -> None:
    app = page()
    assert source(app) == "trained example"
    assert sentences(app) == ""
    assert f"**{FRENCH}**" in prose(app)
    assert "The translation is right." in captions(app)
    assert "In 8 of 8 steps" in captions(app)
    run = computed("the small black cat sees a white house", FRENCH)
    np.testing.assert_array_equal(array(charts(app)["encdec_pattern"]), run.patterns["cross"][1, 3])
    assert charts(app)["encdec_pattern"][0]["y"][3] == "chat → noir₃"
    shown = table(app, "next token")
    assert shown["next token"].iloc[0] == "le"
    assert shown["probability, %"].iloc[0] > 99
    assert table(app, "together").loc["total", "together"] == 52_258
    assert "800 steps" in captions(app)
    assert shipped_network.MADE_BY in captions(app)


def test_its_widgets_have_keys_of_their_own() -> None:
    query = {"attention": "decoder self", "layer": "0", "head": "2", "position": "4"}
    app = page(
        **{f"encdec_example_{name}": text for name, text in query.items()}, encdec_example="My Dog draws a door."
    )
    run = computed("my dog draws a door", "mon chien dessine une porte")
    expected = np.where(run.masks["combined"], run.patterns["decoder self"][0, 2], np.float32(np.nan))
    np.testing.assert_array_equal(array(charts(app)["encdec_pattern"]), expected)
    assert table(app, "next token")["next token"].iloc[0] == "porte"
    assert source(app) == "trained example"


def test_the_sidebar_changes_nothing_in_it() -> None:
    app = page(weights="random", n_layers="3", seed="5", text="", causal="true")
    assert f"**{FRENCH}**" in prose(app)


def test_unknown_words_and_long_sentences_are_named() -> None:
    app = page(encdec_example="the elephant sees Chat")  # which is French
    assert "not learnt `elephant`, `chat`:" in sentences(app)
    assert "translation is right" not in captions(app)
    choose_sentence(app, "the cat " * 6)
    assert "12 words" in sentences(app)
    choose_sentence(app, "the $x$ `y` **z** <b> [a](b) 🙂 \x00 " + "wort " * 40)
    assert "not learnt" in sentences(app)
    choose_sentence(app, " .,! ")
    assert app.info
    assert not charts(app)
    choose_sentence(app, "a cow")
    assert "**une vache**" in prose(app)


def test_one_unknown_word_may_cost_all_that_follows_and_the_page_says_so() -> None:
    app = page(encdec_example="the small black zebra sees a white house")
    assert not {"voit", "blanche"} & set(prose(app).split())  # of “sees a white house”, which it knows
    assert "All that follows may be wrong too" in sentences(app)
    assert "follows may be wrong" not in sentences(page())


def test_what_had_to_be_learnt_is_what_the_grammar_asks_for() -> None:
    agreeing = {kind for kind, words in WORDS.items() if any(le and la and le != la for _, le, la in words)}
    assert agreeing == {"article", "adjective", "colour"}
    told = captions(page())
    assert "Articles, adjectives and colours take the noun's gender" in told
    cat, house = (" ".join(translate(["the", "small", "white", noun])) for noun in ("cat", "house"))
    assert f"*{cat}*, but *{house}*" in told


def choose_sentence(app: AppTest, sentence: str) -> None:
    working(app.text_input(key="encdec_example").set_value(sentence).run())


def test_another_sentence_is_one_of_the_grammar() -> None:
    app = page()
    drawn = [str(press(app, "encdec_another").text_input(key="encdec_example").value) for _ in range(3)]
    assert len(set(drawn)) > 1
    assert set(" ".join(drawn).split()) <= set(ENGLISH)
    assert f"**{' '.join(translate(drawn[-1].split()))}**" in prose(app)


# --- the switch


def test_each_source_keeps_its_own_values_while_the_other_one_is_shown() -> None:
    app = choose(page(encdec_example="a cow", encdec_example_head="2"), encdec_source="your text")
    assert app.text_area(key="encdec_target").value == DEFAULT_TARGET
    assert not {"encdec_example", "encdec_example_head"} & set(app.query_params)
    choose(app, encdec_target="een kat", encdec_head=5)
    choose(app, encdec_source="trained example")
    assert app.text_input(key="encdec_example").value == "a cow"
    assert values(app, "encdec_example_head") == {"encdec_example_head": 2}
    assert not {"encdec_target", "encdec_head"} & set(app.query_params)
    choose(app, encdec_source="your text")
    assert values(app, "encdec_target", "encdec_head") == {"encdec_target": "een kat", "encdec_head": 5}
    press(app, "reset")
    assert source(app) == "trained example"
    assert values(choose(app, encdec_source="your text"), "encdec_head") == {"encdec_head": 0}
    assert app.text_area(key="encdec_target").value == DEFAULT_TARGET


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ({"encdec_target": "een kat"}, "een kat"),
        ({"encdec_head": "2"}, OLD_TARGET),
        ({"encdec_attention": "decoder self", "v": "1"}, OLD_TARGET),
        ({"encdec_position": "junk"}, OLD_TARGET),
        ({"encdec_source": "your text"}, DEFAULT_TARGET),
    ],
)
def test_a_link_from_before_the_example_shows_the_visitors_text(query: dict[str, str], target: str) -> None:
    app = page(**query)
    assert source(app) == "your text"
    assert app.text_area(key="encdec_target").value == target


@pytest.mark.parametrize(
    "query",
    [{}, {"text": "a cat"}, {"encdec_example_head": "1"}, {"encdec_source": "trained example", "encdec_head": "2"}],
)
def test_any_other_link_shows_the_example(query: dict[str, str]) -> None:
    assert source(page(**query)) == "trained example"


def test_without_the_file_the_page_shows_the_visitors_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = tmp_path / "translator.safetensors"
    damaged.write_bytes(shipped_network.PATH.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(shipped_network.load_translator, "__defaults__", (damaged,))
    with caplog.at_level(logging.WARNING), other_services(loaded=FunctionCaches()):
        app = page()
    assert "SHA-256" in caplog.text
    assert "not on this server" in captions(app)
    assert app.text_area(key="encdec_target").value == DEFAULT_TARGET
    assert charts(app)

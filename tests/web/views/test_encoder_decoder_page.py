"""The live page Decoder: what its widgets, links and texts choose, and what it says where there is no pair."""

import logging
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground import EncoderDecoder, ModelConfig, open_link
from playground.charts.markdown import escape_markdown
from playground.link.params import DEFAULT_TARGET, DEFAULT_TEXT
from playground.link.state import RANDOM, TextKey
from playground.training import shipped_network
from playground.training.tasks.translation import ENGLISH
from playground.views.encoder_decoder import linked_pair
from playground.web.session import caches
from tests.training.tasks.test_translation import translate
from tests.web.app_test import (
    SMALL,
    answer,
    array,
    captions,
    charts,
    choose,
    open_page,
    press,
    prose,
    sentences,
    table,
    upload,
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


def source(app: AppTest) -> str:
    return str(values(app, "encdec_source")["encdec_source"])


def choose_sentence(app: AppTest, sentence: str) -> None:
    working(app.text_input(key="encdec_example").set_value(sentence).run())


def test_the_page_opens_with_a_translation_and_its_widgets_have_keys_of_their_own() -> None:
    app = page()
    assert source(app) == "trained example"
    assert sentences(app) == ""
    assert f"**{FRENCH}**" in prose(app)
    assert "For 8 of 8 words" in captions(app)
    choose_sentence(app, "My Dog draws a door.")
    chosen = {"attention": "decoder self", "layer": 0, "head": 2, "position": 4}
    choose(app, **{f"encdec_example_{name}": value for name, value in chosen.items()})
    assert "decoder self, layer 0, head 2" in captions(app)
    assert table(app, "next token")["next token"].iloc[0] == "porte"
    choose_sentence(app, "the elephant")
    assert [info.icon for info in app.info] == [":material/help:"]
    choose_sentence(app, " .,! ")
    assert app.info
    assert not charts(app)


def test_another_sentence_is_one_of_the_grammar_and_the_sidebar_changes_nothing_in_it() -> None:
    app = page(weights="random", n_layers="3", seed="5", text="", causal="true")
    assert f"**{FRENCH}**" in prose(app)
    drawn = [str(press(app, "encdec_another").text_input(key="encdec_example").value) for _ in range(3)]
    assert len(set(drawn)) > 1
    assert set(" ".join(drawn).split()) <= set(ENGLISH)
    assert f"**{' '.join(translate(drawn[-1].split()))}**" in prose(app)


def test_another_sentence_begins_at_its_first_step_and_a_link_opens_at_its_own() -> None:
    app = page(encdec_example_position=3)
    assert "After `chat`₃" in answer(app)
    choose_sentence(app, "my dog draws a door")
    assert values(app, "encdec_example_position") == {"encdec_example_position": 0}
    assert "After `[BOS]`₀" in answer(app)
    choose(app, encdec_example_position=2)
    press(app, "encdec_another")
    assert values(app, "encdec_example_position") == {"encdec_example_position": 0}


@pytest.mark.parametrize("changed", [{"text": "one cat"}, {"encdec_target": "twee katten"}, {"sentence": 2}])
def test_another_text_of_ones_own_begins_at_its_first_step(changed: dict[str, object]) -> None:
    app = own(encdec_position=2)
    assert values(choose(app, encdec_head=2), "encdec_position") == {"encdec_position": 2}
    assert values(choose(app, **changed), "encdec_position") == {"encdec_position": 0}


def test_a_link_followed_in_the_session_opens_at_its_step() -> None:
    app = own(encdec_position=2)
    link = SMALL | {"text": "one", "encdec_target": "een", "encdec_position": 2}
    upload(app, "saved_link", f"https://host/encoder-decoder?{urlencode(link)}".encode(), "link.txt")
    assert values(app, "encdec_target", "encdec_position") == {"encdec_target": "een", "encdec_position": 2}


@pytest.mark.long
def test_own_text_begins_with_one_line_and_what_the_sidebar_does_not_change_is_said() -> None:
    app = page(encdec_source="your text")
    for words in ("have no decoder: both halves are random, drawn from its seed 0", "untrained: random weights",
                  "16 source tokens · 23 target tokens · 6 layers × 12 heads"):  # fmt: skip
        assert words in captions(app)
    assert sentences(app) == ""
    assert app.text_area(key="encdec_target").value == DEFAULT_TARGET
    assert f"The encoder reads this source: **{escape_markdown(DEFAULT_TEXT)}**" in prose(app)
    assert f"**{escape_markdown(TEXT.splitlines()[1])}**" in prose(own(sentence=2))
    app = own(causal="true", encdec_attention="encoder self")
    assert "causal switch" in captions(app)
    assert (array(charts(app)["encdec_pattern"])[:9, :9] > 0).all(), "the source looks ahead"
    assert "causal switch" not in captions(choose(app, causal=False))


def test_a_text_of_ones_own_is_its_own_target_to_begin_with() -> None:
    app = choose(page(**SMALL, text="one cat"), encdec_source="your text")
    assert app.text_area(key="encdec_target").value == "one cat"
    assert "is Dutch" not in captions(app)
    app = page(**SMALL, text="one cat", encdec_source="your text")
    assert app.text_area(key="encdec_target").value == DEFAULT_TARGET, "a link keeps its meaning"
    assert "is Dutch" in captions(app)


def test_the_page_shows_the_run_that_its_link_has_elsewhere() -> None:
    query = {"text": TEXT, "encdec_target": TARGET, "sentence": 2, "encdec_layer": 1, "encdec_head": 3, "seed": 7}
    app = own(**query)
    run = linked_pair(open_link(f"http://host/encoder-decoder?{urlencode(SMALL | query)}")).now.run
    expected = run.patterns["cross"][1, 3] * ~run.target.padding[:, None]
    shown = np.nan_to_num(array(charts(app)["encdec_pattern"]))
    np.testing.assert_allclose(shown, expected, rtol=1e-4, atol=1e-6)  # a page has a thread of its own
    logits = table(app, "next token")["logit"]
    np.testing.assert_allclose(logits, np.sort(run.logits[0])[::-1][:5], rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("query", "said", "n_tokens"),
    [
        ({"sentence": 2, "encdec_target": "een kat"}, "Sentence 2 has no target line of its own", 7),
        ({"encdec_target": "een kat\n\neen\neen langere kat"}, "2 sentences, the target 3 lines", 15),
        ({"max_len": 16, "encdec_target": "een langere kat zat"},
         "The target has 19 tokens, more than max_len = 16: it is cut after 16.", 16),
        ({"max_len": 8, "text": "a cat sat", "encdec_target": "kat"},
         "The source has 9 tokens, more than max_len = 8: it is cut after 8.", 3),
        ({"encdec_target": "x" * 300}, "300 tokens, more than the 256 that this server takes", 256),
    ],
)  # fmt: skip
def test_lines_that_do_not_match_or_are_too_long_have_a_sentence(
    query: dict[str, object], said: str, n_tokens: int
) -> None:
    app = own(**query, encdec_show_masks="true")
    assert said in captions(app) + sentences(app)
    assert array(charts(app)["encdec_mask_combined"]).shape == (n_tokens, n_tokens)


@pytest.mark.parametrize(("key", "blank"), [("encdec_target", " \n\x00"), ("text", "")])
def test_a_blank_line_is_asked_for_and_the_other_stays_where_it_is(key: str, blank: str) -> None:
    app = own(**{key: blank})
    assert app.info
    assert not charts(app)
    assert charts(choose(app, **{key: "kat"}))
    (other,) = {"text", "encdec_target"} - {key}
    assert app.text_area(key=other).value == {"text": TEXT, "encdec_target": TARGET}[other]


@pytest.mark.long
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


def test_without_the_file_the_page_shows_the_visitors_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = tmp_path / "translator.safetensors"
    damaged.write_bytes(shipped_network.PATH.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(shipped_network.load_translator, "__defaults__", (damaged,))
    for find in (caches.translator, caches.translator_on_device):
        find.clear()  # type: ignore[union-attr]
    with caplog.at_level(logging.WARNING):
        app = page()
    caches.translator.clear()  # type: ignore[attr-defined]
    assert "SHA-256" in caplog.text
    assert "not on this server" in captions(app)
    assert app.text_area(key="encdec_target").value == DEFAULT_TARGET
    assert charts(app)


def test_a_decoder_that_does_not_end_is_stopped_before_its_positions_do(monkeypatch: pytest.MonkeyPatch) -> None:
    text = TextKey("char", 0, 8, ("ab",))
    n = caches.tokenizer(text).vocab_size
    config = ModelConfig(vocab_size=n, d_model=8, n_heads=2, n_layers=1, d_ff=8, max_len=8)
    monkeypatch.setattr(caches, "trained_pair", lambda weights: EncoderDecoder(config, n))
    (line,) = caches.generate_lines(RANDOM, text, config.max_len)
    assert 1 < len(line.split()) < config.max_len

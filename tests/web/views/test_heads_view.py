"""All heads by one cell or by what they are known for, and a row that opens its head."""

from typing import Any

import numpy as np
import pytest

from playground.analysis.attention import PROBES, measure_habits
from playground.runs.encoder_run import run
from playground.views.attention.page import VIEWS
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL,
    choose,
    component_data,
    open_page,
    press,
    prose,
    sentences,
    table,
    trained_trace,
    without_error,
)

LINK, KNOWN = "heads that link", "what heads are known for"
SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize("view", [LINK, KNOWN])
def test_a_button_below_the_table_says_which_head_is_open_and_shows_it(view: str) -> None:
    app = open_page("attention", **SMALL, layer=1, head=3, attention_view=view)
    key = "heads_that_link_up" if view == LINK else "known_for_up"
    assert "Layer 1, head 3" in app.button(key=key).label
    assert not component_data(app, "scroll_to")
    assert component_data(press(app, key), "scroll_to")["target"] == "why"
    choose(app, attention_show="average of heads")
    assert key not in {button.key for button in app.button}


def test_the_row_on_top_has_the_strongest_heads_of_the_pair_and_a_press_opens_one() -> None:
    app = open_page("attention", query=10, key=8, attention_show="average of heads")
    patterns = np.stack([trained_trace()[f"layers.{layer}.attn.pattern"][0, :, 10, 8] for layer in range(6)])
    row = component_data(app, "linking_heads")
    order = np.argsort(-patterns.ravel(), kind="stable")[:3]
    assert [tuple(head[:2]) for head in row["heads"]] == [divmod(int(at), 12) for at in order]
    np.testing.assert_allclose([head[2] for head in row["heads"]], patterns.ravel()[order], atol=1e-6)
    assert (row["place"], row["all"]) == ([3, 1], "All 72 heads")
    masked = component_data(open_page("attention", **SMALL, text="abcd", causal=True, query=1, key=3), "linking_heads")
    assert masked["heads"] == []
    assert "the mask hides the key" in masked["title"]


@pytest.mark.long
def test_heads_are_measured_on_the_fixed_sentences_and_on_this_text() -> None:
    app = without_error(open_page("attention", attention_view=KNOWN, layer=0, head=2))
    assert "is known for: previous token" in prose(app)
    fixed = table(app, "known for").reset_index()
    encoder, tokenizer = checkpoint.load("minilm")
    batch = tokenizer.encode_batch(list(PROBES))
    habits = measure_habits([run(encoder, batch, i) for i in range(len(PROBES))])
    for row in fixed.to_dict("records"):
        assert row["next token"] == pytest.approx(habits.scores["next token"][row["layer"], row["head"]], abs=1e-5)
        assert row["known for"] == (habits.known_for(row["layer"], row["head"]) or "–")
    known = list(fixed["known for"])
    assert known.index("–") == len(known) - known.count("–"), "heads that are known for nothing come last"
    choose(app, attention_habits="this text")
    text = measure_habits([run(encoder, tokenizer.encode_batch([SENTENCE]))])
    here = table(app, "known for").sort_index()
    np.testing.assert_allclose(here["punctuation"], text.scores["punctuation"].ravel(), atol=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"text": "a\nabc", "sentence": 1, "key": 0},
        {"text": "a"},
        {"tokenizer": "vectors"},
        {"norm": "none", "n_layers": 96, "d_model": 64, "layer": 95},
    ],
    ids=["padding", "one token", "vectors", "overflow"],
)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_in_every_state(view: str, changes: dict[str, Any]) -> None:
    without_error(open_page("attention", **SMALL | changes, attention_view=view))


@pytest.mark.parametrize("tokenizer", ["word", "char"])
def test_sentences_that_cannot_be_read_are_said_to_be(tokenizer: str) -> None:
    app = open_page("attention", **SMALL | {"tokenizer": tokenizer, "text": "two words"}, attention_view=KNOWN)
    assert ("your own text alone" in sentences(app)) == (tokenizer == "word")
    assert without_error(choose(app, attention_habits="this text"))

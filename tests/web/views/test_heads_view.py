"""All heads by one cell or by what they are known for, and a row that opens its head."""

import re
from typing import Any

import numpy as np
import pytest

from playground.analysis.attention import PROBES, measure_habits
from playground.analysis.head_search import search_heads
from playground.runs.encoder_run import run
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL,
    captions,
    choose,
    component_data,
    open_page,
    press,
    prose,
    sentences,
    table,
    trained_trace,
    without_error,
    words,
)

LINK, KNOWN = "heads that link", "what heads are known for"
SENTENCE = "The animal didn't cross the street because it was too tired."


def test_all_heads_are_ranked_for_the_panels_pair() -> None:
    app = without_error(open_page("attention", attention_view=LINK))
    encoder, tokenizer = checkpoint.load("minilm")
    expected = search_heads(run(encoder, tokenizer.encode_batch([SENTENCE])), 10, 2).table
    np.testing.assert_allclose(table(app, "z").reset_index().to_numpy(), expected.to_numpy(), atol=1e-4)
    assert "**layer 3, head 1**" in prose(app)
    n_first = int((expected["rank"] == 1).sum())
    assert f"In {n_first} of 72 heads" in prose(app)


def test_the_head_where_the_weight_is_most_unusual_is_named_both_ways() -> None:
    app = without_error(open_page("attention", attention_view=LINK, query=10, key=3))
    z = table(app, "z").reset_index()
    for at, pattern in ((z["z"].idxmax(), "strongest"), (z["z"].idxmin(), "weakest")):
        head = z.loc[at]
        found = re.search(rf"{pattern} in layer (\d+), head (\d+) \(z = ([−+.\d]+)\)", prose(app))
        assert found, prose(app)
        assert (int(found[1]), int(found[2])) == (head["layer"], head["head"])
        assert float(found[3].replace("−", "-")) == pytest.approx(head["z"], abs=0.05)


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
    order = np.argsort(-patterns.ravel(), kind="stable")[:6]
    assert [tuple(head[:2]) for head in row["heads"]] == [divmod(int(at), 12) for at in order]
    np.testing.assert_allclose([head[2] for head in row["heads"]], patterns.ravel()[order], atol=1e-6)
    assert (row["place"], row["all"]) == ([3, 1], "All 72 heads")
    masked = component_data(open_page("attention", **SMALL, text="abcd", causal=True, query=1, key=3), "linking_heads")
    assert masked["heads"] == []
    assert "the mask hides the key" in masked["title"]


@pytest.mark.parametrize("view", [LINK, KNOWN])
def test_what_is_of_the_present_settings_alone_is_said_where_others_are_pinned(view: str) -> None:
    for pinned in ({}, {"b_seed": 5}):
        app = open_page("attention", **SMALL, attention_view=view, attention_steps=True, **pinned)
        assert captions(app).count("of the present settings alone") == len(pinned) * (2 + (view == KNOWN)), (
            "the tests and the steps too"
        )


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
        {"causal": True, "norm_placement": "pre"},
        {"text": "a\nabc", "sentence": 1, "key": 0},
        {"text": "a"},
        {"tokenizer": "vectors"},
        {"tokenizer": "bpe", "vocab_size": 300, "text": "hello"},
        {"max_len": 5, "text": "a longer text"},
        {"attention_show": "average of heads"},
        {"norm": "none", "n_layers": 96, "d_model": 64, "layer": 95},
    ],
    ids=["pre-norm", "padding", "one token", "vectors", "bpe", "short", "average", "overflow"],
)
def test_both_views_open_in_every_state(changes: dict[str, Any]) -> None:
    app = without_error(open_page("attention", **SMALL | changes, attention_view=LINK))
    assert len(table(app, "z")) == changes.get("n_layers", 2) * 4
    for source in ("fixed sentences", "this text"):
        without_error(choose(app, attention_view=KNOWN))
        without_error(choose(app, attention_habits=source))
        assert len(table(app, "known for")) == changes.get("n_layers", 2) * 4
        assert "nan" not in words(app).split()


@pytest.mark.parametrize("tokenizer", ["word", "char"])
def test_sentences_that_cannot_be_read_are_said_to_be(tokenizer: str) -> None:
    app = open_page("attention", **SMALL | {"tokenizer": tokenizer, "text": "two words"}, attention_view=KNOWN)
    assert ("your own text alone" in sentences(app)) == (tokenizer == "word")
    assert without_error(choose(app, attention_habits="this text"))


@pytest.mark.parametrize("view", [LINK, KNOWN])
def test_hidden_special_tokens_count_as_keys_and_that_is_said(view: str) -> None:
    app = open_page("attention", attention_view=view)
    column = "z" if view == LINK else "known for"
    before = table(app, column)
    choose(app, attention_hide=True)
    np.testing.assert_array_equal(table(app, column).to_numpy(), before.to_numpy())
    assert "hidden or not" in captions(app)
    assert "hidden or not" not in captions(open_page("attention", **SMALL, attention_view=view)), "there are none"


def test_position_only_gives_way_to_another_rule_as_the_caption_says() -> None:
    app = open_page("attention", attention_view=KNOWN)
    rows = table(app, "known for").set_index("known for").drop(index="–")
    highest = rows.idxmax(axis=1)
    given_way = rows[(highest == "position only") & (rows.index != "position only")]
    assert len(given_way), "otherwise there is nothing to say"
    others = rows.drop(columns="position only").loc[given_way.index]
    assert (others.idxmax(axis=1) == others.index).all()
    assert "Position only is named where no other rule is met" in captions(app)


def test_captions_name_what_z_compares_with() -> None:
    app = open_page("attention", **SMALL, text="abcdefghijkl", attention_view=LINK)
    assert "standard deviations" in captions(without_error(app))

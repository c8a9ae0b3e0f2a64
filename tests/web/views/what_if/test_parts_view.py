"""Which parts matter: the maps' numbers are those of weights without the part, or of masks without the pair."""

import numpy as np
import pytest
import torch

from playground import Encoder
from playground.link.changes import MadeChange
from playground.model.changes import Change
from playground.runs.encoder_run import run
from playground.text import characters
from tests.web.app_test import SMALL, array, captions, charts, choose, open_page, open_panels, press, prose, sentences
from tests.web.views.what_if.what_if_page import CONFIG, PAIR, PARTS, cosine, open_view, progress, vector, without_heads

FIRST, SECOND = PAIR.split("\n")
BEFORE = vector(Encoder(CONFIG, 0), FIRST)


def effect(encoder: Encoder) -> float:
    return float(np.linalg.norm(vector(encoder, FIRST) - BEFORE) / np.linalg.norm(BEFORE))


def test_each_heads_effect_is_that_of_weights_without_it() -> None:
    app = open_view(PARTS)
    expected = [[effect(without_heads([(layer, head)])) for head in range(4)] for layer in range(2)]
    np.testing.assert_allclose(array(charts(app)["head_effects"]), expected, rtol=1e-3)
    layer, head = np.unravel_index(np.argmax(expected), (2, 4))
    assert f"**Layer {layer}, head {head} matters most**" in prose(app)
    assert f"moves by **{np.max(expected):.1%}**" in prose(app)
    assert progress(app) == "Done: 8 heads tried one by one."
    assert charts(app).keys() == {"head_effects"}
    assert {"head_spread", "spread_and_effect"} <= charts(open_panels(app, "whatif_spread")).keys()
    assert "without your changes" not in captions(app)


def test_on_similarity_it_is_the_change_of_the_cosine() -> None:
    app = open_view(PARTS, whatif_on="similarity")
    other = vector(Encoder(CONFIG, 0), SECOND)
    before = cosine(BEFORE, other)
    expected = [
        [cosine(vector(without_heads([(layer, head)]), FIRST), other) - before for head in range(4)]
        for layer in range(2)
    ]
    np.testing.assert_allclose(array(charts(app)["head_effects"]), expected, atol=1e-5)
    assert f"which is {before:.3f} with every part" in captions(app)


def test_sublayers_are_switched_off_with_their_biases() -> None:
    app = open_view(PARTS, whatif_parts="sublayers")
    encoder = Encoder(CONFIG, 0)
    with torch.no_grad():
        for kind in ("weight", "bias"):
            encoder.get_parameter(f"layers.1.ffn.down.{kind}").zero_()
    assert array(charts(app)["sublayer_effects"])[1, 1] == pytest.approx(effect(encoder), rel=1e-3)


def test_a_pair_of_the_chosen_head_is_cut_and_a_press_makes_it_a_change() -> None:
    app = open_view(PARTS, whatif_parts="pairs of one head", layer=1, head=2, query=3, key=5, causal=False)
    drawn = array(charts(app)["pair_effects"])
    press(app, "whatif_switch_0")
    (made,) = app.session_state["do"].made
    assert made.change == Change("weight", 1, 2, (3, 5, 0.0))
    encoder, batch = Encoder(CONFIG, 0), characters().encode_batch([FIRST])
    after = run(encoder, batch, interventions=[made.change]).arrays["final"].mean(0)
    assert drawn[3, 5] == pytest.approx(np.linalg.norm(after - BEFORE) / np.linalg.norm(BEFORE), rel=1e-2)
    assert "without your changes" in captions(app)
    assert app.button(key="whatif_switch_0").label.startswith("Undo: ")
    np.testing.assert_array_equal(array(charts(app)["pair_effects"]), drawn)


def test_in_a_causal_model_pairs_that_are_hidden_or_alone_stay_grey() -> None:
    app = open_view(PARTS, whatif_parts="pairs of one head", causal=True)
    n = len(FIRST)
    expected = np.tril(np.ones((n, n), bool))
    expected[0] = False
    np.testing.assert_array_equal(np.isfinite(array(charts(app)["pair_effects"])), expected)


def test_the_chosen_key_is_hidden_by_a_press_in_its_layer_or_in_every_layer() -> None:
    app = press(open_view(PARTS, whatif_parts="hidden tokens", layer=1, key=4), "whatif_switch_1")
    assert app.session_state["do"].made == (MadeChange(Change("hide", 1, None, (4,))),)
    press(app, "whatif_switch_0")
    made = [made.change for made in app.session_state["do"].made]
    assert set(made) == {Change("hide", 0, None, (4,)), Change("hide", 1, None, (4,))}
    assert not press(app, "whatif_switch_0").session_state["do"].made, "a second press takes them back"


def test_what_stands_in_the_way_of_an_offer_is_said() -> None:
    app = open_view(PARTS, layer=1, head=3, do="1.3:mean")
    assert app.button(key="whatif_switch_0").disabled
    assert "mean over tokens” already sets the same numbers; take that back first" in captions(app)


def test_a_token_that_no_other_may_see_is_not_offered() -> None:
    app = open_view(PARTS, whatif_parts="hidden tokens", causal=True, key=len(FIRST) - 1)
    assert not [button for button in app.button if (button.key or "").startswith("whatif_switch")]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("heads", [Change("zero", 1, 3)]), ("sublayers", [Change("off", 1, None, ("attn",))])],
)
def test_the_focused_part_becomes_a_change_by_a_press(kind: str, expected: list[object]) -> None:
    app = press(open_view(PARTS, whatif_parts=kind, layer=1, head=3), "whatif_switch_0")
    assert [made.change for made in app.session_state["do"].made] == expected


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"whatif_on": "similarity", "text": "a cat"}, "Your text has one sentence"),
        ({"whatif_on": "right answers"}, "trained on the Training page"),
    ],
)
def test_what_cannot_be_measured_is_said_and_the_vector_stands_in(query: dict[str, str], said: str) -> None:
    app = open_view(PARTS, **query)
    assert said in sentences(app)
    assert f"instead of {query['whatif_on']}:" in captions(app)
    assert array(charts(app)["head_effects"]).min() > 0


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"norm_placement": "pre", "final_norm": True, "causal": True},
        {"norm": "none", "residual": False, "n_heads": 1, "n_layers": 1, "positions": "none"},
        {"tokenizer": "vectors", "sentence": 2},
    ],
    ids=["pre-norm", "bare", "vectors"],
)
@pytest.mark.parametrize("text", [PAIR, "x", "<b>$x$</b>\nعربى 🧭 `c` [a](b)\nx"], ids=["pair", "one token", "odd"])
def test_every_map_is_drawn_in_every_architecture(text: str, changes: dict[str, object]) -> None:
    app = open_view(PARTS, text, whatif_spread=True, **changes)
    assert {"head_effects", "head_spread", "spread_and_effect"} <= set(charts(app))
    for kind, chart in (("sublayers", "sublayer_effects"), ("hidden tokens", "hidden_tokens")):
        assert chart in charts(choose(app, whatif_parts=kind))
    choose(app, whatif_parts="pairs of one head")
    assert ("pair_effects" in charts(app)) != ("no pair can be cut" in sentences(app))


def test_a_map_of_too_many_parts_is_refused_in_one_sentence() -> None:
    app = open_page("what_if", whatif_view=PARTS, whatif_parts="pairs of one head", text="ab " * 70, layer=0, **SMALL)
    assert "whole ones are the most" in sentences(app)
    assert "pair_effects" not in charts(app)

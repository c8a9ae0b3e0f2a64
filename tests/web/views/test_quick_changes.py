"""A head that is off, on the page Attention: what stays, what moved, and the way to what followed."""

import numpy as np
import pytest
import torch

from playground import Encoder, Trace
from playground.text import characters
from tests.web.app_test import SMALL, answer, array, charts, component_data, open_page, press, prose
from tests.web.views.what_if.what_if_page import CONFIG, cosine, without_heads

TEXT = "a cat sat"
LINK = {**SMALL, "text": TEXT, "layer": 0, "head": 2, "query": 3, "key": 5}


def traced(encoder: Encoder) -> Trace:
    trace = Trace()
    with torch.inference_mode():
        encoder(characters().encode_batch([TEXT]).ids, trace=trace)
    return trace


def test_a_head_that_is_off_still_attends_and_what_moved_is_said() -> None:
    before = open_page("attention", **LINK)
    assert "still attends" not in prose(before)
    app = press(before, "quick_off")
    one, two = traced(Encoder(CONFIG, 0)), traced(without_heads([(0, 2)]))
    shown = array(charts(app)["attention_pattern"], name="customdata")
    np.testing.assert_allclose(shown, one["layers.0.attn.pattern"][0, 2], atol=1e-5)
    start, end = (trace["final"][0].mean(0).numpy() for trace in (one, two))
    tokens = (two["layers.1.out"] - one["layers.1.out"])[0].norm(dim=-1) / one["layers.1.out"][0].norm(dim=-1)
    weights = (two["layers.1.attn.pattern"] - one["layers.1.attn.pattern"])[0].abs().sum(-1).mean(-1) / 2
    said = prose(app)
    assert "Layer 0, head 2 is off, and still attends" in said
    assert f"vector by **{np.linalg.norm(end - start) / np.linalg.norm(start):.1%}** of its length" in said
    assert f"{'₀₁₂₃₄₅₆₇₈'[int(tokens.argmax())]} moved most, by {float(tokens.max()):.1%}" in said
    assert f"layer 1, head {int(weights.argmax())} changed most: {float(weights.max()):.1%}" in said
    assert cosine(start, end) < 1
    assert "still attends" not in prose(press(app, "quick_off"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("0.*:zero", "is dropped before it"),
        ("0.2:zero~0.25", "is dropped by 25%"),
        ("0.attn:off", "is dropped before it"),
        ("0.1:zero", ""),
        ("0.2:mean", ""),
        ("-0.2:zero", ""),
        ("1.attn:off", ""),
    ],
)
def test_what_is_dropped_is_that_of_the_open_head_alone(do: str, said: str) -> None:
    app = open_page("attention", **LINK, do=do)
    assert ("still attends" in prose(app)) == bool(said)
    assert said in prose(app)


def test_a_head_that_is_half_off_is_switched_off_in_its_place() -> None:
    app = press(open_page("attention", **LINK, do="0.2:zero~0.5,1.1:mean"), "quick_off")
    assert [chip["text"] for chip in component_data(app, "change_chips")["chips"]] == ["0.2:zero", "1.1:mean"]
    assert "All your changes together moved" in prose(app)


def test_the_chosen_pair_is_cut_and_restored_by_a_press() -> None:
    app = press(open_page("attention", **LINK, attention_steps=True), "quick_cut")
    assert [chip["text"] for chip in component_data(app, "change_chips")["chips"]] == ["0.2:cut_3_5"]
    assert array(charts(app)["attention_pattern"], name="customdata")[3, 5] == 0
    assert not component_data(press(app, "quick_cut"), "change_chips")


def test_in_the_last_layer_no_pattern_follows() -> None:
    app = open_page("attention", **LINK | {"layer": 1}, do="1.2:zero")
    assert "No head's pattern changed" in prose(app)


def test_the_way_to_what_followed_opens_that_view_whatever_was_open() -> None:
    app = open_page("attention", **LINK, whatif_view="which parts matter", do="0.2:zero")
    press(app, "quick_followed")
    assert app.session_state["whatif_view"] == "what followed"


def test_on_what_if_the_answer_is_scrolled_to_once_after_a_press() -> None:
    app = open_page("what_if", **LINK, whatif_view="which parts matter", do="0.2:zero")
    press(app, "whatif_switch_followed")
    assert component_data(app, "scroll_to")["target"] == "answer"
    assert not component_data(app.run(), "scroll_to")
    assert "of its length" in answer(app)

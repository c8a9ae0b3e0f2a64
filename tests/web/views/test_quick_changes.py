"""A head that is off, on the page Attention: what stays, what moved, and the way to what followed."""

import numpy as np
import torch

from playground import Encoder, Trace
from playground.text import characters
from playground.text.wording import write_share
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
    assert "is off" not in prose(before)
    app = press(before, "quick_off")
    one, two = traced(Encoder(CONFIG, 0)), traced(without_heads([(0, 2)]))
    shown = array(charts(app)["attention_pattern"], name="customdata")
    np.testing.assert_allclose(shown, one["layers.0.attn.pattern"][0, 2], atol=1e-5)
    start, end = (trace["final"][0].mean(0).numpy() for trace in (one, two))
    said, share = prose(app), float(np.linalg.norm(end - start) / np.linalg.norm(start))
    assert f"vector moves by **{write_share(share)}** of its length" in said
    assert cosine(start, end) < 1
    assert "is off" not in prose(press(app, "quick_off"))


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

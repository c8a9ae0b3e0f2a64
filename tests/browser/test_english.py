"""The small English: a control in sight, moved, opens a trained encoder; its answer to a hidden word."""

import numpy as np
from playwright.sync_api import expect

from playground.language.family import change, load_shipped
from playground.link import open_link, params
from tests.browser.visitor import Visitor


def test_a_control_is_in_sight_and_moved_it_opens_a_trained_encoder_and_minilm_comes_back(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1280, "height": 800})
    visitor.open("/")
    for key in ("n_layers", "n_heads", "d_model", "positions", "norm_placement", "norm", "residual"):
        expect(visitor.widget(f"minilm_{key}")).to_be_in_viewport()
    visitor.open("/attention")
    before = visitor.query()
    visitor.press("minilm_d_model", "ArrowLeft", "ArrowLeft", "ArrowLeft")  # before the browser hears of the first
    visitor.eventually(lambda: visitor.query().get("weights") == ["english"], "the small English in the link")
    expect(visitor.widget("move_cost")).to_contain_text("parameters")
    visitor.settled()
    while visitor.slider("d_model").get_attribute("aria-valuetext") != "64":  # as many of the presses as arrived
        visitor.press("d_model", "ArrowRight")
        visitor.settled()
    visitor.press("n_layers", "ArrowLeft")
    visitor.eventually(lambda: visitor.query().get("n_layers") == ["1"], "one layer in the link")
    visitor.settled()
    assert visitor.settings().keys() == {"weights", "n_layers"}
    expected, focus = open_link(visitor.page.url), visitor.focused()
    drawn = visitor.array("attention_pattern", name="customdata")
    np.testing.assert_allclose(drawn, expected.run.pattern(focus["layer"])[focus["head"]], atol=1e-5)
    visitor.widget("back_to_minilm").get_by_role("button").click()
    visitor.eventually(lambda: visitor.query() == before, "the address as it was")


def test_the_line_says_what_is_filled_in_for_a_word_that_is_pressed(visitor: Visitor) -> None:
    visitor.open("/attention?weights=english&positions=none")
    visitor.widget("answer_line").get_by_role("button").first.click()
    visitor.widget("mask_chips").get_by_role("button", name="street").click()
    visitor.eventually(lambda: visitor.query().get("mask") == ["7"], "the hidden word in the link")
    hidden = params.ENGLISH_TEXT.replace("street", "[MASK]")
    word, probability = load_shipped(change(positions="none")).predict(hidden)[0]
    expect(visitor.widget("answer_line")).to_contain_text(f"{word} {probability:.2f}")

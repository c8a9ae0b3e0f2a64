"""The small English: a control in sight, moved; and an encoder that one visitor trains and another one opens."""

from contextlib import ExitStack
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, expect

from playground.language.family import change, load_shipped
from playground.language.text import MASK_ID, PAD_ID
from playground.link import open_link, params
from tests.browser.server import Server, serve
from tests.browser.visitor import Visitor

TRAINS = 300_000
"""Milliseconds in which the smallest encoder is trained, beside other tests."""


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
    seen = visitor.settings()
    expected = open_link(visitor.page.url)
    assert seen.keys() == {"weights", "n_layers"}
    focus = visitor.focused()
    drawn = visitor.array("attention_pattern", name="customdata")
    np.testing.assert_allclose(drawn, expected.run.pattern(focus["layer"])[focus["head"]], atol=1e-5)
    visitor.widget("back_to_minilm").get_by_role("button").click()
    visitor.eventually(lambda: visitor.query() == before, "the address as it was")


def test_the_line_says_what_is_filled_in_for_a_word_that_is_pressed(visitor: Visitor) -> None:
    visitor.open("/attention?weights=english&positions=none")
    visitor.widget("answer_line").get_by_role("button").first.click()
    visitor.widget("mask_chips").get_by_role("button", name="street").click()
    visitor.eventually(lambda: visitor.query().get("mask") == ["7"], "the hidden word in the link")
    network = load_shipped(change(positions="none"))
    ids = network.tokenizer.encode_batch([params.ENGLISH_TEXT]).ids
    ids[0, 7] = MASK_ID
    probabilities = network.network(ids, network.spec.mask(ids != PAD_ID))[0, 7].softmax(-1)
    word, best = network.tokenizer.id_to_token(int(probabilities.argmax())), float(probabilities.max())
    expect(visitor.widget("answer_line")).to_contain_text(f"{word} {best:.2f}")


def test_a_phone_has_the_controls_within_one_tap(server: Server, browser: Browser) -> None:
    """A browser of its own: Streamlit keeps an opened sidebar open on every later page."""
    phone = Visitor.anew(server, browser, 390, 844, has_touch=True, is_mobile=True).open("/attention")
    phone.page.get_by_test_id("stExpandSidebarButton").tap()
    expect(phone.widget("minilm_n_layers")).to_be_in_viewport()
    expect(phone.widget("minilm_positions")).to_be_in_viewport()
    phone.assert_well()
    phone.page.context.close()


def test_what_one_visitor_trains_another_opens_also_after_the_server_was_restarted(
    tmp_path: Path, browser: Browser
) -> None:
    store = str(tmp_path / "networks")
    with ExitStack() as running:
        server = running.enter_context(serve(tmp_path, "-m", "streamlit", "run", PLAYGROUND_NETWORKS=store))
        first = Visitor.anew(server, browser).open("/attention?weights=english&n_layers=2&d_model=8")
        first.press("n_heads", "ArrowLeft")
        first.eventually(lambda: first.query().get("n_heads") == ["2"], "two heads in the link")
        missing = first.page.get_by_text("nobody has trained this one yet")
        expect(missing).to_be_visible()
        expect(missing).to_have_count(0, timeout=TRAINS)  # it begins by itself, as its visitor stays
        first.settled()
        link, drawn = first.page.url, first.array("attention_pattern", name="customdata")
        first.assert_well()
        first.page.context.close()
    with serve(tmp_path, "-m", "streamlit", "run", PLAYGROUND_NETWORKS=store) as server:
        second = Visitor.anew(server, browser).open("/attention" + link[link.index("?") :])
        expect(second.page.get_by_text("nobody has trained this one yet")).to_have_count(0)
        np.testing.assert_array_equal(second.array("attention_pattern", name="customdata"), drawn)
        second.open("/attention?weights=english&n_layers=3&d_model=8")
        expect(second.page.get_by_role("button", name="Train it")).to_be_visible()
        second.assert_well()
        second.page.context.close()

"""A student types, moves sliders, clicks heads, and the charts follow."""

import numpy as np
import pytest
from playwright.sync_api import expect

from playground.link.params import DEFAULT_TEXT
from playground.runs.encoder_run import Run, run
from playground.weights.checkpoint import load
from tests.browser.visitor import Visitor


@pytest.fixture(scope="module")
def trained() -> Run:
    """The default sentence through the trained model, computed here."""
    encoder, tokenizer = load("minilm")
    return run(encoder, tokenizer.encode_batch([DEFAULT_TEXT]))


def expect_frame_over_head(visitor: Visitor, layer: int, head: int) -> None:
    picture = visitor.widget("attention_grid").locator(".nsewdrag").bounding_box()
    x, y = visitor.framed("attention_grid")
    assert picture is not None
    across, down = (x - picture["x"]) / picture["width"] * 12, (y - picture["y"]) / picture["height"] * 6
    assert (int(across), int(down)) == (head, layer)


def test_a_click_on_a_thumbnail_opens_the_head(visitor: Visitor, trained: Run) -> None:
    visitor.open("/attention")
    assert [label.rstrip("₀₁₂₃₄₅₆₇₈₉") for label in visitor.labels()] == list(trained.tokens)
    expect_frame_over_head(visitor, 3, 1)
    visitor.click_head(5, 9)
    expect(visitor.focus("layer")).to_have_value("5")
    expect(visitor.focus("head")).to_have_value("9")
    visitor.settled()
    np.testing.assert_allclose(
        visitor.array("attention_pattern", name="customdata"), trained.patterns()[5, 9], atol=1e-5
    )
    expect(visitor.widget("attention_pattern")).to_contain_text("layer 5, head 9")
    assert visitor.query() == {"layer": ["5"], "head": ["9"]}
    expect_frame_over_head(visitor, 5, 9)
    visitor.click_head(0, 0)
    expect(visitor.focus("head")).to_have_value("0")
    visitor.settled()
    np.testing.assert_allclose(
        visitor.array("attention_pattern", name="customdata"), trained.patterns()[0, 0], atol=1e-5
    )
    visitor.move("next head", 2)
    visitor.eventually(lambda: visitor.query().get("head") == ["2"], "the next head but one in the link")
    visitor.settled()
    np.testing.assert_allclose(
        visitor.array("attention_pattern", name="customdata"), trained.patterns()[0, 2], atol=1e-5
    )


def test_several_sentences_are_padded_and_one_is_chosen(visitor: Visitor) -> None:
    texts = ["A short one.", "This second sentence has quite a few more words than the first."]
    visitor.open("/attention")
    before = visitor.charts()
    visitor.type_text("\n".join(texts))
    expect(visitor.widget("sentence")).to_be_visible()
    visitor.eventually(lambda: any("PAD" in label for label in visitor.labels()), "padding in the first sentence")
    encoder, tokenizer = load("minilm")
    batch = tokenizer.encode_batch(texts)
    expected = run(encoder, batch, 0)
    shown = visitor.settled().array("attention_pattern", name="customdata")
    after = visitor.charts()
    assert all(after[name] != before[name] for name in before)
    assert visitor.query()["text"] == ["\n".join(texts)]
    real = np.ix_(~expected.padding, ~expected.padding)
    np.testing.assert_allclose(shown[real], expected.patterns()[3, 1][real], atol=1e-5)
    assert np.isnan(shown[:, expected.padding]).all()
    assert np.isnan(shown[expected.padding]).all()
    visitor.press("sentence", "ArrowRight")
    visitor.eventually(lambda: any("words" in label for label in visitor.labels()), "the second sentence")
    assert visitor.settled().query()["sentence"] == ["2"]
    np.testing.assert_allclose(
        visitor.array("attention_pattern", name="customdata"), run(encoder, batch, 1).patterns()[3, 1], atol=1e-5
    )

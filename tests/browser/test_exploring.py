"""A student types, moves sliders, clicks heads, and the charts follow."""

import re
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from playground import Encoder, ModelConfig
from playground.analysis.attention import mean_entropy
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT, write
from playground.presets import PRESETS
from playground.runs.encoder_run import Run, run
from playground.weights.checkpoint import load
from tests.browser.visitor import Visitor


@pytest.fixture(scope="module")
def trained() -> Run:
    """The default sentence through the trained model, computed here."""
    encoder, tokenizer = load("minilm")
    return run(encoder, tokenizer.encode_batch([DEFAULT_TEXT]))


def test_unlocking_gives_random_weights_whose_sliders_move(visitor: Visitor) -> None:
    visitor.open("/attention")
    trained = visitor.array("attention_pattern", name="customdata")
    visitor.unfold("Expert")
    expect(visitor.slider("d_ff")).to_be_disabled()
    visitor.widget("unlock").get_by_role("button").click()
    expect(visitor.page.locator(".stMarkdownBadge", has_text="random weights").first).to_be_visible()
    visitor.settled()
    assert visitor.query() == {"weights": ["random"]}
    assert not np.array_equal(visitor.array("attention_pattern", name="customdata"), trained)

    visitor.press("n_layers", "ArrowLeft", "ArrowLeft")
    visitor.eventually(lambda: "n_layers" in visitor.query(), "n_layers in the link")
    visitor.settled()
    visitor.press("d_model", "ArrowRight", "ArrowRight")
    visitor.eventually(lambda: "d_model" in visitor.query(), "d_model in the link")
    visitor.settled()
    assert visitor.query() == {"weights": ["random"], "n_layers": ["4"], "d_model": ["640"], "n_heads": ["10"]}
    expect(visitor.page.locator("body")).to_contain_text("cannot share d_model = 640")
    expect(visitor.page.locator("body")).to_contain_text("4 layers × 10 heads")
    config = ModelConfig(**{**vars(PRESETS["minilm-l6"].config), "n_layers": 4, "d_model": 640, "n_heads": 10})
    expected = run(Encoder(config, 0), load("minilm")[1].encode_batch([DEFAULT_TEXT]))
    np.testing.assert_allclose(
        visitor.array("attention_pattern", name="customdata"), expected.patterns()[3, 1], atol=1e-5
    )


def test_a_preset_sets_the_sliders(visitor: Visitor) -> None:
    visitor.open("/")
    visitor.widget("preset").get_by_role("combobox").click()
    visitor.page.get_by_role("option", name="Tutorial A").click()
    visitor.unfold("Expert")
    expect(visitor.page.locator("body")).to_contain_text("matches: Tutorial A")
    expect(visitor.page.locator("body")).to_contain_text("6 layers × 8 heads")
    visitor.settled()
    expect(visitor.slider("d_model")).to_have_attribute("aria-valuetext", "512")
    config = PRESETS["tutorial-a"].config
    chosen = {key: param for key, param in ARCHITECTURE.items() if getattr(config, key) != param.default}
    expected = {key: [write(getattr(config, key))] for key in chosen}
    own = {"tokenizer": ["word"], "text": ["this is an example sentence"]}
    assert visitor.settings() == {"weights": ["random"], **own, **expected}


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


def is_linked(visitor: Visitor, view: str) -> bool:
    """Whether the link has a view of the page Attention."""
    return visitor.query().get("attention_view") == [view]


def test_every_way_to_look_closer_draws_its_own_chart(visitor: Visitor, trained: Run) -> None:
    visitor.open("/attention")
    for view, chart in [
        ("ranking", "attention_ranking"),
        ("rollout", "attention_rollout"),
        ("entropy", "attention_entropy"),
    ]:
        visitor.choose("attention_view", view)
        expect(visitor.widget(f"{chart}_chart").locator(".main-svg").first).to_be_visible()
        visitor.eventually(partial(is_linked, visitor, view), "the view in the link")
    bits = mean_entropy(trained.patterns(), ~trained.padding)
    np.testing.assert_allclose(visitor.array("attention_entropy"), bits, atol=1e-4)


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


def test_a_box_of_the_data_flow_is_a_door_to_its_page(visitor: Visitor) -> None:
    visitor.open("/?text=through+the+door&seed=3")
    visitor.widget("data_flow").get_by_role("button", name="feed-forward").click()
    expect(visitor.page).to_have_url(re.compile(r"/parameters\?"))
    assert visitor.settled().settings() == {"text": ["through the door"], "seed": ["3"]}
    assert visitor.page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0, "the page begins at its top"


def test_residual_lines_start_before_their_boxes_and_end_at_the_sum(visitor: Visitor) -> None:
    visitor.open("/?norm_placement=pre&weights=random")
    branches = visitor.widget("data_flow").locator(".branch")
    for width in (1366, 390):
        visitor.page.set_viewport_size({"width": width, "height": 900})
        visitor.settled()
        assert branches.count() == 2
        for branch in branches.all():
            line, first, total = (_extent(branch.locator(name).first, width) for name in (".line", ".box", ".sum"))
            assert line[0] < first[0]
            assert (width, total[0] < line[1] < total[1]) == (width, True)


def _extent(element: Locator, width: int) -> tuple[float, float]:
    """Where an element starts and ends, along the way of the data in a window of this width."""
    box = element.bounding_box()
    assert box is not None
    return (box["x"], box["x"] + box["width"]) if width > 840 else (box["y"], box["y"] + box["height"])

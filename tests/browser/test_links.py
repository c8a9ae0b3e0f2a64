"""A link shows a classmate exactly the same, what is pinned included; the back button brings back."""

import re
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import expect

from playground.link.query import VERSION
from tests.browser.visitor import Visitor


def test_the_link_of_what_was_clicked_together_shows_the_same(visitor: Visitor, classmate: Visitor) -> None:
    """Every page and parameter without a browser: tests/web/views/test_shared_links.py."""
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open("/attention")
    visitor.type_text("The trophy didn't fit in the suitcase because it was too big.")
    visitor.eventually(lambda: any("suitcase" in label for label in visitor.labels()), "the new tokens")
    visitor.settled().click_head(4, 6)
    expect(visitor.focus("head")).to_have_value("6")
    visitor.settled().choose("attention_view", "ranking")
    expect(visitor.widget("attention_ranking_chart")).to_be_visible()
    copied = visitor.settled().copied_link()
    expect(visitor.widget("copy_link").get_by_role("button")).to_have_text("Copied")
    assert visitor.page.evaluate("() => navigator.clipboard.readText()") == copied
    theirs = classmate.open(copied)
    assert theirs.notices() == ""
    assert theirs.query() == visitor.query() | {"v": [VERSION]}
    charts = visitor.charts()
    assert charts
    assert theirs.charts() == charts

    visitor.go_to("Norms")
    visitor.page.go_back()
    expect(visitor.page).to_have_url(re.compile("/attention"))
    expect(visitor.widget("attention_ranking_chart")).to_be_visible()
    assert visitor.settled().query() | {"v": [VERSION]} == theirs.query()
    assert visitor.charts() == charts


def test_what_is_pinned_stays_while_a_slider_moves_and_a_classmate_sees_both(
    visitor: Visitor, classmate: Visitor
) -> None:
    visitor.open("/norms?weights=random&seed=3")
    before = visitor.array("norms_by_layer", 1, "y")
    visitor.widget("pin").get_by_role("button").click()
    expect(visitor.widget("unpin")).to_be_visible()
    visitor.settled().press("n_layers", "ArrowRight", "ArrowRight")
    visitor.eventually(lambda: visitor.query().get("b_n_layers") == ["6"], "the pinned layers in the link")
    visitor.settled()
    assert visitor.query() == {"weights": ["random"], "seed": ["3"], "n_layers": ["8"], "b_n_layers": ["6"]}
    assert len(visitor.array("norms_by_layer", 1, "y")) == 9
    traces = visitor.charts()["norms_by_layer"]
    ghost = next(i for i, trace in enumerate(traces) if trace["line"].get("dash") == "dot")
    np.testing.assert_array_equal(visitor.array("norms_by_layer", ghost, "y"), before)
    charts, copied = visitor.charts(), visitor.copied_link()

    theirs = classmate.open(copied)
    assert theirs.charts() == charts
    assert theirs.query() == visitor.query() | {"v": [VERSION]}
    theirs.go_to("Compare")
    assert "compare_points" in theirs.charts()
    theirs.widget("pin_swap").get_by_role("button").click()
    theirs.eventually(lambda: theirs.query().get("b_n_layers") == ["8"], "the sides change places")
    expect(theirs.settled().slider("n_layers")).to_have_attribute("aria-valuetext", "6")
    theirs.widget("unpin").get_by_role("button").click()
    expect(theirs.widget("compare_start_norms")).to_be_visible()
    assert "b_n_layers" not in theirs.settled().query()


def test_a_link_that_was_saved_as_a_file_opens(visitor: Visitor, tmp_path: Path) -> None:
    asked = {"text": "😀 " * 990, "similarity_list": "🐎 " * 990 + "🐎" * 20, "weights": "random", "n_layers": "2"}
    asked |= {"similarity_pooling": "first token", "v": VERSION}
    link, file = f"https://somewhere.example/similarity?{urlencode(asked)}", tmp_path / "playground-link.txt"
    file.write_text(link, encoding="utf-8")
    visitor.open("/attention?d_model=64&n_heads=4&weights=random&causal=true")
    visitor.unfold("More")
    visitor.page.locator("[class*=st-key-saved_link_] input[type=file]").set_input_files(file)
    expect(visitor.widget("similarity_list").locator("textarea")).to_have_value(asked["similarity_list"])
    asked["similarity_how"] = "true"  # the panel that explains pooling
    assert visitor.settled().settings() == {key: [text] for key, text in asked.items() if key != "v"}

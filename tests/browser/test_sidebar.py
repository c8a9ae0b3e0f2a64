"""The sidebar as a newcomer meets it, the link within reach, and a saved link that opens again."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from playground.link.query import VERSION
from tests.browser.visitor import Visitor

_CONTROLS = """sidebar => [...sidebar.querySelectorAll("[data-testid=stElementContainer]")]
  .filter(each => each.checkVisibility({ visibilityProperty: true }) && each.getBoundingClientRect().height > 1
    && !each.closest("details:not([open])"))
  .filter(each => each.querySelector("input, textarea, button:not([data-testid=stTooltipIcon]), [role=radiogroup]")
    || each.matches(".st-key-copy_link"))
  .flatMap(each => [...each.classList].filter(name => name.startsWith("st-key-")))"""
"""The classes of what can be set or pressed in sight, one for each control."""


@pytest.mark.parametrize(
    ("link", "most"), [("/attention", 13), ("/attention?weights=random", 13), ("/encoder-decoder", 3)]
)
def test_a_newcomer_meets_few_controls(link: str, most: int, visitor: Visitor) -> None:
    sidebar = visitor.open(link).page.get_by_test_id("stSidebar")
    closed = sidebar.evaluate(_CONTROLS)
    assert {"st-key-copy_link", "st-key-undo", "st-key-reset"} <= set(closed)
    assert len(closed) <= most, closed
    visitor.unfold("More")
    expect(visitor.widget("export")).to_be_visible()
    assert len(sidebar.evaluate(_CONTROLS)) > len(closed)


def test_the_link_is_copied_without_scrolling(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1280, "height": 800})
    visitor.open("/?text=one%0Atwo")
    for page in ("Start", "Norms", "Encoder-decoder", "Training"):
        box = visitor.go_to(page).widget("copy_link").get_by_role("button").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 160, page
        assert "text=one%0Atwo" in visitor.copied_link(), page


def test_a_seed_that_is_not_shown_stays_in_the_link(visitor: Visitor) -> None:
    visitor.open("/attention?weights=random&seed=5")
    visitor.choose("weights", "minilm")
    expect(visitor.widget("seed")).to_have_count(0)
    assert visitor.settled().query() == {"seed": ["5"]}
    visitor.type_text("Two words")
    visitor.eventually(lambda: len(visitor.labels()) == 4, "the new text")
    assert visitor.settled().settings() == {"seed": ["5"], "text": ["Two words"]}
    visitor.choose("weights", "random")
    expect(visitor.widget("seed").get_by_role("spinbutton")).to_have_value("5")
    assert visitor.settled().settings() == {"weights": ["random"], "seed": ["5"], "text": ["Two words"]}


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
    visitor.page.locator("[class*=st-key-saved_link_] input[type=file]").set_input_files(__file__)
    expect(visitor.page.get_by_test_id("stSidebar").get_by_test_id("stAlert")).to_contain_text("can't be used")

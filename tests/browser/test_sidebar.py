"""The sidebar as a newcomer meets it, the link within reach, and a saved link that opens again."""

from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import expect

from playground.link.query import VERSION
from tests.browser.visitor import Visitor


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

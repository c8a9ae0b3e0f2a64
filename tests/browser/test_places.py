"""The pages, and a server without the trained weights."""

from playwright.sync_api import BrowserContext, expect

from playground import pages
from tests.browser.server import Server
from tests.browser.visitor import Visitor

PAGES = tuple("" if path == "overview" else path for path in pages.PAGES)
"""By their paths in the address."""


def test_without_trained_weights_the_app_goes_on_with_random_ones(
    bare_server: Server, shared_context: BrowserContext
) -> None:
    visitor = Visitor(bare_server, shared_context)
    visitor.open("/")
    assert "The trained weights are not on this server" in visitor.notices()
    assert "CONTRIBUTING.md says how to get the trained ones" in visitor.notices()
    expect(visitor.page.locator(".stMarkdownBadge", has_text="random weights").first).to_be_visible()
    assert visitor.query() == {"weights": ["random"], "tokenizer": ["word"]}
    visitor.go_to("Norms")
    assert visitor.charts()
    visitor.open("/attention?weights=minilm&text=one+two")
    assert visitor.labels() == ["one₀", "two₁"]
    visitor.type_text("one two three")
    visitor.eventually(lambda: len(visitor.labels()) == 3, "the third word")
    visitor.settled().assert_well()
    visitor.page.close()

"""The pages of the menu, and a server without the trained weights."""

from playwright.sync_api import BrowserContext, expect

from tests.browser.server import Server
from tests.browser.visitor import Visitor

PAGES = (
    "",
    "attention",
    "norms",
    "compare",
    "what-if",
    "step-by-step",
    "positions",
    "encoder-decoder",
    "gradient-flow",
    "training",
    "regularisers",
    "tutorials",
    "parameters",
    "similarity",
)


def test_the_menu_of_a_laptop_has_room_for_every_page(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1280, "height": 900})
    links = visitor.open("/parameters").page.get_by_test_id("stTopNavLink")
    reachable = links.evaluate_all(
        """links => links.filter(link => {
          const { left, top, width, height } = link.getBoundingClientRect()
          return link.contains(document.elementFromPoint(left + width / 2, top + height / 2))
        }).map(link => new URL(link.href).pathname.slice(1))"""
    )
    assert sorted(reachable) == sorted(PAGES)


def test_without_trained_weights_the_app_goes_on_with_random_ones(
    bare_server: Server, shared_context: BrowserContext
) -> None:
    visitor = Visitor(bare_server, shared_context)
    visitor.open("/")
    assert "The trained weights are not on this server" in visitor.notices()
    assert "CONTRIBUTING.md says how to get the trained ones" in visitor.notices()
    expect(visitor.page.locator(".stMarkdownBadge", has_text="random weights").first).to_be_visible()
    assert "overview_attention" in visitor.charts()
    assert visitor.query() == {"weights": ["random"], "tokenizer": ["word"]}
    for page in ("Attention", "Norms", "Parameters"):
        visitor.go_to(page)
        assert visitor.charts()
    visitor.open("/attention?weights=minilm&text=one+two")
    assert visitor.labels() == ["one₀", "two₁"]
    visitor.type_text("one two three")
    visitor.eventually(lambda: len(visitor.labels()) == 3, "the third word")
    visitor.settled().assert_well()
    visitor.page.close()

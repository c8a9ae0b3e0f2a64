"""A link shows a classmate exactly the same view, and a bad one opens with a plain sentence."""

import re
from urllib.parse import quote, urlencode

from playwright.sync_api import expect

from playground.link.params import PARAMS
from playground.link.query import MARKER, PINNED_KEYS, VERSION
from tests.browser.visitor import Visitor

TRAVELLING = "A student who travels light has nothing to lose on the way."


def link(page: str, parameters: dict[str, str]) -> str:
    """The path and query of a page."""
    return f"/{page}?{urlencode(parameters, quote_via=quote)}"


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
    expect(theirs.focus("layer")).to_have_value("4")


def test_the_back_button_restores_the_page_before(visitor: Visitor) -> None:
    visitor.open(link("attention", {"text": TRAVELLING, "head": "5"}))
    before = visitor.charts()
    visitor.go_to("Norms")
    visitor.page.go_back()
    expect(visitor.page).to_have_url(re.compile("/attention"))
    expect(visitor.widget("attention_pattern_chart")).to_be_visible()
    visitor.settled()
    assert visitor.settings() == {"text": [TRAVELLING], "head": ["5"]}
    assert visitor.charts() == before


JUNK = ["<script>alert(1)</script>", "NaN", "-1", "9" * 40, "--5", "", "12.0"]


def test_junk_for_every_parameter_opens_with_a_plain_notice(visitor: Visitor) -> None:
    """Every parameter at once, each with the next kind of junk; `test_choices` tries each kind on all of them."""
    keys = [key for key in (*PARAMS, MARKER, *PINNED_KEYS) if key not in ("text", "b_text")]
    visitor.open(link("attention", {key: JUNK[i % len(JUNK)] for i, key in enumerate(keys)}))
    visitor.assert_well()
    assert "is used instead" in visitor.notices()
    # What the address bar says by now is what the page shows: opened again, nothing has to be changed any more.
    charts = visitor.charts()
    visitor.open(visitor.page.url)
    assert visitor.notices() == ""
    assert visitor.charts() == charts


def test_undo_after_a_reset_brings_all_of_it_back(visitor: Visitor) -> None:
    link = "text=a+cat+sat&weights=random&n_layers=2&layer=1&head=2&query=3&key=1&do=1.2%3Azero&b_n_layers=3"
    visitor.open(f"/attention?{link}").choose("attention_view", "entropy")
    before, focus = visitor.settled().query(), visitor.focused()
    assert before["do"] == ["1.2:zero"]
    visitor.widget("reset").get_by_role("button").click()
    visitor.eventually(lambda: visitor.query() == {}, "nothing is chosen")
    visitor.settled().widget("undo").get_by_role("button").click()
    visitor.eventually(lambda: visitor.query() == before, "all of the address is back")
    assert visitor.settled().focused() == focus
    visitor.assert_well()

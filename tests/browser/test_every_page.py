"""Every page, opened once: its link, typed markup, its title, and what axe-core, as a screen reader, finds in it."""

from collections.abc import Iterator
from importlib import resources
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect

from playground.link.params import DEFAULT_TEXT
from playground.link.query import VERSION
from playground.pages import page_at
from tests.browser.server import Server
from tests.browser.visitor import ADDRESSES, Visitor

# Evaluated from outside, which the pages' own policy on scripts does not forbid.
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
GRAVE = {"serious", "critical"}

_BACKGROUNDS: dict[Literal["light", "dark"], str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 22, 28)"}
"""Of the app, by the colours that the visitor's system prefers."""

_CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const background = getComputedStyle(document.querySelector(".stApp")).backgroundColor
  const light = colour => {
    canvas.fillStyle = background; canvas.fillRect(0, 0, 1, 1)
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1)
    const linear = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(byte => byte / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05
  }
  const around = [...document.querySelectorAll(".js-plotly-plot text")]
    .filter(text => text.closest("[class*=tick], [class*=title], .legend, .annotation, .textpoint"))
  return around.map(text => {
    const pair = [light(getComputedStyle(text).fill), light(background)]
    return [text.textContent, Math.max(...pair) / Math.min(...pair)]
  })
}"""


HOSTILE = "<img src=x onerror=alert(1)> <b onclick='alert(2)'>bold</b>"
TYPED = {"text": f"{DEFAULT_TEXT}\n{HOSTILE}", "encdec_example": HOSTILE, "encdec_target": HOSTILE,
         "similarity_list": HOSTILE}  # fmt: skip
"""What stands in every field that takes text, by the link's keys."""


@pytest.fixture(scope="module", params=[*ADDRESSES, "compare?weights=random&b_n_layers=2"])
def opened(request: pytest.FixtureRequest, server: Server, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor of each page in turn, for all tests of it."""
    visitor = Visitor(server, shared_context)
    visitor.open(f"/{request.param}{'&' if '?' in request.param else '?'}{urlencode(TYPED)}")
    yield visitor
    visitor.assert_well()
    visitor.page.close()


def test_its_link_holds_what_was_typed(opened: Visitor) -> None:
    assert opened.query()["text"] == [TYPED["text"]]
    copied = parse_qs(urlsplit(opened.copied_link()).query)
    assert copied == opened.query() | {"v": [VERSION]}


def test_typed_markup_is_text_and_nothing_is_written_smaller_than_eleven_pixels(opened: Visitor) -> None:
    assert opened.page.locator("img[src=x], b[onclick]").count() == 0
    assert opened.small_texts() == []


def test_its_title_is_its_name_in_the_menu_and_its_charts_are_told_with_numbers(opened: Visitor) -> None:
    page = page_at(urlsplit(opened.page.url).path.strip("/"))
    assert opened.page.title().startswith(f"{page.title} · ")
    mark = opened.page.get_by_test_id("stTopNav").get_by_text(page.group or page.title, exact=True)
    expect(mark).to_have_css("font-weight", "600")
    labels = opened.page.locator(".plot").evaluate_all("all => all.map(each => each.ariaLabel)")
    if "/regularisers" not in opened.page.url:  # whose charts are empty before a run
        assert [label for label in labels if not any(letter.isdigit() for letter in label)] == []


def test_it_can_be_read_and_heard(opened: Visitor) -> None:
    for scheme in in_both_schemes(opened):
        assert (scheme, grave_violations(opened)) == (scheme, set())
        # axe-core judges no text inside a drawing.
        contrasts = opened.page.evaluate(_CONTRASTS)
        assert (scheme, [(text, round(contrast, 2)) for text, contrast in contrasts if contrast < 4.5]) == (scheme, [])


_ADD_SCRIPT = """() => {
  const script = document.createElement("script")
  script.textContent = "window.reached = true"
  document.body.append(script)
  return window.reached ?? false
}"""


def test_a_script_from_elsewhere_does_not_run_and_every_visitor_of_these_tests_hears_of_it(visitor: Visitor) -> None:
    visitor.open("/parameters")
    assert visitor.errors == []
    assert visitor.page.evaluate(_ADD_SCRIPT) is False
    visitor.eventually(lambda: any("Content Security Policy" in error for error in visitor.errors), "a violation")
    visitor.errors.clear()


def in_both_schemes(visitor: Visitor) -> Iterator[str]:
    """The light and the dark, while the page is shown in it, with axe-core loaded; it stays in the dark."""
    visitor.page.evaluate(AXE)
    for scheme, background in _BACKGROUNDS.items():
        visitor.page.emulate_media(color_scheme=scheme)
        expect(visitor.page.locator(".stApp")).to_have_css("background-color", background)
        visitor.settled()
        yield scheme


def expect_readable(visitor: Visitor) -> None:
    """Nothing that axe-core complains of, in the light and in the dark, in which the page stays."""
    for scheme in in_both_schemes(visitor):
        assert (scheme, grave_violations(visitor)) == (scheme, set())


def grave_violations(visitor: Visitor) -> set[tuple[str, str, str]]:
    """What axe-core finds of serious violations: the rule, the element and the reason of each."""
    found: list[dict[str, Any]] = visitor.page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return {
        (each["id"], node["html"][:200], node["failureSummary"])
        for each in found
        if each["impact"] in GRAVE or each["id"] == "heading-order"
        for node in each["nodes"]
    }

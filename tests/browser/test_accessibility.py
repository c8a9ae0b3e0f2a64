"""What axe-core, which reads a page as a screen reader does, finds on every page, in the light and in the dark."""

from importlib import resources
from typing import Any, Literal
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from playground.link.params import DEFAULT_TEXT
from tests.browser.test_places import PAGES
from tests.browser.visitor import Visitor

# Evaluated from outside, which the pages' own policy on scripts does not forbid.
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
GRAVE = {"serious", "critical"}

BACKGROUNDS: dict[Literal["light", "dark"], str] = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 22, 28)"}
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


@pytest.mark.parametrize("page", [*PAGES, "compare?weights=random&b_n_layers=2"])
def test_a_page_can_be_read_and_heard(page: str, visitor: Visitor) -> None:
    visitor.open(f"/{page}{'&' if '?' in page else '?'}{urlencode(TYPED)}")
    assert visitor.page.locator("img[src=x], b[onclick]").count() == 0
    assert visitor.page.title().startswith(visitor.page.locator("[aria-current=page]").first.inner_text())
    labels = visitor.page.get_by_test_id("stPlotlyChart").evaluate_all("all => all.map(each => each.ariaLabel)")
    if page != "regularisers":  # whose charts are empty before a run
        assert [label for label in labels if not any(letter.isdigit() for letter in label)] == []
    visitor.page.evaluate(AXE)
    for scheme, background in BACKGROUNDS.items():
        visitor.page.emulate_media(color_scheme=scheme)
        expect(visitor.page.locator(".stApp")).to_have_css("background-color", background)
        visitor.settled()
        assert (scheme, grave_violations(visitor)) == (scheme, set())
        # axe-core judges no text inside a drawing.
        contrasts = visitor.page.evaluate(_CONTRASTS)
        assert (scheme, [(text, round(contrast, 2)) for text, contrast in contrasts if contrast < 4.5]) == (scheme, [])


def grave_violations(visitor: Visitor) -> set[tuple[str, str, str]]:
    """What axe-core finds of serious violations: the rule, the element and the reason of each."""
    found: list[dict[str, Any]] = visitor.page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return {
        (each["id"], node["html"][:200], node["failureSummary"])
        for each in found
        if each["impact"] in GRAVE or each["id"] == "heading-order"
        for node in each["nodes"]
    }

"""What axe-core, which reads a page as a screen reader does, finds on every page, in the light and in the dark."""

from collections.abc import Iterator
from importlib import resources
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser

from tests.browser.server import Server
from tests.browser.test_places import PAGES
from tests.browser.visitor import Visitor

# Evaluated from outside, which the pages' own policy on scripts does not forbid.
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
GRAVE = {"serious", "critical"}

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


@pytest.fixture(scope="module", params=["light", "dark"])
def reader(request: pytest.FixtureRequest, server: Server, browser: Browser) -> Iterator[Visitor]:
    """A visitor who prefers the one or the other, and sees one page after another."""
    scheme: Literal["light", "dark"] = request.param
    visitor = Visitor.anew(server, browser, 1366, 900, color_scheme=scheme)
    yield visitor
    visitor.assert_well()
    visitor.page.context.close()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_read_and_heard(page: str, reader: Visitor) -> None:
    reader.open(f"/{page}").page.evaluate(AXE)
    found: list[dict[str, Any]] = reader.page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    grave = {
        (each["id"], node["html"][:200], node["failureSummary"])
        for each in found
        if each["impact"] in GRAVE or each["id"] == "heading-order"
        for node in each["nodes"]
    }
    assert grave == set()
    assert reader.page.title().startswith(reader.page.locator("[aria-current=page]").first.inner_text())
    labels = reader.page.get_by_test_id("stPlotlyChart").evaluate_all("all => all.map(each => each.ariaLabel)")
    if page != "regularisers":  # whose charts are empty before a run
        assert [label for label in labels if not any(letter.isdigit() for letter in label)] == []
    # axe-core judges no text inside a drawing.
    faint = [(text, round(contrast, 2)) for text, contrast in reader.page.evaluate(_CONTRASTS) if contrast < 4.5]
    assert faint == []

"""One browser page of the playground, with what a visitor sees and does on it."""

import base64
import re
import time
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Error, Locator, Page, expect

from playground.link.params import FOLDS
from playground.pages import PAGES
from tests.browser.server import Server

PATIENCE = 20.0
"""Seconds until something that does not come is a failure."""

expect.set_options(timeout=1000 * PATIENCE)

ADDRESSES = tuple("" if path == "overview" else path for path in PAGES)
"""The pages' paths."""

LEAKS = ("Traceback", "Error:", "Exception", "Something went wrong", "site-packages")
"""What a visitor must never read."""

# Plotly gives a trace a name of its own, beside what came from the server: that is left out.
_READ_CHARTS = """() => Object.fromEntries(
  [...document.querySelectorAll(".js-plotly-plot")].map(chart => [
    chart.closest("[class*='_chart']").className.match(/st-key-(\\S+)_chart/)[1],
    JSON.parse(JSON.stringify(chart.data, (key, value) => key === "uid" ? undefined : value)),
  ]))"""

# A run that corrected the link ends before it draws a heading.
_AT_REST = """() => {
  const count = selector => document.querySelectorAll(selector).length
  return count("[data-test-script-state=notRunning]") === 1 && count(".stMain h1") === 1
    && count("[data-testid=stSkeleton], [data-stale=true]") === 0
    && count(".plot") === count(".plot:has(.main-svg)")
}"""

# Also within components, each of which has a root of its own; a drawing may be scaled.
_SMALL_TEXTS = """smallest => {
  const found = []
  const walk = root => root.querySelectorAll("*").forEach(each => {
    if (each.shadowRoot) walk(each.shadowRoot)
    const texts = [...each.childNodes].filter(node => node.nodeType === Node.TEXT_NODE)
    const letters = texts.some(node => /[^\\s\\u200b]/.test(node.data))
    const { width, height } = each.getBoundingClientRect()
    const isSeen = width > 0 && height > 0 && each.checkVisibility({ visibilityProperty: true })
    if (!letters || !isSeen || each.closest(".katex-mathml")) return
    const matrix = each.getScreenCTM?.()
    const pixels = parseFloat(getComputedStyle(each).fontSize) * (matrix ? Math.hypot(matrix.b, matrix.d) : 1)
    if (pixels < smallest - 0.05) found.push([each.textContent.slice(0, 40), pixels])
  })
  walk(document)
  return found
}"""

_PLACE_OF_HEAD = """(chart, [layer, head]) => {
  const { xaxis, yaxis } = chart._fullLayout, picture = chart.querySelector(".nsewdrag").getBoundingClientRect()
  const x = (head + 0.5) / xaxis.ticktext.length, y = (layer + 0.5) / yaxis.ticktext.length
  return [picture.left + x * picture.width, picture.top + y * picture.height]
}"""

_PLACE_OF_CELL = """(chart, [row, column]) => {
  const { xaxis: { range: [left, right] }, yaxis: { range: [bottom, top] } } = chart._fullLayout
  const picture = chart.querySelector(".nsewdrag").getBoundingClientRect()
  const x = column === null ? 0.5 : (column - left) / (right - left)
  const y = row === null ? 0.5 : (row - top) / (bottom - top)
  return [picture.left + x * picture.width, picture.top + y * picture.height]
}"""


class Visitor:
    """A page in a browser context, and everything that went wrong on it."""

    def __init__(self, server: Server, context: BrowserContext) -> None:
        self.server = server
        self.errors: list[str] = []
        self.page: Page = context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        self.page.on("console", self._listen)
        self.page.on("dialog", self._refuse)

    @classmethod
    def anew(cls, server: Server, browser: Browser, width: int = 1280, height: int = 900, **context: Any) -> Self:
        """A visitor who has never been here: own cache, own storage; more of the context as Playwright takes it."""
        return cls(server, browser.new_context(viewport={"width": width, "height": height}, **context))

    def open(self, path: str) -> Self:
        """Follow a link, whole or from the server's root, and wait until all is drawn.

        A page asks before it is left for as long as it draws a running experiment, a moment longer than that runs.
        """
        expect(self.page.locator(".st-key-reload_warning")).to_have_count(0)
        self.page.goto(path if path.startswith("http") else self.server.url + path)
        return self.settled()

    def settled(self) -> Self:
        """Wait until the script rests and every chart is drawn, for a moment without interruption."""
        calm = 0
        deadline = time.monotonic() + PATIENCE
        while calm < 4:
            assert time.monotonic() < deadline, f"{self.page.url} does not come to rest"
            self.page.wait_for_timeout(60)
            calm = calm + 1 if self._at_rest() else 0
        return self

    def eventually(self, check: Callable[[], bool], what: str) -> None:
        """Wait for something that no locator can say; a chart or a parameter that is looked up may be yet to come."""
        deadline = time.monotonic() + PATIENCE
        while not _holds(check):
            assert time.monotonic() < deadline, f"{what}: not within {PATIENCE:g} s"
            self.page.wait_for_timeout(60)

    # what there is

    def widget(self, key: str) -> Locator:
        """The container of a key."""
        return self.page.locator(f".st-key-{key}")

    def slider(self, key: str) -> Locator:
        """The range input of a slider."""
        return self.widget(key).locator("input[type=range]")

    def focus(self, place: str) -> Locator:
        """The field of the focus line for `layer`, `head`, `query` or `key`; its value is the number."""
        return self.widget("focus_line").locator(f"select[data-place={place}]")

    def focused(self) -> dict[str, int]:
        """Where the focus line stands."""
        return {place: int(self.focus(place).input_value()) for place in ("layer", "head", "query", "key")}

    def framed(self, chart: str) -> tuple[float, float]:
        """The middle of the frame in a chart, in the window."""
        box = self.widget(chart).locator(".frame").bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def charts(self) -> dict[str, Any]:
        """What Plotly draws from, as it came from the server, by the charts' names."""
        charts: dict[str, Any] = self.page.evaluate(_READ_CHARTS)
        return charts

    def array(self, chart: str, trace: int = 0, name: str = "z") -> NDArray[Any]:
        """One array of a chart."""
        self.eventually(lambda: chart in self.charts(), f"the chart {chart}")
        value = self.charts()[chart][trace][name]
        if not isinstance(value, dict):
            return np.array(value)
        shape = [int(n) for n in value["shape"].split(",")] if "shape" in value else [-1]
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"]).reshape(shape)

    def labels(self, chart: str = "attention_pattern") -> list[str]:
        """The names along a heatmap's rows."""
        return [str(label) for label in self.charts()[chart][0]["y"]]

    def query(self) -> dict[str, list[str]]:
        """The parameters in the address bar."""
        return parse_qs(urlsplit(self.page.url).query, keep_blank_values=True)

    def settings(self) -> dict[str, list[str]]:
        """The address bar's parameters without the pair of tokens, which the page chooses where nobody has."""
        return {key: texts for key, texts in self.query().items() if key not in ("query", "key")}

    def text(self) -> str:
        """Everything that can be read on the page."""
        return self.page.locator("body").inner_text()

    def small_texts(self, smallest: float = 11) -> list[tuple[str, float]]:
        """What is written smaller than so many pixels, drawings included, with its size."""
        return [(text, size) for text, size in self.page.evaluate(_SMALL_TEXTS, smallest)]

    def notices(self) -> str:
        """The page's blue, yellow and red boxes."""
        return "\n".join(self.page.get_by_test_id("stAlert").all_inner_texts())

    # what a visitor does

    def unfold(self, label: str) -> None:
        """Open an expander of the sidebar."""
        self.page.get_by_test_id("stSidebar").locator("summary").filter(has_text=label).click()

    def type_text(self, text: str) -> None:
        """Replace the sentences, and leave the field."""
        field = self.widget("text").locator("textarea")
        field.fill(text)
        field.press("Control+Enter")

    def press(self, key: str, *presses: str) -> None:
        """Use the keyboard on a slider."""
        self.slider(key).focus()
        for press in presses:
            self.page.keyboard.press(press)

    def move(self, name: str, times: int = 1) -> None:
        """Press a button of the focus line, such as “next head”."""
        for _ in range(times):
            self.widget("focus_line").get_by_role("button", name=name).click()

    def choose(self, key: str, word: str) -> None:
        """Press one word of a row of words, in its panel where it stands in one."""
        if key in FOLDS:
            self.open_panel(FOLDS[key])
        self.widget(key).get_by_role("radio", name=word, exact=True).click()

    def open_panel(self, key: str) -> None:
        """Unfold a panel, if it is folded."""
        panel = self.widget(key).locator("details").first
        if panel.get_attribute("open") is None:
            panel.locator("summary").first.click()
        self.settled()

    def go_to(self, title: str) -> Self:
        """Use the navigation."""
        self.menu_link(title).click()
        expect(self.page).to_have_title(re.compile(f"^{title} · "))
        return self.settled()

    def menu_link(self, title: str) -> Locator:
        """A page's link in the menu, after opening the fold that it lies in."""
        (group,) = (page.group for page in PAGES.values() if page.title == title)
        if not group:
            return self.page.get_by_test_id("stTopNavLink").filter(has_text=title)
        self.page.get_by_test_id("stTopNavSection").filter(has_text=group).click()
        return self.page.get_by_role("menuitem", name=title, exact=True)

    def click_head(self, layer: int, head: int) -> None:
        """Click a thumbnail in the middle."""
        x, y = self.place_of_head(layer, head)
        self.page.mouse.move(x, y)
        self.page.mouse.click(x, y)

    def click_cell(self, chart: str, row: int | None, column: int | None) -> None:
        """Click a cell of a heatmap, as its axes count; None where a bar is as high or wide as the chart."""
        self.page.mouse.click(*self.place_of_cell(row, column, chart))

    def tap_cell(self, chart: str, row: int, column: int) -> None:
        """Touch a cell."""
        self.page.touchscreen.tap(*self.place_of_cell(row, column, chart))

    def tap_head(self, layer: int, head: int) -> None:
        """Touch a thumbnail in the middle."""
        self.page.touchscreen.tap(*self.place_of_head(layer, head))

    def place_of_head(self, layer: int | None, head: int | None, grid: str = "attention_grid") -> tuple[float, float]:
        """The middle of a thumbnail in the window, after scrolling there."""
        return self._place_in(grid, _PLACE_OF_HEAD, layer, head)

    def place_of_cell(self, row: int | None, column: int | None, chart: str) -> tuple[float, float]:
        """The middle of a cell in the window, after scrolling there."""
        return self._place_in(chart, _PLACE_OF_CELL, row, column)

    def _place_in(self, chart: str, script: str, row: int | None, column: int | None) -> tuple[float, float]:
        drawing = self.widget(f"{chart}_chart").locator(".js-plotly-plot")
        drawing.scroll_into_view_if_needed()
        x, y = drawing.evaluate(script, [row, column])
        return x, y

    def copied_link(self) -> str:
        """Press the button; the link as the field beside it shows it."""
        button = self.widget("copy_link").get_by_role("button")
        button.click()
        expect(button).to_have_text(re.compile("Copied|Ctrl"))
        return self.widget("copy_link").get_by_role("textbox").input_value()

    def assert_well(self) -> None:
        """Nothing went wrong, neither in the browser nor on the server, and nothing was shown that shouldn't be."""
        shown = self.text()
        leaks = [word for word in LEAKS if word in shown]
        assert not leaks, self.notices()
        assert self.page.get_by_test_id("stException").count() == 0
        assert self.errors == []
        assert self.server.tracebacks() == []

    def _at_rest(self) -> bool:
        try:
            return bool(self.page.evaluate(_AT_REST))
        except Error as error:
            if "context was destroyed" not in error.message:  # as by a link that opens a page anew
                raise
            return False

    def _listen(self, message: ConsoleMessage) -> None:
        # The front end looks for its server below the page's own path first, and then at the root.
        probe = "404" in message.text and "/_stcore/" in message.location["url"]
        if message.type == "error" and not probe:
            self.errors.append(f"console: {message.text}")

    def _refuse(self, dialog: Dialog) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def _holds(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except LookupError:
        return False

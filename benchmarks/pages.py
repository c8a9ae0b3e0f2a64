"""The Attention page in a real browser: bytes on the wire, and how long until the charts are painted."""

import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import torch
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from benchmarks.results import Result, paired_ratio, seconds
from benchmarks.server import Relay, serve
from playground import Encoder, ModelConfig
from playground.presets import PRESETS
from playground.runs import encoder_run
from playground.text import words
from playground.web.server import Settings

SENTENCE = "the old man went down to the river and saw a small boat with two men in it "
"""Each word is one token of the trained model."""

LARGE = ".st-key-attention_pattern .heatmaplayer image"
SMALL = ".st-key-attention_grid .heatmaplayer image"
"""The two heatmaps, which Plotly draws as images."""

PARTS = ".st-key-why_parts [data-testid=stCaptionContainer]"
"""What stands below the answer on a cell, and names the cell's key."""

DRAWN = """async ([selectors, longest]) => {
  const missing = selector => !document.querySelector(selector)?.href.baseVal
  const frame = () => new Promise(requestAnimationFrame)
  while (selectors.some(missing)) {
    if (performance.now() > longest) throw new Error(`not painted: ${selectors.filter(missing)}`)
    await frame()
  }
  await frame()
  return performance.now()
}"""
"""Milliseconds from the navigation to the frame after all images are there; an error where that takes too long."""

WATCH_KEY = """([selector, longest]) => {
  const read = () => {
    const element = document.querySelector(selector)
    return element?.href?.baseVal ?? element?.textContent
  }
  window.changed = new Promise(resolve => addEventListener("keydown", () => {
    const start = performance.now(), before = read()
    const look = () => {
      const now = read(), passed = performance.now() - start
      if (passed > longest) resolve(null)
      else if (now === undefined || now === before) requestAnimationFrame(look)
      else requestAnimationFrame(() => resolve(performance.now() - start))
    }
    look()
  }, { once: true, capture: true }))
}"""
"""Times the next key: milliseconds until what the selector shows has changed and a frame has passed, or null where that
takes too long."""


CHOOSE = """([title, selector, longest]) => new Promise(resolve => {
  const read = () => document.querySelector(selector)?.href.baseVal
  const option = [...document.querySelectorAll("[role=option]")].find(one => one.textContent === title)
  const before = read(), start = performance.now()
  option.click()
  const look = () => {
    const now = read(), passed = performance.now() - start
    if (passed > longest) resolve(null)
    else if (now === undefined || now === before) requestAnimationFrame(look)
    else requestAnimationFrame(() => resolve(performance.now() - start))
  }
  look()
})"""
"""Clicks an option of an open list: milliseconds until what the selector shows has changed and a frame has passed, or
null where that takes too long."""

LONGEST = 8_000
"""Milliseconds after which a choice or a key counts as lost."""

LONGEST_VISIT = 60_000
"""Milliseconds after which a page counts as never painted."""


def measure() -> Iterator[Result]:
    """Start both apps and a browser, and measure the page at two lengths and at a head's choice."""
    with serve("streamlit_app.py") as app, serve("benchmarks/empty_app.py") as empty, sync_playwright() as playwright:
        browser = launch(playwright)
        counted, visitor = CountedVisitor(browser, Relay(app.port)), Visitor(browser, app.port)
        yield from first_view(counted, n_tokens=128, megabytes=1.5)
        yield from other_head(counted, kilobytes=150)
        yield from first_view(counted, n_tokens=256, megabytes=4, seconds=3)
        slider = new_page(browser)
        slider.goto(f"http://127.0.0.1:{empty.port}/")
        for n_tokens in (16, 128):
            yield move_over_slider(visitor, slider, n_tokens, "another head", visitor.next_head)
            yield move_over_slider(visitor, slider, n_tokens, "another cell's computation", visitor.next_cell)
        yield architecture_over_head(visitor)
        yield preset_over_slider(visitor, slider, drawn=True)
        yield preset_over_slider(visitor, slider, drawn=False)
        browser.close()


class Visitor:
    """A browser page of the app."""

    def __init__(self, browser: Browser, port: int) -> None:
        self.port = port
        self.page = new_page(browser)

    def open(self, n_tokens: int, **choices: int) -> float:
        """Follow a link to the Attention page on a text of so many tokens; returns seconds until it is painted."""
        text = " ".join((SENTENCE * n_tokens).split()[: n_tokens - 2])  # [CLS] and [SEP] are the other two
        self.page.goto("about:blank")
        query = urlencode({"text": text, **choices})
        self.page.goto(f"http://127.0.0.1:{self.port}/attention?{query}", wait_until="commit")
        painted: float = self.page.evaluate(DRAWN, [[LARGE, SMALL], LONGEST_VISIT]) / 1000
        self.page.get_by_text(f"{n_tokens} tokens ·").wait_for()
        self.rest()
        return painted

    def rest(self) -> None:
        """Wait until the script is done and the page is still."""
        for _ in range(2):
            self.page.wait_for_timeout(300)
            self.page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")

    def next_head(self) -> float:
        """Choose the next head by keyboard; returns milliseconds until its heatmap is painted."""
        return press(self.page, ".st-key-focus_line button[aria-label='next head']", "Enter", LARGE)

    def next_cell(self) -> float:
        """Choose the cell to the right by keyboard; returns milliseconds until its answer and its bars are painted."""
        return press(self.page, ".st-key-attention_pattern .frame", "ArrowRight", PARTS)

    def choose_preset(self, title: str) -> float:
        """Choose a preset; returns milliseconds until its heatmap is painted."""
        field = self.page.locator(".st-key-preset input")
        field.click()
        field.fill(title)
        self.page.get_by_role("option", name=title, exact=True).wait_for()
        self.page.wait_for_timeout(300)  # the list opens with a movement
        milliseconds: float | None = self.page.evaluate(CHOOSE, [title, LARGE, LONGEST])
        if milliseconds is None:
            raise RuntimeError(f"{title} is not painted within {LONGEST} ms")
        return milliseconds


class CountedVisitor(Visitor):
    """A visitor whose bytes are counted, which costs time."""

    def __init__(self, browser: Browser, relay: Relay) -> None:
        super().__init__(browser, relay.port)
        self.relay, self.payload = relay, 0
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._count))

    def _count(self, frame: str | bytes) -> None:
        self.payload += len(frame)

    def rest(self) -> None:
        """Wait until nothing more arrives, either."""
        before = -1
        while before != self.relay.received:
            before = self.relay.received
            super().rest()

    def bytes_of(self, action: Callable[[], object]) -> tuple[int, int]:
        """What an action makes the server send: (in messages, on the wire, where they may be compressed)."""
        payload, wire = self.payload, self.relay.received
        action()
        self.rest()
        return self.payload - payload, self.relay.received - wire


def launch(playwright: Playwright) -> Browser:
    """Start Chromium without its windows, or the browser that CHROMIUM names."""
    return playwright.chromium.launch(
        executable_path=shutil.which(os.environ.get("CHROMIUM", "chromium-headless-shell")),
        args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
              "--disable-sync"],
    )  # fmt: skip


def new_page(browser: Browser) -> Page:
    """A laptop's window in a browser context of its own."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    return page


def press_right(page: Page, slider: str, shown: str) -> float:
    """Move a slider by one and return the milliseconds until what depends on it is painted."""
    return press(page, slider, "ArrowRight", shown)


def press(page: Page, control: str, key: str, shown: str) -> float:
    """Press a key on a control and return the milliseconds until what depends on it is painted."""
    page.locator(control).focus()
    page.evaluate(WATCH_KEY, [shown, LONGEST])
    page.keyboard.press(key)
    milliseconds: float | None = page.evaluate("() => window.changed")
    if milliseconds is None:
        raise RuntimeError(f"{key} on {control} changes nothing within {LONGEST} ms")
    return milliseconds


def first_view(
    visitor: CountedVisitor, *, n_tokens: int, megabytes: float, seconds: float | None = None
) -> Iterator[Result]:
    """Bytes of a page opened by its link, and where wanted the seconds to painted, each in a warm browser."""
    visitor.open(n_tokens)
    painted = []
    for _ in range(3):
        message, wire = visitor.bytes_of(lambda: painted.append(visitor.open(n_tokens)))
    what = f"Attention page at {n_tokens} tokens"
    yield Result(what, message / 1e6, megabytes, "MB", f"{wire / 1e6:.2f} MB on the wire")
    if seconds is not None:
        yield Result(f"{what}, to painted", statistics.median(painted), seconds, "s", "median of 3 visits")


def other_head(visitor: CountedVisitor, *, kilobytes: float) -> Iterator[Result]:
    """Bytes of one more head, on the wire."""
    message, wire = visitor.bytes_of(visitor.next_head)
    yield Result("  another head", wire / 1e3, kilobytes, "kB", f"{message / 1e3:.1f} kB before compression")


def move_over_slider(visitor: Visitor, slider: Page, n_tokens: int, what: str, move: Callable[[], float]) -> Result:
    """A move of the focus to painted, over an empty app's slider moved to its number shown; both by keyboard."""
    moves, numbers = [], []
    for layer in (1, 4):
        visitor.open(n_tokens, layer=layer, head=0, query=1, key=0)  # as many cells to the right as there are steps
        slider.reload()
        slider.locator("[data-testid=stText]").wait_for()
        for step in range(11):
            actions: list[Callable[[], None]] = [
                lambda: moves.append(move()),
                lambda: numbers.append(press_right(slider, "input[type=range]", "[data-testid=stText]")),
            ]
            for action in actions if step % 2 else reversed(actions):
                action()
            visitor.rest()
    note = f"{statistics.median(moves):.0f} ms / {statistics.median(numbers):.0f} ms"
    what = f"{what}, {n_tokens} tokens / an empty app's slider"
    return Result(what, paired_ratio(moves, numbers), 2.0, note=note)


def architecture_over_head(visitor: Visitor, rounds: int = 6) -> Result:
    """Another number of layers of a shipped encoder to painted, over another head of it to painted."""
    layers, heads = [], []
    for _ in range(rounds):
        visitor.page.goto("about:blank")
        address = f"http://127.0.0.1:{visitor.port}/attention?weights=english&layer=0&head=0&n_layers=2"
        visitor.page.goto(address, wait_until="commit")
        visitor.page.evaluate(DRAWN, [[LARGE, SMALL], LONGEST_VISIT])
        visitor.rest()
        heads.append(visitor.next_head())
        visitor.rest()
        layers.append(press_right(visitor.page, ".st-key-n_layers input[type=range]", LARGE))
        visitor.rest()
    note = f"{statistics.median(layers):.0f} ms / {statistics.median(heads):.0f} ms"
    return Result("another number of layers, trained / another head", paired_ratio(layers, heads), 2.5, note=note)


def preset_over_slider(visitor: Visitor, slider: Page, *, drawn: bool, rounds: int = 8) -> Result:
    """A preset chosen to painted, over two moves of an empty app's slider and the computing that it takes.

    Each round has a sentence of another length, so that the page has to compute.

    Args:
        visitor: at the app.
        slider: at the empty app.
        drawn: whether the server has the preset's random weights already; they are drawn anew otherwise.
        rounds: how many times.
    """
    preset = PRESETS["tutorial-c"]
    chosen, allowed, computing = [], [], []
    visitor.open(32)
    visitor.choose_preset(preset.title)
    visitor.rest()
    slider.reload()
    slider.locator("[data-testid=stText]").wait_for()
    for step in range(rounds):
        visitor.open(16 + step, seed=0 if drawn else 100 + step)
        chosen.append(visitor.choose_preset(preset.title))
        move = press_right(slider, "input[type=range]", "[data-testid=stText]")
        computing.append(compute(preset.config, 16 + step, drawn=drawn))
        allowed.append(2 * move + computing[-1])
    work = "pass" if drawn else "pass and drawing its weights"
    note = f"{statistics.median(chosen):.0f} ms / {statistics.median(allowed):.0f} ms"
    what = f"a preset / (2 × an empty app's slider + {work})"
    return Result(
        what, paired_ratio(chosen, allowed), 1.0, note=f"{note}, {statistics.median(computing):.0f} of it {work}"
    )


def compute(config: ModelConfig, n_tokens: int, *, drawn: bool) -> float:
    """Milliseconds of a pass as the app makes it, and of drawing the weights where they are not there yet."""
    batch = words((SENTENCE,)).encode_batch([" ".join((SENTENCE * n_tokens).split()[:n_tokens])])
    all_threads = torch.get_num_threads()
    torch.set_num_threads(Settings().threads)
    start = time.perf_counter()
    model = Encoder(config, seed=0).requires_grad_(False)
    drawing = time.perf_counter() - start
    forward = seconds(lambda: encoder_run.run(model, batch))
    torch.set_num_threads(all_threads)
    return 1000 * (forward if drawn else drawing + forward)

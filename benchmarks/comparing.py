"""Two settings side by side: what the page Compare costs beside a page that shows one of them."""

import statistics
from collections.abc import Iterator
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from benchmarks.pages import LONGEST_VISIT, launch, new_page
from benchmarks.results import Result, paired_ratio
from benchmarks.server import serve

ROUNDS = 8

PAINTED = """async ([keys, longest]) => {
  const marks = ":is(.heatmaplayer image, .scatter, .barlayer path)"
  const missing = key => !document.querySelector(`.st-key-${key} .main-svg ${marks}`)
  const frame = () => new Promise(requestAnimationFrame)
  while (keys.some(missing)) {
    if (performance.now() > longest) throw new Error(`not painted: ${keys.filter(missing)}`)
    await frame()
  }
  await frame()
  return performance.now()
}"""
"""Milliseconds from the navigation to the frame after all of these charts are there; an error where that takes too
long."""

CHARTS = {
    "attention": ("attention_grid", "attention_pattern"),
    "norms": ("norms_by_layer", "norms_by_token"),
    "compare": ("head_pinned", "head_now", "head_difference", "moved_weight", "compare_points"),
}  # fmt: skip

PANELS = {
    "attention": (),
    "norms": ("norms_closer",),
    "compare": ("compare_head",),
}
"""The panels that the link opens: the charts are in them."""


def measure() -> Iterator[Result]:
    """Open links to both pages in turns, each to models of 6 layers that nobody has run before."""
    with serve("streamlit_app.py") as app, sync_playwright() as playwright:
        browser = launch(playwright)
        page = new_page(browser)
        root = f"http://127.0.0.1:{app.port}"
        for known in (False, True):
            times: dict[str, list[float]] = {name: [] for name in CHARTS}
            for step in range(-1, ROUNDS):  # the first warms up
                for name in CHARTS:
                    times[name].append(open_link(page, f"{root}/{name}", name, seed=2 if known else 100 + 4 * step))
            for name in ("attention", "norms"):
                what = f"Compare / the page {name}, {'runs known' if known else 'runs computed'}, to painted"
                pair = times["compare"][1:], times[name][1:]
                note = " / ".join(f"{statistics.median(each):.0f} ms" for each in pair)
                yield Result(what, paired_ratio(*pair), 2.2, note=note)
        browser.close()


def open_link(page: Page, address: str, name: str, *, seed: int) -> float:
    """Follow a link to random weights of a seed, on Compare beside another's; returns milliseconds to painted."""
    seeds = {
        "attention": {"seed": seed},
        "norms": {"seed": seed + 1},
        "compare": {"seed": seed + 2, "b_seed": seed + 3},
    }
    page.goto("about:blank")
    query = urlencode({"weights": "random", **seeds[name], **dict.fromkeys(PANELS[name], "true")})
    page.goto(f"{address}?{query}", wait_until="commit")
    painted: float = page.evaluate(PAINTED, [CHARTS[name], LONGEST_VISIT])
    page.wait_for_timeout(300)
    page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
    return painted

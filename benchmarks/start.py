"""From `streamlit run` to the first visitor's attention: the server starts, loads the model, and a page is drawn."""

import statistics
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, sync_playwright

from benchmarks.pages import DRAWN, LONGEST_VISIT, SMALL, launch, new_page
from benchmarks.results import Result
from benchmarks.server import serve

ROUNDS = 3


def measure() -> Iterator[Result]:
    """Start the server anew each time, and open the Attention page as soon as it answers."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        rounds = [start_and_visit(browser) for _ in range(ROUNDS)]
        browser.close()
    answered, painted = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
    what = "from `streamlit run` to the first visitor's painted attention"
    yield Result(what, painted, 8.0, "s", f"{answered:.1f} s until the server answers")


def start_and_visit(browser: Browser) -> tuple[float, float]:
    """Seconds until the server answers, and until the large heatmap is drawn in a browser that has never been there."""
    start = time.perf_counter()
    with serve("streamlit_app.py") as server:
        answered = time.perf_counter() - start
        page = new_page(browser)
        page.goto(f"http://127.0.0.1:{server.port}/attention", wait_until="commit")
        page.evaluate(DRAWN, [[SMALL], LONGEST_VISIT])
        painted = time.perf_counter() - start
        page.context.close()
    return answered, painted

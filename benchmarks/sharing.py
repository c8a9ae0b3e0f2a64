"""One visitor looks, another trains: how much slower the first one's page becomes."""

import statistics
from collections.abc import Iterator

from playwright.sync_api import Page, sync_playwright

from benchmarks.pages import Visitor, launch, new_page
from benchmarks.results import Result, paired_ratio
from benchmarks.server import serve

LONG = "/training?training_steps=5000"
"""A run that outlasts the measurement, at the page's own sizes."""

ROUNDS = 4

PRESSES = 6
"""In a round, while it trains and again while it rests."""


def measure() -> Iterator[Result]:
    """Choose head after head, while somebody else's training goes on and while it is stopped, in turns."""
    with serve("streamlit_app.py") as app, sync_playwright() as playwright:
        browser = launch(playwright)
        looking, training = Visitor(browser, app.port), new_page(browser)
        looking.open(16)
        training.goto(f"http://127.0.0.1:{app.port}{LONG}")
        press(training, "Start")
        alone, beside = [], []
        for _ in range(ROUNDS):
            training.get_by_text("Training: step").wait_for()
            looking.open(16, head=0)
            beside += [looking.next_head() for _ in range(PRESSES)]
            press(training, "Stop")
            training.get_by_text("Stopped at step").wait_for()
            looking.open(16, head=0)
            alone += [looking.next_head() for _ in range(PRESSES)]
            press(training, "Start")
        press(training, "Stop")
        browser.close()
    note = f"{statistics.median(beside):.0f} ms / {statistics.median(alone):.0f} ms"
    what = "another head, while another visitor trains / while nobody does"
    yield Result(what, paired_ratio(beside, alone), 2.0, note=note)


def press(page: Page, button: str) -> None:
    """Press one of the buttons of the run."""
    page.get_by_role("button", name=button, exact=True).click()

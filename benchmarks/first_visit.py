"""A first visit of the Attention page over a slow line: with the front end compressed, beside without."""

import statistics
from collections.abc import Iterator

from playwright.sync_api import Browser, sync_playwright

from benchmarks.pages import DRAWN, LONGEST_VISIT, SMALL, launch, new_page
from benchmarks.results import Result, paired_ratio
from benchmarks.server import Relay, serve

ROUNDS = 5

LINE = {"offline": False, "latency": 20, "downloadThroughput": 10e6 / 8, "uploadThroughput": 10e6 / 8}
"""10 Mbit/s, 20 ms: Chromium's own throttling (`Network.emulateNetworkConditions`)."""


def measure() -> Iterator[Result]:
    """Visit both in turns, each time as somebody who has never been there."""
    with (
        serve("streamlit_app.py") as app,
        serve("benchmarks/as_streamlit_serves.py") as before,
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        relays = {"now": Relay(app.port, everything=True), "before": Relay(before.port, everything=True)}
        painted: dict[str, list[float]] = {name: [] for name in relays}
        received: dict[str, list[int]] = {name: [] for name in relays}
        for step in range(-1, ROUNDS):  # the first warms up
            for name in sorted(relays, reverse=bool(step % 2)):
                milliseconds, n_bytes = visit(browser, relays[name])
                if step >= 0:
                    painted[name].append(milliseconds)
                    received[name].append(n_bytes)
        browser.close()
    megabytes = {name: statistics.median(each) / 1e6 for name, each in received.items()}
    what = "a first visit of the Attention page"
    yield Result(
        f"{what}, on the wire", megabytes["now"], 2.5, "MB", f"{megabytes['before']:.1f} MB as Streamlit serves"
    )
    note = f"{statistics.median(painted['now']):.0f} ms / {statistics.median(painted['before']):.0f} ms"
    ratio = paired_ratio(painted["now"], painted["before"])
    yield Result(f"{what} at 10 Mbit/s, to its first chart / as Streamlit serves", ratio, 0.45, note=note)


def visit(browser: Browser, relay: Relay) -> tuple[float, int]:
    """Open the page with an empty cache; returns milliseconds to the first chart, and the bytes of the whole visit."""
    page = new_page(browser)
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", LINE)
    start = relay.received
    page.goto(f"http://127.0.0.1:{relay.port}/attention", wait_until="commit")
    painted: float = page.evaluate(DRAWN, [[SMALL], LONGEST_VISIT])
    page.wait_for_timeout(1500)
    page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
    page.context.close()
    return painted, relay.received - start

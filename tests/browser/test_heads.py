"""A drawing of any model's heads in Chromium: as a file, and in a notebook's frame."""

from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, expect

from playground import heads
from playground.charts.names import token_names
from tests.test_heads import HOSTILE, drawn_weights, random_patterns


def test_a_head_is_opened_and_its_weights_are_read(browser: Browser, tmp_path: Path) -> None:
    patterns = drawn_weights(heads(random_patterns(2, 3, 4, 4), HOSTILE))[0]  # that rounding does not change
    maps = heads(patterns, HOSTILE, other=np.full_like(patterns, 0.25))
    maps.save(tmp_path / "heads.html")
    page = browser.new_page()
    page.goto((tmp_path / "heads.html").as_uri())
    names = token_names(HOSTILE)
    status, grid, large = page.get_by_role("status"), page.locator("#grid"), page.locator("#large")

    def expect_weight(*place: int, less: float = 0.0) -> None:
        layer, head, query, key = place
        told = f"Layer {layer}, head {head}: {names[query]} attends to {names[key]}: "
        expect(status).to_have_text(told + f"{patterns[place] - less:.4f}".replace("-", "−"))

    expect_weight(0, 0, 0, 0)
    grid.click(position={"x": 26 + 44 * 2.5, "y": 26 + 44 * 1.5})
    expect_weight(1, 2, 0, 0)
    grid.press("ArrowLeft")
    for arrow in ("ArrowDown", "ArrowRight", "ArrowRight"):
        large.press(arrow)
    expect_weight(1, 1, 1, 2)
    page.get_by_label("difference").check()
    expect_weight(1, 1, 1, 2, less=0.25)
    page.get_by_label("lines").check()
    large.hover(position={"x": 5, "y": 5})
    expect_weight(1, 1, 0, 2, less=0.25)
    page.set_content(maps._repr_html_())
    expect(page.frame_locator("iframe").get_by_role("status")).to_contain_text("Layer 0, head 0: ")
    page.close()

"""A drawing of any model's heads in Chromium: as a file, and in a notebook's frame."""

import re
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, expect

from playground import heads
from playground.charts.names import token_names
from playground.notebook import LEVELS
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


def test_the_given_weight_lies_within_the_written_bounds(browser: Browser) -> None:
    html = heads(random_patterns(1, 1, 4, 4), ["a", "b", "c", "d"]).html
    code = re.findall(r"^const (?:weight|error|describe) = .*?^}$", html, re.DOTALL | re.MULTILINE)
    given = np.linspace(0, 1, 1_001) ** 2
    page = browser.new_page()
    for levels in LEVELS:
        stubs = f"const shown = 'this', data = {{ levels: {levels} }}, root = (_, at) => at"
        roots = (np.rint(np.sqrt(given) * levels) / levels).tolist()
        written = page.evaluate("roots => {" + "\n".join([stubs, *code, "return roots.map(describe) }"]), roots)
        for weight, text in zip(given, written, strict=True):
            shown, _, bound = text.partition(" ± ")
            assert abs(float(shown) - weight) <= float(bound or 0.0001) + 1e-9
            assert len(shown) == len(bound or shown)
    page.close()


def test_lines_scroll_to_the_token_that_the_arrows_reach(browser: Browser, tmp_path: Path) -> None:
    heads(random_patterns(1, 1, 128, 128), ["token"] * 128).save(tmp_path / "heads.html")
    page = browser.new_page()
    page.goto((tmp_path / "heads.html").as_uri())
    page.get_by_label("lines").check()
    for arrow, row in (("ArrowDown", 100), ("ArrowRight", 100), ("ArrowUp", 0)):
        for _ in range(100):
            page.locator("#large").press(arrow)
        top, height = page.locator("#large").evaluate("({parentElement: box}) => [box.scrollTop, box.clientHeight]")
        assert top <= 18 * row <= top + height - 18
    page.close()

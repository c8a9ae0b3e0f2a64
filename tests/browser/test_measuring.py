"""What the page What if measures grows by itself, stops for other settings, and becomes changes of every page."""

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor

PARTS = "/what-if?whatif_view=which+parts+matter"
LONG = "&whatif_parts=pairs+of+one+head&layer=0&head=1&text=" + "+".join(["one", "two", "three", "four"] * 14)


def finish(visitor: Visitor, name: str, done: str) -> None:
    """Wait until all is measured; where the machine is so busy that it would take long, ask for it first."""
    bar, button = (visitor.widget(f"{name}_{part}") for part in ("progress", "measure"))
    expect(bar).to_be_visible(timeout=30_000)

    def is_complete() -> bool:
        if "The rest takes" in bar.inner_text() and button.is_visible():
            button.get_by_role("button").click()
            expect(button).to_be_hidden()
        return done in bar.inner_text()

    visitor.eventually(is_complete, f"{done}")


def test_heads_are_measured_by_themselves_and_a_clicked_one_is_switched_off(visitor: Visitor) -> None:
    visitor.open(PARTS)
    finish(visitor, "whatif_effects", "72 runs done")
    row, bar = (
        place.bounding_box()
        for row in [visitor.settled().widget("whatif_effects_progress")]
        for place in (row, row.get_by_role("progressbar"))
    )
    assert row is not None
    assert bar is not None
    assert bar["width"] == pytest.approx(row["width"], abs=1), "a bar that is full reaches the end"
    visitor.settled().widget("whatif_spread").locator("summary").click()
    expect(visitor.widget("head_spread")).to_be_visible()
    visitor.settled().click_cell("head_effects", 5, 11)
    expect(visitor.focus("head")).to_have_value("11")
    visitor.settled()
    x, y = visitor.place_of_cell("head_spread", 5, 11)
    assert abs(visitor.framed("head_spread")[0] - x) < 3
    assert abs(visitor.framed("head_spread")[1] - y) < 3
    visitor.widget("whatif_switch").get_by_role("button", name="Switch off layer 5, head 11").click()
    expect(visitor.widget("change_chips_line")).to_contain_text("layer 5, head 11 off")
    assert visitor.settled().query()["do"] == ["5.11:zero"]
    visitor.go_to("Attention")
    expect(visitor.widget("change_chips_line")).to_contain_text("layer 5, head 11 off")


def test_a_long_measurement_waits_to_be_asked_and_rests_where_the_settings_change(visitor: Visitor) -> None:
    visitor.open(PARTS + LONG)
    bar = visitor.widget("whatif_effects_progress")
    expect(visitor.widget("whatif_effects_measure")).to_be_visible()
    before = bar.inner_text()
    visitor.page.wait_for_timeout(1_000)
    assert bar.inner_text() == before
    visitor.widget("whatif_effects_measure").get_by_role("button").click()
    expect(visitor.widget("whatif_effects_stop")).to_be_visible()
    n_done = before.partition(" of ")[0]
    visitor.eventually(lambda: not bar.inner_text().startswith(n_done), "the measurement goes on")
    visitor.move("next head")
    expect(visitor.focus("head")).to_have_value("2")
    expect(visitor.widget("whatif_effects_measure")).to_be_visible()
    visitor.settled().move("previous head")  # what was asked for goes on where it was
    expect(visitor.widget("whatif_effects_stop")).to_be_visible()
    visitor.widget("whatif_effects_stop").get_by_role("button").click()
    expect(visitor.widget("whatif_effects_measure")).to_be_visible()
    visitor.settled()


def test_a_copied_sentence_is_patched_and_a_phone_can_tap_a_place(phone: Visitor) -> None:
    phone.open("/what-if?whatif_view=where+the+difference+sits")
    phone.widget("whatif_corrupt").get_by_role("button").tap()
    finish(phone, "whatif_patches", "112 runs done")
    phone.settled().tap_cell("patched_places", 2, 5)
    expect(phone.focus("layer")).to_have_value("1")
    expect(phone.focus("query")).to_have_value("5")
    phone.settled()
    assert phone.query()["sentence"] == ["2"]
    assert phone.array("patched_places").shape == (7, 16)
    phone.choose("whatif_view", "which parts matter")
    phone.choose("whatif_parts", "heads taken out")  # which begins with every head alone
    expect(phone.widget("whatif_pruning_progress")).to_be_visible(timeout=30_000)
    expect(phone.widget("pruning_curves")).to_be_visible()
    phone.settled()

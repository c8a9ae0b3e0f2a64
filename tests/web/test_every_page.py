"""What every page has, of the links that everybody sends: two visits to each."""

import pytest

from playground import pages
from playground.link.params import FOCUS
from tests.web.app_test import PAGES, SMALL, captions, charts, component_data, open_page, sentences
from tests.web.choices.test_pinned import written
from tests.web.shared.test_change_chips import CHANGES
from tests.web.shared.test_lesson_line import shown_step

SHOW_THE_FOCUS = ("overview", "attention", "norms", "what_if", "step_by_step")
"""The pages that open with the line of the focus."""
COMPARE = ("overview", "attention", "norms", "positions", "step_by_step", "parameters", "compare")


@pytest.mark.parametrize("page", PAGES)
def test_a_link_keeps_its_focus_its_pinned_settings_and_its_step_of_the_lesson(page: str) -> None:
    focus = {"layer": 1, "head": 2, "query": 4, "key": 0}
    app = open_page(page, **SMALL, text="a cat sat", **focus, b_n_layers=4, b_text="another", tour=2, lesson="pronoun")
    assert sentences(app) == ""
    address = component_data(app, "address_guard")["parameters"]
    assert {place: address[place] for place in FOCUS} == {place: [str(value)] for place, value in focus.items()}
    assert component_data(app, "focus_line").get("places") == (focus if page in (*SHOW_THE_FOCUS, "compare") else None)
    assert written(app) == {"b_n_layers": ["4"], "b_text": ["another"]}
    assert ("unpin" in {button.key for button in app.button}) == (page in COMPARE)
    assert shown_step(app) == 2


@pytest.mark.parametrize("page", PAGES)
def test_changes_are_named_and_counted_where_they_show_and_every_chart_has_one_closed_menu(page: str) -> None:
    app = open_page(page, **SMALL, do=CHANGES, **({"gradient_layers": 3} if page == "gradient_flow" else {}))
    chips = component_data(app, "change_chips")["chips"]
    assert [chip["text"] for chip in chips] == CHANGES.replace("-", "").split(",")
    assert [chip["is_on"] for chip in chips] == [True, False, True, True, True]
    assert [bool(chip["reason"]) for chip in chips] == [False, False, True, False, False]
    hides = pages.PAGES[page.replace("_", "-")].hides_changes
    assert not ("3 changes" in captions(app) and hides)
    assert ("without these changes" in captions(app)) == hides
    menus = [one.proto.id.rsplit("-", 1)[-1] for one in app.get("popover") if one.proto.id.endswith("_save_menu")]
    assert len(set(menus)) == len(menus)
    assert {f"{chart}_save_menu" for chart in charts(app)} <= set(menus)
    assert all(button.proto.id.endswith("_copy_csv") for button in app.get("download_button"))  # of an open table
    assert ("places" in component_data(app, "focus_line")) == (page in SHOW_THE_FOCUS), "nothing is pinned to compare"
    assert shown_step(app) == 0

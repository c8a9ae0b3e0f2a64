"""Changes beside what is pinned: the two part where the change is, they swap, and a reset takes all back."""

import pytest

from tests.web.app_test import SMALL, component_data, open_page, press, table, widgets, without_error, working


@pytest.mark.parametrize(
    ("do", "point"),
    [
        ("1.1:cut_4_2", "layers.1.attn.pattern"),
        ("0.ffn:off", "layers.0.ffn.out"),
        ("positions:shuffle_1", "embed.out"),
        ("1.out:patch_*_2", "layers.1.out"),
    ],
)
def test_changed_and_untouched_part_at_the_change(do: str, point: str) -> None:
    query = {**SMALL, "text": "abcdefgh\nhgfedcba", "pinned": "true", "b_do": ""}
    app = without_error(open_page("compare", **query, do=do))
    panel = app.session_state
    panel["compare_points_open"] = True
    shown = table(working(app.run()), "largest difference")
    parted = shown[shown["largest difference"] > 1e-5]
    assert parted["point"].iloc[0] == point


def test_swap_and_reset_take_changes_along() -> None:
    app = without_error(open_page("attention", **SMALL, do="1.1:zero", pinned="true", b_do="-0.0:zero"))
    press(app, "pin_swap")
    assert [chip["text"] for chip in component_data(app, "change_chips")["chips"]] == ["0.0:zero"]
    press(app, "pin_swap")
    assert [chip["text"] for chip in component_data(app, "change_chips")["chips"]] == ["1.1:zero"]
    press(app, "reset")
    assert component_data(app, "change_chips") == {}


def test_a_preset_keeps_the_changes_and_says_which_do_not_fit() -> None:
    app = without_error(open_page("attention", **SMALL, do="1.3:zero,0.0:zero"))
    working(widgets(app)["preset"].set_value("tutorial-b").run())
    chips = component_data(app, "change_chips")["chips"]
    assert [chip["text"] for chip in chips] == ["1.3:zero", "0.0:zero"]
    assert not chips[1]["reason"]

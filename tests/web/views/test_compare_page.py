"""The page Compare: pairs to compare, what unpinning brings back, and any two settings beside each other."""

from typing import Any

import pytest

from tests.web.app_test import (
    ODD_TEXT,
    SMALL,
    charts,
    component_data,
    open_page,
    open_panels,
    press,
    sentences,
    values,
    without_error,
    words,
)

PANELS = {"compare_head": True}
ALWAYS = {"head_pinned", "head_now"}
SAME_TOKENS = {"head_difference", "moved_weight", "compare_points"}


def test_with_nothing_pinned_one_button_pins_the_other_place_of_the_norms() -> None:
    app = open_page("compare")
    assert not charts(app)
    press(app, "compare_start_norms")
    assert values(app, "weights", "norm_placement") == {"weights": "random", "norm_placement": "pre"}
    assert charts(app).keys() == {"compare_points"}, "what proves the answer, and nothing else until it is opened"
    written = component_data(app, "address_guard")["parameters"]
    assert {key: texts for key, texts in written.items() if texts and key.startswith("b_")} == {
        "b_norm_placement": ["post"]
    }
    assert sentences(app) == ""
    assert charts(open_panels(app, *PANELS)).keys() == ALWAYS | SAME_TOKENS


def test_other_pairs_differ_in_the_weights_or_in_one_head() -> None:
    written = component_data(press(open_page("compare"), "compare_start_weights"), "address_guard")["parameters"]
    assert written["b_weights"] == ["random"]
    assert not written.get("weights")
    app = press(open_page("compare", layer=9, head=9), "compare_start_head")
    written = component_data(app, "address_guard")["parameters"]
    assert (written["do"], written["b_do"]) == (["5.9:zero"], [""])
    assert charts(app).keys() == {"compare_points"}
    assert "compare_start_weights" not in {button.key for button in open_page("compare", **SMALL).button}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("changes", "drawn"),
    [
        ({}, (ALWAYS | SAME_TOKENS) - {"head_pinned", "head_now", "head_difference", "moved_weight"}),
        ({"b_n_layers": 1, "b_n_heads": 1, "b_norm": "none", "layer": 1, "head": 3}, ALWAYS | SAME_TOKENS),
        ({"b_d_model": 15, "b_n_heads": 3, "b_residual": False}, ALWAYS | SAME_TOKENS - {"compare_points"}),
        ({"b_text": "one", "b_tokenizer": "word"}, ALWAYS),
        ({"b_tokenizer": "vectors", "b_positions": "none", "text": "a b a"}, ALWAYS),
        ({"text": ODD_TEXT, "sentence": 2, "b_sentence": 3, "b_norm": "rms"}, ALWAYS),
        ({"norm": "none", "n_layers": 96, "d_model": 64, "b_norm": "layer", "layer": 95}, set()),
    ],
    ids=["fused", "smaller", "odd width", "one word", "vectors", "sentences", "overflow"],
)  # fmt: skip
def test_any_two_settings_can_be_compared(changes: dict[str, Any], drawn: set[str]) -> None:
    app = without_error(open_page("compare", **SMALL | PANELS | {"b_fused_qkv": True} | changes))
    assert charts(app).keys() == drawn
    assert "nan" not in words(app).lower().split()

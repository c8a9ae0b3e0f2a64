"""Pages that show the pinned settings beside the present ones: both sides' numbers against ones computed here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from playground import ModelConfig, count_parameters
from playground.presets import PRESETS
from playground.web.session import caches
from playground.web.views.compare import instructive_pair
from tests.web.app_test import (
    ODD_TEXT,
    SMALL,
    SMALL_CONFIG,
    answer,
    array,
    captions,
    charts,
    choose,
    component_data,
    open_page,
    open_panels,
    press,
    sentences,
    small_trace,
    trained_trace,
    values,
    without_error,
    words,
)  # fmt: skip

ALWAYS = {"head_pinned", "head_now", "compare_norms", "compare_parameters", "compare_flops"}
SAME_TOKENS = {"head_difference", "moved_weight", "compare_points"}
SAME_HEADS = (ALWAYS | SAME_TOKENS) - {"head_pinned", "head_difference"}
PANELS = {"compare_head": True, "compare_lengths": True, "compare_costs": True}


def lengths(trace: Any, n_layers: int) -> list[float]:
    names = ["embed.out", *(f"layers.{i}.out" for i in range(n_layers))]
    return [float(np.median(torch.linalg.vector_norm(trace[name][0], dim=-1))) for name in names]


def dotted(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [trace for trace in traces if trace["line"].get("dash") == "dot"]


# --- charts of other pages


def test_norms_of_both_lie_on_one_chart() -> None:
    app = open_page("norms", **SMALL, text="abcab", b_n_layers=4, b_norm_placement="pre")
    ghost = dotted(charts(app)["norms_by_layer"])[0]
    expected = lengths(small_trace("abcab", n_layers=4, norm_placement="pre"), 4)
    np.testing.assert_allclose(array([ghost], name="y"), expected, rtol=1e-4)
    shown = array(charts(app)["norms_by_layer"], 1, "y")
    np.testing.assert_allclose(shown, lengths(small_trace("abcab"), 2), rtol=1e-4)
    assert f"the median length is {expected[-1]:.3g} (" in words(app).replace("\\", "")
    app = open_panels(app, "norms_by_layer_open")
    (frame,) = (each.value for each in app.dataframe)
    np.testing.assert_allclose(frame["residual, median, pinned"], expected, rtol=1e-4)
    np.testing.assert_allclose(frame["residual, median, now − pinned"].dropna(), shown - expected[:3], atol=1e-4)


def test_attention_shows_the_pinned_head_and_the_difference() -> None:
    app = open_page("attention", **SMALL, text="abcab", layer=1, head=2, b_seed=5)
    before, after = (small_trace("abcab", seed)["layers.1.attn.pattern"][0, 2].numpy() for seed in (5, 0))
    np.testing.assert_allclose(array(charts(app)["head_pinned"], name="customdata"), before, atol=1e-5)
    np.testing.assert_allclose(array(charts(app)["head_difference"]), after - before, atol=1e-5)
    choose(app, attention_show="average of heads", attention_hide=True)
    mean = small_trace("abcab", 5)["layers.1.attn.pattern"][0].mean(dim=0).numpy()
    np.testing.assert_allclose(array(charts(app)["head_pinned"], name="customdata"), mean, atol=1e-5)


def test_other_tokens_have_no_map_of_the_difference_and_the_nearest_head_is_shown() -> None:
    app = open_page("attention", text="he saw Tom", b_text="she saw Ann and Bob", layer=5, head=11)
    assert "head_pinned" in charts(app)
    assert "head_difference" not in charts(app)
    pattern = trained_trace("she saw Ann and Bob")["layers.5.attn.pattern"][0, 11].numpy()
    np.testing.assert_allclose(array(charts(app)["head_pinned"], name="customdata"), pattern, atol=1e-4)
    app = open_page("attention", **SMALL, layer=1, head=3, b_n_layers=1, b_n_heads=2)
    assert "it has no layer 1 and no head 3" in captions(app)
    assert "Layer 0, head 1." in captions(app)


def test_parameters_have_deltas_for_the_sidebars_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("this page only counts")

    monkeypatch.setattr(caches, "run_sentence", refuse)
    app = open_page(
        "parameters",
        **SMALL,
        parameters_formulas=True,
        parameters_costs=True,
        b_n_layers=96,
        b_d_model=12288,
        b_n_heads=96,
    )
    config = ModelConfig(**SMALL_CONFIG | {"max_len": 512})
    now = count_parameters(config).total
    pinned = count_parameters(replace(config, n_layers=96, d_model=12288, n_heads=96)).total
    assert app.metric[0].value == f"{now:,}"
    assert app.metric[0].delta == f"{now - pinned:+,} since pinned"
    pale = [trace for trace in charts(app)["parameter_breakdown"] if trace.get("opacity") == 0.5]
    assert sum(float(array([trace], name="x")[0]) for trace in pale) == pinned
    choose(app, parameters_model="bert-base")
    assert not app.metric[0].delta
    assert not [trace for trace in charts(app)["parameter_breakdown"] if "opacity" in trace]
    without_error(choose(app, parameters_view="layers", parameters_model="sidebar"))


def test_the_overview_counts_both() -> None:
    app = open_page("overview", **SMALL, b_n_layers=4, overview_more=True)
    assert "2 → 4" not in words(app)
    assert "6.06 k" in captions(app).replace("\\", "")
    assert dotted(charts(app)["overview_norms"])


# --- the page


def test_with_nothing_pinned_one_button_pins_the_other_place_of_the_norms() -> None:
    app = open_page("compare")
    assert not charts(app)
    press(app, "compare_start")
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
    assert "part **in layer 5**" in answer(app)
    random = open_page("compare", **SMALL)
    assert {button.key for button in random.button} >= {"compare_start", "compare_start_head"}
    assert "compare_start_weights" not in {button.key for button in random.button}


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("norm", ["layer", "none"])
def test_the_pair_differs_in_one_choice_that_does_something(name: str, norm: str) -> None:
    before, after = instructive_pair({**vars(PRESETS[name].config), "weights": "minilm", "norm": norm})
    assert len([key for key in after if before[key] != after[key]]) == 1
    assert before["weights"] == after["weights"] == "random"
    assert "none" not in (after["norm"], before["norm"]) or before["norm_placement"] == after["norm_placement"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("changes", "drawn"),
    [
        ({}, SAME_HEADS),
        ({"b_fused_qkv": False, "pinned": True}, SAME_HEADS),
        ({"b_n_layers": 1, "b_n_heads": 1, "b_norm": "none", "layer": 1, "head": 3}, ALWAYS | SAME_TOKENS),
        ({"b_d_model": 15, "b_n_heads": 3, "b_residual": False}, ALWAYS | SAME_TOKENS - {"compare_points"}),
        ({"b_d_model": 32, "b_causal": True}, ALWAYS | SAME_TOKENS),
        ({"b_text": "one", "b_tokenizer": "word"}, ALWAYS),
        ({"b_text": "x", "b_n_layers": 1}, ALWAYS),
        ({"b_tokenizer": "vectors", "b_positions": "none", "text": "a b a"}, ALWAYS),
        ({"b_weights": "minilm", "b_tokenizer": "wordpiece"}, ALWAYS),
        ({"text": ODD_TEXT, "sentence": 2, "b_sentence": 3, "b_norm": "rms"}, ALWAYS),
        ({"norm": "none", "n_layers": 96, "d_model": 64, "b_norm": "layer", "layer": 95}, ALWAYS | SAME_TOKENS),
    ],
    ids=["the same", "fused", "smaller", "odd width", "causal", "one word", "one token", "vectors", "trained",
         "sentences", "overflow"],
)  # fmt: skip
def test_any_two_settings_can_be_compared(changes: dict[str, Any], drawn: set[str]) -> None:
    app = without_error(open_page("compare", **SMALL | PANELS | {"b_fused_qkv": True} | changes))
    if "pinned" in changes:
        assert "now (the same)" in captions(app).replace("\\", "")
        assert "Pinned and now are **the same**" in answer(app)
    assert charts(app).keys() == drawn
    assert answer(app).endswith(".")
    assert "nan" not in words(app).lower().split()
    if changes.get("norm") == "none":
        assert "too large for 32-bit floats" in words(app).replace("\\", "")


def test_tables_and_code_open() -> None:
    app = open_page("compare", **SMALL | PANELS, b_n_layers=4, b_seed=9)
    open_panels(app, *(f"{chart}_open" for chart in ALWAYS | SAME_TOKENS), "compare_code")
    assert len(app.dataframe) == len(ALWAYS | SAME_TOKENS)
    assert all(not frame.value.empty for frame in app.dataframe)
    assert any("def moved_weight" in code.value for code in app.code)

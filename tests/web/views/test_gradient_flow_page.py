"""The Gradient flow page, its numbers against ones computed here."""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import ModelConfig, count_parameters
from playground.analysis.gradient_reading import CHAIN_FORMULAS, chain_numbers
from playground.analysis.gradient_variants import VARIANTS, common_config, compare
from playground.analysis.gradients import Flow
from playground.link.params import DEFAULT_TEXT
from playground.link.query import values_of_preset
from playground.presets import PRESETS
from playground.text import characters
from playground.web.session.services import services
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    open_page,
    open_panels,
    sentences,
    without_error,
    words,
    working,
)

SMALL = {
    "weights": "random", "tokenizer": "char", "d_model": "16", "n_heads": "4", "d_ff": "32", "text": "abcd",
    "gradient_layers": "3",
}  # fmt: skip
CONFIG = ModelConfig(**{**SMALL_CONFIG, "positions": "learned"})
NAMES = [variant.name for variant in VARIANTS]
PARTS = ["whole layer", "attention", "feed-forward", "norms", "stream"]


def page(**query: object) -> AppTest:
    return without_error(open_page("gradient_flow", **query))


def flows(config: ModelConfig, ids: torch.Tensor, n_layers: int, **how: Any) -> dict[str, Flow]:
    """What becomes of the gradient in each of the six, by name, without the app."""
    compared = compare(common_config(config, n_layers), 0, ids, (n_layers,), **how).flows[n_layers]
    return {variant.name: flow for variant, flow in compared.items()}


def lines(app: AppTest, chart: str = "gradient_by_layer") -> dict[str, NDArray[np.float64]]:
    traces = charts(app)[chart]
    return {trace["name"]: array(traces, i, "y") for i, trace in enumerate(traces) if trace["mode"] == "lines+markers"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "rms", "final_norm": True, "causal": True},
        {"norm": "none"},
        {"norm_placement": "pre", "residual": False, "positions": "sinusoidal"},
    ],
    ids=str,
)
def test_six_gradients_are_drawn_as_they_are(changes: dict[str, Any]) -> None:
    app = page(**SMALL | changes)
    causal, kinds = changes.get("causal", False), {key: value for key, value in changes.items() if key != "causal"}
    expected = flows(replace(CONFIG, **kinds), characters().encode_batch(["abcd"]).ids[0], 3, causal=causal)
    assert list(lines(app)) == list(expected) == NAMES
    for name, flow in expected.items():
        np.testing.assert_allclose(lines(app)[name], flow.gradients["whole layer"], rtol=1e-5)
        np.testing.assert_allclose(lines(app, "gradient_lengths")[name], flow.lengths, rtol=1e-5)
    assert ("as the sidebar's norm is none" in captions(app)) is (changes.get("norm") == "none")


def test_the_default_page_tells_what_becomes_of_the_gradient() -> None:
    app = page()
    config = replace(PRESETS["minilm-l6"].config, n_layers=12)
    ids = checkpoint.load("minilm")[1].encode_batch([DEFAULT_TEXT]).ids[0]
    expected = flows(config, ids, 12)["post-norm"].gradients["whole layer"]
    np.testing.assert_allclose(lines(app)["post-norm"], expected, rtol=1e-3)

    ratios = {name: norms[0] / norms[-1] for name, norms in lines(app).items()}
    assert ratios["no norm, no residual"] < 1e-3
    assert 1 < ratios["no norm"] < 1e3
    verdicts = [str(badge).split("[")[1].rstrip("]") for badge in app.table[0].value["verdict"]]
    assert verdicts == ["steady", "steady", "steady", "steady", "steady", "vanishing"]
    assert "Does the gradient reach layer 0?** **Yes, in 5 of 6 encoders.**" in words(app)
    assert f"*post-norm* (× {ratios['post-norm']:.2g})" in words(app)
    size = count_parameters(config).total / 1e6
    assert f"16 tokens · 6 encoders, 12 layers × 12 heads, {size:.3g} M parameters each" in captions(app)
    assert ":orange-badge[random weights], instead" in captions(app)
    assert f"even guess costs ln 30,522 = {np.log(30_522):.3g}" in captions(app)


def test_tutorial_ds_exercise_is_answered_by_its_gradients() -> None:
    app = page(**tutorial_d(), gradient_layers=6)
    verdicts = [str(badge).split("[")[1].rstrip("]") for badge in app.table[0].value["verdict"]]
    ratios = {name: norms[0] / norms[-1] for name, norms in lines(app).items()}
    assert [name for name, ratio in ratios.items() if ratio < 1e-3] == ["no norm, no residual"]
    assert max(ratios.values()) < 1e3
    assert [name for name, verdict in zip(NAMES, verdicts, strict=True) if verdict == "vanishing"] == [NAMES[-1]]
    assert "Does the gradient reach layer 0?** **Yes, in 5 of 6 encoders.**" in words(app)
    assert "The rows are 22.6 long here" in captions(app)


def tutorial_d() -> dict[str, object]:
    """A link to tutorial D's encoder, which has N(0, 1) tables."""
    return {"weights": "random"} | values_of_preset("tutorial-d", has_wordpiece=True)


def test_a_norm_on_the_embeddings_changes_no_verdict() -> None:
    """The default page's sidebar has one."""
    with_norm, without = (page(embedding_norm=on) for on in (True, False))
    assert with_norm.table[0].value.equals(without.table[0].value)
    np.testing.assert_array_equal(lines(with_norm)["no norm"], lines(without)["no norm"])


def test_a_steady_gradient_that_is_far_too_long_is_called_so() -> None:
    shown = page(embedding_norm=True, gradient_scale=1.4).table[0].value
    row = shown.loc["**no norm, no residual**"]
    assert row["verdict"] == ":orange-badge[steady, but huge]"
    assert "10^{4}" in row["first"]


def test_the_summary_is_the_lines_ends() -> None:
    app = open_panels(page(**SMALL), "gradient_by_layer_open")
    (numbers,) = app.dataframe
    shown = app.table[0].value
    assert list(shown.columns) == ["verdict", "first / last", "first", "last", "tables", "loss", "tokens alike"]
    for name, norms in lines(app).items():
        np.testing.assert_array_equal(numbers.value[name], norms)
        row = shown.loc[f"**{name}**"]
        assert row["verdict"] == ":green-badge[steady]"
        for column, number in (("first", norms[0]), ("last", norms[-1]), ("first / last", norms[0] / norms[-1])):
            assert float(str(row[column]).strip("$")) == pytest.approx(number, rel=1e-2)
        assert 0 < float(str(row["tokens alike"])) <= 1


def test_every_part_has_its_gradients_and_the_streams_multiply_up() -> None:
    app = page(**SMALL)
    whole = lines(app)
    for part in PARTS:
        drawn = lines(choose(app, gradient_of=part))
        assert list(drawn) == [name for name in NAMES if part != "norms" or "no norm" not in name]
        assert {len(norms) for norms in drawn.values()} == {4 if part == "stream" else 3}
        if part in {"attention", "feed-forward", "norms"}:
            assert all((norms < whole[name]).all() for name, norms in drawn.items())
        assert f"Gradient norms of the {part}." in captions(app)
    compared = flows(CONFIG, characters().encode_batch(["abcd"]).ids[0], 3)
    for variant in VARIANTS:
        shown = tuple(map(str, app.table[1].value.loc[f"**{variant.name}**"]))
        formula = CHAIN_FORMULAS[variant.norm, variant.residual]
        assert shown == (f"${formula}$", f"${chain_numbers(compared[variant.name])}$")


def test_the_sweep_ends_where_the_page_stands_and_sliders_change_it() -> None:
    app = page(**SMALL | {"gradient_layers": 6}, gradient_view="depth sweep")
    assert list(array(charts(app)["gradient_by_depth"], 0, "x")) == [1, 2, 4, 6]
    swept, drawn = lines(app, "gradient_by_depth"), lines(app)
    for name, norms in swept.items():
        assert norms[-1] == drawn[name][0]
        assert f"{name} × {norms[-1] / norms[0]:.2g}" in captions(app)
    for name, norms in lines(choose(app, gradient_layers=2)).items():
        np.testing.assert_allclose(swept[name][1], norms[0], rtol=1e-5)
    before = lines(app)["post-norm"]
    assert np.abs(lines(choose(app, gradient_scale=2.0))["post-norm"] / before - 1).max() > 1e-2


def test_numbers_beyond_their_range_are_named() -> None:
    app = page(
        **SMALL | {"gradient_layers": "48", "gradient_scale": "4.0", "d_model": "64"}, gradient_view="depth sweep"
    )
    assert ":red-badge[not a number]" in set(app.table[0].value["verdict"])
    crosses = [trace for trace in charts(app)["gradient_by_layer"] if trace["mode"] == "markers+text"]
    assert "no norm" in {trace["name"] for trace in crosses}
    assert {word for trace in crosses for word in trace["customdata"]} <= {"NaN", "∞", "0"}
    faint = page(**SMALL | {"gradient_layers": "48", "gradient_scale": "0.25"})
    assert all(text in words(faint) for text in ("**Vanishing**: ", "*no norm, no residual* (× 0)."))
    assert ":blue-badge[vanishing]" in set(faint.table[0].value["verdict"])


def test_one_layer_and_one_token_are_enough() -> None:
    app = page(**SMALL | {"text": "a", "gradient_layers": 1, "n_heads": 1, "positions": "none"})
    for part, view in product(("norms", "stream"), ("chain rule", "depth sweep")):
        choose(app, gradient_of=part, gradient_view=view)
        assert ("first and last at once" in words(app)) is (part != "stream")
        assert bool(app.info) is (view == "depth sweep")
        assert set(app.table[0].value["tokens alike"]) == {"–"}


def test_a_long_sentence_is_cut() -> None:
    app = page(**SMALL | {"text": "ab" * 50})
    assert "The first 64 tokens of the sentence take part; 36 more are left out." in sentences(app)
    assert "64 tokens · 6 encoders" in captions(app)


def test_encoders_too_large_are_refused_with_the_number_of_layers_that_fits() -> None:
    shape = {"weights": "random", "d_model": "1024", "n_heads": "16", "d_ff": "4096"}
    app = working(open_page("gradient_flow", **shape, gradient_layers="48"))
    assert f"this server runs at most {services().settings.max_parameters:,}" in sentences(app)
    fits = int(re.search(r": (\d+) layers of this shape would fit", sentences(app)).group(1))  # type: ignore[union-attr]
    vocab_size = checkpoint.load("minilm")[1].vocab_size
    large = replace(CONFIG, vocab_size=vocab_size, d_model=1024, n_heads=16, d_ff=4096)
    for n_layers, fit in ((fits, True), (fits + 1, False)):
        assert (count_parameters(replace(large, n_layers=n_layers)).total <= services().settings.max_parameters) is fit
    assert not charts(app)

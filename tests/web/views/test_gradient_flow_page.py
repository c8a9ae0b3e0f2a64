"""The Gradient flow page: its widgets, what it refuses, and its numbers against ones computed here."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import ModelConfig, count_parameters
from playground.analysis.gradient_variants import common_config, compare
from playground.presets import PRESETS
from playground.text import characters
from playground.views.gradient_training import pair_recipe
from playground.web.session.experiments import EXPERIMENTS
from playground.web.session.services import services
from playground.web.views import gradient_flow
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    open_page,
    press,
    sentences,
    without_error,
    words,
    working,
)
from tests.web.experiment_pages import ended

SMALL = {
    "weights": "random", "tokenizer": "char", "d_model": "16", "n_heads": "4", "d_ff": "32", "text": "abcd",
    "gradient_layers": "3",
}  # fmt: skip
CONFIG = ModelConfig(**{**SMALL_CONFIG, "positions": "learned"})


def page(**query: object) -> AppTest:
    return without_error(open_page("gradient_flow", gradient_six=True, **query))


def lines(app: AppTest, chart: str = "gradient_six_by_layer") -> dict[str, NDArray[np.float64]]:
    traces = charts(app)[chart]
    return {trace["name"]: array(traces, i, "y") for i, trace in enumerate(traces) if trace["mode"] == "lines+markers"}


def test_six_gradients_are_those_of_the_sidebars_choices() -> None:
    changes: dict[str, Any] = {"norm": "rms", "final_norm": True, "norm_placement": "pre", "residual": False}
    app = page(**SMALL | changes, causal=True, gradient_scale=2.0)
    ids = characters().encode_batch(["abcd"]).ids[0]
    expected = compare(common_config(replace(CONFIG, **changes), 3), 0, ids, (3,), scale=2.0, causal=True)
    for variant, flow in expected.full_depth.items():
        np.testing.assert_allclose(lines(app)[variant.name], flow.gradients["whole layer"], rtol=1e-5)
        np.testing.assert_allclose(lines(app, "gradient_lengths")[variant.name], flow.lengths, rtol=1e-5)


@pytest.mark.long
def test_the_default_page_answers_its_question() -> None:
    app = page()
    assert "Does the gradient reach layer 0?** **Yes, in 5 of 6 encoders.**" in words(app)
    size = count_parameters(replace(PRESETS["minilm-l6"].config, n_layers=12)).total / 1e6
    assert f"16 tokens · 6 encoders, 12 layers × 12 heads, {size:.3g} M parameters each" in captions(app)
    assert ":orange-badge[random weights], instead" in captions(app)
    choose(app, gradient_view="loss")
    assert f"even guess costs ln 30,522 = {np.log(30_522):.3g}" in captions(app)


@pytest.mark.long
def test_sliders_change_the_numbers_and_the_closer_view() -> None:
    app = page(**SMALL, gradient_view="depth sweep")
    before, swept = lines(app)["post-norm"], lines(app, "gradient_by_depth")["post-norm"]
    np.testing.assert_allclose(lines(choose(app, gradient_layers=2))["post-norm"][0], swept[1], rtol=1e-5)
    assert np.abs(lines(choose(app, gradient_scale=2.0))["post-norm"] / before[:2] - 1).max() > 1e-2
    choose(app, gradient_of="norms", gradient_view="chain rule")
    assert len(lines(app)) == 4
    assert len(app.table) == 2


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


@pytest.mark.long
@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_both_are_trained_and_the_outcome_has_their_two_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(pair_recipe(0), steps=2, n_train=64, n_validation=40)
    monkeypatch.setattr(gradient_flow, "pair_recipe", lambda seed: replace(short, seed=seed))
    app = choose(page(**SMALL), gradient_second="pre-norm")
    app = ended(press(app, "gradient-flow_start"), "gradient-flow")
    results = app.session_state[EXPERIMENTS].get("gradient-flow").state.results
    assert [each.run.title for each in results] == ["no norm", "pre-norm"]
    assert all(f"**{each.run.title}** {each.unbatched.accuracy:.1%}" in words(app) for each in results)
    assert "no longer this run's" not in sentences(app)
    assert "*post-norm* and *pre-norm* are chosen now" in sentences(choose(app, gradient_first="post-norm"))
    assert "seed 0 → 5" in sentences(choose(app, gradient_first="no norm", seed=5))

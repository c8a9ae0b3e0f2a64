"""The Norms page, its numbers against ones computed here."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Trace
from playground.text.wording import write_number
from tests.web import app_test
from tests.web.app_test import SMALL, array, charts, choose, formulas, small_trace, trained_trace, without_error, words


def page(**query: object) -> AppTest:
    return without_error(app_test.open_page("norms", **{"norms_closer": True, **query}))


def stream_lengths(trace: Trace, n_layers: int) -> NDArray[np.float64]:
    """Median over the tokens of a single sentence without padding, by depth."""
    names = ["embed.out", *(f"layers.{i}.out" for i in range(n_layers))]
    return np.array([float(np.median(torch.linalg.vector_norm(trace[name][0], dim=-1))) for name in names])


def test_the_trained_models_stream_is_drawn_and_described() -> None:
    trace, app = trained_trace(), page()
    expected = stream_lengths(trace, 6)
    np.testing.assert_allclose(array(charts(app)["norms_by_layer"], 1, "y"), expected, rtol=1e-4)
    assert f"from **{expected[0]:.3g}** to **{max(expected):.3g}** after layer {expected.argmax() - 1}," in words(app)
    assert f"and shrink to **{expected[-1]:.3g}** by the end of 6 layers" in words(app)
    for number in (f"{expected[1:].min():.3g}", f"{expected[1:].max():.3g}", "√384 = 19.6"):
        assert number in words(app)


@pytest.mark.parametrize(
    ("changes", "goes_on_growing"),
    [
        ({}, False),
        ({"norm_placement": "pre", "final_norm": True}, True),
        ({"norm": "none"}, True),
        ({"norm": "rms", "residual": False}, False),
        ({"norm": "scalar", "n_layers": 1, "n_heads": 1}, False),
    ],
    ids=str,
)
def test_random_weights_are_drawn_as_they_are(changes: dict[str, Any], goes_on_growing: bool) -> None:
    expected = stream_lengths(small_trace("0123456789", 3, **changes), changes.get("n_layers", 2))
    app = page(**SMALL | changes, text="0123456789", seed=3)
    np.testing.assert_allclose(array(charts(app)["norms_by_layer"], 1, "y"), expected, rtol=1e-4)
    assert (f"from {expected[0]:.3g} to {expected[-1]:.3g}" in words(app)) == goes_on_growing


def test_lengths_that_differ_by_rounding_have_one_colour() -> None:
    app = page(**SMALL | {"d_model": "96"})
    (cells,) = charts(app)["norms_by_token"]
    assert cells["zmin"] == 0
    assert np.ptp(array([cells])) < 1e-5 * cells["zmax"]


def test_cosines_are_those_of_the_chosen_depth() -> None:
    app, trace = page(**SMALL, text="abcab", norms_view="cosines"), small_trace("abcab")
    units = [torch.nn.functional.normalize(trace[name][0], dim=-1) for name in ("embed.out", "layers.1.out")]
    cosines = [(unit @ unit.T).numpy() for unit in units]
    means = [f"{expected[~np.eye(5, dtype=bool)].mean():.2f}" for expected in cosines]
    for depth, expected, here in zip((0, 2), cosines, means, strict=True):
        choose(app, norms_layer=depth)
        np.testing.assert_allclose(array(charts(app)["cosines_between_tokens"]), expected, atol=1e-5)
        assert f"is {here}; at the embeddings {means[0]}, after the last layer {means[1]}" in words(app)


def test_one_norm_is_worked_out_by_hand() -> None:
    app, trace = page(**SMALL, text="abc", norms_view="by hand"), small_trace("abc")
    for number, name, token in ((0, "embed.norm", 1), (4, "layers.1.norm2", 2)):
        choose(app, norms_norm=number, query=token)
        assert f"`{name}` of `{'abc'[token]}` at position {token}" in words(app)
        general, worked_out = formulas(app)
        assert general.startswith(r"{\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \epsilon}}}")
        assert worked_out.endswith(f"= {float(trace[f'{name}.normalized'][0, token, 0]):.4g}")
        assert f"out₀ = {write_number(float(trace[f'{name}.out'][0, token, 0]), 4)}." in words(app)


def test_the_norm_by_hand_opens_at_the_chosen_layer_and_at_the_one_that_a_link_names() -> None:
    app = page(**SMALL, text="abc", layer=1)
    choose(app, norms_view="by hand")
    assert "`layers.1.norm1` of" in words(app)
    choose(app, norms_norm=2, norms_view="tokens")
    choose(app, norms_view="by hand")
    assert "`layers.0.norm2` of" in words(app), "what was chosen stays"
    assert "`embed.norm` of" in words(page(**SMALL, text="abc", layer=1, norms_view="by hand")), "an older link"

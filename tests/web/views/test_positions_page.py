"""The Positions page, its numbers against ones computed here."""

from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.analysis.positions import addition, describe_swap, sum_with_numbers, swap_words
from playground.model.encoder import sinusoids, wavelengths
from playground.text import characters
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL,
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    formulas,
    open_page,
    sentences,
    small_trace,
    values,
    without_error,
    words,
)  # fmt: skip


def page(**query: object) -> AppTest:
    return without_error(open_page("positions", **query))


def test_a_learned_table_is_drawn_and_told_from_a_random_one() -> None:
    encoder, _ = checkpoint.load("minilm")
    table = encoder.embed.position_vectors(128).numpy()
    app = page()
    np.testing.assert_array_equal(array(charts(app)["position_table"]), table[:, :256])
    assert "positions 0 to 127 of 512, dimensions 0 to 255 of 384" in captions(app)
    lengths = np.linalg.norm(table, axis=1)
    assert f"of these 128 rows is {lengths.mean():.3g}" in captions(app)
    assert f"position 0: {lengths[0]:.3g}" in captions(app)
    assert "**This table is learned.**" in words(app)
    assert "random" not in words(app)
    app = page(**SMALL | {"positions": "learned"})
    drawn = (
        Encoder(ModelConfig(**SMALL_CONFIG | {"positions": "learned"}), seed=0)
        .embed.position_vectors(128)
        .detach()
        .numpy()
    )
    np.testing.assert_array_equal(array(charts(app)["position_table"]), drawn)
    assert "random: nothing is trained yet" in words(app)


@pytest.mark.parametrize(("positions", "d_model"), [("sinusoidal", 15), ("sinusoidal-doubled", 16), ("none", 16)])
def test_sinusoids_are_drawn_at_the_sidebars_width(positions: str, d_model: int) -> None:
    app = page(**SMALL | {"positions": positions, "d_model": str(d_model), "n_heads": "1", "max_len": "32"}, text="abc")
    expected = sinusoids(32, d_model, doubled=positions == "sinusoidal-doubled").numpy()
    np.testing.assert_array_equal(array(charts(app)["position_table"]), expected)
    assert f"positions 0 to 31 of 32, dimensions 0 to {d_model - 1} of {d_model}." in captions(app)
    assert ("**This encoder adds no positions**" in words(app)) is (positions == "none")
    assert (f"about {8**0.5:.3g}." in captions(app)) is (d_model == 16)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"positions": "sinusoidal"}, "the order is lost"),
        ({"positions": "learned"}, "the order is lost"),
        ({"positions": "none"}, "the order is lost"),
        ({"causal": True}, "the causal mask shows"),
        ({"head_merge": "reshape"}, "the reshape merge mixes"),
    ],
    ids=str,
)
def test_two_words_are_swapped_with_positions_and_without(changes: dict[str, Any], told: str) -> None:
    app = page(**SMALL | changes, text="abcdef", positions_first=1, positions_second=4)
    causal, kinds = changes.get("causal", False), {key: value for key, value in changes.items() if key != "causal"}
    encoder = Encoder(ModelConfig(**SMALL_CONFIG | kinds), seed=0)
    swap = swap_words(encoder, characters().encode_batch(["abcdef"]), 0, 1, 4, causal=causal)
    bars = charts(app)["swap_differences"]
    for i, expected in enumerate((swap.placed, swap.bare)):
        np.testing.assert_allclose(array(bars, i, "y"), expected, atol=2e-6)
    assert list(array(bars, 0, "x")) == ["a₀", "b₁", "c₂", "d₃", "e₄", "f₅"]
    assert describe_swap(encoder.config, swap, causal=causal) in captions(app)
    assert told in captions(app)


def test_sliders_choose_the_words_to_swap_if_there_are_two() -> None:
    app = page(**SMALL, text="abcdef")
    assert values(app, "positions_first", "positions_second") == {"positions_first": 2, "positions_second": 5}
    first = array(charts(app)["swap_differences"], 0, "y")
    assert np.abs(array(charts(choose(app, positions_first=0))["swap_differences"], 0, "y") - first).max() > 1e-3
    assert "Choose two different positions" in sentences(choose(app, positions_second=0))
    assert "swap_differences" not in charts(app)
    choose(app, text="abcabc", positions_first=1, positions_second=4)
    assert "are the same token to this encoder" in sentences(app)
    assert "swap_differences" not in charts(app)
    choose(app, text="ab", positions_second=1)
    assert list(array(charts(app)["swap_differences"], 0, "x")) == ["a₀", "b₁"]
    assert "only one token" in sentences(choose(app, text="a"))
    assert set(charts(app)) == {"position_table"}


@pytest.mark.parametrize(("scaled", "factor"), [("true", 4), ("false", 1)])
def test_what_is_added_is_measured(scaled: str, factor: int) -> None:
    tokens, rows = small_trace("abcd")["embed.tokens"][0].numpy() * factor, sinusoids(4, 16).numpy()
    app = page(**SMALL, scale_embeddings=scaled, text="abcd", positions_view="this sentence", query=1)
    bars, expected = charts(app)["addition_lengths"], addition(tokens, rows)
    for i, name in enumerate(("token", "position", "sum")):
        np.testing.assert_allclose(array(bars, i, "y"), expected[name], rtol=1e-5)
    assert f"{expected['relative'].min():.3g} to {expected['relative'].max():.3g} times as long" in captions(app)
    assert ("multiplied by √16 = 4" in captions(app)) is (scaled == "true")
    assert "the vector of segment 0 is added and a norm rescales the sum" in captions(app)
    assert formulas(app)[1] == sum_with_numbers(tokens, rows, 1)


def test_chosen_dimensions_are_curves_with_their_wavelengths() -> None:
    app = page(**SMALL, text="abcd", positions_view="curves", positions_curve_1="3", positions_curve_2="8")
    curves = charts(app)["position_curves"]
    table, waves = sinusoids(128, 16).numpy(), wavelengths(16)
    assert [curve["name"] for curve in curves] == ["dimension 3", "dimension 8", "dimension 15"]
    for i, dimension in enumerate((3, 8, 15)):
        np.testing.assert_array_equal(array(curves, i, "y"), table[:, dimension])
    assert f"{waves[1]:.3g} (dimension 3), {waves[4]:,.0f} (dimension 8), {waves[7]:,.0f} (dimension 15)" in captions(
        app
    )
    assert formulas(app)[1].endswith(f"= {table[3, 8]:.4g}")


def test_positions_are_compared() -> None:
    app, table = page(**SMALL, positions_view="similarity"), sinusoids(128, 16).double()
    for measure, expected in (("dot product", table @ table.T), ("distance", torch.cdist(table, table))):
        choose(app, positions_measure=measure)
        np.testing.assert_allclose(array(charts(app)["between_positions"]), expected.numpy(), atol=1e-5)
        np.testing.assert_allclose(array(charts(app)["by_offset"], 1, "y"), expected[0].numpy(), atol=1e-4)
        assert len(formulas(app)) == 1
    assert not formulas(choose(app, positions="learned")), "a learned table's likeness has none"
    odd = page(**SMALL | {"d_model": 15, "n_heads": 1}, positions_view="similarity")
    assert "leaves the last sine without its cosine" in captions(odd)


def test_both_exponents_stand_side_by_side() -> None:
    app = page(**SMALL | {"max_len": "64"}, positions_view="doubled exponent")
    tables = [sinusoids(64, 16, doubled=doubled).numpy() for doubled in (False, True)]
    for name, table in zip(("table_standard", "table_doubled"), tables, strict=True):
        np.testing.assert_array_equal(array(charts(app)[name]), table)
    waves = [wavelengths(16, doubled=doubled).numpy() for doubled in (False, True)]
    for i, expected in enumerate(waves):
        np.testing.assert_allclose(array(charts(app)["wavelengths"], i, "y"), expected)
    assert f"from {waves[0][0]:.3g} to {waves[0][-1]:,.0f} (standard) or {waves[1][-1]:,.0f} (doubled" in captions(app)
    turning = [int((lengths <= 64).sum()) for lengths in waves]
    assert f"Of 8 pairs, {turning[0]} complete a turn" in captions(app)
    assert f"with the doubled exponent {turning[1]} do" in captions(app)
    assert f"differ by up to {np.abs(tables[0] - tables[1]).max():.4g}." in captions(app)

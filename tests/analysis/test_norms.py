"""Norms' inputs and outputs, and a norm worked out by hand."""

import re

import numpy as np
import pytest
from hypothesis import given

from playground import Encoder, ModelConfig
from playground.analysis import streams
from playground.runs.encoder_run import Run, run
from playground.text import words
from tests.model.strategies import configs

SENTENCES = ["one two three", "two"]


def run_of(config: ModelConfig, sentence: int = 0) -> Run:
    return run(Encoder(config, 0), words(SENTENCES).encode_batch(SENTENCES), sentence)


@given(configs(vocab_size=3))
def test_every_norm_is_there_and_does_what_its_formula_says(config: ModelConfig) -> None:
    points = streams.norm_points(run_of(config))
    blocks = [f"layers.{i}.norm{n}" for i in range(config.n_layers) for n in (1, 2)]
    names = ["embed.norm"] * config.embedding_norm + blocks + ["final_norm"] * config.final_norm
    assert [point.name for point in points] == names
    for point in points:  # a new norm has gain 1 and bias 0: what it hands out is what its formula gives
        if config.norm == "none":
            np.testing.assert_array_equal(point.after, point.before)
            continue
        for before, after in zip(point.before, point.after, strict=True):
            hand = streams.normalise_by_hand(before, config)
            np.testing.assert_allclose(hand.normalized, after, atol=2e-3)


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_statistics_are_means_over_real_tokens(placement: str) -> None:
    config = ModelConfig(vocab_size=3, d_model=8, n_heads=2, n_layers=2, d_ff=16, norm_placement=placement)  # type: ignore[arg-type]
    lonely = run_of(config, sentence=1)
    table = streams.norm_statistics(streams.norm_points(lonely))
    assert list(table.index) == ["layers.0.norm1", "layers.0.norm2", "layers.1.norm1", "layers.1.norm2"]
    into = "layers.0.out" if placement == "pre" else "layers.1.resid_mid"
    x = lonely.arrays[into][0].astype(np.float64)
    row = table.loc["layers.1.norm1"]
    assert row["mean before"] == pytest.approx(sum(x) / 8, abs=1e-7)
    assert row["std before"] == pytest.approx(np.sqrt(sum((x - sum(x) / 8) ** 2) / 8))
    assert row["mean after"] == pytest.approx(0, abs=1e-6)
    assert row["std after"] == pytest.approx(1, abs=1e-3)


def test_statistics_of_an_overflow_are_nan() -> None:
    point = streams.NormPoint("layers.0.norm1", np.array([[np.inf, 1]], np.float32), np.ones((1, 2), np.float32))
    assert streams.norm_statistics([point]).isna().sum().sum() == 1


@pytest.mark.parametrize(
    ("norm", "mean", "spread", "first", "line"),
    [
        ("layer", 4.0, 5.0, -3 / 6**0.5, r"\frac{1 - 4}{\sqrt{5 + 1}} = -1.225"),
        ("rms", 0.0, 21.0, 1 / 22**0.5, r"\frac{1}{\sqrt{21 + 1}} = 0.2132"),
        ("scalar", 4.0, (20 / 3) ** 0.5, -3 / ((20 / 3) ** 0.5 + 1), r"\frac{1 - 4}{2.582 + 1} = -0.8375"),
    ],
)
def test_by_hand_on_four_numbers(norm: str, mean: float, spread: float, first: float, line: str) -> None:
    config = ModelConfig(vocab_size=1, d_model=4, n_heads=1, norm=norm, norm_eps=0.999999)  # type: ignore[arg-type]
    x = np.array([1, 3, 5, 7], np.float32)
    hand = streams.normalise_by_hand(x, config)
    assert (hand.mean, hand.spread) == pytest.approx((mean, spread))
    assert hand.normalized[0] == pytest.approx(first, rel=1e-5)
    assert hand.off < 1e-6
    assert streams.formula_with_numbers(x, hand, config) == rf"\hat{{x}}_0 = {line}"
    assert streams.formula(config).startswith(r"\hat{x}_i = \frac")


def test_no_norm_cannot_be_worked_out() -> None:
    config = ModelConfig(vocab_size=1, d_model=4, n_heads=1, norm="none")
    with pytest.raises(ValueError, match="nothing to normalise"):
        streams.normalise_by_hand(np.ones(4, np.float32), config)


@pytest.mark.parametrize("size", [1e-30, 1.2e-7, 3e12, 1e30])
@pytest.mark.parametrize("norm", ["layer", "rms", "scalar"])
def test_no_formula_holds_a_computers_power_of_ten(norm: str, size: float) -> None:
    config = ModelConfig(vocab_size=1, d_model=4, n_heads=1, norm=norm, norm_eps=1e-12)  # type: ignore[arg-type]
    x = np.array([-1, 3, 5, 7], np.float32) * np.float32(size)
    with np.errstate(over="ignore", invalid="ignore"):
        line = streams.formula_with_numbers(x, streams.normalise_by_hand(x, config), config)
    assert not re.search(r"\de[-+]\d", line)
    assert r"\cdot 10^{" in line
    assert " - -" not in line
    assert streams.formula_with_numbers(-x, streams.normalise_by_hand(-x, config), config).count(" - (-") == (
        norm != "rms"
    )

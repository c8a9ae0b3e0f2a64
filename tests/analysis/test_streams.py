"""Lengths and angles of the residual stream, and its norms, against torch and worked out by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from torch.nn.functional import cosine_similarity

from playground import Encoder, ModelConfig
from playground.analysis import streams
from playground.runs.encoder_run import Run, run
from playground.text import words
from tests.model.strategies import configs

SENTENCES = ["one two three four five", "two"]


def run_of(config: ModelConfig, sentence: int = 0, seed: int = 0) -> Run:
    tokenizer = words(SENTENCES)
    return run(Encoder(config, seed), tokenizer.encode_batch(SENTENCES), sentence)


def test_l2_is_torchs_norm_in_the_whole_range_of_fp32() -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 4, 7)).astype(np.float32)
    vectors[0, 0], vectors[0, 1], vectors[0, 2] = 0, 1e-30, 1e30  # whose squares fp32 does not hold
    expected = torch.linalg.vector_norm(torch.tensor(vectors).double(), dim=-1).numpy()
    np.testing.assert_allclose(streams.l2(vectors), expected, rtol=1e-6)
    assert np.isnan(streams.l2(np.array([[np.inf, 1.0], [np.nan, 1.0]], np.float32))).all()


@given(configs(vocab_size=5))
def test_lengths_are_those_of_the_trace_at_the_real_tokens(config: ModelConfig) -> None:
    lonely = run_of(config, sentence=1)  # one real token, four of padding
    lengths = streams.lengths(lonely)
    assert [len(values) for values in lengths.values()] == [config.n_layers + 1, config.n_layers, config.n_layers]
    last = config.n_layers - 1
    for part, depth, name in (
        ("residual", 0, "embed.out"),
        ("residual", -1, f"layers.{last}.out"),
        ("attention", -1, f"layers.{last}.attn.out"),
        ("feed-forward", 0, "layers.0.ffn.out"),
    ):
        expected = math.sqrt(sum(float(x) ** 2 for x in lonely.arrays[name][0]))
        assert lengths[part][depth, 0] == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_cosines_are_torchs_zero_at_zero_and_none_beyond_fp32() -> None:
    vectors = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32)
    vectors[1], vectors[4, 0] = 0, np.inf
    x = torch.tensor(vectors[:4])
    cosines = streams.cosine_between_tokens(vectors)
    np.testing.assert_allclose(cosines[:4, :4], cosine_similarity(x[:, None], x[None], dim=-1).numpy(), atol=1e-6)
    assert np.isnan(cosines[4]).all()


@given(configs(vocab_size=5))
def test_every_norm_is_there_and_does_what_its_formula_says(config: ModelConfig) -> None:
    points = streams.norm_points(run_of(config))
    behind = [""] if config.norm_placement != "both" else ["", "post_"]
    blocks = [f"layers.{i}.{where}norm{n}" for i in range(config.n_layers) for n in (1, 2) for where in behind]
    blocks = [name for name in blocks if config.has_norm1(int(name.split(".")[1])) or not name.endswith(".norm1")]
    names = ["embed.norm"] * config.embedding_norm + blocks + ["final_norm"] * config.final_norm
    assert list(points) == names
    for befores, afters in points.values():  # a new norm has gain 1 and bias 0
        if config.norm == "none":
            np.testing.assert_array_equal(afters, befores)
            continue
        for before, after in zip(befores, afters, strict=True):
            hand, _ = streams.normalise_by_hand(before, config)
            np.testing.assert_allclose(hand, after, atol=2e-3)


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_statistics_are_means_over_real_tokens(placement: str) -> None:
    config = ModelConfig(vocab_size=5, d_model=8, n_heads=2, n_layers=2, d_ff=16, norm_placement=placement)  # type: ignore[arg-type]
    lonely = run_of(config, sentence=1)
    table = streams.norm_statistics(streams.norm_points(lonely))
    assert list(table) == ["layers.0.norm1", "layers.0.norm2", "layers.1.norm1", "layers.1.norm2"]
    into = "layers.0.out" if placement == "pre" else "layers.1.resid_mid"
    x = lonely.arrays[into][0].astype(np.float64)
    row = table["layers.1.norm1"]
    assert row["mean before"] == pytest.approx(sum(x) / 8, abs=1e-7)
    assert row["std before"] == pytest.approx(np.sqrt(sum((x - sum(x) / 8) ** 2) / 8))
    assert row["mean after"] == pytest.approx(0, abs=1e-6)
    assert row["std after"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("norm", "first", "line"),
    [
        ("layer", -3 / 6**0.5, r"\frac{1 - 4}{\sqrt{5 + 1}} = -1.225"),
        ("rms", 1 / 22**0.5, r"\frac{1}{\sqrt{21 + 1}} = 0.2132"),
        ("scalar", -3 / ((20 / 3) ** 0.5 + 1), r"\frac{1 - 4}{2.582 + 1} = -0.8375"),
    ],
)
def test_by_hand_on_four_numbers(norm: str, first: float, line: str) -> None:
    config = ModelConfig(vocab_size=1, d_model=4, n_heads=1, norm=norm, norm_eps=0.999999)  # type: ignore[arg-type]
    x = np.array([1, 3, 5, 7], np.float32)
    hand, off = streams.normalise_by_hand(x, config)
    assert hand[0] == pytest.approx(first, rel=1e-5)
    assert off < 1e-6
    assert streams.formula_with_numbers(x, config) == rf"\hat{{x}}_0 = {line}"
    assert streams.formula(config).startswith(r"{\hat{x}_i = \frac")

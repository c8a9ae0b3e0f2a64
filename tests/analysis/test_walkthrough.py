"""Every stage worked out by hand is what the model computed, in every architecture."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.analysis.steps import Step, order, tutorial_b, work_out
from playground.analysis.walkthrough import Walk
from playground.config import NormPlacement
from playground.runs.encoder_run import LayerRun, trace_layer
from playground.text import characters
from tests.analysis.walks import BATCH
from tests.model.reference import scramble
from tests.model.strategies import configs

SMALL = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=9)


def layer_run(config: ModelConfig, layer: int = 0, *, sentence: int = 0, causal: bool = False) -> LayerRun:
    return trace_layer(scramble(Encoder(config, seed=1)), BATCH, sentence, layer, causal=causal)


def assert_close(step: Step, config: ModelConfig) -> None:
    tolerance = 1e-5
    if config.norm != "none" or config.embedding_norm:
        tolerance = 2e-3 if config.d_model < 4 else 1e-4  # a norm over few, nearly equal features enlarges rounding
    size = np.max(np.abs(step.traced), where=np.isfinite(step.traced), initial=1)
    assert step.off <= tolerance * size


# --- every stage, by hand and in the model


@given(
    config=configs(vocab_size=characters().vocab_size), data=st.data(), sentence=st.integers(0, 1), causal=st.booleans()
)
def test_by_hand_every_stage_is_what_the_model_computed(
    config: ModelConfig, data: st.DataObject, sentence: int, causal: bool
) -> None:
    layer = data.draw(st.integers(0, config.n_layers - 1))
    run = layer_run(config, layer, sentence=sentence, causal=causal)
    n_real = int((~run.run.padding).sum())
    walk = Walk(
        run,
        head=data.draw(st.integers(0, config.n_heads - 1)),
        query=data.draw(st.integers(0, n_real - 1)),
        key=data.draw(st.integers(0, 5)),
    )
    for stage in order(config):
        step = work_out(walk, stage)
        assert step.by_hand.shape == step.traced.shape
        assert step.by_hand.size
        assert_close(step, config)


def test_numbers_overflow_in_peace() -> None:
    config = replace(SMALL, norm="none", n_layers=120, d_model=64, d_ff=256)
    run = trace_layer(Encoder(config, seed=0), characters().encode_batch(["overflow"]), 0, 119)
    assert np.isnan(run["out"]).all()
    for stage in set(order(config)) - {"embedding", "mask", "merge"}:
        step = work_out(Walk(run, 0, 3, 1), stage)
        assert np.isnan(step.off)
        assert "NaN" in step.numbers[0]


# --- formulas


def test_formulas_show_the_first_numbers() -> None:
    run = layer_run(SMALL)
    walk = Walk(run, 1, 2, 0)
    assert work_out(walk, "embedding").formulas == (r"x = \sqrt{D}\, E_{\mathrm{id}} + P_t",)
    assert work_out(walk, "embedding").numbers[0].endswith(f"= {walk.first_sum[0][0]:.4g}")
    q, k, v = work_out(walk, "projections").numbers
    for line, name, value in (
        (q, "q_{t,0}", run["attn.q"][1, 2, 0]),
        (k, "k_{j,0}", run["attn.k"][1, 0, 0]),
        (v, "v_{j,0}", run["attn.v"][1, 0, 0]),
    ):
        assert f"{name} &=" in line
        assert f"= {value:.4g} " in line
    assert work_out(walk, "softmax").numbers[0].endswith(f"= {run['attn.pattern'][1, 2, 0]:.4g}")
    assert work_out(walk, "merge").numbers == (
        r"c_{2} = [\, z^{(0)}_{2} \;;\; z^{(1)}_{2} \;;\; z^{(2)}_{2} \;;\; z^{(3)}_{2} \,]",
    )


# --- the order of the stages


@pytest.mark.parametrize("placement", ["post", "pre"])
def test_tutorial_b_goes_from_attention_outwards_through_every_stage(placement: NormPlacement) -> None:
    config = replace(SMALL, norm_placement=placement)
    stages = tutorial_b(config)
    assert (stages[0], stages[8]) == ("dot products", "embedding")
    assert sorted(stages) == sorted(order(config))
    assert stages[9:] == tuple(stage for stage in order(config) if stage in stages[9:])

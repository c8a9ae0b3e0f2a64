"""Sources are carried through norms; the last depth of the lens is the network's answer."""

import math

import numpy as np
import pytest
import torch

from playground import ModelConfig, Trace
from playground.analysis.attribution import judge
from playground.analysis.streams import Source, logit_lens, split_stream
from playground.config import CHOICES
from playground.runs.encoder_run import run
from playground.text import characters
from playground.training.network import Tagger
from tests.analysis.walks import BATCH, score_of, small_encoder, walk_through
from tests.model.reference import scramble


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_each_source_is_carried_through_a_norm_whose_scale_is_held(norm: str) -> None:
    """The sum alone would not notice two sources that changed places."""
    encoder = small_encoder(norm=norm, norm_placement="pre", n_segments=2)
    result = run(encoder, BATCH)
    split, wrote = split_stream(result, encoder, 1), result.arrays
    x, learned = wrote["layers.1.norm1.in"], dict(encoder.get_submodule("layers.1.norm1").named_parameters())
    gain = learned["gain"].detach().numpy() / np.sqrt((x**2).mean(1) if norm == "rms" else x.var(1) + 1e-12)[:, None]
    expected = {
        Source("token"): wrote["embed.tokens"],
        Source("position"): encoder.embed.position_vectors(6).numpy(),
        Source("segment"): np.tile(encoder.embed.segments.weight[0].detach().numpy(), (6, 1)),  # type: ignore[union-attr]
        Source("attention", 0): wrote["layers.0.attn.out"],
        Source("feed-forward", 0): wrote["layers.0.ffn.out"],
    }
    for source, vectors in expected.items():
        centred = vectors if norm == "rms" else vectors - vectors.mean(1, keepdims=True)
        np.testing.assert_allclose(split[source], gain * centred, rtol=1e-4, atol=1e-6)
    assert {*split} == {*expected, Source("bias")}
    assert not any(part.flags.writeable for part in split.values())


def test_without_residual_connections_only_the_last_feed_forward_arrives() -> None:
    for placement in CHOICES["norm_placement"]:
        encoder = small_encoder(residual=False, norm_placement=placement)
        names = [source.name for source in split_stream(run(encoder, BATCH), encoder, 2)]
        assert names == ["layer 1 feed-forward", "biases"]


def test_numbers_beyond_the_range_of_floats_raise_nothing() -> None:
    encoder = small_encoder(norm="none", positions="none")
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.mul_(1e100)
    split = score_of(encoder, walk_through(encoder, 1, 0, 1, 2))
    assert not math.isfinite(split.lead)
    assert judge(split, 6) == "unknown"


@pytest.mark.parametrize("final_norm", [False, True])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_the_last_depth_is_the_networks_own_answer(final_norm: bool, placement: str) -> None:
    config = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=9,
                         final_norm=final_norm, norm_placement=placement)  # type: ignore[arg-type]  # fmt: skip
    network = scramble(Tagger(config, 5))
    result, trace = run(network.encoder, BATCH), Trace()
    read = logit_lens(result, 3, network.encoder, network.head)
    with torch.no_grad():
        logits = network(BATCH.ids[:1], BATCH.mask[:1], trace)
        first = trace["encoder.embed.out"][0, 3]
        embedded = network.head(network.encoder.final_norm(first) if network.encoder.final_norm else first)
    assert read.shape == (3, 5)
    np.testing.assert_allclose(read[-1], logits[0, 3].softmax(-1).numpy(), atol=1e-6)
    np.testing.assert_allclose(read[0], embedded.softmax(-1).numpy(), atol=1e-6)
    np.testing.assert_allclose(read.sum(axis=-1), 1, atol=1e-6)


@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi", "relative"])
def test_the_pairs_of_sources_add_up_to_the_score_and_to_its_lead(positions: str) -> None:
    encoder = small_encoder(positions=positions)
    split = score_of(encoder, walk_through(encoder, 1, 0, 1, 2), opponent=3)
    assert split.matrix.shape == split.relative.shape == (len(split.sources),) * 2
    assert split.matrix.sum() == pytest.approx(split.score)
    assert split.relative.sum() == pytest.approx(split.lead)

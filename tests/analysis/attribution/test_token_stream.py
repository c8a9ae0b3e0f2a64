"""What a token holds at the end is the sum of what was written; a head reads its own answer at the last depth."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import ModelConfig, Trace
from playground.analysis.stream_sources import follow_token, read_depths, split_stream
from playground.model import Encoder
from playground.runs.encoder_run import run
from playground.text import characters
from playground.training.network import Tagger
from tests.analysis.attribution.walks import BATCH, small_encoder
from tests.model.reference import scramble
from tests.model.strategies import configs


@settings(max_examples=40)
@given(config=configs(vocab_size=characters().vocab_size), token=st.integers(0, 5))
def test_in_every_architecture_the_sources_add_up_to_the_output(config: ModelConfig, token: int) -> None:
    encoder = small_encoder(**vars(config))
    result = run(encoder, BATCH)
    stream = split_stream(result, encoder, config.n_layers)
    size = max(1.0, np.abs(stream.parts).max())
    np.testing.assert_allclose(stream.parts.sum(axis=0), result.arrays["final"], atol=1e-7 * size)
    found, final = follow_token(stream, token), result.arrays["final"][token]
    if np.linalg.norm(final) > 1e-6:
        assert found.shares.sum() == pytest.approx(1, abs=1e-6 * size**2)
        for source, part, share in zip(found.sources, stream.parts[:, token], found.shares, strict=True):
            assert share == pytest.approx(part @ final / (final @ final), abs=1e-5 * size**2), source.name
    assert len(found.kept) == len(found.sources)
    assert np.isnan(found.written[-1])
    for i, source in enumerate(found.sources[:-1]):
        points = {"attention": "attn", "feed-forward": "ffn"}
        if source.kind in points:
            wrote = result.arrays[f"layers.{source.layer}.{points[source.kind]}.out"][token]
            assert found.written[i] == pytest.approx(np.linalg.norm(wrote), rel=1e-5)


def test_lengths_are_those_before_any_norm() -> None:
    encoder = small_encoder(embedding_norm=True, n_segments=2)
    stream = split_stream(run(encoder, BATCH), encoder, 3)
    found = follow_token(stream, 2)
    rows = (run(encoder, BATCH).arrays["embed.tokens"][2], encoder.embed.position_vectors(6)[2].numpy(),
            encoder.embed.segments.weight[0].detach().numpy())  # type: ignore[union-attr]  # fmt: skip
    assert found.written[:3] == pytest.approx([np.linalg.norm(row) for row in rows], rel=1e-5)


def test_a_vector_of_zeros_has_no_shares() -> None:
    encoder = Encoder(ModelConfig(vocab_size=characters().vocab_size, d_model=8, n_heads=2, n_layers=1, norm="none"))
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
        encoder.embed.sinusoids.zero_()
    assert np.isnan(follow_token(split_stream(run(encoder, BATCH), encoder, 1), 0).shares).all()


@pytest.mark.parametrize("final_norm", [False, True])
@pytest.mark.parametrize("placement", ["pre", "post"])
def test_the_last_depth_is_the_networks_own_answer(final_norm: bool, placement: str) -> None:
    config = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=9,
                         final_norm=final_norm, norm_placement=placement)  # type: ignore[arg-type]  # fmt: skip
    network = scramble(Tagger(config, 5))
    result, trace = run(network.encoder, BATCH), Trace()
    read = read_depths(result, 3, network.encoder, network.head)
    with torch.no_grad():
        logits = network(BATCH.ids[:1], BATCH.mask[:1], trace)
        first = trace["encoder.embed.out"][0, 3]
        embedded = network.head(network.encoder.final_norm(first) if network.encoder.final_norm else first)
    assert read.shape == (3, 5)
    np.testing.assert_allclose(read[-1], logits[0, 3].softmax(-1).numpy(), atol=1e-6)
    np.testing.assert_allclose(read[0], embedded.softmax(-1).numpy(), atol=1e-6)
    np.testing.assert_allclose(read.sum(axis=-1), 1, atol=1e-6)

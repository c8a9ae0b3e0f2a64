"""The pass under every run: in parts it is the whole; without a token table it starts from the words' vectors."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.model import Trace, causal_and_padding
from playground.presets import PRESETS
from playground.runs.encoder_run import read_rows, run, run_rows
from playground.text import words
from playground.text.tokenizer import draw_vectors
from tests.model.reference import scramble

SENTENCES = ["one two three two", "two one"]
BATCH = words(SENTENCES).encode_batch(SENTENCES)
B = PRESETS["tutorial-b"].config
C = replace(PRESETS["tutorial-c"].config, d_model=12, n_heads=3, n_layers=2, d_ff=20)
BERT_LIKE = ModelConfig(
    vocab_size=0, d_model=8, n_heads=2, n_layers=1, d_ff=16, positions="learned", n_segments=2, embedding_norm=True
)
CONFIGS = {"tutorial B": B, "tutorial C": C, "learned positions": BERT_LIKE}


def padded_vectors(config: ModelConfig, seed: int) -> torch.Tensor:
    """Both sentences, (2, 4, d_model): the second one's padding is zero."""
    rows = [draw_vectors(sentence.split(), config.d_model, seed) for sentence in SENTENCES]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sentence", [0, 1])
def test_a_run_is_the_encoders_pass_over_the_vectors(config: ModelConfig, sentence: int, causal: bool) -> None:
    model = scramble(Encoder(config, seed=1))
    found = run(model, BATCH, sentence, seed=5, causal=causal)
    x = padded_vectors(config, 5)
    np.testing.assert_array_equal(found.arrays["embed.tokens"], x[sentence])
    mask = causal_and_padding(BATCH.mask) if causal else BATCH.mask
    expected = model.encode(model.embed_vectors(x), mask)[sentence].detach()
    torch.testing.assert_close(torch.tensor(found.arrays["final"]), expected)
    other = run(model, BATCH, sentence, seed=6, causal=causal)
    assert not np.array_equal(found.arrays["embed.tokens"], other.arrays["embed.tokens"])


@pytest.mark.parametrize("config", [C, replace(B, vocab_size=3, n_layers=2, final_norm=True)], ids=["vectors", "ids"])
@pytest.mark.parametrize("causal", [False, True])
def test_a_pass_in_parts_is_the_whole_pass_bit_by_bit(config: ModelConfig, causal: bool) -> None:
    model = scramble(Encoder(config, seed=1))
    rows = read_rows(model, BATCH, [0, 1], seed=5, causal=causal)
    trace = Trace()
    whole = run_rows(model, rows, trace)
    assert torch.equal(whole, trace["final"])
    assert not whole.requires_grad
    stream = run_rows(model, rows, end=0)
    assert torch.equal(stream, trace["embed.out"])
    for layer in range(config.n_layers):
        assert torch.equal(run_rows(model, rows.at(layer, stream), Trace()), whole)
        part = Trace()
        stream = run_rows(model, rows.at(layer, stream), part, end=layer + 1)
        assert torch.equal(stream, trace[f"layers.{layer}.out"])
        assert all(name.startswith(f"layers.{layer}.") for name in part), "neither other layers nor the final norm"
    assert torch.equal(run_rows(model, rows.at(config.n_layers, stream)), whole)

"""The whole transformer: what it may not see, and what it and its encoder refuse."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from playground import Encoder, EncoderDecoder, ModelConfig, Trace
from playground.config import NormPlacement
from playground.errors import ConfigError
from tests.model.reference import scramble, small_config, vectors
from tests.model.strategies import configs

N_WORDS = 13
SRC = torch.tensor([[4, 2, 8, 1, 5, 3], [7, 7, 1, 0, 0, 0]])
TGT = torch.tensor([[1, 12, 3, 9], [5, 6, 0, 0]])


def new(**fields: object) -> EncoderDecoder:
    return EncoderDecoder(small_config(**fields), N_WORDS)


@given(configs(head_merge="transpose"), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_no_logits_depend_on_later_target_tokens(config: ModelConfig, n_seen: int, seed: int, traced: bool) -> None:
    model = EncoderDecoder(config, N_WORDS, seed=seed).double()
    generator = torch.Generator().manual_seed(seed)
    src = torch.randint(config.vocab_size, (2, 4), generator=generator)
    tgt = torch.randint(N_WORDS, (2, 7), generator=generator)
    other = tgt.clone()
    other[:, n_seen:] = (other[:, n_seen:] + 1) % N_WORDS
    before, after = (model(src, ids, trace=Trace() if traced else None) for ids in (tgt, other))
    torch.testing.assert_close(before[:, :n_seen], after[:, :n_seen])
    torch.testing.assert_close(model(src, tgt[:, :n_seen]), before[:, :n_seen])


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("norm_placement", ["post", "pre"])
def test_sentences_of_padding_alone_train_without_nan(norm_placement: NormPlacement, traced: bool) -> None:
    model, trace = scramble(new(norm_placement=norm_placement)), Trace()
    nothing = torch.zeros(2, 6, dtype=torch.bool)
    logits = model(SRC, TGT, nothing, nothing[:, :4], trace if traced else None)
    logits.square().sum().backward()
    assert logits.isfinite().all()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    for attention in ("self_attn", "cross_attn"):
        assert not traced or not trace[f"decoder.layers.0.{attention}.z"].any()


def ones(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.bool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SRC, torch.zeros(2, 9, dtype=torch.int64)), r"9 tokens .* max_len=8 .* raise max_len to 9"),
        ((SRC, TGT[0]), r"\(sentences, tokens\); these have \(4,\)"),
        ((SRC, TGT[:1]), "The memory holds 2 sentences, the target 1"),
        ((SRC, TGT, ones(2, 5)), r"\(2, 5\) fits neither keys \(2, 6\)"),
        ((SRC, TGT, None, ones(2, 6)), r"\(2, 6\) fits neither keys \(2, 4\)"),
    ],
)
def test_a_pair_that_does_not_fit_is_named(arguments: tuple[Tensor | None, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        new()(*arguments)
    with pytest.raises(ConfigError, match="tgt_vocab_size=0 leaves no word to predict; 1 would work"):
        EncoderDecoder(small_config(), 0)


REFUSED: list[tuple[str, Tensor, str]] = [
    ("encode", vectors(4, 24), r"sentences, tokens, 24.*\(4, 24\)"),
    ("encode", torch.zeros(2, 4, 24, dtype=torch.int64), "sentences, tokens, 24"),
    ("embed_vectors", vectors(2, 4, 23), r"sentences, tokens, 24.*\(2, 4, 23\)"),
]


@pytest.mark.parametrize(("half", "x", "message"), REFUSED)
def test_what_does_not_fit_is_named(half: str, x: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(Encoder(small_config()), half)(x)


def test_without_a_table_a_sentence_may_be_of_any_length() -> None:
    assert Encoder(small_config(positions="none"))(torch.zeros(1, 20, dtype=torch.int64)).shape == (1, 20, 24)

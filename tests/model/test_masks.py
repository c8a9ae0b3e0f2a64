"""Masks: their forms, what they hide, and rows that hide everything."""

import pytest
import torch
from torch import Tensor

from playground import Encoder, EncoderDecoder, ModelConfig, Trace
from playground.model import causal_and_padding, causal_mask
from playground.model.attention import AttentionMask, attend, over_heads
from playground.model.trace import UNTRACED
from tests.model.reference import vectors


def test_a_causal_mask_sees_itself_and_what_came_before() -> None:
    mask = causal_mask(4)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[[key <= query for key in range(4)] for query in range(4)]]


def test_causal_and_padding_needs_both() -> None:
    keys = torch.tensor([[True, True, False], [False, True, True]])
    expected = [[[key <= query and row[key] for key in range(3)] for query in range(3)] for row in keys.tolist()]
    assert causal_and_padding(keys).tolist() == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((2, 3), (2, 1, 1, 3)),
        ((2, 1, 3), (2, 1, 1, 3)),
        ((1, 1, 3), (1, 1, 1, 3)),
        ((2, 5, 3), (2, 1, 5, 3)),
        ((1, 5, 3), (1, 1, 5, 3)),
    ],
)
def test_every_form_broadcasts_over_heads(given: tuple[int, ...], expected: tuple[int, ...]) -> None:
    mask = torch.rand(given, generator=torch.Generator().manual_seed(0)) < 0.5
    brought = over_heads(mask, 2, 5, 3)
    assert brought is not None
    assert brought.shape == expected
    assert torch.equal(brought.flatten(), mask.flatten())
    assert over_heads(None, 2, 5, 3) is None


@pytest.mark.parametrize("shape", [(), (3,), (2,), (2, 5), (3, 2), (3, 5, 3), (2, 3, 5), (2, 1, 5, 3), (2, 0)])
def test_a_shape_that_fits_nothing_is_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="fits neither") as caught:
        over_heads(torch.ones(shape, dtype=torch.bool), 2, 5, 3)
    for named in (shape, (2, 3)):
        assert str(named) in str(caught.value)
    assert "(2 or 1, 5, 3)" in str(caught.value)


SQUARE = ModelConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=2, d_ff=16, max_len=8)


@pytest.mark.parametrize("n", [2, 5])
def test_a_flat_causal_mask_for_as_many_sentences_as_tokens_is_refused_and_both_meanings_can_be_written(n: int) -> None:
    flat, ids = causal_mask(n)[0], torch.arange(n * n).view(n, n) % 9
    near = flat & ~torch.ones(n, n, dtype=torch.bool).tril(-2)  # each token sees itself and the one before
    encoder, pair = Encoder(SQUARE), EncoderDecoder(SQUARE, tgt_vocab_size=9)
    for mask in (flat, near):
        with pytest.raises(ValueError, match=r"pass mask\[:, None\] for the former, mask\[None\] for the latter"):
            encoder(ids, mask)
        for name in ("src_mask", "tgt_mask"):
            with pytest.raises(ValueError, match=r"mask\[:, None\]"):
                pair(ids, ids, **{name: mask})
    as_pairs, as_keys = encoder(ids, flat[None]), encoder(ids, flat[:, None])
    for i in range(n):  # each sentence on its own, where no shape is ambiguous
        torch.testing.assert_close(as_pairs[i], encoder(ids[i : i + 1], flat[None])[0])
        torch.testing.assert_close(as_keys[i, : i + 1], encoder(ids[i : i + 1, : i + 1])[0])
    seq2seq = pair(ids, ids, src_mask=flat[:, None], tgt_mask=flat[:, None])
    for i in range(n):
        alone = pair(ids[i : i + 1, : i + 1], ids[i : i + 1, : i + 1])
        torch.testing.assert_close(seq2seq[i, : i + 1], alone[0])


@pytest.mark.parametrize(
    "lengths", [(4, 4, 4, 4), (4, 3, 2, 1), (1, 2, 4, 3), (2, 2, 3, 4), (1, 3, 3, 4), (1, 2, 3, 3)]
)
def test_padding_of_as_many_sentences_as_tokens_is_read_as_keys(lengths: tuple[int, ...]) -> None:
    mask = torch.tensor([[key < length for key in range(4)] for length in lengths])
    ids, encoder = torch.arange(16).view(4, 4) % 9, Encoder(SQUARE)
    together = encoder(ids, mask)
    for i, length in enumerate(lengths):
        torch.testing.assert_close(together[i, :length], encoder(ids[i : i + 1, :length])[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_that_is_not_boolean_is_refused(dtype: torch.dtype) -> None:
    with pytest.raises(ValueError, match=f"boolean, True = may attend; this one is {dtype}"):
        over_heads(torch.ones(2, 3, dtype=dtype), 2, 5, 3)


@pytest.fixture
def hidden() -> Tensor:
    """A mask over (B, 1, Tq, Tk) in which query 1 of sentence 0, and all of sentence 1, may attend to nothing."""
    mask = torch.ones(2, 1, 4, 4, dtype=torch.bool)
    mask[0, 0, 1] = False
    mask[1] = False
    mask[0, 0, 2, 3] = False
    return mask


def attended(hidden: Tensor, trace: Trace) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The attention of random q, k and v, and a loss's gradients at each of them."""
    q, k, v = (vectors(2, 3, 4, 5, seed=seed).requires_grad_() for seed in range(3))
    z = attend(q, k, v, AttentionMask(hidden), trace=trace)
    at_q, at_k, at_v = torch.autograd.grad(z.square().sum(), (q, k, v))
    return z, at_q, at_k, at_v


@pytest.mark.parametrize("trace", [UNTRACED, Trace()], ids=["untraced", "traced"])
def test_queries_without_a_key_get_zeros_and_pass_no_gradient(hidden: Tensor, trace: Trace) -> None:
    z, at_q, at_k, at_v = attended(hidden, trace)
    empty = (~hidden.any(-1)).expand(2, 3, 4)
    for tensor in (z, at_q):
        assert tensor.isfinite().all()
        assert not tensor[empty].any()
        assert tensor[~empty].all()
    for tensor in (at_k, at_v):
        assert tensor.isfinite().all()
        assert not tensor[1].any()
        assert tensor[0].any()


def test_traced_and_untraced_gradients_agree(hidden: Tensor) -> None:
    torch.testing.assert_close(attended(hidden, Trace()), attended(hidden, UNTRACED), atol=1e-5, rtol=1e-5)


def test_the_callers_mask_and_ids_are_left_alone() -> None:
    model = Encoder(ModelConfig(vocab_size=5, d_model=8, n_heads=2, n_layers=1, d_ff=8, max_len=4))
    ids = torch.tensor([[1, 2, 3, 0]])
    mask = causal_and_padding(ids != 0)
    before = ids.clone(), mask.clone()
    model(ids, mask, Trace())
    assert torch.equal(ids, before[0])
    assert torch.equal(mask, before[1])

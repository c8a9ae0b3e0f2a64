"""Masks: their forms, what they hide, and rows that hide everything."""

import pytest
import torch

from playground import Trace
from playground.model import causal_and_padding, causal_mask
from playground.model.attention import AttentionMask, attend, over_heads
from playground.model.trace import UNTRACED
from tests.model.reference import vectors


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


def test_causal_and_padding_needs_both() -> None:
    assert causal_and_padding(torch.tensor([[False, True, True]])).int().tolist() == [[[0, 0, 0], [0, 1, 0], [0, 1, 1]]]


@pytest.mark.parametrize("shape", [(3,), (2, 5), (3, 5, 3), (2, 1, 5, 3)])
def test_a_shape_that_fits_nothing_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="fits neither"):
        over_heads(torch.ones(shape, dtype=torch.bool), 2, 5, 3)
    with pytest.raises(ValueError, match=r"boolean, True = may attend; this one is torch\.uint8"):
        over_heads(torch.ones(2, 3, dtype=torch.uint8), 2, 5, 3)


def test_a_flat_mask_that_may_be_keys_or_causal_is_refused_and_both_can_be_written() -> None:
    flat = causal_mask(3)[0]
    with pytest.raises(ValueError, match=r"pass mask\[:, None\] for the former, mask\[None\] for the latter"):
        over_heads(flat, 3, 3, 3)
    for mask in (flat[:, None], flat[None]):
        widened = over_heads(mask, 3, 3, 3)
        assert widened is not None
        assert torch.equal(widened, mask[:, None])
    assert over_heads(flat.flip(0), 3, 3, 3) is not None, "other lengths are keys"


@pytest.mark.parametrize("trace", [UNTRACED, Trace()], ids=["untraced", "traced"])
def test_queries_without_a_key_get_zeros_and_pass_no_gradient(trace: Trace) -> None:
    mask = torch.ones(2, 1, 4, 4, dtype=torch.bool)
    mask[0, 0, 1], mask[1], mask[0, 0, 2, 3] = False, False, False
    q, k, v = (vectors(2, 3, 4, 5, seed=seed).requires_grad_() for seed in range(3))
    z = attend(q, k, v, AttentionMask(mask), trace=trace)
    at_q, at_k, at_v = torch.autograd.grad(z.square().sum(), (q, k, v))
    empty = (~mask.any(-1)).expand(2, 3, 4)
    for tensor in (z, at_q):
        assert tensor.isfinite().all()
        assert not tensor[empty].any()
        assert tensor[~empty].all()
    for tensor in (at_k, at_v):
        assert tensor.isfinite().all()
        assert not tensor[1].any()
        assert tensor[0].any()

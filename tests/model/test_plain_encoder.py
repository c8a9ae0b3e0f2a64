"""Every architecture against loops in plain torch: with any mask, and many by every field's values."""

from random import Random
from typing import Any

import pytest
import torch
from hypothesis import given

from playground import Encoder, ModelConfig, Trace
from playground.config import CHOICES
from playground.errors import ConfigError
from tests.model.plain_encoder import encode
from tests.model.reference import scramble
from tests.model.strategies import Case, cases


@given(cases())
def test_any_architecture_is_the_plain_one(case: Case) -> None:
    trace = Trace()
    out = case.model(case.ids, case.mask, trace)
    keys = case.mask if case.mask is not None and case.mask.shape == case.ids.shape else None
    expected, patterns = encode(case.model, case.ids, case.may_attend, keys)
    torch.testing.assert_close(out, expected, atol=1e-6, rtol=1e-6)  # a computed table and a distance's bucket are fp32
    for i, pattern in enumerate(patterns):
        torch.testing.assert_close(trace[f"layers.{i}.attn.pattern"], pattern, atol=1e-6, rtol=0)


VALUES: dict[str, tuple[Any, ...]] = {
    **{name: choices for name, choices in CHOICES.items() if name not in ("initialisation", "tied", "position_join")},
    **dict.fromkeys(("final_norm", "gated", "bias", "qk_norm", "share_layers", "first_norm"), (True, False)),
    **dict.fromkeys(("embedding_norm", "residual", "fused_qkv", "scale_embeddings"), (True, False)),
    "n_kv_heads": (0, 1, 2),
    "d_head": (0, 6),
    "d_embedding": (0, 6),
    "window": (0, 2),
    "global_every": (0, 2),
    "local_rotary_base": (0, 50),
    "position_offset": (0, 2),
    "n_segments": (0, 2),
}
IDS = torch.tensor([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]])
KEYS = torch.tensor([[True] * 6, [True, True, False, True, True, False]])


def fits(fields: dict[str, Any]) -> bool:
    try:
        make(fields)
    except ConfigError:
        return False
    return True


def make(fields: dict[str, Any]) -> ModelConfig:
    sizes = {"vocab_size": 10, "d_model": 16, "n_heads": 4, "n_layers": 3, "d_ff": 12, "max_len": 8}
    buckets = {"relative_buckets": 8, "relative_distance": 5, "rotary_base": 100}
    return ModelConfig(**sizes | buckets | fields)


DRAWN = [{name: Random(f"{i} {name}").choice(values) for name, values in VALUES.items()} for i in range(120)]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("fields", [fields for fields in DRAWN if fits(fields)], ids=str)
def test_every_value_of_every_field_is_the_plain_pass(fields: dict[str, Any]) -> None:
    model = scramble(Encoder(make(fields))).double()
    for ids, mask in ((IDS[:1], None), (IDS, KEYS)):
        trace = Trace()
        traced, untraced = model(ids, mask, trace), model(ids, mask)
        may_attend = (torch.ones_like(KEYS[:1]) if mask is None else mask)[:, None, None].expand(len(ids), 1, 6, 6)
        expected, patterns = encode(model, ids, may_attend, mask)
        torch.testing.assert_close(traced, expected, atol=1e-6, rtol=1e-6)
        torch.testing.assert_close(untraced, expected, atol=1e-6, rtol=1e-6)
        for i, pattern in enumerate(patterns):
            torch.testing.assert_close(trace[f"layers.{i}.attn.pattern"], pattern, atol=1e-6, rtol=0)

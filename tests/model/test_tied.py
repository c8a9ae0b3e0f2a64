"""One map for queries and keys, or a merged one; positions concatenated instead of added."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from playground import Encoder, ModelConfig, Trace, count_parameters
from playground.accounting import count_flops
from playground.config import describe_config
from playground.model import EncoderDecoder
from tests.model.plain_encoder import encode
from tests.model.reference import scramble, small_config

CASES: list[dict[str, Any]] = [
    {"tied": "shared", "positions": "rotary", "qk_norm": True},
    {"tied": "merged", "positions": "rotary", "d_head": 6, "norm_placement": "pre"},
    {"tied": "merged", "positions": "relative", "relative_buckets": 8, "window": 2, "bias": False},
    {"position_join": "concatenate", "positions": "learned", "position_offset": 2, "d_embedding": 6},
    {"position_join": "concatenate", "positions": "none", "tied": "shared", "n_segments": 2, "embedding_norm": True},
]
IDS = torch.tensor([[3, 1, 4, 1, 5, 8], [2, 6, 5, 3, 5, 7]])
KEYS = torch.tensor([[True] * 6, [True, True, False, True, True, False]])


def build(**fields: Any) -> Encoder:
    return scramble(Encoder(small_config(**fields))).double()


@pytest.mark.parametrize("fields", CASES, ids=str)
def test_it_is_the_plain_pass_and_every_parameter_learns(fields: dict[str, Any]) -> None:
    model, trace = build(**fields), Trace()
    traced, untraced = model(IDS, KEYS, trace), model(IDS, KEYS)
    expected, patterns = encode(model, IDS, KEYS[:, None, None].expand(2, 1, 6, 6), KEYS)
    torch.testing.assert_close(traced, expected, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(untraced, expected, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(trace["layers.1.attn.pattern"], patterns[1], atol=1e-6, rtol=0)
    (untraced * torch.linspace(-1, 1, untraced.numel(), dtype=torch.float64).view_as(untraced)).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert bool(parameter.grad.any()), name


@pytest.mark.parametrize("positions", ["sinusoidal", "alibi"])
def test_a_merged_map_with_the_product_of_two_is_the_separate_model(positions: str) -> None:
    separate, merged = build(positions=positions), build(positions=positions, tied="merged")
    weights = separate.state_dict()
    for i in range(2):
        q, k = (weights.pop(f"layers.{i}.attn.{name}.weight").view(3, 8, 24) for name in "qk")
        bias = weights.pop(f"layers.{i}.attn.q.bias").view(3, 8, 1)
        del weights[f"layers.{i}.attn.k.bias"]  # adds the same to a query's every score
        weights[f"layers.{i}.attn.q.weight"] = (k.transpose(1, 2) @ q).flatten(0, 1)
        weights[f"layers.{i}.attn.q.bias"] = (k.transpose(1, 2) @ bias).flatten()
    merged.load_state_dict(weights)
    torch.testing.assert_close(merged(IDS, KEYS), separate(IDS, KEYS), atol=1e-9, rtol=1e-9)


def scores(model: Encoder) -> Tensor:
    trace = Trace()
    model(IDS, None, trace)
    return trace["layers.0.attn.scores"]


def test_shared_maps_give_symmetric_scores_and_a_merged_one_need_not() -> None:
    for positions in ("sinusoidal", "rotary", "alibi"):
        shared = scores(build(tied="shared", positions=positions))
        torch.testing.assert_close(shared, shared.mT, atol=1e-9, rtol=1e-9)
    for tied in ("separate", "merged"):
        found = scores(build(tied=tied))
        assert (found - found.mT).abs().max() > 0.1 * found.std()


def test_keys_of_a_decoder_are_of_the_memory() -> None:
    for tied in ("shared", "merged"):
        model = scramble(EncoderDecoder(small_config(tied=tied), 7)).double()
        one, other = (model(ids, IDS[:1] % 7) for ids in (IDS[:1], IDS[1:]))
        assert not torch.allclose(one, other)
        assert "decoder.layers.0.cross_attn.k.weight" not in model.state_dict()


def test_concatenating_is_adding_vectors_with_zeros_and_two_maps_of_half_the_columns() -> None:
    model, trace = build(position_join="concatenate", positions="learned"), Trace()
    model(IDS, None, trace)
    tokens, rows = model.embed.tokens.weight[IDS], model.embed.positions.weight[:6]  # type: ignore[union-attr]
    assert tokens.shape[-1] == rows.shape[-1] == 12
    joined = trace["embed.sum"]
    torch.testing.assert_close(joined, torch.cat([tokens * 24**0.5, rows.expand(2, 6, 12)], dim=-1))
    torch.testing.assert_close(joined, trace["embed.tokens"] + model.embed.position_vectors(6))
    weight = model.state_dict()["layers.0.attn.q.weight"]
    apart = joined[..., :12] @ weight[:, :12].T + joined[..., 12:] @ weight[:, 12:].T
    torch.testing.assert_close(apart, joined @ weight.T)


def test_counts_by_hand() -> None:
    def total(**fields: Any) -> int:
        return count_parameters(replace(config, **fields)).total

    config = ModelConfig(vocab_size=10, d_model=16, n_heads=4, n_layers=2, d_ff=8, max_len=6, positions="learned")
    assert total(tied="shared") - total() == -2 * (16 * 16 + 16)
    assert total(tied="merged") - total() == 2 * (4 * (16 * 16 + 16) - 2 * (16 * 16 + 16))
    assert total(position_join="concatenate") - total() == -(10 + 6) * 8
    scored = {term.name: term.count for term in count_flops(replace(config, tied="merged"), 5)}
    assert scored["layers.0.attn.scores"] == 2 * 25 * 4 * 16 == 4 * scored["layers.0.attn.z"]


def test_descriptions_for_files_name_the_fields_only_if_they_are_set() -> None:
    config = small_config()
    assert vars(config).keys() - describe_config(config).keys() == {"tied", "position_join"}
    assert describe_config(replace(config, tied="shared")) == describe_config(config) | {"tied": "shared"}

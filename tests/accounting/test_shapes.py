"""The shapes and the drawing's boxes are those of a real pass, and hold every parameter once."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from playground import Encoder, ModelConfig, Trace, count_parameters
from playground.accounting.shapes import is_traced, list_shapes, list_stages
from playground.model import causal_and_padding
from playground.model.attention import Attention, over_heads
from playground.model.norms import NoNorm
from tests.model.strategies import configs

NORMS = {"layer": ("mean", "std"), "scalar": ("mean", "std"), "rms": ("rms",), "none": ()}


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def between_the_traced_points(model: Encoder, ids: Tensor, mask: Tensor) -> dict[str, tuple[int, ...]]:
    """Shapes of what a trace does not note, seen by hooks on a pass."""
    config, seen = model.config, {"ids": shape_of(ids)}

    def keep_output(name: str) -> Callable[..., None]:
        return lambda module, inputs, output: seen.update({name: shape_of(output)})

    def keep_merged(name: str) -> Callable[..., None]:
        return lambda module, inputs: seen.update({name: shape_of(inputs[0])})

    def keep_statistics(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, inputs: tuple[Any, ...]) -> None:
            for what in NORMS[config.norm]:
                seen[f"{name}.{what}"] = shape_of(inputs[0].mean(-1, keepdim=True))

        return hook

    for name, module in model.named_modules(remove_duplicate=False):
        if name.endswith(".o"):
            module.register_forward_pre_hook(keep_merged(name.removesuffix("o") + "merged"))
        elif name.endswith(".qkv"):
            module.register_forward_hook(keep_output(name))
        elif name.endswith((".attn.q", ".attn.k", ".attn.v")):
            module.register_forward_hook(keep_output(f"{name}.projected"))
        elif name.endswith(("norm", "norm1", "norm2")) and not isinstance(module, NoNorm) and ".attn." not in name:
            module.register_forward_pre_hook(keep_statistics(name))
    trace = Trace()
    model(ids, mask, trace)
    if config.has_position_table:
        seen["embed.positions"] = shape_of(model.embed.position_vectors(ids.shape[1]))
    if model.embed.segments is not None:
        seen["embed.segment"] = shape_of(model.embed.segments.weight[0])
    spread = over_heads(mask, len(ids), ids.shape[1], ids.shape[1])
    assert spread is not None
    for i, layer in enumerate(model.layers):
        attention = layer.attn
        assert isinstance(attention, Attention)
        name = f"layers.{i}.attn"
        q, k, v, z = (trace[f"{name}.{letter}"] for letter in "qkvz")
        seen[f"{name}.products"] = shape_of(q @ k.transpose(-2, -1))
        seen[f"{name}.mask"] = shape_of(spread)
        if config.window_of(i):
            seen[f"{name}.mask"] = (*spread.shape[:2], *trace[f"{name}.scores"].shape[2:])
        if config.fused_qkv:
            permuted = torch.cat([q, k, v], dim=-1)
            seen[f"{name}.qkv.permuted"] = shape_of(permuted)
            seen[f"{name}.qkv.reshaped"] = shape_of(permuted.transpose(1, 2))
        else:
            for letter in "qkv":
                heads = trace.get(f"{name}.{letter}_projected", trace[f"{name}.{letter}"])
                seen[f"{name}.{letter}.reshaped"] = shape_of(heads.transpose(1, 2))
        if config.head_merge == "transpose":
            seen[f"{name}.z.permuted"] = shape_of(z.transpose(1, 2))
    return seen


@given(configs(), st.integers(1, 3), st.integers(1, 6), st.booleans())
def test_every_shape_is_that_of_a_real_pass(config: ModelConfig, n_sentences: int, n_tokens: int, causal: bool) -> None:
    model, trace = Encoder(config), Trace()
    ids = torch.zeros(n_sentences, n_tokens, dtype=torch.int64)
    keys = torch.ones(n_sentences, n_tokens, dtype=torch.bool)
    mask = causal_and_padding(keys) if causal else keys
    model(ids, mask, trace)
    told = list_shapes(config, n_sentences, n_tokens, causal)
    computed = {name: shape_of(tensor) for name, tensor in trace.items() if not name.endswith(".in")}  # inputs repeat
    assert [(name, shape) for name, shape in told if name in trace] == list(computed.items())
    assert [name for name, _ in told if is_traced(name)] == list(computed)
    others = {name: shape for name, shape in told if name not in trace}
    assert others == between_the_traced_points(model, ids, mask)
    assert len(dict(told)) == len(told)


@given(config=configs(), n_tokens=st.integers(1, 9))
def test_boxes_add_up_to_the_model(config: ModelConfig, n_tokens: int) -> None:
    boxes = list_stages(config, n_tokens)
    times = [config.n_layers if box.in_block and not config.share_layers else 1 for box in boxes]
    left_out = 0  # the boxes of blocks are the last one's
    if config.has_norm1(config.n_layers - 1) and not config.has_norm1(0) and config.norm != "none":
        left_out = next(box.parameters for box in boxes if box.in_block)
    added_up = sum(n * box.parameters for n, box in zip(times, boxes, strict=True)) - left_out
    assert added_up == count_parameters(config).total
    assert sum(box.share for box in boxes) == pytest.approx(1)
    assert all(box.title for box in boxes)
    inside = [i for i, box in enumerate(boxes) if box.in_block]
    assert inside == list(range(inside[0], inside[-1] + 1))
    assert (boxes[0].component, boxes[-1].component) == (None, None)

"""The shapes that are told are those of a real pass: of every traced point, and of what happens between them."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from playground import Encoder, ModelConfig, Trace
from playground.accounting.shapes import list_shapes, symbolic_shapes
from playground.model import causal_and_padding
from playground.model.attention import Attention, over_heads
from playground.presets import PRESETS
from tests.model.strategies import configs, modest

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

    for name, module in model.named_modules():
        if name.endswith(".o"):
            module.register_forward_pre_hook(keep_merged(name.removesuffix("o") + "merged"))
        elif name.endswith(".qkv"):
            module.register_forward_hook(keep_output(name))
        elif name.endswith((".attn.q", ".attn.k", ".attn.v")):
            module.register_forward_hook(keep_output(f"{name}.projected"))
        elif name.endswith(("norm", "norm1", "norm2")):
            module.register_forward_pre_hook(keep_statistics(name))
    trace = Trace()
    model(ids, mask, trace)
    if config.positions != "none":
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
        if config.fused_qkv:
            permuted = torch.cat([q, k, v], dim=-1)
            seen[f"{name}.qkv.permuted"] = shape_of(permuted)
            seen[f"{name}.qkv.reshaped"] = shape_of(permuted.transpose(1, 2))
        else:
            seen |= {
                f"{name}.{letter}.reshaped": shape_of(trace[f"{name}.{letter}"].transpose(1, 2)) for letter in "qkv"
            }
        if config.head_merge == "transpose":
            seen[f"{name}.z.permuted"] = shape_of(z.transpose(1, 2))
    return seen


@modest
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
    others = {name: shape for name, shape in told if name not in trace}
    assert others == between_the_traced_points(model, ids, mask)
    assert len(dict(told)) == len(told)


@pytest.mark.parametrize("causal", [False, True])
def test_letters_and_numbers_name_the_same_steps(causal: bool) -> None:
    config = ModelConfig(vocab_size=9, d_model=12, n_heads=3, n_layers=2, d_ff=20)
    letters, numbers = symbolic_shapes(config, causal), list_shapes(config, 4, 7, causal)
    assert [name for name, _ in letters] == [name for name, _ in numbers]
    values = {"B": 4, "T": 7, "H": 3, "d_model": 12, "d_head": 4, "d_ff": 20, "1": 1}
    assert [tuple(values[letter] for letter in symbols) for _, symbols in letters] == [shape for _, shape in numbers]


def test_shapes_cost_nothing_however_large_the_model() -> None:
    told = dict(list_shapes(PRESETS["gpt-3"].config, 1_000, 2_048))
    assert told["layers.95.attn.pattern"] == (1_000, 96, 2_048, 2_048)


def test_order_of_a_block() -> None:
    def steps(**variant: Any) -> list[str]:
        config = ModelConfig(vocab_size=0, n_layers=1, **variant)
        return [name.removeprefix("layers.0.") for name, _ in list_shapes(config, 1, 1)]

    post, pre = steps(), steps(norm_placement="pre")
    assert post.index("attn.out") < post.index("resid_mid") < post.index("norm1.mean") < post.index("ffn.up")
    assert pre.index("norm1.out") < pre.index("attn.q.projected") < pre.index("resid_mid") < pre.index("norm2.mean")
    fused = steps(fused_qkv=True)
    start = fused.index("attn.qkv")
    assert fused[start : start + 11] == [
        "attn.qkv", "attn.qkv.reshaped", "attn.qkv.permuted", "attn.q", "attn.k", "attn.v",
        "attn.products", "attn.mask", "attn.scores", "attn.pattern", "attn.z",
    ]  # fmt: skip

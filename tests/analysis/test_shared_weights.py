"""What two encoders of one seed are said to share is what their weights share."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from playground import Encoder, ModelConfig
from playground.analysis.comparison import count_shared, describe_shared, shared_tensors

BASE = ModelConfig(
    vocab_size=30, d_model=12, n_heads=3, n_layers=2, d_ff=20, max_len=9, positions="learned", n_segments=2
)
CHANGES: list[dict[str, Any]] = [
    {},
    {"n_layers": 3, "norm": "scalar", "norm_placement": "pre"},
    {"d_ff": 80},
    {"d_model": 72, "n_heads": 8},
    {"n_heads": 4, "fused_qkv": True},
    {"initialisation": "torch"},
    {"initialisation": "torch", "d_model": 24, "fused_qkv": True},
    {"vocab_size": 7, "max_len": 40},
    {"vocab_size": 0, "positions": "sinusoidal", "n_segments": 0},
]
SEED = 5


def built(config: ModelConfig) -> dict[str, Tensor]:
    """The tensors of an encoder that hold more than one value, a fused projection's parts apart."""
    tensors = dict(Encoder(config, SEED).state_dict())
    for name in [name for name in tensors if ".qkv." in name]:
        by_head = tensors.pop(name).unflatten(0, (config.n_heads, 3, config.d_head))
        for i, part in enumerate("qkv"):
            tensors[name.replace("qkv", part)] = by_head[:, i].flatten(0, 1)
    return {name: tensor for name, tensor in tensors.items() if tensor.unique().numel() > 1}


@pytest.mark.parametrize(
    "base", [BASE, replace(BASE, initialisation="torch")], ids=lambda config: config.initialisation
)
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_what_is_said_to_be_shared_is_and_nothing_else(base: ModelConfig, change: dict[str, Any]) -> None:
    other = replace(base, **change)
    first, second = built(base), built(other)
    shared = {tensor.name: tensor for tensor in shared_tensors(base, other)}
    assert shared.keys() <= first.keys() & second.keys()
    for name in first.keys() & second.keys():
        sizes = zip(first[name].shape, second[name].shape, strict=True)
        corner = tuple(slice(min(size)) for size in sizes)
        one, two = first[name][corner], second[name][corner]
        if name not in shared:  # as unlike as any two draws
            assert (one - two).abs().median() > 0.1 * one.abs().median()
            continue
        assert shared[name].corner == tuple(one.shape)
        if shared[name].ratio == 1:
            assert torch.equal(one, two)
        else:
            torch.testing.assert_close(one * shared[name].ratio, two, rtol=3e-7, atol=0)
            assert not torch.equal(one, two)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_every_random_weight_is_counted_once(change: dict[str, Any]) -> None:
    other = replace(BASE, **change)
    counts = count_shared(BASE, other)
    both = sum(count.equal + count.rescaled for count in counts)
    assert both + sum(count.only_first for count in counts) == sum(tensor.numel() for tensor in built(BASE).values())
    assert both + sum(count.only_second for count in counts) == sum(tensor.numel() for tensor in built(other).values())
    back = count_shared(other, BASE)
    assert [(count.equal, count.rescaled) for count in back] == [(count.equal, count.rescaled) for count in counts]
    assert [bool(count.rescaled) for count in counts] == [bool(count.ratios) for count in counts]


def test_each_component_has_a_sentence() -> None:
    deeper_and_wider = replace(BASE, n_layers=3, d_ff=80)
    assert describe_shared(count_shared(BASE, deeper_and_wider), ("d_ff 20", "d_ff 80")) == [
        "Embeddings: 492 random weights are equal.",
        "Attention: 1,152 random weights are equal; 576 are in d_ff 80 alone.",
        "Feed-forward: 960 random weights in d_ff 80 are 0.59 times those in d_ff 20; 4,800 are in d_ff 80 alone.",
    ]
    without_table = replace(BASE, initialisation="torch", vocab_size=0, positions="none", n_segments=0)
    assert describe_shared(count_shared(BASE, without_table), ("a", "b"))[0] == (
        "Embeddings: no random weight is shared; 492 are in a alone."
    )


def test_the_largest_models_are_compared_without_being_built() -> None:
    huge = replace(BASE, d_model=12288, n_heads=96, n_layers=96, d_ff=49152)
    assert sum(count.equal + count.rescaled for count in count_shared(BASE, huge)) == sum(
        tensor.numel() for tensor in built(BASE).values()
    )

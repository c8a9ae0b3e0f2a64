"""Small models moved off their initial values, and torch's own layers with their weights."""

import math
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from playground import Encoder, ModelConfig
from playground.model.encoder_decoder import Decoder

Array = NDArray[np.float64]
M = TypeVar("M", bound=nn.Module)


def small_config(**fields: Any) -> ModelConfig:
    """An architecture of a few thousand parameters; `fields` changes what a test is about."""
    sizes = {"vocab_size": 9, "d_model": 24, "n_heads": 3, "n_layers": 2, "d_ff": 40, "max_len": 8}
    return ModelConfig(**sizes | fields)


def float64(tensor: Tensor) -> Array:
    """The tensor's numbers as a NumPy array."""
    return tensor.detach().double().numpy()


def scramble(model: M, seed: int = 1) -> M:
    """Move every parameter off its initial value, so that no bias is 0 and no gain is 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model


def vectors(*shape: int, seed: int = 2) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def sinusoid(position: int, column: int, d_model: int, *, doubled: bool) -> float:
    """One entry of the position table, as Vaswani et al. 2017, section 3.5 write it."""
    pair = column // 2
    frequency = 1 / math.pow(10_000, 2 * pair / d_model)
    angle = position * (frequency**2 if doubled else frequency)
    return math.cos(angle) if column % 2 else math.sin(angle)


def torch_sizes(config: ModelConfig) -> dict[str, Any]:
    """The arguments that make torch's encoder or decoder layer of this config's shape."""
    return {
        "d_model": config.d_model,
        "nhead": config.n_heads,
        "dim_feedforward": config.d_ff,
        "dropout": config.dropout,
        "activation": config.activation,
        "layer_norm_eps": config.norm_eps,
        "batch_first": True,
        "norm_first": config.norm_placement == "pre",
    }


def torch_layer(config: ModelConfig) -> nn.TransformerEncoderLayer:
    """torch's encoder layer of this config's shape."""
    return nn.TransformerEncoderLayer(**torch_sizes(config))


def torch_stack(model: Encoder | Decoder) -> nn.Module:
    """torch's own encoder or decoder, without embeddings, with this model's weights and type, in eval mode."""
    config = model.config
    norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if config.final_norm else None
    theirs: nn.Module
    if isinstance(model, Decoder):
        theirs = nn.TransformerDecoder(nn.TransformerDecoderLayer(**torch_sizes(config)), config.n_layers, norm)
    else:
        theirs = nn.TransformerEncoder(torch_layer(config), config.n_layers, norm, enable_nested_tensor=False)
    theirs.to(next(model.parameters()).dtype).load_state_dict(torch_names(model.state_dict()))
    return theirs.eval()


SPELLINGS = {
    r"\battn\.": "self_attn.",
    r"\bcross_attn\.": "multihead_attn.",
    r"\bq\.": "in_proj_",
    r"\bo\.": "out_proj.",
    r"\bffn\.up\.": "linear1.",
    r"\bffn\.down\.": "linear2.",
    r"\bfinal_norm\.": "norm.",
    r"\bgain$": "weight",
}


def torch_names(ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The blocks' and the final norm's weights, or gradients, under the names that torch gives them."""
    theirs: dict[str, Tensor] = {}
    for name, tensor in ours.items():
        if name.startswith("embed.") or ".k." in name or ".v." in name:
            continue
        if ".q." in name:  # theirs has queries, keys and values one below the other
            tensor = torch.cat([ours[name.replace(".q.", f".{part}.")] for part in "qkv"])
        for pattern, spelling in SPELLINGS.items():
            name = re.sub(pattern, spelling, name)
        theirs[name] = tensor
    return theirs

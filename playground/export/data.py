"""A run's arrays as one `.npz` file, with their names in `Trace`; `about` is JSON. It is read without pickle."""

import hashlib
import io
import json
import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import torch
from torch import nn

from playground.config import ModelConfig
from playground.model import Encoder, Trace
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.forward_pass import Rows, run_rows

MOST_NUMBERS = 8_000_000
"""In a file: 32 MB in fp32."""

LAYER = "layers.{i}."

_TINY = {"T": 5, "H": 2, "d_head": 4, "D": 8, "d_ff": 7}
"""Sizes of a small encoder, all different: its arrays' shapes say what they count."""


@lru_cache(maxsize=64)
def list_points(config: ModelConfig) -> dict[str, tuple[str, ...]]:
    """Return every point of the forward pass with the symbols of its axes, read off a small encoder of this kind."""
    sizes: Any = {"d_model": 8, "n_heads": 2, "d_ff": 7, "n_layers": 1, "max_len": 5, "d_head": 0}
    small = {field: min(vars(config)[field], 2) for field in ("vocab_size", "d_embedding")}
    config = replace(config, **sizes, **small, n_kv_heads=int(config.kv_heads < config.n_heads))
    encoder, trace = Encoder(config, seed=0).eval(), Trace()
    shape = (1, _TINY["T"])
    x = torch.zeros(shape, dtype=torch.int64) if config.vocab_size else torch.zeros(*shape, config.d_model)
    run_rows(encoder, Rows(x, torch.ones(1, *shape, dtype=torch.bool)), trace)
    symbols = {size: symbol for symbol, size in _TINY.items()}
    return {
        name.replace("layers.0.", LAYER): tuple(symbols.get(size, "H") for size in tensor.shape[1:])
        for name, tensor in trace.items()
    }


def name_arrays(config: ModelConfig, points: Iterable[str]) -> list[str]:
    """Return the names of these points' arrays, a layer's in every layer."""
    layers = range(config.n_layers)
    return [name for point in points for name in dict.fromkeys(point.replace("{i}", str(i)) for i in layers)]


def count_numbers(config: ModelConfig, n_tokens: int, points: Iterable[str]) -> int:
    """Return how many numbers the arrays of these points have."""
    sizes = {"T": n_tokens, "H": config.n_heads, "d_head": config.head_width, "D": config.d_model, "d_ff": config.d_ff}
    axes = list_points(config)
    layers = {point: config.n_layers if point.startswith(LAYER) else 1 for point in points}
    return sum(n * math.prod(sizes[axis] for axis in axes[point]) for point, n in layers.items())


def describe_run(
    run: Run, *, seed: int, causal: bool, sentence: str, weights: str, link: str, do: str
) -> dict[str, Any]:
    """Return what a run is of, for JSON; `do` as in the link."""
    return {
        "link": link,
        "config": asdict(run.config),
        "seed": seed,
        "causal": causal,
        "weights": weights,
        "do": do,
        "sentence": sentence,
        "tokens": list(run.tokens),
        "special": run.special.tolist(),
        "padding": run.padding.tolist(),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions that a run rests on."""
    try:
        own = {"playground": version("transformer-encoder-playground")}
    except PackageNotFoundError:
        own = {}
    return {**own, "python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}


def write_npz(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """Return the compressed file: `about` as JSON, and the arrays by their names."""
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def weights_sha256(model: nn.Module) -> str:
    """Return the SHA-256 of a model's parameters: names, shapes and little-endian fp32, in the order of the names."""
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)}\n".encode())
        digest.update(parameter.detach().cpu().contiguous().numpy().astype("<f4", copy=False).data)
    return digest.hexdigest()

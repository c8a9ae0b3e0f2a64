"""Small runs for the tests of views, with the trace that the model itself computes."""

from typing import Any

import torch

from playground import Encoder, ModelConfig, Trace
from playground.runs.encoder_run import Run, run
from playground.text import characters

SMALL: dict[str, Any] = {
    "vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32,
    "positions": "sinusoidal", "norm_eps": 1e-12, "activation": "gelu", "scale_embeddings": False,
    "embedding_norm": True,
}  # fmt: skip


def small_run(text: str, *, seed: int = 0, **changes: Any) -> tuple[Run, Trace]:
    """The run of one sentence of letters through a small encoder, and its trace; `changes` are of its config."""
    encoder, batch, trace = Encoder(ModelConfig(**SMALL | changes), seed), characters().encode_batch([text]), Trace()
    with torch.inference_mode():
        encoder(batch.ids, batch.mask, trace)
    return run(encoder, batch), trace

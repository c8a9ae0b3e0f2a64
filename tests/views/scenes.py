"""Small runs and walks for the tests of views, with the trace that the model itself computes."""

import re
from collections.abc import Iterable
from typing import Any

import torch

from playground import Encoder, ModelConfig, Trace
from playground.analysis.walkthrough import Walk
from playground.charts.chart import Columns, Group, Item, Panel, Paragraph
from playground.link.opening import Focus
from playground.runs.encoder_run import Run, run, trace_layer
from playground.text import characters

SMALL: dict[str, Any] = {
    "vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32,
    "positions": "sinusoidal", "norm_eps": 1e-12, "activation": "gelu", "scale_embeddings": False,
    "embedding_norm": True,
}  # fmt: skip


def parts_of(items: Iterable[Item]) -> list[Item]:
    """The items of a view, and in the place of those that hold others what stands in them."""
    parts: list[Item] = []
    for item in items:
        match item:
            case Columns(columns=columns):
                parts += [part for column in columns for part in parts_of(column)]
            case Group(items=inner) | Panel(items=inner):
                parts += parts_of(inner)
            case _:
                parts.append(item)
    return parts


def unmarked(cells: Iterable[str]) -> list[str]:
    """The words of a table's cells in markdown, without a ground of red and without escapes."""
    plain = (re.sub(r":red-background\[((?:\\.|[^\\\]])*)\]", r"\1", cell) for cell in cells)
    return [re.sub(r"\\(.)", r"\1", cell) for cell in plain]


def words(items: Iterable[Item]) -> str:
    """What the paragraphs say, one a line."""
    return "\n".join(each.text for each in items if isinstance(each, Paragraph))


def small_run(text: str, *, seed: int = 0, **changes: Any) -> tuple[Run, Trace]:
    """The run of one sentence of letters through a small encoder, and its trace; `changes` are of its config."""
    encoder, batch, trace = Encoder(ModelConfig(**SMALL | changes), seed), characters().encode_batch([text]), Trace()
    with torch.inference_mode():
        encoder(batch.ids, batch.mask, trace)
    return run(encoder, batch), trace


def small_walk(*text: str, focus: Focus, seed: int = 0, causal: bool = False, **changes: Any) -> tuple[Walk, Trace]:
    """A walk through the first of these sentences, and the model's trace."""
    encoder, batch, trace = Encoder(ModelConfig(**SMALL | changes), seed), characters().encode_batch(text), Trace()
    with torch.inference_mode():
        n_tokens = batch.ids.shape[1]
        mask = batch.mask[:1, None] & (torch.ones(n_tokens, n_tokens).tril().bool() if causal else True)
        encoder(batch.ids[:1], mask, trace)
    layer = trace_layer(encoder, batch, 0, focus.layer, seed=seed, causal=causal)
    return Walk(layer, focus.head, focus.query, focus.key), trace

"""One layer of a pass with all that its arithmetic needs: every intermediate, and the learned numbers behind them.

Legend: T tokens, padding included, H heads, D = d_model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from playground.model import Encoder, Trace
from playground.model.attention import maps_by_head
from playground.model.blocks import EncoderBlock
from playground.model.interventions import Intervention
from playground.runs.arrays import Array, first_sentence, to_array
from playground.runs.encoder_run import Run, run
from playground.runs.forward_pass import read_rows, run_rows
from playground.runs.intervention_input import Sources
from playground.text import Batch


@dataclass(frozen=True)
class LayerRun:
    """A pass, as one layer saw it."""

    run: Run
    """The pass; its arrays are the whole trace of the embeddings and of this layer."""
    layer: int
    """Which one, from 0."""
    merged: Array
    """(T, D), the heads' results joined, before W_O; by the model's own merge."""
    learned: Mapping[str, Array]
    """Read-only, by name. `embed.positions` (T, D) and `embed.segments` (D,), where there are any; `gain` and `bias` of
    `embed.norm`, `norm1`, `norm2`; of the linear maps only what the first number of an output takes: `q.weight` (H, D)
    and `q.bias` (H,), a row a head, `k` and `v` alike, `o` and `up` (1, D), `down` (1, d_ff)."""

    def __getitem__(self, name: str) -> Array:
        """An array of this layer, such as `attn.q`."""
        return self.run.arrays[f"layers.{self.layer}.{name}"]

    def computed(self, name: str) -> Array:
        """An array of this layer as the model itself computed it, where an intervention then set other numbers."""
        return self.run.computed.get(f"layers.{self.layer}.{name}", self[name])


def trace_layer(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    layer: int,
    *,
    seed: int = 0,
    causal: bool = False,
    interventions: Sequence[Intervention] = (),
    sources: Sources | None = None,
    known: Run | None = None,
) -> LayerRun:
    """Run one sentence and keep all of one layer; arguments and errors as in `encoder_run.run`.

    `known` is the same run with the points of every page, where it is at hand: then this layer alone is computed, from
    what entered it. With interventions the whole sentence runs all the same, as each is checked beside the others.
    """
    if known is not None and not interventions:
        result = _run_layer(encoder, batch, sentence, layer, known, seed=seed, causal=causal)
    else:
        result = run(
            encoder,
            batch,
            sentence,
            seed=seed,
            causal=causal,
            keep=lambda name: is_of_layer(name, layer),
            interventions=interventions,
            sources=sources,
        )
    block: EncoderBlock = encoder.layers[layer]  # type: ignore[assignment]
    z = torch.tensor(result.arrays[f"layers.{layer}.attn.z"])
    merged = to_array(block.attn.merge(z[None])[0], copy=True)
    learned = _embedding_numbers(encoder, len(result.tokens)) | _block_numbers(block)
    return LayerRun(result, layer, merged, {name: to_array(tensor, copy=True) for name, tensor in learned.items()})


def _run_layer(
    encoder: Encoder, batch: Batch, sentence: int, layer: int, known: Run, *, seed: int, causal: bool
) -> Run:
    """A run that is known, with all of its embeddings and of one layer instead of the points of every page."""
    trace = Trace(lambda name: is_of_layer(name, layer))
    rows = read_rows(encoder, batch, [sentence], seed=seed, causal=causal)
    stream = run_rows(encoder, rows, trace, end=0)
    if layer > 0:
        stream = torch.tensor(known.arrays[f"layers.{layer - 1}.out"], device=stream.device)[None]
    run_rows(encoder, rows.at(layer, stream), trace, end=layer + 1)
    return replace(known, arrays=first_sentence(trace))


def is_of_layer(name: str, layer: int) -> bool:
    """Whether a point of the trace is the embeddings' or this layer's."""
    return name.startswith(("embed.", f"layers.{layer}."))


def _embedding_numbers(encoder: Encoder, n_tokens: int) -> dict[str, Tensor]:
    embed = encoder.embed
    numbers = {} if embed.norm is None else _norm_numbers("embed.norm", embed.norm)
    if encoder.config.positions != "none":
        numbers["embed.positions"] = embed.position_vectors(n_tokens)
    if embed.segments is not None:
        numbers["embed.segments"] = embed.segments.weight[0]
    return numbers


def _block_numbers(block: EncoderBlock) -> dict[str, Tensor]:
    attn = block.attn
    rows = {name: (weight[:, 0], bias[:, 0]) for name, (weight, bias) in maps_by_head(attn).items()}
    for name, linear in (("o", attn.o), ("up", block.ffn.up), ("down", block.ffn.down)):
        rows[name] = (linear.weight[:1], linear.bias[:1])
    numbers = _norm_numbers("norm1", block.norm1) | _norm_numbers("norm2", block.norm2)
    for name, (weight, bias) in rows.items():
        numbers |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return numbers


def _norm_numbers(name: str, norm: nn.Module) -> dict[str, Tensor]:
    return {f"{name}.{part}": tensor for part, tensor in norm.named_parameters()}

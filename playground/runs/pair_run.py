"""One bounded pass of an encoder–decoder: (model, source, target) → `PairRun`.

Ts/Tt source/target tokens, padding included; Tq/Tk queries/keys, L layers, H heads, V target words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from playground.config import ModelConfig
from playground.model import EncoderDecoder, Trace, causal_mask
from playground.model.attention import decoder_mask
from playground.runs.arrays import Array, freeze, stack_layers, to_array
from playground.runs.budget import check_pair_patterns, time_pass
from playground.text import Batch

Mask = NDArray[np.bool_]

ATTENTION_POINTS = {
    "encoder self": "encoder.layers.{}.attn.pattern",
    "decoder self": "decoder.layers.{}.self_attn.pattern",
    "cross": "decoder.layers.{}.cross_attn.pattern",
}
"""The three attentions, and the trace's names."""


@dataclass(frozen=True)
class Side:
    """One sentence, padded as its batch is."""

    tokens: tuple[str, ...]
    ids: NDArray[np.int64]
    padding: Mask

    @property
    def n_real(self) -> int:
        """Tokens without padding."""
        return int((~self.padding).sum())


@dataclass(frozen=True)
class PairRun:
    """What an encoder–decoder did with a source and a target.

    Masks as of `build_masks`; patterns (L, H, Tq, Tk); logits (Tt, V).
    """

    config: ModelConfig
    source: Side
    target: Side
    masks: Mapping[str, Mask]
    patterns: Mapping[str, Array]
    logits: Array
    device: str
    seconds: float

    def sides(self, attention: str) -> tuple[Side, Side]:
        """The queries' side and the keys' side."""
        queries = self.source if attention == "encoder self" else self.target
        return queries, self.target if attention == "decoder self" else self.source

    def allowed(self, attention: str) -> Mask:
        """The keys that each query may attend to, (Tq, Tk)."""
        if attention == "decoder self":
            return self.masks["combined"]
        queries, keys = self.sides(attention)
        return np.broadcast_to(~keys.padding, (queries.padding.size, keys.padding.size))

    def next_words(self, position: int) -> NDArray[np.float64]:
        """Each word's probability after a target position, (V,)."""
        logits = self.logits[position].astype(np.float64)
        weights = np.exp(logits - logits.max())
        probabilities: NDArray[np.float64] = weights / weights.sum()
        return probabilities


def build_masks(source_keys: Tensor, target_keys: Tensor) -> dict[str, Tensor]:
    """Return the masks of one pair, True = may attend, from (1, Ts) and (1, Tt) bool.

    `source padding` (1, Tt, Ts); `target padding`, `no peek` and `combined` (1, Tt, Tt).
    """
    n_tokens = target_keys.shape[1]
    return {
        "source padding": source_keys[:, None].expand(-1, n_tokens, -1),
        "target padding": target_keys[:, None].expand(-1, n_tokens, -1),
        "no peek": causal_mask(n_tokens, target_keys.device),
        "combined": decoder_mask(target_keys, 1, n_tokens, target_keys.device)[:, 0],
    }


def run_pair(model: EncoderDecoder, source: Batch, target: Batch, sentence: int = 0, line: int = 0) -> PairRun:
    """Run one sentence of each batch; TooLargeError, or InputError if one is over max_len."""
    config, device = model.config, next(model.parameters()).device
    check_pair_patterns(config, source.ids.shape[1], target.ids.shape[1])
    source_ids, source_keys = (rows[sentence : sentence + 1].to(device) for rows in (source.ids, source.mask))
    target_ids, target_keys = (rows[line : line + 1].to(device) for rows in (target.ids, target.mask))
    masks = build_masks(source_keys, target_keys)
    # By query and key, as in the run of a sentence: learned positions then count padding too, wherever they begin.
    source_mask = source_keys[:, None].expand(-1, source_ids.shape[1], -1)

    trace = Trace(keep=lambda name: name.endswith(".pattern"))
    logits, seconds = time_pass(
        lambda: model.decode(
            target_ids, model.encode(source_ids, source_mask, trace), source_keys, masks["combined"], trace
        ),
        device,
    )

    patterns = {
        attention: stack_layers(trace, point, range(config.n_layers)) for attention, point in ATTENTION_POINTS.items()
    }
    mask_arrays = {name: mask[0].cpu().numpy() for name, mask in masks.items()}
    freeze(*mask_arrays.values())
    return PairRun(
        config=config,
        source=_side(source, sentence),
        target=_side(target, line),
        masks=mask_arrays,
        patterns=patterns,
        logits=to_array(logits[0]),
        device=device.type,
        seconds=seconds,
    )


def _side(batch: Batch, sentence: int) -> Side:
    padding, ids = ~batch.mask[sentence].numpy(), batch.ids[sentence].numpy().copy()
    freeze(padding, ids)
    return Side((*batch.tokens[sentence], *["[PAD]"] * int(padding.sum())), ids, padding)

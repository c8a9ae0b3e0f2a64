"""What is trained: an encoder with a head that names a class for every token, or the whole encoder–decoder."""

import contextlib
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor, nn

from playground.accounting import count_encoder_decoder, count_parameters
from playground.config import ModelConfig
from playground.errors import RecipeError
from playground.model import Encoder, EncoderDecoder, Trace, causal_and_padding, causal_mask
from playground.model.init import Linear, initialise
from playground.model.trace import UNTRACED
from playground.training.recipe import Recipe
from playground.training.tasks.catalogue import Kind
from playground.training.tasks.data import Data, Examples


class Tagger(nn.Module):
    """An encoder and a linear head: a score for each class at every token.

    It starts in eval mode. Parameters are named `encoder.…`, as an `Encoder`'s, and `head.weight`, `head.bias`.

    Args:
        config: the encoder's architecture.
        n_classes: what the head chooses from.
        seed: the initial weights, of which the encoder's are those of `Encoder(config, seed)`; None allocates nothing.
    """

    def __init__(self, config: ModelConfig, n_classes: int, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with torch.device("meta") if seed is None else contextlib.nullcontext():
            self.encoder = Encoder(config, seed)
            self.head = Linear(config.d_model, n_classes)
        if seed is not None:
            initialise(self, seed)  # one stream of draws, the encoder's first
        self.eval()

    def forward(self, ids: Tensor, mask: Tensor | None = None, trace: Trace | None = None) -> Tensor:
        """ids (B, T), mask and trace as of an encoder → logits (B, T, C); a trace notes `encoder.…` and `logits`."""
        trace = UNTRACED if trace is None else trace
        x = self.encoder(ids, mask, trace.scope("encoder"))  # (B, T, d_model)
        return trace.record("logits", self.head(x))


Network = Tagger | EncoderDecoder


def architecture(config: ModelConfig, recipe: Recipe, data: Data) -> ModelConfig:
    """The architecture that is trained: the given one with the task's vocabulary, without norms if the recipe says so.

    Raises:
        RecipeError: the recipe's longest sequence, with a decoder's [BOS], is longer than the config's max_len.
    """
    longest = recipe.length + (data.task.kind == "seq2seq")
    if config.positions != "none" and longest > config.max_len:
        works = max(2, recipe.length - (longest - config.max_len))
        raise RecipeError(
            "length",
            recipe.length,
            f"makes sequences of up to {longest} tokens, and the position table has max_len={config.max_len} rows",
            (works,),
        )
    norm = config.norm if recipe.layer_norm else "none"
    return replace(config, vocab_size=data.tokenizer.vocab_size, norm=norm)


def build_network(config: ModelConfig, recipe: Recipe, data: Data) -> Network:
    """The untrained network of a recipe; `config` as `architecture` returns it."""
    return new_network(config, data.task.kind, len(data.labels), recipe.seed)


def new_network(config: ModelConfig, kind: Kind, n_classes: int, seed: int | None) -> Network:
    """What a task of this kind trains; without a seed, its shapes alone."""
    return EncoderDecoder(config, n_classes, seed) if kind == "seq2seq" else Tagger(config, n_classes, seed)


def count_network(config: ModelConfig, kind: Kind, n_classes: int) -> int:
    """The parameters of such a network: the encoder with its head, or both halves; nothing is allocated."""
    if kind == "seq2seq":
        return count_encoder_decoder(config, n_classes).total
    return count_parameters(config).total + (config.d_model + 1) * n_classes


def scores(network: Network, batch: Examples, recipe: Recipe, trace: Trace | None = None) -> Tensor:
    """The network's logits for a batch, (B, T', C), with the masks that the recipe leaves on."""
    if isinstance(network, EncoderDecoder):
        target_mask = batch.decoder_mask if recipe.mask_padding else None
        source_mask = batch.mask if recipe.mask_padding else None
        return cast(Tensor, network(batch.ids, batch.decoder_ids, source_mask, target_mask, trace))
    return cast(Tensor, network(batch.ids, attention_mask(batch, recipe), trace))


def attention_mask(batch: Examples, recipe: Recipe) -> Tensor | None:
    """Who may look where in a batch for an encoder: True = may attend; None where everybody may look everywhere."""
    padded = recipe.mask_padding and not bool(batch.mask.all())
    if recipe.task != "characters" or not recipe.causal:
        return batch.mask if padded else None
    return causal_and_padding(batch.mask) if padded else causal_mask(batch.ids.shape[1], batch.ids.device)

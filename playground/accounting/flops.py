"""Floating-point operations of a forward pass, from the config and the lengths alone."""

from collections.abc import Iterable
from dataclasses import replace

from playground.accounting.terms import Component, Count, Term
from playground.config import ModelConfig


def count_flops(config: ModelConfig, n_tokens: int, n_sentences: int = 1) -> Count:
    """Count one forward pass's floating-point operations: 2 per multiply-add of its matrix products.

    Biases, norms, activations and residual additions are left out, as is usual (Kaplan et al. 2020, section 2.1): they
    grow with T · d_model or T · d_ff, without a second factor of the width. So is the softmax, which grows with
    n_heads · T². T = `n_tokens`, padding included; B = `n_sentences`.
    """
    d, ff, B, T = config.d_model, config.d_ff, n_sentences, n_tokens  # noqa: N806
    terms: list[Term] = []
    for i in range(config.n_layers):
        attn, ffn = f"layers.{i}.attn", f"layers.{i}.ffn"
        terms += [
            Term(f"{attn}.{p}", "attention", p.upper(), i, "2 · B · T · d_model²", 2 * B * T * d * d)
            for p in ("q", "k", "v", "o")
        ]
        terms += [
            Term(f"{attn}.scores", "attention", "scores", i, "2 · B · T² · d_model", 2 * B * T * T * d),
            Term(f"{attn}.z", "attention", "weighted sum", i, "2 · B · T² · d_model", 2 * B * T * T * d),
            Term(f"{ffn}.up", "feed_forward", "W₁", i, "2 · B · T · d_model · d_ff", 2 * B * T * d * ff),
            Term(f"{ffn}.down", "feed_forward", "W₂", i, "2 · B · T · d_ff · d_model", 2 * B * T * ff * d),
        ]
    return Count(tuple(terms))


def attention_overtakes(config: ModelConfig) -> int:
    """Return the shortest sentence, in tokens, whose attention costs more than its feed-forward.

    8 T d² + 4 T² d > 4 T d · d_ff, so T > d_ff − 2 · d_model.
    """
    return max(1, config.d_ff - 2 * config.d_model + 1)


def flops_by_length(config: ModelConfig, lengths: Iterable[int]) -> dict[Component, list[int]]:
    """Count one sentence's attention and feed-forward FLOPs at each length in tokens; every block costs the same."""
    block = replace(config, n_layers=1)
    costs = [count_flops(block, n_tokens).by(lambda term: term.component) for n_tokens in lengths]
    return {name: [config.n_layers * cost[name] for cost in costs] for name in ("attention", "feed_forward")}

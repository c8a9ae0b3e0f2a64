"""What one attention head costs, and so what is saved without it: named terms, from the config alone."""

from playground.accounting.terms import Count, Term
from playground.config import ModelConfig


def count_attention_head(config: ModelConfig) -> Count:
    """One head's parameters: its columns of W_Q, W_K and W_V with their biases, and its rows of W_O.

    The bias of W_O belongs to no head: it stays where every head of a layer is gone. So n_heads of them and one such
    bias, d_model numbers, are a layer's attention.
    """
    d, d_head = config.d_model, config.d_head
    terms = [
        Term(f"head.{letter}", "attention", letter.upper(), None, "d_model · d_head + d_head", d * d_head + d_head)
        for letter in "qkv"
    ]
    return Count((*terms, Term("head.o", "attention", "O", None, "d_head · d_model", d_head * d)))


def count_head_flops(config: ModelConfig, n_tokens: int) -> Count:
    """One head's floating-point operations on a sentence of T = `n_tokens`, as `count_flops` counts them.

    n_heads of them are a layer's attention.
    """
    d, d_head, T = config.d_model, config.d_head, n_tokens  # noqa: N806
    terms = [
        Term(f"head.{letter}", "attention", letter.upper(), None, "2 · T · d_model · d_head", 2 * T * d * d_head)
        for letter in "qkvo"
    ]
    terms += [
        Term(f"head.{name}", "attention", part, None, "2 · T² · d_head", 2 * T * T * d_head)
        for name, part in (("scores", "scores"), ("z", "weighted sum"))
    ]
    return Count(tuple(terms))

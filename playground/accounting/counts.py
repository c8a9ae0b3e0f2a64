"""Parameters, floating-point operations and bytes of an architecture: named terms, from its config alone."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from playground.config import ModelConfig

Component = Literal["embeddings", "attention", "feed_forward", "norms"]
K = TypeVar("K", bound=Hashable)

LABELS = {
    "embeddings": "embeddings",
    "attention": "attention",
    "feed_forward": "feed-forward",
    "norms": "norms",
}
"""How the components are called on a page."""


@dataclass(frozen=True)
class Term:
    """One addend of a count."""

    name: str
    """Of parameters, the name that the built model's own parameters start with."""
    component: Component
    part: str
    """Of the component, such as `Q` or `W₁`."""
    layer: int | None
    """From 0; None outside the blocks."""
    formula: str
    """The count in the config's names."""
    count: int
    """Parameters or floating-point operations."""


@dataclass(frozen=True)
class Count:
    """Terms and their sum."""

    terms: tuple[Term, ...]

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    @property
    def total(self) -> int:
        """The sum of all terms."""
        return sum(term.count for term in self.terms)

    def by(self, key: Callable[[Term], K]) -> dict[K, int]:
        """Sum up by any property of a term, in the order of first appearance."""
        sums: dict[K, int] = {}
        for term in self.terms:
            sums[key(term)] = sums.get(key(term), 0) + term.count
        return sums


def count_parameters(config: ModelConfig) -> Count:
    """Count an encoder's parameters; nothing is allocated, so any size can be counted."""
    return Count(tuple(_stack(config, ("attn",))))


def count_encoder_decoder(config: ModelConfig, tgt_vocab_size: int) -> Count:
    """Count an encoder–decoder's parameters by name, `encoder.…`, `decoder.…` and `fc`, without allocating any.

    The last map, to the target's words, counts as an embedding: the paper shares its matrix with theirs (Vaswani et al.
    2017, section 3.4); here it has its own.
    """
    encoder = [replace(term, name=f"encoder.{term.name}") for term in _stack(config, ("attn",))]
    decoder = [
        replace(term, name=f"decoder.{term.name}", formula=term.formula.replace("vocab_size", "tgt_vocab_size"))
        for term in _stack(replace(config, vocab_size=tgt_vocab_size), ("self_attn", "cross_attn"))
    ]
    formula = "d_model · tgt_vocab_size + tgt_vocab_size"
    words = Term("fc", "embeddings", "words", None, formula, (config.d_model + 1) * tgt_vocab_size)
    return Count((*encoder, *decoder, words))


def _stack(config: ModelConfig, attentions: tuple[str, ...]) -> Iterator[Term]:
    """Embeddings, blocks with these attentions, a norm after each sublayer, and the final norm, where there are any."""
    d, ff = config.d_model, config.d_ff
    norm_formula, norm_count = {
        "layer": ("2 · d_model", 2 * d),
        "scalar": ("2", 2),
        "rms": ("d_model", d),
        "none": ("0", 0),
    }[config.norm]
    terms = [
        Term("embed.tokens", "embeddings", "tokens", None, "vocab_size · d_model", config.vocab_size * d),
        Term("embed.segments", "embeddings", "segments", None, "n_segments · d_model", config.n_segments * d),
    ]
    if config.positions == "learned":
        terms.append(Term("embed.positions", "embeddings", "positions", None, "max_len · d_model", config.max_len * d))
    if config.embedding_norm:
        terms.append(Term("embed.norm", "norms", "embedding norm", None, norm_formula, norm_count))
    square = "d_model² + d_model"
    for i in range(config.n_layers):
        for attn in (f"layers.{i}.{name}" for name in attentions):
            if config.fused_qkv:
                terms.append(Term(f"{attn}.qkv", "attention", "QKV", i, f"3 · ({square})", 3 * (d * d + d)))
            else:
                terms += [Term(f"{attn}.{p}", "attention", p.upper(), i, square, d * d + d) for p in ("q", "k", "v")]
            terms.append(Term(f"{attn}.o", "attention", "O", i, square, d * d + d))
        ffn = f"layers.{i}.ffn"
        terms += [
            Term(f"{ffn}.up", "feed_forward", "W₁", i, "d_model · d_ff + d_ff", d * ff + ff),
            Term(f"{ffn}.down", "feed_forward", "W₂", i, "d_ff · d_model + d_model", ff * d + d),
        ]
        terms += [
            Term(f"layers.{i}.norm{n}", "norms", f"norm {n}", i, norm_formula, norm_count)
            for n in range(1, len(attentions) + 2)
        ]
    if config.final_norm:
        terms.append(Term("final_norm", "norms", "final norm", None, norm_formula, norm_count))
    return (term for term in terms if term.count)


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


@dataclass(frozen=True)
class Memory:
    """Bytes needed for one purpose, and their formula; N is the number of parameters."""

    purpose: str
    formula: str
    n_bytes: int


def count_memory(config: ModelConfig, n_tokens: int) -> tuple[Memory, ...]:
    """Count the bytes that weights, an Adam training step's state, and one sentence's attention patterns take."""
    n = count_parameters(config).total
    cells = config.n_layers * config.n_heads * n_tokens**2
    return (
        Memory("weights, fp32", "4 · N", 4 * n),
        Memory("weights, bf16", "2 · N", 2 * n),
        Memory("training with Adam, fp32", "(4 weights + 4 gradients + 4 + 4 moments) · N", 16 * n),
        Memory("every attention pattern of one sentence, fp32", "4 · n_layers · n_heads · T²", 4 * cells),
    )

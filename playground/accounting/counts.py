"""Parameters, floating-point operations and bytes of an architecture: named terms, from its config alone."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, TypeVar

from playground.config import ModelConfig
from playground.errors import InputError

Component = Literal["embeddings", "attention", "feed_forward", "norms"]
K = TypeVar("K", bound=Hashable)

LABELS = {"embeddings": "embeddings", "attention": "attention", "feed_forward": "feed-forward", "norms": "norms"}


@dataclass(frozen=True)
class Term:
    """One addend of a count."""

    name: str
    """Of parameters: how the model's own names start."""
    component: Component
    part: str
    """Such as `Q` or `W₁`."""
    layer: int | None
    formula: str
    count: int


@dataclass(frozen=True, repr=False)
class Count:
    """Terms and their sum."""

    terms: tuple[Term, ...]

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    def __repr__(self) -> str:
        return f"Count of {self.total:,} in {len(self.terms)} terms"

    @cached_property
    def total(self) -> int:
        """The sum of all terms."""
        return sum(term.count for term in self.terms)

    def by(self, key: Callable[[Term], K]) -> dict[K, int]:
        """Sum up by any property of a term."""
        sums: dict[K, int] = {}
        for term in self.terms:
            sums[key(term)] = sums.get(key(term), 0) + term.count
        return sums


@lru_cache(maxsize=256)
def count_parameters(config: ModelConfig) -> Count:
    """Count an encoder's parameters; nothing is allocated."""
    if not isinstance(config, ModelConfig):  # nor is one kept: the cache would hold on to an encoder
        raise InputError("count_parameters takes a ModelConfig, such as encoder.config.")
    return Count(tuple(_stack(config, ("attn",))))


def count_encoder_decoder(config: ModelConfig, tgt_vocab_size: int) -> Count:
    """Count an encoder–decoder's parameters: `encoder.…`, `decoder.…` and `fc`, which counts as an embedding."""
    encoder = [replace(term, name=f"encoder.{term.name}") for term in _stack(config, ("attn",))]
    decoder = [
        replace(term, name=f"decoder.{term.name}", formula=term.formula.replace("vocab_size", "tgt_vocab_size"))
        for term in _stack(replace(config, vocab_size=tgt_vocab_size), ("self_attn", "cross_attn"))
    ]
    formula = "d_model · tgt_vocab_size + tgt_vocab_size"
    words = Term("fc", "embeddings", "words", None, formula, (config.d_model + 1) * tgt_vocab_size)
    return Count((*encoder, *decoder, words))


def _stack(config: ModelConfig, attentions: tuple[str, ...]) -> Iterator[Term]:
    width_name, width = ("d_embedding", config.d_embedding) if config.d_embedding else ("d_model", config.d_model)
    half = " / 2" if config.position_join == "concatenate" else ""

    def table(name: str, rows_name: str, rows: int) -> Term:
        n = rows * config.table_width
        return Term(f"embed.{name}", "embeddings", name, None, f"{rows_name} · {width_name}{half}", n)

    formula, n = f"n_segments · {width_name}", config.n_segments * width
    terms = [table("tokens", "vocab_size", config.vocab_size)]
    terms.append(Term("embed.segments", "embeddings", "segments", None, formula, n))
    if config.positions == "learned":
        offset = config.position_offset
        rows_name = "(max_len + position_offset)" if offset else "max_len"
        terms.append(table("positions", rows_name, config.max_len + offset))
    if config.positions == "relative":
        formula, n = "relative_buckets · n_heads", config.relative_buckets * config.n_heads
        terms.append(Term("relative", "embeddings", "distances", None, formula, n))
    if config.embedding_norm:
        terms.append(_norm("embed.norm", "embedding norm", None, config, width_name, width))
    if config.d_embedding:
        size = ("d_embedding", width), ("d_model", config.d_model)
        terms.append(_linear("embed.project", "embeddings", "to d_model", None, config, *size))
    for i in range(1 if config.share_layers else config.n_layers):
        for attn in (f"layers.{i}.{name}" for name in attentions):
            terms += _attention(attn, i, config)
        model, hidden = ("d_model", config.d_model), ("d_ff", config.d_ff)
        terms += [
            _linear(f"layers.{i}.ffn.{name}", "feed_forward", symbol, i, config, model, hidden)
            for name, symbol in _list_up(config)
        ]
        terms.append(_linear(f"layers.{i}.ffn.down", "feed_forward", "W₂", i, config, hidden, model))
        numbers = range(1, len(attentions) + 2)
        terms += [_norm(f"layers.{i}.norm{n}", f"norm {n}", i, config) for n in numbers if n > 1 or config.has_norm1(i)]
        if config.norm_placement == "both":
            terms += [_norm(f"layers.{i}.post_norm{n}", f"norm {n} after", i, config) for n in numbers]
    if config.final_norm:
        terms.append(_norm("final_norm", "final norm", None, config))
    return (term for term in terms if term.count)


Size = tuple[str, int]
"""A width's name in formulas, and the width."""


def _linear(
    name: str, component: Component, part: str, layer: int | None, config: ModelConfig, given: Size, gives: Size
) -> Term:
    (d_in, n_in), (d_out, n_out) = given, gives
    product = _product(d_in, d_out)
    formula, count = f"{product} + {d_out}" if config.bias else product, n_in * n_out + n_out * config.bias
    return Term(name, component, part, layer, formula, count)


def _product(one: str, other: str) -> str:
    return f"{one}²" if one == other else f"{one} · {other}"


def _norm(
    name: str, part: str, layer: int | None, config: ModelConfig, width_name: str = "d_model", width: int = 0
) -> Term:
    width = width or config.d_model
    has_bias = config.bias and config.norm in ("layer", "scalar")
    formula, count = {"scalar": ("1", 1), "none": ("0", 0)}.get(config.norm, (width_name, width))
    if has_bias:
        formula, count = "2" if formula == "1" else f"2 · {formula}", 2 * count
    return Term(name, "norms", part, layer, formula, count)


def _head_sizes(config: ModelConfig) -> tuple[Size, Size]:
    """Merged heads' values, and keys' and values'."""
    width, kv_width = config.n_heads * config.head_width, config.kv_heads * config.head_width
    name = "n_heads · d_head" if config.d_head else "d_model"
    return (name, width), (name if kv_width == width else "n_kv_heads · d_head", kv_width)


def _maps(config: ModelConfig) -> dict[str, tuple[str, Size]]:
    """By letter, what each map of queries, keys and values is called, and its width."""
    queries, kv = _head_sizes(config)
    if config.tied == "separate":
        return {"q": ("Q", queries), "k": ("K", kv), "v": ("V", kv)}
    return {"q": ("Q, K", _scored(config)), "v": ("V", kv)}


def _scored(config: ModelConfig) -> Size:
    """The width of all heads' queries."""
    merged = "n_heads · d_model", config.n_heads * config.d_model
    return merged if config.tied == "merged" else _head_sizes(config)[0]


def _attention(attn: str, layer: int, config: ModelConfig) -> Iterator[Term]:
    model, (width, _) = ("d_model", config.d_model), _head_sizes(config)
    if config.fused_qkv:
        one = _linear(f"{attn}.qkv", "attention", "QKV", layer, config, model, width)
        yield replace(one, formula=f"3 · ({one.formula})", count=3 * one.count)
    else:
        for letter, (part, gives) in _maps(config).items():
            yield _linear(f"{attn}.{letter}", "attention", part, layer, config, model, gives)
    yield _linear(f"{attn}.o", "attention", "O", layer, config, width, model)
    if config.qk_norm:
        for letter in "qk":
            name = f"{letter.upper()} norm"
            yield Term(f"{attn}.{letter}_norm", "norms", name, layer, "d_head", config.head_width)


def _list_up(config: ModelConfig) -> tuple[tuple[str, str], ...]:
    return (("up", "W₁"), ("gate", "W₃")) if config.gated else (("up", "W₁"),)


@lru_cache(maxsize=256)
def count_flops(config: ModelConfig, n_tokens: int, n_sentences: int = 1) -> Count:
    """Count one forward pass's floating-point operations: 2 per multiply-add of its matrix products.

    All else is left out, as is usual (Kaplan et al. 2020, section 2.1). T = `n_tokens`, padding included.
    """
    terms: list[Term] = []
    model, hidden, (width, _) = ("d_model", config.d_model), ("d_ff", config.d_ff), _head_sizes(config)

    def product(name: str, component: Component, part: str, layer: int | None, given: Size, gives: Size) -> None:
        count = 2 * n_sentences * n_tokens * given[1] * gives[1]
        terms.append(Term(name, component, part, layer, f"2 · B · T · {_product(given[0], gives[0])}", count))

    if config.d_embedding:
        product("embed.project", "embeddings", "to d_model", None, ("d_embedding", config.d_embedding), model)
    for i in range(config.n_layers):
        attn, ffn = f"layers.{i}.attn", f"layers.{i}.ffn"
        for letter, (part, gives) in _maps(config).items():
            product(f"{attn}.{letter}", "attention", part, i, model, gives)
        product(f"{attn}.o", "attention", "O", i, width, model)
        pairs_name, pairs = _pairs(config, i, n_tokens)
        for name, part, (summed, n) in (("scores", "scores", _scored(config)), ("z", "weighted sum", width)):
            formula = f"2 · B · {pairs_name} · {summed}"
            terms.append(Term(f"{attn}.{name}", "attention", part, i, formula, 2 * n_sentences * pairs * n))
        for name, symbol in _list_up(config):
            product(f"{ffn}.{name}", "feed_forward", symbol, i, model, hidden)
        product(f"{ffn}.down", "feed_forward", "W₂", i, hidden, model)
    return Count(tuple(terms))


def _pairs(config: ModelConfig, layer: int, n_tokens: int) -> Size:
    window = config.window_of(layer)
    half = window // 2
    if not window or half >= n_tokens - 1:
        return "T²", n_tokens * n_tokens
    return "(T · (window + 1) − window / 2 · (window / 2 + 1))", n_tokens * (window + 1) - half * (half + 1)


def attention_overtakes(config: ModelConfig) -> int | None:
    """Return the shortest sentence, in tokens, whose attention costs more than its feed-forward; or None."""

    def overtakes(n_tokens: int) -> bool:
        cost = flops_by_length(config, [n_tokens])
        return cost["attention"] > cost["feed_forward"]

    longest = 2**32
    return 1 + bisect_left(range(1, longest), True, key=overtakes) if overtakes(longest) else None


def flops_by_length(config: ModelConfig, lengths: Iterable[int]) -> dict[Component, list[int]]:
    """Count one sentence's attention and feed-forward FLOPs at each length in tokens."""
    block = config if config.window and config.global_every else replace(config, n_layers=1)
    costs = [count_flops(block, n_tokens).by(lambda term: term.component) for n_tokens in lengths]
    times = config.n_layers // block.n_layers  # where all blocks are alike, one of them is counted
    return {name: [times * cost[name] for cost in costs] for name in ("attention", "feed_forward")}


def count_memory(config: ModelConfig, n_tokens: int) -> tuple[tuple[str, str, int], ...]:
    """Count the bytes of weights, of training with Adam, and of one sentence's attention: purpose, formula, bytes."""
    n = count_parameters(config).total
    cells = config.n_layers * config.n_heads * n_tokens**2
    keys_and_values = "2 · n_layers · n_kv_heads · d_head · T"
    kept = 2 * config.n_layers * config.kv_heads * config.head_width * n_tokens
    if config.tied == "merged":  # the keys of all heads are the inputs
        keys_and_values = "n_layers · (d_model + n_heads · d_head) · T"
        kept = config.n_layers * (config.d_model + config.n_heads * config.head_width) * n_tokens
    return (
        ("weights, fp32", "4 · N", 4 * n),
        ("weights, bf16", "2 · N", 2 * n),
        ("training with Adam, fp32", "(4 + 4 + 8) · N", 16 * n),
        ("keys and values of one sentence, fp32", f"4 · {keys_and_values}", 4 * kept),
        ("every attention pattern of one sentence, fp32", "4 · n_layers · n_heads · T²", 4 * cells),
    )

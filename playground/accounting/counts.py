"""Parameters, floating-point operations and bytes of an architecture: named terms, from its config alone."""

from bisect import bisect_left
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
    width_name, width = ("d_embedding", config.d_embedding) if config.d_embedding else ("d_model", config.d_model)

    def table(name: str, rows_name: str, rows: int) -> Term:
        return Term(f"embed.{name}", "embeddings", name, None, f"{rows_name} · {width_name}", rows * width)

    terms = [table("tokens", "vocab_size", config.vocab_size), table("segments", "n_segments", config.n_segments)]
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
"""What a width is called in formulas, and the width."""


def _linear(
    name: str, component: Component, part: str, layer: int | None, config: ModelConfig, given: Size, gives: Size
) -> Term:
    """A linear map of the config, with a bias where it has biases."""
    (d_in, n_in), (d_out, n_out) = given, gives
    product = _product(d_in, d_out)
    formula, count = f"{product} + {d_out}" if config.bias else product, n_in * n_out + n_out * config.bias
    return Term(name, component, part, layer, formula, count)


def _product(one: str, other: str) -> str:
    """Two widths' product, as formulas write it."""
    return f"{one}²" if one == other else f"{one} · {other}"


def _norm(
    name: str, part: str, layer: int | None, config: ModelConfig, width_name: str = "d_model", width: int = 0
) -> Term:
    """A norm of the config's kind over so many features, d_model by default."""
    width = width or config.d_model
    has_bias = config.bias and config.norm in ("layer", "scalar")
    formula, count = {
        "layer": (width_name, width),
        "scalar": ("1", 1),
        "rms": (width_name, width),
        "none": ("0", 0),
    }[config.norm]
    if has_bias:
        formula, count = "2" if formula == "1" else f"2 · {formula}", 2 * count
    return Term(name, "norms", part, layer, formula, count)


def _head_sizes(config: ModelConfig) -> tuple[Size, Size]:
    """All heads' width together, and that of all heads of keys and values."""
    width, kv_width = config.n_heads * config.head_width, config.kv_heads * config.head_width
    name = "n_heads · d_head" if config.d_head else "d_model"
    return (name, width), (name if kv_width == width else "n_kv_heads · d_head", kv_width)


def _attention(attn: str, layer: int, config: ModelConfig) -> Iterator[Term]:
    """One attention's linear maps, and the norms of its queries and keys."""
    model, (width, kv_width) = ("d_model", config.d_model), _head_sizes(config)
    if config.fused_qkv:
        one = _linear(f"{attn}.qkv", "attention", "QKV", layer, config, model, width)
        yield replace(one, formula=f"3 · ({one.formula})", count=3 * one.count)
    else:
        for letter, gives in {"q": width, "k": kv_width, "v": kv_width}.items():
            yield _linear(f"{attn}.{letter}", "attention", letter.upper(), layer, config, model, gives)
    yield _linear(f"{attn}.o", "attention", "O", layer, config, width, model)
    if config.qk_norm:
        for letter in "qk":
            name = f"{letter.upper()} norm"
            yield Term(f"{attn}.{letter}_norm", "norms", name, layer, "d_head", config.head_width)


def _list_up(config: ModelConfig) -> tuple[tuple[str, str], ...]:
    """The feed-forward's linear maps of its input, by their names in the model and their symbols."""
    return (("up", "W₁"), ("gate", "W₃")) if config.gated else (("up", "W₁"),)


def count_flops(config: ModelConfig, n_tokens: int, n_sentences: int = 1) -> Count:
    """Count one forward pass's floating-point operations: 2 per multiply-add of its matrix products.

    Biases, norms, activations and residual additions are left out, as is usual (Kaplan et al. 2020, section 2.1): they
    grow with T · d_model or T · d_ff, without a second factor of the width. So are the softmax, which grows with
    n_heads · T², and rotary positions. With a window, the pairs within it count. T = `n_tokens`, padding included;
    B = `n_sentences`.
    """
    tokens, terms = 2 * n_sentences * n_tokens, list[Term]()
    model, hidden, ((w_name, width), kv) = ("d_model", config.d_model), ("d_ff", config.d_ff), _head_sizes(config)
    if config.d_embedding:
        n = tokens * config.d_embedding * config.d_model
        formula = "2 · B · T · d_embedding · d_model"
        terms.append(Term("embed.project", "embeddings", "to d_model", None, formula, n))
    for i in range(config.n_layers):
        attn, ffn = f"layers.{i}.attn", f"layers.{i}.ffn"
        queries = w_name, width
        maps = {"q": (model, queries), "k": (model, kv), "v": (model, kv), "o": (queries, model)}
        for letter, ((d_in, n_in), (d_out, n_out)) in maps.items():
            name, formula = f"{attn}.{letter}", f"2 · B · T · {_product(d_in, d_out)}"
            terms.append(Term(name, "attention", letter.upper(), i, formula, tokens * n_in * n_out))
        pairs_name, pairs = _pairs(config, i, n_tokens)
        formula, n = f"2 · B · {pairs_name} · {w_name}", 2 * n_sentences * pairs * width
        terms += [Term(f"{attn}.scores", "attention", "scores", i, formula, n)]
        terms += [Term(f"{attn}.z", "attention", "weighted sum", i, formula, n)]
        up = [(f"{ffn}.{name}", symbol, model, hidden) for name, symbol in _list_up(config)]
        for name, part, (d_in, n_in), (d_out, n_out) in [*up, (f"{ffn}.down", "W₂", hidden, model)]:
            formula = f"2 · B · T · {d_in} · {d_out}"
            terms.append(Term(name, "feed_forward", part, i, formula, tokens * n_in * n_out))
    return Count(tuple(terms))


def _pairs(config: ModelConfig, layer: int, n_tokens: int) -> Size:
    """How many pairs of a query and a key a layer's attention has."""
    window = config.window_of(layer)
    half = window // 2
    if not window or half >= n_tokens - 1:
        return "T²", n_tokens * n_tokens
    return "(T · (window + 1) − window / 2 · (window / 2 + 1))", n_tokens * (window + 1) - half * (half + 1)


def attention_overtakes(config: ModelConfig) -> int | None:
    """Return the shortest sentence, in tokens, whose attention costs more than its feed-forward.

    Without windows, with w the width of all heads, v that of all heads of keys and n linear maps, 2 or, gated, 3:
    4 T d (w + v) + 4 T² w > 2 n T d · d_ff, so T > (n / 2 · d · d_ff − d (w + v)) / w. Where w and v are d_model, that
    is n / 2 · d_ff − 2 · d_model. With windows it is looked for, and there may be none: None.
    """
    (_, width), (_, kv_width) = _head_sizes(config)
    d, n_maps = config.d_model, 2 + config.gated
    if not config.window:
        return max(1, (n_maps * d * config.d_ff // 2 - d * (width + kv_width)) // width + 1)

    def overtakes(n_tokens: int) -> bool:
        cost = count_flops(config, n_tokens).by(lambda term: term.component)
        return cost["attention"] > cost["feed_forward"]

    longest = 2**32
    if not overtakes(longest):
        return None
    return 1 + bisect_left(range(1, longest), True, key=overtakes)


def flops_by_length(config: ModelConfig, lengths: Iterable[int]) -> dict[Component, list[int]]:
    """Count one sentence's attention and feed-forward FLOPs at each length in tokens."""
    block = config if config.window and config.global_every else replace(config, n_layers=1)
    costs = [count_flops(block, n_tokens).by(lambda term: term.component) for n_tokens in lengths]
    times = config.n_layers // block.n_layers  # where all blocks are alike, one of them is counted
    return {name: [times * cost[name] for cost in costs] for name in ("attention", "feed_forward")}


def count_attention_head(config: ModelConfig) -> Count:
    """One head's own parameters: its columns of W_Q, W_K and W_V with their biases, and its rows of W_O.

    The bias of W_O belongs to no head: it stays where every head of a layer is gone. So n_heads of them and one such
    bias, d_model numbers, are a layer's attention. Keys and values that several heads read belong to none of them.
    """
    letters = "qkv" if config.kv_heads == config.n_heads else "q"
    model, head = ("d_model", config.d_model), ("d_head", config.head_width)
    terms = [_linear(f"head.{each}", "attention", each.upper(), None, config, model, head) for each in letters]
    return Count(
        (*terms, Term("head.o", "attention", "O", None, "d_head · d_model", config.head_width * config.d_model))
    )


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
    kept = 2 * config.n_layers * config.kv_heads * config.head_width * n_tokens
    return (
        Memory("weights, fp32", "4 · N", 4 * n),
        Memory("weights, bf16", "2 · N", 2 * n),
        Memory("training with Adam, fp32", "(4 + 4 + 8) · N", 16 * n),
        Memory("keys and values of one sentence, fp32", "4 · 2 · n_layers · n_kv_heads · d_head · T", 4 * kept),
        Memory("every attention pattern of one sentence, fp32", "4 · n_layers · n_heads · T²", 4 * cells),
    )

"""The shape of every intermediate of a forward pass, and its stages; nothing is computed."""

from dataclasses import dataclass, replace

from playground.accounting.counts import Component, Count, count_flops, count_parameters
from playground.config import ModelConfig

Symbols = tuple[str, ...]
Steps = list[tuple[str, Symbols]]

_STREAM = ("B", "T", "d_model")
_HEADS = ("B", "H", "T", "d_head")
_STATISTICS = {"layer": ("mean", "std"), "scalar": ("mean", "std"), "rms": ("rms",), "none": ()}


def list_shapes(
    config: ModelConfig, n_sentences: int, n_tokens: int, causal: bool = False
) -> list[tuple[str, tuple[int, ...]]]:
    """List every intermediate's name and shape, in order, as tutorial C prints them.

    Points of a `Trace` have its names; between them stand steps that it does not keep.
    """
    sizes = {"B": n_sentences, "T": n_tokens, "H": config.n_heads, "1": 1}
    sizes |= {"d_model": config.d_model, "d_head": config.head_width, "d_ff": config.d_ff}
    sizes |= {"H_kv": config.kv_heads, "d_embedding": config.embedding_width}
    width, kv_width = config.n_heads * config.head_width, config.kv_heads * config.head_width
    sizes |= {"H·d_head": width, "H_kv·d_head": kv_width, "3·H·d_head": 3 * width}
    sizes |= {"3·d_model": 3 * config.d_model, "3·d_head": 3 * config.head_width}
    sizes |= {"H·d_model": config.n_heads * config.d_model}
    return [(name, tuple(sizes[symbol] for symbol in symbols)) for name, symbols in symbolic_shapes(config, causal)]


def symbolic_shapes(config: ModelConfig, causal: bool = False) -> Steps:
    """As `list_shapes`, in letters."""
    steps = _embedding(config)
    if config.has_position_bias:
        steps.append(("position_bias", ("1", "H", "T", "T")))
    for i in range(config.n_layers):
        steps += [(f"layers.{i}.{name}", symbols) for name, symbols in _block(config, i, causal)]
    if config.final_norm:
        steps += _norm("final_norm", config)
    return [*steps, ("final", _STREAM)]


def _embedding(config: ModelConfig) -> Steps:
    steps: Steps = [("ids", ("B", "T"))] if config.vocab_size else []
    width = "d_embedding" if config.d_embedding else "d_model"
    steps.append(("embed.tokens", ("B", "T", width)))
    if config.has_position_table:
        steps.append(("embed.positions", ("T", width)))
    if config.n_segments:
        steps.append(("embed.segment", (width,)))
    steps.append(("embed.sum", ("B", "T", width)))
    if config.embedding_norm:
        steps += _norm("embed.norm", config, width)
    return [*steps, ("embed.out", _STREAM)]


def _block(config: ModelConfig, layer: int, causal: bool) -> Steps:
    steps: Steps = []
    hidden = ("B", "T", "d_ff")
    gate: Steps = [("ffn.gate", hidden)] if config.gated else []
    feed_forward: Steps = [("ffn.up", hidden), *gate, ("ffn.hidden", hidden), ("ffn.out", _STREAM)]
    attention = _attention(config, causal or config.window_of(layer) > 0)
    sublayers = ((attention, "resid_mid", "norm1"), (feed_forward, "resid_post", "norm2"))
    for sublayer, added, norm in sublayers:
        if config.norm_placement == "post":
            steps += [*sublayer, (added, _STREAM), *_norm(norm, config)]
            continue
        behind = _norm(f"post_{norm}", config) if config.norm_placement == "both" else []
        kind = config if norm != "norm1" or config.has_norm1(layer) else replace(config, norm="none")
        steps += [*_norm(norm, kind), *sublayer, *behind, (added, _STREAM)]
    return [*steps, ("out", _STREAM)]


def _attention(config: ModelConfig, by_query: bool) -> Steps:
    pairs: Symbols = ("B", "H", "T", "T")
    steps: Steps = []
    joined: Symbols = ("B", "T", "H·d_head" if config.d_head else "d_model")
    if config.fused_qkv:
        steps.append(("attn.qkv", ("B", "T", "3·H·d_head" if config.d_head else "3·d_model")))
        steps.append(("attn.qkv.reshaped", ("B", "T", "H", "3·d_head")))
        steps.append(("attn.qkv.permuted", ("B", "H", "T", "3·d_head")))
    else:
        shared = config.kv_heads < config.n_heads
        for letter in "qkv" if config.tied == "separate" else "qv":
            is_shared = shared and letter != "q"
            is_wide = config.tied == "merged" and letter == "q"
            whole = ("B", "T", "H·d_model") if is_wide else joined
            steps.append((f"attn.{letter}.projected", ("B", "T", "H_kv·d_head") if is_shared else whole))
            width = "d_model" if is_wide else "d_head"
            steps.append((f"attn.{letter}.reshaped", ("B", "T", "H_kv" if is_shared else "H", width)))
    steps += _projected(config)
    met = _met(config)
    steps += [("attn.q", met), ("attn.k", met), ("attn.v", _HEADS)]
    steps.append(("attn.products", pairs))
    steps.append(("attn.mask", ("B", "1", "T" if by_query else "1", "T")))
    steps += [("attn.scores", pairs), ("attn.pattern", pairs), ("attn.z", _HEADS)]
    if config.head_merge == "transpose":
        steps.append(("attn.z.permuted", ("B", "T", "H", "d_head")))
    return [*steps, ("attn.merged", joined), ("attn.out", _STREAM)]


def _met(config: ModelConfig) -> Symbols:
    """The shape of queries and keys."""
    return ("B", "H", "T", "d_model") if config.tied == "merged" else _HEADS


def _projected(config: ModelConfig) -> Steps:
    is_shared, is_prepared = config.kv_heads < config.n_heads, config.qk_norm or config.positions == "rotary"
    steps: Steps = [("attn.q_projected", _met(config))] if is_prepared else []
    keys: Symbols = ("B", "H_kv", "T", "d_head") if is_shared else _met(config)
    steps += [("attn.k_projected", keys)] if is_prepared or is_shared else []
    steps += [("attn.q_normed", _HEADS), ("attn.k_normed", keys)] if config.qk_norm else []
    return [*steps, ("attn.v_projected", keys)] if is_shared else steps


def _norm(name: str, config: ModelConfig, width: str = "d_model") -> Steps:
    steps: Steps = [(f"{name}.{what}", ("B", "T", "1")) for what in _STATISTICS[config.norm]]
    return [*steps, (f"{name}.normalized", ("B", "T", width)), (f"{name}.out", ("B", "T", width))]


@dataclass(frozen=True)
class Stage:
    """One box on the way from ids to vectors."""

    title: str
    component: Component | None
    """None for data at either end, and for a sum."""
    shape: str
    """Of what leaves it, for one sentence."""
    parameters: int = 0
    """In one block."""
    share: float = 0.0
    """Of the pass's operations, over all blocks."""
    in_block: bool = False
    residual: int = 0
    """The residual connection, 1 or 2, that leads past it or ends in it; 0 for none."""


def list_stages(config: ModelConfig, n_tokens: int) -> list[Stage]:
    """List the stages of a pass over one sentence; of the blocks, the last one."""
    parameters, flops = count_parameters(config), count_flops(config, n_tokens)
    work = flops.by(lambda term: term.component)
    stream = f"({n_tokens}, {config.d_model})"
    has_norms = config.norm != "none"
    last = config.n_layers - 1
    block = f"layers.{0 if config.share_layers else last}"
    embedding_norm = _under(parameters, "embed.norm")
    added = ["positions"] * config.has_position_table + ["segments"] * (config.n_segments > 0)
    embed = "embed" if config.vocab_size else " & ".join(added)

    def list_sublayer(number: int, title: str, component: Component, name: str, shape: str) -> list[Stage]:
        past = number if config.residual else 0
        share, n_learned = work[component] / flops.total, _under(parameters, f"{block}.{name}")
        sublayer = Stage(title, component, shape, n_learned, share, in_block=True, residual=past)
        add = [Stage("add", None, stream, in_block=True, residual=past)] * config.residual
        if not has_norms:
            return [sublayer, *add]
        norm = Stage("norm", "norms", stream, _under(parameters, f"{block}.norm{number}"), in_block=True)
        if config.norm_placement == "post":
            return [sublayer, *add, norm]
        before = [replace(norm, residual=past)] if config.has_norm1(last) or number > 1 else []
        n_behind = _under(parameters, f"{block}.post_norm{number}")
        behind = [replace(norm, residual=past, parameters=n_behind)] if config.norm_placement == "both" else []
        return [*before, sublayer, *behind, *add]

    embedding_share = work.get("embeddings", 0) / flops.total
    n_embedding = _under(parameters, "embed") - embedding_norm
    distances = _under(parameters, "relative")
    pairs = f"{config.n_heads} × ({n_tokens}, {n_tokens})"
    final_norm = Stage("final norm", "norms", stream, _under(parameters, "final_norm"))
    return [
        Stage("tokens", None, f"({n_tokens},) ids") if config.vocab_size else Stage("raw vectors", None, stream),
        *([Stage(embed, "embeddings", stream, n_embedding, embedding_share)] if embed else []),
        *([Stage("norm", "norms", stream, embedding_norm)] if config.embedding_norm and has_norms else []),
        *([Stage("distances", "embeddings", pairs, distances)] if distances else []),
        *list_sublayer(1, "attention", "attention", "attn", pairs),
        *list_sublayer(2, "feed-forward", "feed_forward", "ffn", f"({n_tokens}, {config.d_ff})"),
        *([final_norm] if config.final_norm and has_norms else []),
        Stage("vectors", None, stream),
    ]


def _under(count: Count, prefix: str) -> int:
    return sum(term.count for term in count if f"{term.name}.".startswith(f"{prefix}."))

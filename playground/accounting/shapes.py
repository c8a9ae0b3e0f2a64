"""The shape of every intermediate of a forward pass, and the stages of the way of the data; nothing is computed."""

from dataclasses import dataclass, replace

from playground.accounting.counts import Component, Count, count_flops, count_parameters
from playground.config import ModelConfig

Symbols = tuple[str, ...]
Steps = list[tuple[str, Symbols]]

_STREAM = ("B", "T", "d_model")
_HEADS = ("B", "H", "T", "d_head")
_STATISTICS = {"layer": ("mean", "std"), "scalar": ("mean", "std"), "rms": ("rms",), "none": ()}
"""What each norm takes from a token's features."""


def list_shapes(
    config: ModelConfig, n_sentences: int, n_tokens: int, causal: bool = False
) -> list[tuple[str, tuple[int, ...]]]:
    """Every intermediate's name and shape, in order, as tutorial C prints them.

    Points that a `Trace` notes have its names. Between them stand the steps that it does not keep: projections before
    they are cut into heads, the mask (`causal`: another row for each query), unmasked products, merged heads, and what
    the norms measure. B = `n_sentences`, T = `n_tokens`, padding included.
    """
    sizes = {"B": n_sentences, "T": n_tokens, "H": config.n_heads, "1": 1}
    sizes |= {"d_model": config.d_model, "d_head": config.d_head, "d_ff": config.d_ff}
    sizes |= {"3·d_model": 3 * config.d_model, "3·d_head": 3 * config.d_head}
    return [(name, tuple(sizes[symbol] for symbol in symbols)) for name, symbols in symbolic_shapes(config, causal)]


def symbolic_shapes(config: ModelConfig, causal: bool = False) -> Steps:
    """As `list_shapes`, in letters: B sentences, T tokens, H heads."""
    steps = _embedding(config)
    for i in range(config.n_layers):
        steps += [(f"layers.{i}.{name}", symbols) for name, symbols in _block(config, causal)]
    if config.final_norm:
        steps += _norm("final_norm", config)
    return [*steps, ("final", _STREAM)]


def _embedding(config: ModelConfig) -> Steps:
    steps: Steps = [("ids", ("B", "T"))] if config.vocab_size else []
    steps.append(("embed.tokens", _STREAM))
    if config.positions != "none":
        steps.append(("embed.positions", ("T", "d_model")))
    if config.n_segments:
        steps.append(("embed.segment", ("d_model",)))
    steps.append(("embed.sum", _STREAM))
    if config.embedding_norm:
        steps += _norm("embed.norm", config)
    return [*steps, ("embed.out", _STREAM)]


def _block(config: ModelConfig, causal: bool) -> Steps:
    steps: Steps = []
    feed_forward: Steps = [("ffn.up", ("B", "T", "d_ff")), ("ffn.hidden", ("B", "T", "d_ff")), ("ffn.out", _STREAM)]
    sublayers = ((_attention(config, causal), "resid_mid", "norm1"), (feed_forward, "resid_post", "norm2"))
    for sublayer, added, norm in sublayers:
        if config.norm_placement == "pre":
            steps += [*_norm(norm, config), *sublayer, (added, _STREAM)]
        else:
            steps += [*sublayer, (added, _STREAM), *_norm(norm, config)]
    return [*steps, ("out", _STREAM)]


def _attention(config: ModelConfig, causal: bool) -> Steps:
    pairs: Symbols = ("B", "H", "T", "T")
    steps: Steps = []
    if config.fused_qkv:
        steps.append(("attn.qkv", ("B", "T", "3·d_model")))
        steps.append(("attn.qkv.reshaped", ("B", "T", "H", "3·d_head")))
        steps.append(("attn.qkv.permuted", ("B", "H", "T", "3·d_head")))
    else:
        for letter in "qkv":
            steps.append((f"attn.{letter}.projected", _STREAM))
            steps.append((f"attn.{letter}.reshaped", ("B", "T", "H", "d_head")))
    steps += [(f"attn.{letter}", _HEADS) for letter in "qkv"]
    steps.append(("attn.products", pairs))
    steps.append(("attn.mask", ("B", "1", "T" if causal else "1", "T")))
    steps += [("attn.scores", pairs), ("attn.pattern", pairs), ("attn.z", _HEADS)]
    if config.head_merge == "transpose":
        steps.append(("attn.z.permuted", ("B", "T", "H", "d_head")))
    return [*steps, ("attn.merged", _STREAM), ("attn.out", _STREAM)]


def _norm(name: str, config: ModelConfig) -> Steps:
    steps: Steps = [(f"{name}.{what}", ("B", "T", "1")) for what in _STATISTICS[config.norm]]
    return [*steps, (f"{name}.normalized", _STREAM), (f"{name}.out", _STREAM)]


@dataclass(frozen=True)
class Stage:
    """One box on the way from ids to vectors."""

    title: str
    component: Component | None
    """The part of the model; None for the plain data at either end, and for a sum."""
    shape: str
    """Of what leaves the stage, for one sentence."""
    parameters: int = 0
    """Learned numbers, in one block where the stage is repeated."""
    share: float = 0.0
    """Of the forward pass's floating-point operations, over all blocks; 0 … 1."""
    in_block: bool = False
    """Whether the stage is repeated in every block."""
    residual: int = 0
    """Which of a block's residual connections leads past the stage, or ends in it, a sum: 1 or 2; 0 for none."""


def list_stages(config: ModelConfig, n_tokens: int) -> list[Stage]:
    """The stages of a forward pass over one sentence of `n_tokens` tokens, in order."""
    parameters, flops = count_parameters(config), count_flops(config, n_tokens)
    work = flops.by(lambda term: term.component)
    stream = f"({n_tokens}, {config.d_model})"
    has_norms = config.norm != "none"
    embedding_norm = _under(parameters, "embed.norm")
    added = ["positions"] * (config.positions != "none") + ["segments"] * (config.n_segments > 0)
    embed = "embed" if config.vocab_size else " & ".join(added)

    def list_sublayer(number: int, title: str, component: Component, name: str, shape: str) -> list[Stage]:
        """A sublayer with its norm, and with the residual connection around it."""
        past = number if config.residual else 0
        share, n_learned = work[component] / flops.total, _under(parameters, f"layers.0.{name}")
        sublayer = Stage(title, component, shape, n_learned, share, in_block=True, residual=past)
        add = [Stage("add", None, stream, in_block=True, residual=past)] * config.residual
        if not has_norms:
            return [sublayer, *add]
        norm = Stage("norm", "norms", stream, _under(parameters, f"layers.0.norm{number}"), in_block=True)
        if config.norm_placement == "post":
            return [sublayer, *add, norm]
        return [replace(norm, residual=past), sublayer, *add]

    final_norm = Stage("final norm", "norms", stream, _under(parameters, "final_norm"))
    return [
        Stage("tokens", None, f"({n_tokens},) ids") if config.vocab_size else Stage("raw vectors", None, stream),
        *([Stage(embed, "embeddings", stream, _under(parameters, "embed") - embedding_norm)] if embed else []),
        *([Stage("norm", "norms", stream, embedding_norm)] if config.embedding_norm and has_norms else []),
        *list_sublayer(1, "attention", "attention", "attn", f"{config.n_heads} × ({n_tokens}, {n_tokens})"),
        *list_sublayer(2, "feed-forward", "feed_forward", "ffn", f"({n_tokens}, {config.d_ff})"),
        *([final_norm] if config.final_norm and has_norms else []),
        Stage("vectors", None, stream),
    ]


def _under(count: Count, prefix: str) -> int:
    return sum(term.count for term in count if f"{term.name}.".startswith(f"{prefix}."))

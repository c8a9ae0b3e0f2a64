"""The shape of every intermediate of a forward pass, in the order in which they are computed; nothing is computed."""

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

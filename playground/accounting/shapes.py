"""The shape of every intermediate of a forward pass, in the order in which they are computed; nothing is computed."""

from playground.config import ModelConfig

Symbols = tuple[str, ...]

_STREAM = ("B", "T", "d_model")
_HEADS = ("B", "H", "T", "d_head")
_PAIRS = ("B", "H", "T", "T")
_INNER = ("B", "T", "d_ff")
_STATISTICS = {"layer": ("mean", "std"), "scalar": ("mean", "std"), "rms": ("rms",), "none": ()}
"""What each norm takes from a token's features."""


def shapes(
    config: ModelConfig, n_sentences: int, n_tokens: int, causal: bool = False
) -> list[tuple[str, tuple[int, ...]]]:
    """Every intermediate's name and shape, in order, as tutorial C prints them.

    Points that a `Trace` notes have its names. Between them stand the steps that it does not keep: projections before
    they are cut into heads, the mask, unmasked products, merged heads, and what the norms measure.

    Args:
        config: the architecture.
        n_sentences: B, sentences in the batch.
        n_tokens: T, tokens a sentence, padding included.
        causal: whether the mask hides what lies ahead, and so differs from query to query.
    """
    sizes = {"B": n_sentences, "T": n_tokens, "H": config.n_heads, "1": 1}
    sizes |= {"d_model": config.d_model, "d_head": config.d_head, "d_ff": config.d_ff}
    sizes |= {"3·d_model": 3 * config.d_model, "3·d_head": 3 * config.d_head}
    return [(name, tuple(sizes[symbol] for symbol in symbols)) for name, symbols in symbolic_shapes(config, causal)]


def symbolic_shapes(config: ModelConfig, causal: bool = False) -> list[tuple[str, Symbols]]:
    """As `shapes`, in letters: B sentences, T tokens, H heads."""
    steps = _embedding(config)
    for i in range(config.n_layers):
        steps += [(f"layers.{i}.{name}", symbols) for name, symbols in _block(config, causal)]
    if config.final_norm:
        steps += _norm("final_norm", config)
    return [*steps, ("final", _STREAM)]


def _embedding(config: ModelConfig) -> list[tuple[str, Symbols]]:
    steps: list[tuple[str, Symbols]] = [("ids", ("B", "T"))] if config.vocab_size else []
    steps.append(("embed.tokens", _STREAM))
    if config.positions != "none":
        steps.append(("embed.positions", ("T", "d_model")))
    if config.n_segments:
        steps.append(("embed.segment", ("d_model",)))
    steps.append(("embed.sum", _STREAM))
    if config.embedding_norm:
        steps += _norm("embed.norm", config)
    return [*steps, ("embed.out", _STREAM)]


def _block(config: ModelConfig, causal: bool) -> list[tuple[str, Symbols]]:
    attention, feed_forward = _attention(config, causal), _feed_forward()
    norm1, norm2 = _norm("norm1", config), _norm("norm2", config)
    mid: tuple[str, Symbols] = ("resid_mid", _STREAM)
    post: tuple[str, Symbols] = ("resid_post", _STREAM)
    if config.norm_placement == "pre":
        steps = [*norm1, *attention, mid, *norm2, *feed_forward, post]
    else:
        steps = [*attention, mid, *norm1, *feed_forward, post, *norm2]
    return [*steps, ("out", _STREAM)]


def _attention(config: ModelConfig, causal: bool) -> list[tuple[str, Symbols]]:
    steps: list[tuple[str, Symbols]] = []
    if config.fused_qkv:
        steps.append(("attn.qkv", ("B", "T", "3·d_model")))
        steps.append(("attn.qkv.reshaped", ("B", "T", "H", "3·d_head")))
        steps.append(("attn.qkv.permuted", ("B", "H", "T", "3·d_head")))
    else:
        for letter in "qkv":
            steps.append((f"attn.{letter}.projected", _STREAM))
            steps.append((f"attn.{letter}.reshaped", ("B", "T", "H", "d_head")))
    steps += [(f"attn.{letter}", _HEADS) for letter in "qkv"]
    steps.append(("attn.products", _PAIRS))
    steps.append(("attn.mask", ("B", "1", "T" if causal else "1", "T")))
    steps += [("attn.scores", _PAIRS), ("attn.pattern", _PAIRS), ("attn.z", _HEADS)]
    if config.head_merge == "transpose":
        steps.append(("attn.z.permuted", ("B", "T", "H", "d_head")))
    return [*steps, ("attn.merged", _STREAM), ("attn.out", _STREAM)]


def _feed_forward() -> list[tuple[str, Symbols]]:
    return [("ffn.up", _INNER), ("ffn.hidden", _INNER), ("ffn.out", _STREAM)]


def _norm(name: str, config: ModelConfig) -> list[tuple[str, Symbols]]:
    steps: list[tuple[str, Symbols]] = [(f"{name}.{what}", ("B", "T", "1")) for what in _STATISTICS[config.norm]]
    return [*steps, (f"{name}.normalized", _STREAM), (f"{name}.out", _STREAM)]

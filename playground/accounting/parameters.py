"""Parameters of an architecture, from its config alone: nothing is allocated, so any size can be counted."""

from collections.abc import Iterator
from dataclasses import replace

from playground.accounting.terms import Count, Term
from playground.config import ModelConfig


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

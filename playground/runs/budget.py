"""What a server refuses to run, before anything is allocated; each refusal says what would fit."""

from playground.accounting import count_encoder_decoder, count_parameters
from playground.config import ModelConfig
from playground.errors import TooLargeError

MAX_PARAMETERS = 125_000_000
"""Of a model that is run, where nobody sets another limit."""

MAX_KEPT = 32_000_000
"""Numbers that one run may hold, attention weights and vectors together: 128 MB in fp32."""

_VECTORS = 7
"""Vectors kept of every token in every layer: two sublayers' outputs, two sums, two norms' outputs, the block's."""


def check_budget(config: ModelConfig, max_parameters: int) -> None:
    """Refuse a model with more than `max_parameters`, before anything is allocated; counting it stays possible."""
    n = count_parameters(config).total
    if n > max_parameters:
        raise TooLargeError(
            f"This model has {n:,} parameters, and this server runs at most {max_parameters:,}: it is counted on the "
            f"Parameters page, but not built. Fewer layers, a smaller d_model, d_ff or token table would fit."
        )


def count_kept(config: ModelConfig, n_tokens: int) -> int:
    """How many numbers a run of so many tokens holds: attention weights and vectors."""
    return config.n_layers * (config.n_heads * n_tokens**2 + _VECTORS * n_tokens * config.d_model)


def check_kept(config: ModelConfig, n_tokens: int) -> None:
    """Refuse a run whose attention patterns and vectors are too many to keep."""
    kept = count_kept(config, n_tokens)
    if kept > MAX_KEPT:
        raise TooLargeError(
            f"{config.n_layers} layers × ({config.n_heads} heads × {n_tokens}² attention weights + {_VECTORS} × "
            f"{n_tokens} vectors of {config.d_model} numbers) are {kept:,} numbers, and at most {MAX_KEPT:,} of a "
            f"sentence are kept. A shorter text or fewer layers would fit."
        )


def check_pair_budget(config: ModelConfig, tgt_vocab_size: int, max_parameters: int) -> None:
    """Refuse an encoder–decoder with more than `max_parameters`, before anything is allocated."""
    n = count_encoder_decoder(config, tgt_vocab_size).total
    if n > max_parameters:
        raise TooLargeError(
            f"Both halves in this shape have {n:,} parameters, and this server runs at most {max_parameters:,}. "
            f"Fewer layers, a smaller d_model or d_ff, or a tokenizer with fewer words would fit."
        )


def check_pair_patterns(config: ModelConfig, n_source: int, n_target: int) -> None:
    """Refuse a pair whose three attentions are too many weights to keep."""
    cells = config.n_layers * config.n_heads * (n_source**2 + n_target**2 + n_target * n_source)
    if cells > MAX_KEPT:
        raise TooLargeError(
            f"{config.n_layers} layers × {config.n_heads} heads × "
            f"({n_source}² + {n_target}² + {n_target} · {n_source}) token pairs are {cells:,} attention weights, "
            f"and this server keeps at most {MAX_KEPT:,}. A shorter text or fewer layers would fit."
        )

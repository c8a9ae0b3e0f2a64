"""The way of the data through an encoder: its stages in order, each with shape, parameters and work."""

from dataclasses import dataclass, replace

from playground.accounting.flops import count_flops
from playground.accounting.parameters import count_parameters
from playground.accounting.terms import Component, Count
from playground.config import ModelConfig


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

"""The way of the data through an encoder: its stages in order, each with shape, parameters and work."""

from dataclasses import dataclass

from playground.accounting.flops import count_flops
from playground.accounting.parameters import count_parameters
from playground.accounting.terms import Component, Count
from playground.config import ModelConfig


@dataclass(frozen=True)
class Stage:
    """One box on the way from ids to vectors."""

    title: str
    component: Component | None
    """The part of the model; None for the plain data at either end."""
    shape: str
    """Of what leaves the stage, for one sentence."""
    parameters: int = 0
    """Learned numbers, in one block where the stage is repeated."""
    share: float = 0.0
    """Of the forward pass's floating-point operations, over all blocks; 0 … 1."""
    in_block: bool = False
    """Whether the stage is repeated in every block."""


def list_stages(config: ModelConfig, n_tokens: int) -> list[Stage]:
    """The stages of a forward pass over one sentence of `n_tokens` tokens, in order."""
    parameters, flops = count_parameters(config), count_flops(config, n_tokens)
    work = flops.by(lambda term: term.component)
    stream = f"({n_tokens}, {config.d_model})"
    add, norm = "add" if config.residual else "", "norm" if config.norm != "none" else ""
    embedding_norm = _under(parameters, "embed.norm")
    added = ["positions"] * (config.positions != "none") + ["segments"] * (config.n_segments > 0)
    embed = "embed" if config.vocab_size else " & ".join(added)

    def sublayer(title: str, component: Component, name: str, shape: str) -> Stage:
        share = work[component] / flops.total
        return Stage(title, component, shape, _under(parameters, f"layers.0.{name}"), share, in_block=True)

    def between(name: str, *words: str) -> Stage:
        title = " & ".join(word for word in words if word)
        return Stage(title, "norms", stream, _under(parameters, f"layers.0.{name}"), in_block=True)

    attention = sublayer("attention", "attention", "attn", f"{config.n_heads} × ({n_tokens}, {n_tokens})")
    feed_forward = sublayer("feed-forward", "feed_forward", "ffn", f"({n_tokens}, {config.d_ff})")
    if config.norm_placement == "post":
        block = [attention, between("norm1", add, norm), feed_forward, between("norm2", add, norm)]
    else:
        last = Stage(add, "norms", stream, in_block=True)
        block = [between("norm1", norm), attention, between("norm2", add, norm), feed_forward, last]
    return [
        Stage("tokens", None, f"({n_tokens},) ids") if config.vocab_size else Stage("raw vectors", None, stream),
        *([Stage(embed, "embeddings", stream, _under(parameters, "embed") - embedding_norm)] if embed else []),
        *([Stage("norm", "norms", stream, embedding_norm)] if config.embedding_norm else []),
        *(stage for stage in block if stage.title),
        *([Stage("final norm", "norms", stream, _under(parameters, "final_norm"))] if config.final_norm else []),
        Stage("vectors", None, stream),
    ]


def _under(count: Count, prefix: str) -> int:
    return sum(term.count for term in count if f"{term.name}.".startswith(f"{prefix}."))

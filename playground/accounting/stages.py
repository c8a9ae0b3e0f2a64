"""The way of the data through an encoder: its stages in order, each with shape, parameters and work."""

from dataclasses import dataclass

from playground.accounting.flops import count_flops
from playground.accounting.parameters import count_parameters
from playground.accounting.terms import Component, Count
from playground.config import ModelConfig


@dataclass(frozen=True)
class Stage:
    """One box on the way from ids to vectors.

    Attributes:
        title: what happens.
        component: the part of the model, or None for the plain data at either end.
        shape: what leaves the stage, for one sentence.
        parameters: learned numbers, in one block where the stage is repeated.
        share: of the forward pass's floating-point operations, over all blocks; 0 … 1.
        in_block: whether the stage is repeated in every block.
    """

    title: str
    component: Component | None
    shape: str
    parameters: int
    share: float
    in_block: bool = False


def stages(config: ModelConfig, n_tokens: int) -> list[Stage]:
    """The stages of a forward pass over one sentence of `n_tokens` tokens, in order."""
    parameters, flops = count_parameters(config), count_flops(config, n_tokens)
    stream = f"({n_tokens}, {config.d_model})"
    add = "add" if config.residual else ""

    def sublayer(title: str, component: Component, prefix: str, shape: str) -> Stage:
        share = sum(term.count for term in flops if term.component == component) / flops.total
        return Stage(title, component, shape, _under(parameters, prefix), share, in_block=True)

    def norm(prefix: str, *words: str) -> Stage:
        title = " & ".join(word for word in words if word)
        return Stage(title, "norms", stream, _under(parameters, prefix), 0.0, in_block=True)

    attention = sublayer("attention", "attention", "layers.0.attn", f"{config.n_heads} × ({n_tokens}, {n_tokens})")
    feed_forward = sublayer("feed-forward", "feed_forward", "layers.0.ffn", f"({n_tokens}, {config.d_ff})")
    kind = "norm" if config.norm != "none" else ""
    norm1, norm2 = "layers.0.norm1", "layers.0.norm2"
    if config.norm_placement == "post":
        block = [attention, norm(norm1, add, kind), feed_forward, norm(norm2, add, kind)]
    else:
        block = [
            norm(norm1, kind),
            attention,
            norm(norm2, add, kind),
            feed_forward,
            Stage(add, "norms", stream, 0, 0.0, in_block=True),
        ]
    embedding_norm = _under(parameters, "embed.norm")
    return [
        Stage("tokens", None, f"({n_tokens},) ids", 0, 0.0),
        Stage("embed", "embeddings", stream, _under(parameters, "embed") - embedding_norm, 0.0),
        *([Stage("norm", "norms", stream, embedding_norm, 0.0)] if config.embedding_norm else []),
        *(stage for stage in block if stage.title),
        *([Stage("final norm", "norms", stream, _under(parameters, "final_norm"), 0.0)] if config.final_norm else []),
        Stage("vectors", None, stream, 0, 0.0),
    ]


def _under(count: Count, prefix: str) -> int:
    return sum(term.count for term in count if f"{term.name}.".startswith(f"{prefix}."))

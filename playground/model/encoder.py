"""The encoder: embeddings, N blocks, and a final norm where the config has one."""

from itertools import islice

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.blocks import EncoderBlock
from playground.model.embedding import Embeddings, check_vectors
from playground.model.init import initial_weights
from playground.model.masks import AttentionMask, over_heads
from playground.model.norms import build_norm
from playground.model.trace import UNTRACED, Trace, or_untraced


class Encoder(nn.Module):
    """A transformer encoder (Vaswani et al. 2017, section 3.1), in any of its config's variants.

    It starts in eval mode, so that the same ids give the same numbers; call `train()` for dropout.

    Args:
        config: the architecture.
        seed: the initial weights, drawn on the CPU: the same everywhere, and each tensor's apart from the others', so
            that a deeper or wider encoder shares what it can (see `initialise`). None draws and allocates no weights:
            the model has their shapes alone (torch's meta device), to be counted or to have weights loaded.
    """

    def __init__(self, config: ModelConfig, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with initial_weights(self, seed, config.initialisation):
            self.embed = Embeddings(config)
            self.layers = nn.ModuleList(EncoderBlock(config) for _ in range(config.n_layers))
            self.final_norm = build_norm(config) if config.final_norm else None

    def forward(self, ids: Tensor, mask: Tensor | None = None, trace: Trace | None = UNTRACED) -> Tensor:
        """Encode token ids (B, T) int64 → (B, T, d_model); the output is the same with and without a trace.

        The mask is boolean, True = may attend: (B, T) over keys, or (B or 1, T, T) over query-key pairs. Where B = T, a
        causal (T, T) is refused, as it has both shapes: `masks.over_heads` says how to write what is meant.

        Raises:
            InputError: ids or mask have another shape, or the sentence is longer than the config's max_len.
        """
        trace = or_untraced(trace)
        return self.encode(self.embed(ids, trace.scope("embed")), mask, trace)

    def embed_vectors(self, x: Tensor, trace: Trace | None = UNTRACED) -> Tensor:
        """Place raw vectors (B, T, d_model) as `embed` places rows of its table (tutorials B and C)."""
        check_vectors(x, self.config.d_model)
        return self.embed.place(x, or_untraced(trace).scope("embed"))

    def encode(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        trace: Trace | None = UNTRACED,
        *,
        first_layer: int = 0,
        end_layer: int | None = None,
    ) -> Tensor:
        """Run embedded vectors (B, T, d_model) through the blocks and the final norm; mask and trace as in `forward`.

        With a `first_layer`, the blocks before it are left out, and x is what would leave them. With an `end_layer`,
        the pass ends before that block, without the final norm.
        """
        check_vectors(x, self.config.d_model)
        trace = or_untraced(trace)
        prepared = AttentionMask(over_heads(mask, x.shape[0], x.shape[1], x.shape[1]))
        for i, layer in islice(enumerate(self.layers), first_layer, end_layer):
            x = layer(x, prepared, trace.scope(f"layers.{i}"))
        if end_layer is not None:
            return x
        if self.final_norm is not None:
            x = self.final_norm(x, trace.scope("final_norm"))
        return trace.record("final", x)

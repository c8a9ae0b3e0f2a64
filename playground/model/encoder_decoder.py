"""The whole transformer: an encoder, a decoder that reads from it, and a score for every next token."""

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import ConfigError
from playground.model.decoder import Decoder
from playground.model.encoder import Encoder
from playground.model.init import Linear, initial_weights
from playground.model.trace import UNTRACED, Trace, or_untraced


class EncoderDecoder(nn.Module):
    """A transformer (Vaswani et al. 2017, figure 1), both halves in the same config's variant.

    It starts in eval mode; call `train()` for dropout. Parameters are named `encoder.…`, as an `Encoder`'s;
    `decoder.…`, whose blocks have `self_attn`, `cross_attn` and three norms; `fc.weight` and `fc.bias`.

    Args:
        config: the architecture of both halves; `vocab_size` is the source's.
        tgt_vocab_size: words of the target language.
        seed: as of `Encoder`, whose weights the encoder has at the same seed; None allocates nothing.

    Raises:
        ConfigError: there is no target word to predict.
    """

    def __init__(self, config: ModelConfig, tgt_vocab_size: int, seed: int | None = 0) -> None:
        super().__init__()
        if tgt_vocab_size < 1:
            raise ConfigError("tgt_vocab_size", tgt_vocab_size, "leaves no word to predict", (1,))
        self.config = config
        with initial_weights(self, seed, config.initialisation, drawn="encoder"):
            self.encoder = Encoder(config, seed)
            self.decoder = Decoder(config, tgt_vocab_size)
            self.fc = Linear(config.d_model, tgt_vocab_size)

    def forward(
        self,
        src_ids: Tensor,
        tgt_ids: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        trace: Trace | None = UNTRACED,
    ) -> Tensor:
        """Score every target word as the one after each target token: (B, Ts), (B, Tt) int64 → (B, Tt, tgt_vocab_size).

        `src_mask` is boolean, (B, Ts), True = a source token; `tgt_mask` (B, Tt) over target keys, on top of the
        no-peek mask, or (B or 1, Tt, Tt) instead of it, True = may attend. A trace notes `encoder.…`, `decoder.…` and
        `logits`.

        Raises:
            InputError: ids or a mask have another shape, or a sentence is longer than the config's max_len.
        """
        return self.decode(tgt_ids, self.encode(src_ids, src_mask, trace), src_mask, tgt_mask, trace)

    def encode(self, src_ids: Tensor, src_mask: Tensor | None = None, trace: Trace | None = UNTRACED) -> Tensor:
        """Read the source once: (B, Ts) → memory (B, Ts, d_model); arguments as in `forward`."""
        trace = or_untraced(trace)
        return self.encoder(src_ids, src_mask, trace.scope("encoder"))  # type: ignore[no-any-return]

    def decode(
        self,
        tgt_ids: Tensor,
        memory: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        trace: Trace | None = UNTRACED,
    ) -> Tensor:
        """Score the words after the target, beside the memory from `encode` → logits (B, Tt, tgt_vocab_size)."""
        trace = or_untraced(trace)
        x = self.decoder(tgt_ids, memory, src_mask, tgt_mask, trace.scope("decoder"))  # (B, Tt, d_model)
        return trace.record("logits", self.fc(x))

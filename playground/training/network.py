"""What is trained: an encoder with a head that names a class for every token, or the whole encoder–decoder."""

from torch import Tensor, nn

from playground.accounting import count_encoder_decoder, count_parameters
from playground.config import ModelConfig
from playground.model import Encoder, EncoderDecoder, Trace
from playground.model.init import Linear, initial_weights
from playground.model.trace import UNTRACED, or_untraced
from playground.training.tasks import Task


class Tagger(nn.Module):
    """An encoder and a linear head: a score for each class at every token.

    It starts in eval mode. Parameters are named `encoder.…`, as an `Encoder`'s, and `head.weight`, `head.bias`.

    Args:
        config: the encoder's architecture.
        n_classes: what the head chooses from.
        seed: the initial weights, of which the encoder's are those of `Encoder(config, seed)`; None allocates nothing.
    """

    def __init__(self, config: ModelConfig, n_classes: int, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with initial_weights(self, seed, config.initialisation, drawn="encoder"):
            self.encoder = Encoder(config, seed)
            self.head = Linear(config.d_model, n_classes)

    def forward(self, ids: Tensor, mask: Tensor | None = None, trace: Trace | None = UNTRACED) -> Tensor:
        """ids (B, T), mask and trace as of an encoder → logits (B, T, C); a trace notes `encoder.…` and `logits`."""
        trace = or_untraced(trace)
        x = self.encoder(ids, mask, trace.scope("encoder"))  # (B, T, d_model)
        return trace.record("logits", self.head(x))


Network = Tagger | EncoderDecoder


def build_network(config: ModelConfig, task: Task, n_classes: int, seed: int | None) -> Network:
    """The untrained network that a task needs; without a seed, its shapes alone."""
    return EncoderDecoder(config, n_classes, seed) if task.has_decoder else Tagger(config, n_classes, seed)


def count_network(config: ModelConfig, task: Task, n_classes: int) -> int:
    """The parameters of such a network: the encoder with its head, or both halves; nothing is allocated."""
    if task.has_decoder:
        return count_encoder_decoder(config, n_classes).total
    return count_parameters(config).total + (config.d_model + 1) * n_classes


def count_head(config: ModelConfig, task: Task, n_classes: int) -> int:
    """The parameters that such a network has beside its encoder: its output head's, or its whole decoder's."""
    return count_network(config, task, n_classes) - count_parameters(config).total

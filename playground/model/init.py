"""Initial weights: one function, one generator, on the CPU, so that a seed means the same weights everywhere."""

import contextlib
import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from playground.config import Initialisation


class Linear(nn.Linear):
    """A linear map whose weights `initialise` draws, instead of torch's constructor drawing them a first time."""

    def __init__(self, in_features: int, out_features: int, parts: int = 1) -> None:
        """Map (…, in_features) to (…, out_features); `parts` maps of equal size lie side by side in the output."""
        super().__init__(in_features, out_features)
        self.parts = parts

    def reset_parameters(self) -> None:
        """Draw nothing."""


class Embedding(nn.Embedding):
    """A table whose rows `initialise` draws, instead of torch's constructor drawing them a first time."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


@contextlib.contextmanager
def initial_weights(model: nn.Module, seed: int | None, scheme: Initialisation) -> Iterator[None]:
    """Context in which a model's constructor makes its parts: afterwards it has its weights, and is in eval mode.

    Parts that drew theirs from the same seed before, as an encoder does, get the same again if they come first. Without
    a seed, nothing is drawn or allocated: the parts are on torch's meta device.
    """
    with torch.device("meta") if seed is None else contextlib.nullcontext():
        yield
    if seed is not None:
        initialise(model, seed, scheme)
    model.eval()


def initialise(model: nn.Module, seed: int, scheme: Initialisation = "xavier") -> None:
    """Draw every parameter of a model anew, in the order of its modules; norms get gain 1 and bias 0.

    `xavier`: linear maps Xavier-uniform (Glorot & Bengio 2010, equation 16), each part of a fused projection as if it
    stood alone; biases 0. Tables: standard deviation 1/√width, so that scaling by √d_model gives unit variance. All
    draws are uniform: torch draws these the same, bit for bit, on every CPU.

    `torch`: what the constructors of torch.nn draw. Weights and biases of linear maps: uniform within 1/√in_features
    (`reset_parameters` of torch.nn.Linear). Tables: standard normal, so that scaling by √d_model gives vectors √d_model
    times as long as positions of the same size would be.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, Linear | Embedding):
                draw = _draw_xavier if scheme == "xavier" else _draw_as_torch
                draw(module, generator)
            else:
                for name, parameter in module.named_parameters(recurse=False):
                    parameter.fill_(1.0 if name == "gain" else 0.0)


def _draw_xavier(module: Linear | Embedding, generator: torch.Generator) -> None:
    if isinstance(module, Linear):
        _draw_uniform(module.weight, 6 / (module.in_features + module.out_features // module.parts), generator)
        module.bias.zero_()
    else:
        _draw_uniform(module.weight, 3 / module.embedding_dim, generator)


def _draw_as_torch(module: Linear | Embedding, generator: torch.Generator) -> None:
    if isinstance(module, Linear):
        _draw_uniform(module.weight, 1 / module.in_features, generator)
        _draw_uniform(module.bias, 1 / module.in_features, generator)
    else:
        module.weight.normal_(generator=generator)


def _draw_uniform(parameter: Tensor, bound_squared: float, generator: torch.Generator) -> None:
    bound = math.sqrt(bound_squared)
    parameter.uniform_(-bound, bound, generator=generator)

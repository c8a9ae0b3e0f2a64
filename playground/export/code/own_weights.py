"""Weights that no package has, as a file beside the code that reads it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import safetensors.torch
from torch import Tensor, nn

from playground.errors import TooLargeError

FILE_NAME = "weights.safetensors"

MAX_BYTES = 64 * 2**20
"""Of such a file: 16 M parameters."""


@dataclass(frozen=True)
class OwnWeights:
    """A safetensors file."""

    data: bytes
    sha256: str

    @property
    def values(self) -> Mapping[str, str]:
        """What templates read."""
        return {"weights_file": FILE_NAME, "sha256": self.sha256}


def save_weights(model: nn.Module) -> OwnWeights:
    """A model's parameters under its own names; raises TooLargeError above `MAX_BYTES`."""
    tensors: dict[str, Tensor] = {
        name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()
    }
    n_bytes = sum(tensor.nbytes for tensor in tensors.values())
    if n_bytes > MAX_BYTES:
        raise TooLargeError(
            f"These weights take {n_bytes / 2**20:,.0f} MB, and a file to take along may take {MAX_BYTES // 2**20} MB; "
            "random weights of the same shape need no file."
        )
    data = safetensors.torch.save(tensors)
    return OwnWeights(data, hashlib.sha256(data).hexdigest())

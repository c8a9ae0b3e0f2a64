"""One number that tells weights apart."""

import hashlib

from torch import nn


def weights_sha256(model: nn.Module) -> str:
    """SHA-256 of a model's parameters, 64 hexadecimal digits: the same numbers give the same on any machine.

    Hashed are each parameter's name, its shape and its numbers as little-endian fp32, in the order of the names.
    """
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)}\n".encode())
        digest.update(parameter.detach().cpu().contiguous().numpy().astype("<f4", copy=False).data)
    return digest.hexdigest()

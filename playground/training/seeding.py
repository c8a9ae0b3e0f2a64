"""Random numbers of a training run: one generator for each purpose, so that no part disturbs another's draws."""

import hashlib

import torch


def generator(seed: int, purpose: str, device: torch.device | None = None) -> torch.Generator:
    """A generator, on the CPU by default, that depends on the run's seed and on what it is for, and on nothing else."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return torch.Generator(device or torch.device("cpu")).manual_seed(int.from_bytes(digest[:7], "big"))

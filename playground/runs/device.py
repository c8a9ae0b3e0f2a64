"""Where models run."""

import time
from collections.abc import Callable
from typing import TypeVar

import torch

T = TypeVar("T")


def choose_device(wanted: str) -> torch.device:
    """`auto`: CUDA where there is a working one, else the CPU; anything else as torch names it, if it is there."""
    if wanted == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda" if wanted == "auto" else wanted)
    return device if (device.index or 0) < torch.cuda.device_count() else torch.device("cuda")


def time_pass(forward: Callable[[], T], device: torch.device) -> tuple[T, float]:
    """A forward pass without gradients: what it returns, and the seconds that the device took."""
    started = time.perf_counter()
    with torch.inference_mode():
        result = forward()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    return result, time.perf_counter() - started

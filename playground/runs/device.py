"""Where models run."""

import torch


def choose_device(wanted: str) -> torch.device:
    """`auto`: CUDA where there is a working one, else the CPU; anything else as torch names it, if it is there."""
    if wanted == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda" if wanted == "auto" else wanted)
    return device if (device.index or 0) < torch.cuda.device_count() else torch.device("cuda")

"""What bounds a pass: the device, a server's limits, and where a long computation may end early."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import torch

from playground.accounting import count_encoder_decoder, count_parameters
from playground.config import ModelConfig
from playground.errors import TooLargeError

T = TypeVar("T")


def choose_device(wanted: str) -> torch.device:
    """`auto`: CUDA if it works, else the CPU; or as torch names it."""
    if wanted == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda" if wanted == "auto" else wanted)
    return device if (device.index or 0) < torch.cuda.device_count() else torch.device("cuda")


def time_pass(forward: Callable[[], T], device: torch.device) -> tuple[T, float]:
    """Return a forward pass's result and its seconds, without gradients."""
    started = time.perf_counter()
    with torch.inference_mode():
        result = forward()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    return result, time.perf_counter() - started


Check = Callable[[], None]
"""Raises if the computation should end."""


def _nothing() -> None:
    pass


_CHECK: ContextVar[Check] = ContextVar("check", default=_nothing)


def check_interrupted() -> None:
    """Raise what the surrounding `interruptible` raises."""
    _CHECK.get()()


@contextmanager
def interruptible(check: Check) -> Iterator[None]:
    """Context in which `check_interrupted` calls `check`."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


MAX_PARAMETERS = 125_000_000
"""Of a model that is run, by default."""

MAX_KEPT = 32_000_000
"""Numbers that one run may hold: 128 MB in fp32."""

_VECTORS = 7
"""Kept of every token in every layer."""


def check_budget(config: ModelConfig, max_parameters: int) -> None:
    """Raise a TooLargeError for a model with more than `max_parameters`."""
    _check_parameters(count_parameters(config).total, max_parameters)


def check_pair_budget(config: ModelConfig, tgt_vocab_size: int, max_parameters: int) -> None:
    """Raise a TooLargeError for an encoder–decoder with more than `max_parameters`."""
    _check_parameters(count_encoder_decoder(config, tgt_vocab_size).total, max_parameters)


def _check_parameters(n: int, most: int) -> None:
    if n > most:
        raise TooLargeError(
            f"This model has {n:,} parameters, and this server runs at most {most:,}. Fewer layers, a smaller d_model, "
            "d_ff or token table would fit."
        )


def check_kept(config: ModelConfig, n_tokens: int) -> None:
    """Raise a TooLargeError for a run that holds too many attention weights and vectors."""
    _check_numbers(config.n_layers * (config.n_heads * n_tokens**2 + _VECTORS * n_tokens * config.d_model))


def check_pair_patterns(config: ModelConfig, n_source: int, n_target: int) -> None:
    """Raise a TooLargeError for too many attention weights."""
    _check_numbers(config.n_layers * config.n_heads * (n_source**2 + n_target**2 + n_target * n_source))


def _check_numbers(n: int) -> None:
    if n > MAX_KEPT:
        raise TooLargeError(
            f"This run holds {n:,} numbers, and at most {MAX_KEPT:,} are kept. Fewer tokens or layers would fit."
        )

"""What bounds a pass: the device, what a server refuses to run, and where a long computation may end early.

A pass through torch can't be stopped; between two passes, two tensors or two rows it can. Whoever computes calls
`check_interrupted` there, and knows nothing of visitors; whoever starts the computation says what that checks.
"""

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


Check = Callable[[], None]
"""Raises where the computation should end; it may raise anything that is not an error of the computation itself."""


def _nothing() -> None:
    pass


_CHECK: ContextVar[Check] = ContextVar("check", default=_nothing)


def check_interrupted() -> None:
    """Raise what the surrounding `interruptible` raises, where nobody waits for this computation any more."""
    _CHECK.get()()


@contextmanager
def interruptible(check: Check) -> Iterator[None]:
    """Context in which `check_interrupted` calls `check`, in this thread."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


MAX_PARAMETERS = 125_000_000
"""Of a model that is run, where nobody sets another limit."""

MAX_KEPT = 32_000_000
"""Numbers that one run may hold, attention weights and vectors together: 128 MB in fp32."""

_VECTORS = 7
"""Vectors kept of every token in every layer: two sublayers' outputs, two sums, two norms' outputs, the block's."""


def check_budget(config: ModelConfig, max_parameters: int) -> None:
    """Refuse a model with more than `max_parameters`, before anything is allocated; counting it stays possible."""
    n = count_parameters(config).total
    if n > max_parameters:
        raise TooLargeError(
            f"This model has {n:,} parameters, and this server runs at most {max_parameters:,}: it is counted on the "
            f"Parameters page, but not built. Fewer layers, a smaller d_model, d_ff or token table would fit."
        )


def count_kept(config: ModelConfig, n_tokens: int) -> int:
    """How many numbers a run of so many tokens holds: attention weights and vectors."""
    return config.n_layers * (config.n_heads * n_tokens**2 + _VECTORS * n_tokens * config.d_model)


def check_kept(config: ModelConfig, n_tokens: int) -> None:
    """Refuse a run whose attention patterns and vectors are too many to keep."""
    kept = count_kept(config, n_tokens)
    if kept > MAX_KEPT:
        raise TooLargeError(
            f"{config.n_layers} layers × ({config.n_heads} heads × {n_tokens}² attention weights + {_VECTORS} × "
            f"{n_tokens} vectors of {config.d_model} numbers) are {kept:,} numbers, and at most {MAX_KEPT:,} of a "
            f"sentence are kept. A shorter text or fewer layers would fit."
        )


def check_pair_budget(config: ModelConfig, tgt_vocab_size: int, max_parameters: int) -> None:
    """Refuse an encoder–decoder with more than `max_parameters`, before anything is allocated."""
    n = count_encoder_decoder(config, tgt_vocab_size).total
    if n > max_parameters:
        raise TooLargeError(
            f"Both halves in this shape have {n:,} parameters, and this server runs at most {max_parameters:,}. "
            f"Fewer layers, a smaller d_model or d_ff, or a tokenizer with fewer words would fit."
        )


def check_pair_patterns(config: ModelConfig, n_source: int, n_target: int) -> None:
    """Refuse a pair whose three attentions are too many weights to keep."""
    cells = config.n_layers * config.n_heads * (n_source**2 + n_target**2 + n_target * n_source)
    if cells > MAX_KEPT:
        raise TooLargeError(
            f"{config.n_layers} layers × {config.n_heads} heads × "
            f"({n_source}² + {n_target}² + {n_target} · {n_source}) token pairs are {cells:,} attention weights, "
            f"and this server keeps at most {MAX_KEPT:,}. A shorter text or fewer layers would fit."
        )

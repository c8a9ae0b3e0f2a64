"""One bounded pass: (encoder, batch, sentence) → `Run`, the arrays that every page draws from."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.model import Encoder, Trace, causal_and_padding
from playground.text import Batch

Array = NDArray[np.float32]

MAX_KEPT = 32_000_000
"""Numbers that one run may hold, attention weights and vectors together: 128 MB in fp32."""

_VECTORS = 7
"""Vectors kept of every token in every layer: two sublayers' outputs, two sums, two norms' outputs, the block's."""

_LEFT_OUT = (".q", ".k", ".v", ".scores", ".z", ".up", ".hidden", ".normalized")
"""Intermediates that no page needs of every layer at once; the rest of the trace is kept."""


class TooLargeError(ValueError):
    """A model or text that this server will not run, in a sentence that says what would fit."""


class BusyError(RuntimeError):
    """Every turn to compute is taken."""


@dataclass(frozen=True)
class Run:
    """What the encoder did with one sentence of a batch. T counts the batch's padding too, H heads, D = d_model.

    Attributes:
        config: the architecture that ran.
        tokens: the sentence's pieces, and `[PAD]` up to T.
        special: (T,) bool, tokens that the tokenizer added, padding included.
        padding: (T,) bool.
        allowed: (T, T) bool, which key each query may attend to.
        arrays: the trace without its sentence axis, by its names; read-only. See `Trace`.
        device: where it ran.
        seconds: how long the forward pass took.
    """

    config: ModelConfig
    tokens: tuple[str, ...]
    special: NDArray[np.bool_]
    padding: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    arrays: Mapping[str, Array]
    device: str
    seconds: float

    def pattern(self, layer: int) -> Array:
        """One layer's attention: (H, T, T); padding's own rows are zero, nobody reads what padding attends to."""
        return self.arrays[f"layers.{layer}.attn.pattern"] * ~self.padding[:, None]

    def patterns(self) -> Array:
        """Every layer's attention, as `pattern` gives it: (n_layers, H, T, T)."""
        return np.stack([self.pattern(layer) for layer in range(self.config.n_layers)])


def on_every_page(name: str) -> bool:
    """Whether a point of the trace is among those that are kept of every layer."""
    return not name.endswith(_LEFT_OUT)


def run(
    encoder: Encoder,
    batch: Batch,
    sentence: int = 0,
    *,
    causal: bool = False,
    keep: Callable[[str], bool] = on_every_page,
) -> Run:
    """Run one sentence of a batch through an encoder, padded as the batch is, and keep what pages show.

    Args:
        encoder: the model, in eval or in train mode.
        batch: the tokens.
        sentence: which of them, from 0.
        causal: whether later tokens are hidden.
        keep: which points of the trace to keep, by name.

    Raises:
        TooLargeError: the attention patterns would be too many to keep.
        ValueError: the sentence is longer than the config's max_len.
    """
    device = next(encoder.parameters()).device
    ids, keys = batch.ids[sentence : sentence + 1].to(device), batch.mask[sentence : sentence + 1].to(device)
    n_tokens = ids.shape[1]
    check_kept(encoder.config, n_tokens)
    mask = causal_and_padding(keys) if causal else keys  # (1, T, T) or (1, T)

    trace = Trace(keep)
    started = time.perf_counter()
    with torch.inference_mode():
        encoder(ids, mask, trace)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    seconds = time.perf_counter() - started

    arrays = {name: tensor[0].cpu().numpy() for name, tensor in trace.items()}
    padding = ~batch.mask[sentence].numpy()
    n_padding = int(padding.sum())
    special = np.array([*batch.special[sentence], *[True] * n_padding])
    allowed = np.broadcast_to(mask[0].cpu().numpy(), (n_tokens, n_tokens))
    for array in (*arrays.values(), padding, special):
        array.flags.writeable = False
    return Run(
        config=encoder.config,
        tokens=(*batch.tokens[sentence], *["[PAD]"] * n_padding),
        special=special,
        padding=padding,
        allowed=allowed,
        arrays=arrays,
        device=device.type,
        seconds=seconds,
    )


def check_budget(config: ModelConfig, max_parameters: int) -> None:
    """Refuse a model with more than `max_parameters`, before anything is allocated; counting it stays possible."""
    n = count_parameters(config).total
    if n > max_parameters:
        raise TooLargeError(
            f"This model has {n:,} parameters, and this server runs at most {max_parameters:,}: it is counted on the "
            f"Parameters page, but not built. Fewer layers, a smaller d_model or d_ff would fit."
        )


def check_kept(config: ModelConfig, n_tokens: int) -> None:
    """Refuse a run whose attention patterns and vectors are too many to keep."""
    kept = config.n_layers * (config.n_heads * n_tokens**2 + _VECTORS * n_tokens * config.d_model)
    if kept > MAX_KEPT:
        raise TooLargeError(
            f"{config.n_layers} layers × ({config.n_heads} heads × {n_tokens}² attention weights + {_VECTORS} × "
            f"{n_tokens} vectors of {config.d_model} numbers) are {kept:,} numbers, and this server keeps at most "
            f"{MAX_KEPT:,} of a sentence. A shorter text or fewer layers would fit."
        )


def choose_device(wanted: str) -> torch.device:
    """`auto`: CUDA where there is a working one, else the CPU; anything else as torch names it, if it is there."""
    if wanted == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda" if wanted == "auto" else wanted)
    return device if (device.index or 0) < torch.cuda.device_count() else torch.device("cuda")


class Turns:
    """Lets a few visitors compute at once; the others wait, but not for ever."""

    def __init__(self, n: int, timeout: float) -> None:
        """Allow `n` at once; wait at most `timeout` seconds."""
        self._free = threading.BoundedSemaphore(n)
        self._timeout = timeout

    @contextmanager
    def take(self) -> Iterator[None]:
        """Hold one turn.

        Raises:
            BusyError: none came free in time.
        """
        if not self._free.acquire(timeout=self._timeout):
            raise BusyError("Many people are computing right now. Change anything to try again in a few seconds.")
        try:
            yield
        finally:
            self._free.release()

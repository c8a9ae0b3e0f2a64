"""Positions: a table of sines, queries and keys that turn, numbers added to scores, windows. T tokens, H heads."""

import math
from functools import lru_cache

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.model.init import Embedding


def frequencies(width: int, *, doubled: bool = False, base: float = 10_000.0) -> Tensor:
    """Radians per position of each pair i: 1 / base^(2i / width), (⌈width / 2⌉,) float64.

    Vaswani et al. 2017, section 3.5; `doubled` counts the exponent twice.
    """
    exponents = torch.arange(0, width, 2, dtype=torch.float64, device="cpu") / width
    return base ** -(2 * exponents if doubled else exponents)


def wavelengths(width: int, *, doubled: bool = False) -> Tensor:
    """Positions after which each pair repeats: (⌈width / 2⌉,)."""
    return 2 * math.pi / frequencies(width, doubled=doubled)


def sinusoids(n_positions: int, width: int, *, doubled: bool = False) -> Tensor:
    """Sines in even columns, cosines in odd ones: (n_positions, width), float32."""
    positions = torch.arange(n_positions, dtype=torch.float64, device="cpu")
    angles = positions[:, None] * frequencies(width, doubled=doubled)  # (n_positions, ⌈width / 2⌉)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (n_positions, ⌈width / 2⌉, 2)
    return pairs.flatten(1)[:, :width].float()


@lru_cache(maxsize=32)
def rotation(n_tokens: int, width: int, base: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines, each (T, width / 2) (Su et al. 2021, equation 34)."""
    with torch.inference_mode(False):  # a pass with gradients may be the next to use them
        positions = torch.arange(n_tokens, dtype=torch.float64, device="cpu")
        angles = positions[:, None] * frequencies(width, base=base)  # (T, width / 2)
        return angles.cos().to(device, dtype), angles.sin().to(device, dtype)


def rotate(x: Tensor, base: int) -> Tensor:
    """Turn pairs of features by position · frequency: (…, T, width) → the same shape.

    Features i and i + width / 2 are a pair, as in GPT-NeoX; the paper pairs neighbours.
    """
    cosines, sines = rotation(x.shape[-2], x.shape[-1], base, x.device, x.dtype)
    first, second = x.chunk(2, dim=-1)  # (…, T, width / 2)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], dim=-1)


def alibi_slopes(n_heads: int) -> Tensor:
    """What each head subtracts per token of distance: (H,), float64 (Press et al. 2022, section 3).

    2^(−8/H), 2^(−16/H), …; for no power of two those of the next lower one, then every second of the next higher.
    """
    power = 2 ** (n_heads.bit_length() - 1)
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    slopes += [2 ** (-8 * (head + 1) / (2 * power)) for head in range(0, 2 * (n_heads - power), 2)]
    return torch.tensor(slopes, dtype=torch.float64, device="cpu")


def distance_buckets(distances: Tensor, n_buckets: int, farthest: int) -> Tensor:
    """The bucket of each distance key − query, int64 (Raffel et al. 2020, section 2.1); later keys have the upper half.

    Half of each half has one distance each, the rest grow logarithmically.
    """
    half = n_buckets // 2
    side = (distances > 0) * half
    size = distances.abs()
    exact = half // 2
    # In fp32, as T5 was trained.
    scaled = torch.log(size.clamp(min=1).float() / exact) / math.log(farthest / exact) * (half - exact)
    return side + torch.where(size < exact, size, (exact + scaled.long()).clamp(max=half - 1))


class RelativePositions(Embedding):
    """A learned number for each bucket of distances and head."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.relative_buckets, config.n_heads)
        self.farthest = config.relative_distance

    def between(self, n_tokens: int) -> Tensor:
        """(1, H, T, T)."""
        buckets = distance_buckets(_distances(n_tokens, self.weight.device), self.num_embeddings, self.farthest)
        added: Tensor = self(buckets)  # (T, T, H)
        return added.permute(2, 0, 1)[None]


def alibi(n_heads: int, n_tokens: int, like: Tensor) -> Tensor:
    """(1, H, T, T), as `like`."""
    distances = _distances(n_tokens, like.device).abs()
    return -alibi_slopes(n_heads).to(like)[:, None, None] * distances[None, None].to(like.dtype)


def window_mask(n_tokens: int, window: int, device: torch.device | None = None) -> Tensor:
    """(1, T, T) bool: half of the window to either side (Beltagy et al. 2020, section 3.1)."""
    return (_distances(n_tokens, device).abs() <= window // 2)[None]


def _distances(n_tokens: int, device: torch.device | None) -> Tensor:
    """(T, T): key − query."""
    places = torch.arange(n_tokens, device=device)
    return places[None, :] - places[:, None]

"""Raw vectors for an encoder without a token table (tutorials B and C): drawn from a seed, never learned."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def draw_vectors(words: Sequence[str], d_model: int, seed: int) -> Tensor:
    """A vector of standard normal numbers for each word: (T, d_model) float32.

    A word's vector depends on the seed and the word alone, so equal words have equal vectors, in every text.
    """
    drawn = {word: _draw_vector(word, d_model, seed) for word in set(words)}
    return torch.from_numpy(np.array([drawn[word] for word in words], np.float32).reshape(len(words), d_model))


def _draw_vector(word: str, d_model: int, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, *word.encode()]).standard_normal(d_model, np.float32)

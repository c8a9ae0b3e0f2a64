"""The layer, the head and the two tokens that one run is looked at in."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Focus:
    """A place in one run: each number counts from 0 and is one that the run has."""

    layer: int
    head: int
    query: int
    """Position of the token that asks; padding asks nothing."""
    key: int
    """Position of the token that is asked; it may be padding."""


def last_places(n_layers: int, n_heads: int, n_real: int, n_tokens: int) -> Focus:
    """The last layer, head, query and key of a run with so many layers, heads, tokens but padding, and tokens."""
    return Focus(n_layers - 1, n_heads - 1, max(n_real - 1, 0), n_tokens - 1)


def nearest_places(asked: Mapping[str, int], last: Focus) -> Focus:
    """What was asked for, by the fields of `Focus`, or the nearest that a run with these last places has."""
    return Focus(**{place: min(asked[place], limit) for place, limit in vars(last).items()})

"""What the menu of a grid of heads saves: not thumbnails but every weight of every head."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go

from playground.export.all_heads import MOST_NUMBERS, all_weights, draw_all_heads
from playground.figures.attention import SQUARE_ROOT, WeightScale
from playground.runs.arrays import Array
from playground.web.shared.saving.save_menu import Saved


def saved_heads(
    file: str,
    patterns: Callable[[], Array],
    queries: Sequence[str],
    keys: Sequence[str],
    n_heads: int,
    scale: WeightScale = SQUARE_ROOT,
) -> Saved:
    """All heads as one figure at page width, and their weights.

    Args:
        file: what the files are called, without their ending.
        patterns: makes the weights (L, H, Tq, Tk), when a file is asked for.
        queries: the queries' tokens.
        keys: the keys' tokens.
        n_heads: how many there are in all layers.
        scale: how weights become colours.
    """
    n = n_heads * len(queries) * len(keys)
    many = "" if n <= MOST_NUMBERS else f"Its {n:,} weights are too many for a CSV file."

    def picture() -> go.Figure:
        return draw_all_heads(patterns(), scale)

    def numbers() -> list[list[Any]]:
        return all_weights(patterns(), queries, keys)

    return Saved(file, picture, numbers, many, n)


def heads_of(patterns: Callable[[], Array], visible: Any) -> Callable[[], Array]:
    """The weights between visible tokens (T,) alone, where queries and keys are the same."""
    return partial(_select, patterns, visible)


def _select(patterns: Callable[[], Array], visible: Any) -> Array:
    selected: Array = patterns()[:, :, visible][..., visible]
    return selected

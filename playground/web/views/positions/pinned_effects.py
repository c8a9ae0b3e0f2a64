"""What positions do to this sentence in the pinned settings: the swap of two words, and the table that is added."""

import pandas as pd

from playground.analysis import positions
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.runs.encoder_run import Run
from playground.web.shared.pinning import beside_same_tokens, pinned_side
from playground.web.views.positions import position_cache
from playground.web.views.positions.pinned_table import load_pinned_table


def pinned_swap(run: Run, first: int, second: int) -> positions.Swap | None:
    """What a swap does in the pinned settings; None without one, or where they read other tokens, which a line says."""
    pinned = beside_same_tokens(run, "these changes")
    if pinned is None:
        return None
    try:
        return position_cache.swap_words(pinned.side.setup.untouched_key, first, second)
    except PlaygroundError:
        return None


def describe_pinned_swap(swap: positions.Swap | None) -> str:
    """What the paler bars are, and the pinned settings' largest changes, after a space."""
    if swap is None:
        return ""
    return (
        f" The paler bar beside each: {_name()}, where outputs change by up to {float(swap.placed.max()):.2g} with "
        f"positions and {float(swap.bare.max()):.2g} without."
    )


def pinned_addition(run: Run) -> pd.DataFrame | None:
    """Lengths of the pinned settings' embeddings, rows and sums, as `positions.addition`; None as of `pinned_swap`."""
    table = load_pinned_table()
    pinned = None if table is None else beside_same_tokens(run, "these lengths")
    if table is None or pinned is None:
        return None
    tokens = pinned.run.arrays["embed.tokens"][~pinned.run.padding]
    return positions.addition(tokens, table.rows[: len(tokens)])


def describe_pinned_addition(added: pd.DataFrame | None) -> str:
    """What the paler bars are, and how long the pinned rows are beside their embeddings, after a space."""
    if added is None:
        return ""
    low, high = added["relative"].min(), added["relative"].max()
    return (
        f" The paler bar beside each: {_name()}, where the row is {low:.3g} to {high:.3g} times as long as the "
        "embedding."
    )


def tabulate_addition(added: pd.DataFrame, pinned: pd.DataFrame | None) -> pd.DataFrame:
    """The present lengths; beside the pinned ones, with differences."""
    if pinned is None:
        return added
    return added.join([pinned.add_suffix(", pinned"), (added - pinned).add_suffix(", now − pinned")])


def _name() -> str:
    side = pinned_side()
    return escape_markdown(side.name) if side else ""

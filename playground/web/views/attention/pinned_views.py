"""What the views of a pattern show of the pinned run: its pattern, its entropies, its rollout, and what changed."""

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from playground.analysis.attention import highest_entropy, mean_entropy, merge_moves_results, rollout
from playground.figures import attention as figures
from playground.figures.theme import token_table
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices.setup import current_value
from playground.web.shared.head_map import Mask
from playground.web.shared.pinned_charts import draw_both, nearest_head
from playground.web.shared.pinning import beside, beside_same_tokens


@dataclass(frozen=True)
class PinnedPattern:
    """What the pinned run has in the head that is open, or in the average of heads that is."""

    run: Run
    name: str
    """In markdown."""
    pattern: Array
    """(T, T)"""


def find_pattern(run: Run, focus: Focus) -> PinnedPattern | None:
    """The pinned run's weights; None where nothing is pinned, or it read other tokens, which a sentence says then."""
    pinned = beside_same_tokens(run, "these weights")
    if pinned is None:
        return None
    layer, head = nearest_head(pinned.run, focus)
    heads, average = pinned.run.pattern(layer), current_value("attention_show") == "average of heads"
    shown = f"layer {layer}, {'average of heads' if average else f'head {head}'}"
    return PinnedPattern(pinned.run, f"{pinned.name}, {shown}", heads.mean(axis=0) if average else heads[head])


def find_entropies(run: Run) -> Array | None:
    """Every head's mean entropy in the pinned run, (L, H) in bits; tokens may differ. None where there is none."""
    pinned = beside(run)
    return mean_entropy(pinned.run.patterns(), ~pinned.run.padding) if pinned else None


def draw_entropies(run: Run, bits: Array, before: Array, top: float) -> None:
    """The pinned run's entropies, and their change in the heads that both have, in the colours of the present ones.

    Args:
        run: the present run.
        bits: its entropies, (L, H).
        before: the pinned run's.
        top: where the colours end.
    """
    pinned = beside(run)
    if pinned is None:
        return
    n_layers, n_heads = (min(now, then) for now, then in zip(bits.shape, before.shape, strict=True))
    change = bits[:n_layers, :n_heads] - before[:n_layers, :n_heads]
    text = "" if pinned.has_same_tokens else " It read other tokens, and so may spread over more keys or fewer."
    highest = highest_entropy(pinned.run.allowed, ~pinned.run.padding)
    means = [float(numbers[:n_layers, :n_heads].mean()) for numbers in (before, bits)]
    draw_both(
        "attention_entropy",
        pinned.name,
        (figures.entropy_grid(before, top=top), before),
        (figures.entropy_change_grid(change), change),
        more="more spread out",
        table=lambda numbers: pd.DataFrame(numbers).rename_axis("layer").rename_axis("head", axis=1),
        reading=f" If every query spread evenly, it would be {highest:.2f} bits.{text}",
        about=f" The mean over the heads that both have goes {means[0]:.2f} → {means[1]:.2f} bits.",
    )


def find_rollout(run: Run, layer: int) -> Array | None:
    """The pinned run's rollout (T, T) at this layer, or its last; None where there is none of the same tokens."""
    pinned = beside_same_tokens(run, "the shares")
    if pinned is None:
        return None
    shares = rollout(pinned.run.patterns(), residual=pinned.run.config.residual)
    rolled: Array = shares[min(layer, len(shares) - 1)]
    return rolled


def draw_rollout(run: Run, layer: int, shares: Array, before: Array, visible: Mask, scale: figures.WeightScale) -> None:
    """The pinned run's rollout (T, T) in the present one's colours, and the change from it to `shares`."""
    pinned = beside(run)
    if pinned is None:
        return
    shown = min(layer, pinned.run.config.n_layers - 1)
    nearest = "" if shown == layer else f" The nearest: it has no layer {layer}."
    draw_both(
        "attention_rollout",
        pinned.name,
        (rollout_map(run, before, visible, scale), before),
        (rollout_map(run, shares - before, visible, None), shares - before),
        more="a larger share",
        table=lambda numbers: token_table(numbers, run.tokens).loc[visible, visible],
        reading=f" Layer {shown}.{nearest}{warn_of_rollout(pinned.run)}",
    )


def warn_of_rollout(run: Run) -> str:
    """A sentence where rollout's shares are wrong, as attention's results do not stay at the query's position."""
    if not merge_moves_results(run.config, len(run.tokens)):
        return ""
    return (
        " **Rollout is wrong here**: `head_merge = reshape` puts what a query gathers at other positions, and rollout "
        "does not know. A token with a share of 0 may change what stands there."
    )


def rollout_map(run: Run, values: Array, visible: Mask, scale: figures.WeightScale | None) -> go.Figure:
    """Shares (T, T) of input tokens in positions; without a scale, differences of such."""
    real = ~run.padding
    return figures.head_heatmap(
        values,
        run.tokens,
        real & real[:, None],
        shown=visible,
        scale=scale,
        signed=scale is None,
        magnitude=1.0 if scale is None else None,
        bar="share" if scale else "difference",
        axes=("position in the layer", "input token"),
        reading="share of %{x} in position %{y}",
    )

"""Charts of the stages around attention: embedding, residual connections, norms, feed-forward; and of dropout."""

from typing import Literal

import numpy as np
import pandas as pd

from playground.analysis.streams import l2
from playground.analysis.walkthrough import Walk
from playground.figures import step_by_step as figures
from playground.runs.encoder_run import DROPOUT_PLACES, TUTORIAL_DROPOUTS, DroppedRun
from playground.tutorials.table import SHORT_TITLES
from playground.web.shared import panels
from playground.web.views.step_by_step.attention_charts import draw_vectors

NORM_OUTPUTS = {
    "layer": "after gain and bias",
    "scalar": "after gain and bias",
    "rms": "after gain",
    "none": "after",
}
"""What the output of each kind of norm is called."""


def show_embedding(walk: Walk) -> None:
    """The vectors that add up to the embedding, and what enters a later layer."""
    layer, arrays = walk.layer, walk.layer.run.arrays
    rows = {"token": arrays["embed.tokens"][walk.query]}
    if "embed.positions" in layer.learned:
        rows["position"] = layer.learned["embed.positions"][walk.query]
    if "embed.segments" in layer.learned:
        rows["segment"] = layer.learned["embed.segments"]
    if (change := layer.run.change("embed.sum")) is not None:
        rows["your changes"] = change[walk.query]
    reading = "These rows add up to the embedding" if len(rows) > 1 else "Nothing is added to the token's vector"
    reading += "; a norm then rescales it." if walk.config.embedding_norm else "."
    if "position" in rows and (length := l2(rows["token"])) > 0:
        reading += f" The position's vector is {l2(rows['position']) / length:.3g} times as long as the token's."
    rows["embedding"] = layer.run.computed.get("embed.out", arrays["embed.out"])[walk.query]
    if layer.layer:
        rows[f"enters layer {layer.layer}"] = walk.first_sum[0]
        before = "layer 0" if layer.layer == 1 else f"layers 0 to {layer.layer - 1}"
        reading += f" The last row is what enters layer {layer.layer}: the vector after {before}."
    draw_vectors("embedding", rows, reading)


def show_residual(walk: Walk, number: Literal[1, 2]) -> None:
    """The output of attention or of the feed-forward, what it is added to, and what goes on."""
    if number == 1:
        key, names, vectors, result = "first", ("into the block", "attention's output"), walk.first_sum, "resid_mid"
    else:
        key, names, vectors, result = "second", ("stream", "feed-forward's output"), walk.second_sum, "resid_post"
    stream, added = map(l2, vectors)
    action = "They are added, number by number." if walk.config.residual else "Only the second goes on."
    reading = f"The first vector has length {stream:.3g}, the second {added:.3g}. {action}"
    rows = dict(zip(names, vectors, strict=True))
    draw_vectors(f"{key}_residual", rows | {"goes on": walk.computed(result)}, reading)


def show_norm(walk: Walk, number: Literal[1, 2]) -> None:
    """The vector before and after the block's first or second norm."""
    name = f"norm{number}"
    before, after = walk.of_query(f"{name}.in"), walk.of_query(f"{name}.out")
    rows = {"before": before, "normalised": walk.of_query(f"{name}.normalized"), NORM_OUTPUTS[walk.config.norm]: after}
    reading = (
        f"The standard deviation of the {before.size:,} numbers is {before.std():.3g} before, {after.std():.3g} after."
    )
    draw_vectors("first_norm" if number == 1 else "second_norm", rows, reading)


def show_feed_forward(walk: Walk) -> None:
    """The feed-forward's input, its hidden features before and after the activation, and its output."""
    hidden = walk.of_query("ffn.hidden")
    quiet = int((np.abs(hidden) < 0.01).sum())
    rows = {
        "input y": walk.of_query("ffn.in"),
        "u, before activation": walk.of_query("ffn.up"),
        "h, after activation": hidden,
        "output f": walk.computed("ffn.out"),
    }
    reading = (
        f"After {walk.config.activation}, {quiet:,} of the {hidden.size:,} hidden numbers are almost silent: "
        "they lie within ±0.01."
    )
    draw_vectors("feed_forward", rows, reading)


def show_dropout(walk: Walk, dropped: DroppedRun, seed: int) -> None:
    """The query's numbers before and after every dropout on its way, and how far its output moves."""
    rows = {}
    for point, drop in dropped.drops.items():
        place = (walk.head, walk.query) if drop.before.ndim == 3 else walk.query
        rows[point] = (drop.before[place], drop.after[place])
    p, output = walk.config.dropout, walk.of_query("out")
    moved = l2(dropped.run.arrays[f"layers.{walk.layer.layer}.out"][walk.query] - output) / l2(output)
    panels.chart(
        "step_drops",
        figures.drops(rows),
        caption=f"During training, *dropout* sets each number to 0 with probability p = {p:g}. It multiplies the "
        f"others by 1 / (1 − p) = {1 / (1 - p):.4g}. The draw is random; the sidebar's seed {seed} repeats it. Cells "
        "show the factors; the strongest colour is a factor of 0, and gaps were 0 before. Together with the dropout in "
        f"the layers below, this moves the layer's output for this token by {moved:.0%} of its length. All stages "
        "above are computed without dropout, as after training.",
        alt="Heatmap: what each number was multiplied by at every dropout",
    )
    zeroed = [f"{np.sum((after == 0) & (before != 0)):,} of {before.size:,}" for before, after in rows.values()]
    table = {"zeroed here": zeroed} | {
        SHORT_TITLES[letter]: ["✓" if point in points else "–" for point in DROPOUT_PLACES]
        for letter, points in TUTORIAL_DROPOUTS.items()
    }
    where = pd.DataFrame(table, list(DROPOUT_PLACES)).rename_axis("dropout")
    panels.show_table("step_drops_where", where, height="content")

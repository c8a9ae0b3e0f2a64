"""What the other stages of a layer show: the embedding, norms, residual connections, the feed-forward network."""

from collections.abc import Callable, Iterator

import numpy as np

from playground.analysis.streams import l2
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts.chart import Item
from playground.text.wording import write_number
from playground.views.steps.charts import draw_vectors


def show_embedding(walk: Walk) -> Iterator[Item]:
    """The vectors that add up to the embedding, and what enters a later layer."""
    layer, arrays = walk.layer, walk.layer.run.arrays
    rows = {"token": arrays["embed.tokens"][walk.query]}
    if "embed.positions" in layer.learned:
        rows["position"] = layer.learned["embed.positions"][walk.query]
    if "embed.segments" in layer.learned:
        rows["segment"] = layer.learned["embed.segments"]
    if (change := layer.run.change("embed.sum")) is not None:
        rows["your changes"] = change[walk.query]
    n = len(rows)
    has_norm = walk.config.embedding_norm and walk.config.norm != "none"
    total = ("*sum*" if has_norm else "*embedding*") if n > 1 else ""
    reading = f"The first {n} rows add up to the row {total}" if n > 1 else "Nothing is added to the token's vector"
    reading += "; a norm then rescales it, to the row *embedding*." if has_norm else "."
    if has_norm and n > 1:
        rows["sum"] = np.sum([*rows.values()], axis=0)
    if "position" in rows and (length := l2(rows["token"])) > 0:
        reading += (
            f" The position's vector is {write_number(l2(rows['position']) / length)} times as long as the token's."
        )
    rows["embedding"] = layer.run.computed.get("embed.out", arrays["embed.out"])[walk.query]
    if layer.layer:
        rows[f"enters layer {layer.layer}"] = walk.first_sum[0]
        between = "layer 0 changes it" if layer.layer == 1 else f"layers 0 to {layer.layer - 1} change it in turn"
        reading += f" The embedding enters layer 0; {between}, and the last row is what enters layer {layer.layer}."
    yield draw_vectors("embedding", rows, reading)


def show_residual(
    walk: Walk, *, key: str, names: tuple[str, str], vectors: Callable[[Walk], tuple[Floats, Floats]], result: str
) -> Iterator[Item]:
    """A vector so far, what is added to it, and what goes on; `names` are of the first two, `result` the last's point.

    `key` is the chart's name after `step_`.
    """
    stream, added = map(l2, vectors(walk))
    action = "They are added, number by number." if walk.config.residual else "Only the second goes on."
    reading = f"The first vector has length {write_number(stream)}, the second {write_number(added)}. {action}"
    rows = dict(zip(names, vectors(walk), strict=True))
    yield draw_vectors(key, rows | {"goes on": walk.computed(result)}, reading)


def show_norm(walk: Walk, *, key: str, name: str) -> Iterator[Item]:
    """The vector before and after one of the block's norms; `key` is the chart's name after `step_`."""
    before, after = walk.of_query(f"{name}.in"), walk.of_query(f"{name}.out")
    if not walk.config.has_norm1(walk.layer.layer) and name == "norm1":
        yield draw_vectors(key, {"goes on": after}, "This layer has no norm here: nothing is changed.")
        return
    output = {"rms": "after gain", "none": "after"}.get(walk.config.norm, "after gain and bias")
    rows = {"before": before, "normalised": walk.of_query(f"{name}.normalized"), output: after}
    deviations = ", ".join(f"{write_number(vector.std())} *{name}*" for name, vector in rows.items())
    reading = f"The standard deviation of the {before.size:,} numbers in each row: {deviations}."
    yield draw_vectors(key, rows, reading)


def show_feed_forward(walk: Walk) -> Iterator[Item]:
    """The feed-forward's input and output; apart from them its hidden features, before and after the activation."""
    hidden, output = walk.of_query("ffn.hidden"), walk.computed("ffn.out")
    quiet = int((np.abs(hidden) < 0.01).sum())
    ends = {"input y": walk.of_query("ffn.in"), "output f": output}
    reading = f"What goes in and what comes out: d_model = {output.size:,} numbers each."
    yield draw_vectors("feed_forward", ends, reading)
    between = {
        "u, before activation": walk.of_query("ffn.up"),
        **({"g, the gate": walk.of_query("ffn.gate")} if walk.config.gated else {}),
        "h, after activation and gate" if walk.config.gated else "h, after activation": hidden,
    }
    reading = (
        f"In between: d_ff = {hidden.size:,} hidden numbers, which are not those above. "
        f"After {walk.config.activation}, {quiet:,} of them are almost silent: they lie within ±0.01."
    )
    yield draw_vectors("hidden_features", between, reading, "hidden number")

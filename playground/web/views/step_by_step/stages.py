"""The step-by-step page's stages: what each is for, its formula with numbers, and a picture of its vectors."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from playground.analysis.steps import work_out
from playground.analysis.streams import l2
from playground.analysis.walkthrough import Array, Walk, order
from playground.web.views.step_by_step import attention_steps
from playground.web.views.step_by_step.step_panels import vectors

IDEAS = {
    "embedding": "The token's row of the table, and the vector of its place.",
    "projections": "Three learned maps make a query, a key and a value of every token's vector.",
    "dot products": "The query is compared with every key: the more they point the same way, the larger the product.",
    "scale": "Sums of more products spread wider. Dividing by √d_head keeps the softmax from being all or nothing.",
    "mask": "What may not be seen gets the score −∞, which the softmax turns into a weight of 0.",
    "softmax": "Powers of e over their sum: weights between 0 and 1 that add up to 1. Subtracting the largest score "
    "first changes no weight and keeps the powers small.",
    "weighted sum": "Every value counts as much as the weight of its key.",
    "merge": "The heads' results, one behind the other, are one vector of d_model numbers again.",
    "output projection": "One more learned map mixes what the heads have found.",
    "first residual": "What attention found is added to what the token was.",
    "first norm": "The vector is brought to a common scale, then stretched and shifted as learned.",
    "feed-forward": "Each token on its own: out to d_ff features, through the activation, and back.",
    "second residual": "What the feed-forward found is added, too.",
    "second norm": "The vector is brought to a common scale once more.",
}


def show(walk: Walk, stage: str) -> None:
    """One stage: why, the formula, this run's numbers, and the picture."""
    skipped = stage.endswith("residual") and not walk.config.residual
    st.markdown(
        "There are no residual connections here: the sublayer's output goes on alone." if skipped else IDEAS[stage]
    )
    step = work_out(walk, stage)
    for column, lines in zip(st.columns(2, gap="medium"), (step.formulas, step.numbers), strict=True):
        with column:
            for line in lines:
                st.latex(line)
    with np.errstate(invalid="ignore", over="ignore"):  # what has left fp32's range is shown as such
        _VIEWS[stage](walk)
    onwards = "" if stage != order(walk.config)[-1] else f" {_onwards(walk)}"
    st.caption(f"By hand and in the model: the largest difference at this stage is {step.off:.1e}.{onwards}")


def _onwards(walk: Walk) -> str:
    """Where the vector goes that leaves the layer."""
    layer, config = walk.layer.layer, walk.config
    if layer < config.n_layers - 1:
        return f"This vector leaves layer {layer} and enters layer {layer + 1}."
    end = "; only the final norm is to come" if config.final_norm else ": it is what the encoder makes of this token"
    return f"This vector leaves the last layer{end}."


def _embedding(walk: Walk) -> None:
    layer, arrays = walk.layer, walk.layer.run.arrays
    rows = {"token": arrays["embed.tokens"][walk.query]}
    if "embed.positions" in layer.learned:
        rows["position"] = layer.learned["embed.positions"][walk.query]
    if "embed.segments" in layer.learned:
        rows["segment"] = layer.learned["embed.segments"]
    reading = "These rows add up to the embedding" if len(rows) > 1 else "Nothing is added to the token's vector"
    reading += ", which is then normalised." if walk.config.embedding_norm else "."
    if "position" in rows and (length := l2(rows["token"])) > 0:
        reading += f" The position's vector is {l2(rows['position']) / length:.3g} times as long as the token's."
    rows["embedding"] = arrays["embed.out"][walk.query]
    if layer.layer:
        rows[f"enters layer {layer.layer}"] = layer.block_input[walk.query]
        reading += f" What enters layer {layer.layer} has been through {layer.layer} more: the last row."
    vectors("embedding", rows, reading)


def _first_residual(walk: Walk) -> None:
    stream, added = walk.first_sum
    _residual(walk, "first_residual", {"into the block": stream, "attention's output": added}, "resid_mid")


def _second_residual(walk: Walk) -> None:
    stream, added = walk.second_sum
    _residual(walk, "second_residual", {"stream": stream, "feed-forward's output": added}, "resid_post")


def _residual(walk: Walk, key: str, rows: dict[str, Array], name: str) -> None:
    stream, added = (l2(vector) for vector in rows.values())
    reading = f"A vector of length {stream:.3g} and one of length {added:.3g}"
    if walk.config.residual:
        reading += " are added, number by number."
    else:
        reading += "; only the second goes on."
    vectors(key, rows | {"goes on": walk.of_query(name)}, reading)


def _first_norm(walk: Walk) -> None:
    _norm(walk, "first_norm", "norm1")


def _second_norm(walk: Walk) -> None:
    _norm(walk, "second_norm", "norm2")


def _norm(walk: Walk, key: str, name: str) -> None:
    before, after = walk.of_query(f"{name}.in"), walk.of_query(f"{name}.out")
    reading = (
        f"The standard deviation of the {before.size:,} numbers goes from {before.std():.3g} to {after.std():.3g}."
    )
    if walk.config.norm == "none":
        reading = "With norm = none the vector goes on as it is."
    rows = {"before": before, "normalised": walk.of_query(f"{name}.normalized"), _LEARNED[walk.config.norm]: after}
    vectors(key, rows, reading)


def _feed_forward(walk: Walk) -> None:
    hidden = walk.of_query("ffn.hidden")
    quiet = int((np.abs(hidden) < 0.01).sum())
    rows = {
        "input y": walk.of_query("ffn.in"),
        "u, before activation": walk.of_query("ffn.up"),
        "h, after activation": hidden,
        "output f": walk.of_query("ffn.out"),
    }
    vectors(
        "feed_forward",
        rows,
        f"{quiet:,} of the {hidden.size:,} hidden numbers are all but silent after {walk.config.activation}: "
        "below 0.01 in size.",
    )


_LEARNED = {"layer": "after gain and bias", "scalar": "after gain and bias", "rms": "after gain", "none": "after"}
"""What a norm's output is called."""

_VIEWS: dict[str, Callable[[Walk], None]] = {
    "embedding": _embedding,
    "projections": attention_steps.projections,
    "dot products": attention_steps.dot_products,
    "scale": attention_steps.scale,
    "mask": attention_steps.mask,
    "softmax": attention_steps.softmax,
    "weighted sum": attention_steps.weighted_sum,
    "merge": attention_steps.merge,
    "output projection": attention_steps.output_projection,
    "first residual": _first_residual,
    "first norm": _first_norm,
    "feed-forward": _feed_forward,
    "second residual": _second_residual,
    "second norm": _second_norm,
}

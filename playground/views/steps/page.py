"""Steps: one token's way through a layer, stage by stage: each with its formula, its numbers and what changes set."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from playground.analysis.changes import ChangedPoint, list_changed_points
from playground.analysis.comparison import describe_vector_change
from playground.analysis.steps import work_out
from playground.analysis.streams import l2
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk, order
from playground.charts.chart import Bars, Columns, Formula, Group, Item, Options, Paragraph, Vectors
from playground.charts.markdown import escape_markdown, quote_place
from playground.charts.names import token_names
from playground.charts.scene import Scene, list_missing
from playground.link.opening import Focus
from playground.text.wording import write_number
from playground.views.change_names import name_change
from playground.views.steps.charts import draw_bars, draw_vectors
from playground.views.steps.stages import STAGES, Stage


def compare_walks(now: Walk, pinned: Walk | None, name: str) -> Scene[Walk]:
    """The scene of a walk beside the pinned one, whose settings have this name, through the same tokens."""
    focus = Focus(now.layer.layer, now.head, now.query, now.key)
    if pinned is None:
        return Scene(now, focus)
    shown = Focus(pinned.layer.layer, pinned.head, pinned.query, pinned.key)
    missing = [
        f"{place} {nearest}, as it has no {place} {asked}" for place, asked, nearest in list_missing(focus, shown)
    ]
    return Scene(now, focus, pinned, f"{name} ({'; '.join(missing)})" if missing else name)


def show_steps(scene: Scene[Walk], options: Options) -> Iterator[Item]:
    """The stage that `step_stage` names: its idea, charts, formulas and changes; and its result in both settings.

    A stage that this architecture has not is the first.
    """
    walk, stages = scene.now, order(scene.now.config)
    name = options["step_stage"] if options["step_stage"] in stages else stages[0]
    stage = STAGES[name]
    yield Paragraph(answer_what_the_layer_does(walk, is_random=options["weights"] == "random"), "answer")
    yield Group("step_computation", (Paragraph(stage.idea_here(walk) or stage.idea), *stage.show(walk)))
    yield from _work_out_stage(walk, name)
    if scene.pinned is not None and name in order(scene.pinned.config):
        yield Paragraph("**Before and now**")
        yield _compare_results(walk, scene.pinned, stage)
    elif scene.pinned is not None:
        yield Paragraph(f"The encoder of {escape_markdown(scene.pinned_name)} has no such stage.", "caption")


def answer_what_the_layer_does(walk: Walk, *, is_random: bool) -> str:
    """How a token's vector goes through the layer, and how long what attention and the feed-forward make of it is."""
    query, layer = quote_place(walk.layer.run.tokens, walk.query), walk.layer.layer
    if not np.isfinite(walk.of_query("out")).all():
        return f"In layer {layer}, the numbers of {query} have become too large for 32-bit floats: none can be told."
    to = "added to" if walk.config.residual else "in place of"
    sums = (walk.first_sum, walk.second_sum)
    read, made = (
        f" (length **{write_number(l2(added))}**, {to} one of length {write_number(l2(before))})"
        for before, added in sums
    )
    where = f"layer {layer} (the first is 0)" if layer else "layer 0, the first"
    does = "adds" if walk.config.residual else "puts in its place"
    found = (
        f"In {len(order(walk.config))} stages: the vector of {query} goes into {where}. Attention {does} what it reads "
        f"from the tokens{read}, the feed-forward network what it makes of that{made}."
    )
    return f"{found}{' These weights are **random**: the numbers are chance.' * is_random}"


def explain_symbols(stage: str, formulas: Sequence[str]) -> str:
    """A legend of the symbols in a stage's formulas, in markdown."""
    written = " ".join(formulas)
    return " · ".join(
        f"${symbol}$: {words}"
        for symbol, words in STAGES[stage].symbols.items()
        if re.search(rf"(?<![A-Za-z\\]){re.escape(symbol)}(?![A-Za-z])", written)
    )


def _work_out_stage(walk: Walk, stage: str) -> Iterator[Item]:
    step = work_out(walk, stage)
    yield Columns((tuple(map(Formula, step.formulas)), tuple(map(Formula, step.numbers))))
    yield Paragraph(explain_symbols(stage, step.formulas), "caption")
    destination = f" {_describe_destination(walk)}" if stage == order(walk.config)[-1] else ""
    agrees = (
        f"The largest difference from the model is {write_number(step.off, 2)}. The model rounds more: its numbers "
        "have 32 bits, those of this check 64."
        if step.off
        else "It agrees exactly."
    )
    yield Paragraph(
        f"A check: by these formulas, the stage was computed again from what the model put in. {agrees}{destination}",
        "caption",
    )
    yield from _show_changes(walk, list_changed_points(walk, stage))


def _describe_destination(walk: Walk) -> str:
    """Where the vector goes that leaves the layer."""
    layer, config = walk.layer.layer, walk.config
    if layer < config.n_layers - 1:
        return f"This vector leaves layer {layer} and enters layer {layer + 1}."
    end = " Only the final norm follows." if config.final_norm else " It is the encoder's output for this token."
    return f"This vector leaves the last layer.{end}"


def _compare_results(now: Walk, pinned: Walk, stage: Stage) -> Item:
    """What a stage gives in both settings, for the same token in the same place, with the differences."""
    result = stage.result
    before, after = result(pinned), result(now)
    if not stage.is_by_key:
        told = [f"*{name}*: {describe_vector_change(before[name], vector)}" for name, vector in after.items()]
        alt = f"Heatmap of vectors, pinned and now: {', '.join(after)}"
        return Vectors(key="step_pinned", alt=alt, caption=" ".join(told), rows=result)
    ((title, numbers),) = after.items()
    change = describe_vector_change(before[title], numbers, token_names(now.layer.run.tokens))
    return draw_bars(
        now,
        "pinned",
        title,
        lambda walk: {"": result(walk)[title]},
        escape_markdown(change),
        masked=stage.has_mask,
        compares=True,
    )


def _show_changes(walk: Walk, points: list[ChangedPoint]) -> Iterator[Item]:
    """The changes that act on this walk's numbers at these points, and the numbers before and after them."""
    if not points:
        return
    changes = dict.fromkeys(change for point in points for change in point.changes)
    names = "; ".join(escape_markdown(name_change(change, walk.layer.run.tokens)) for change in changes)
    yield Paragraph(f"**What if: here your changes act.** {names}. The model goes on with what they set.")
    for point in points:
        yield from map(Formula, point.formulas)
    title = {"attn.scores": "score", "attn.pattern": "attention weight"}.get(points[0].point)
    if title is None:
        yield _draw_changed_vectors(points)
    else:
        yield _draw_changed_keys(walk, points[0], title)


def _draw_changed_keys(walk: Walk, point: ChangedPoint, title: str) -> Bars[Walk]:
    """One number a key before and after, as pairs of bars; −∞ has none."""
    infinite = " A key whose score is −∞ has no bar." if not np.isfinite(point.after[walk.allowed]).all() else ""
    total = f" The weights add up to {write_number(point.after.sum(), 4)} now." if title == "attention weight" else ""
    caption = (
        f"The {title} of every key as your changes set it; the paler bar beside each is what the model computed."
        f"{infinite}{total}"
    )
    both = {"changed": point.after, "computed": point.before}
    return draw_bars(walk, "changed", title, lambda _: both, caption)


def _draw_changed_vectors(points: list[ChangedPoint]) -> Vectors[Walk]:
    """The vectors before and after, and what was added."""
    rows: dict[str, Floats] = {}
    for point in points:
        name = point.symbol.partition("_")[0]
        rows |= {f"{name}, computed": point.before, f"{name}, changed": point.after}
        rows[f"{name}, changed − computed"] = point.after - point.before
    caption = "What the model computed, what your changes set instead, and the difference."
    return draw_vectors("changed", rows, caption)

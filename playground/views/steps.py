"""Steps: one token's way through a layer, stage by stage: each with its formula, its numbers and what changes set."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from playground.analysis.steps import list_changed_points, order, tutorial_b, work_out
from playground.analysis.streams import l2
from playground.analysis.walkthrough import ChangedPoint, Walk
from playground.charts import colour_scales
from playground.charts.chart import (
    Axis,
    Button,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Options,
    Panel,
    Paragraph,
    Vectors,
    Widget,
    fill_panel,
)
from playground.charts.draw.heatmap import SHOWN
from playground.charts.names import escape_markdown, quote_place
from playground.charts.scene import Scene, note_other_tokens
from playground.config import ModelConfig
from playground.link.lab import Lab, once
from playground.link.opening import LinkedView
from playground.runs.arrays import Floats
from playground.runs.encoder_run import Run, run_with_dropout
from playground.text.wording import upper_first
from playground.tutorials import SHORT_TITLES
from playground.views.scenes import name_change, scene_of
from playground.views.step_stages import RESULTS, STAGES, draw_bars, draw_vectors, find_idea
from playground.words import say


@dataclass(frozen=True)
class LabWalk(Walk):
    """A walk, and the lab that computed it."""

    lab: Lab


def walk_scene(view: LinkedView) -> Scene[LabWalk]:
    """Return the walk at the focus, and the pinned one if it has the same tokens and place; raises as the run."""

    def walk(lab: Lab, run: Run) -> LabWalk:
        focus = view.focus.within(run.config)
        return LabWalk(lab.layer(focus.layer), focus.head, focus.query, focus.key, lab)

    scene = scene_of(walk, view)
    if scene.pinned is None:
        return scene
    lacks = view.focus.within(scene.pinned.config) != view.focus.within(scene.now.config)
    if lacks or not scene.same_tokens or view.values["step_stage"] not in order(scene.pinned.config):
        return replace(scene, pinned=None)
    return scene


def list_path(config: ModelConfig, options: Options) -> tuple[str, ...]:
    """Return all stages in the order that `step_path` names."""
    if options["step_path"] == "as the data moves":
        return order(config)
    return tutorial_b(config)


def show_steps(scene: Scene[LabWalk], options: Options) -> Iterator[Item]:
    """Yield the stage that `step_stage` names, its result in both settings, and the way to the others."""
    walk, stages = scene.now, list_path(scene.now.config, options)
    name = options["step_stage"] if options["step_stage"] in stages else stages[0]
    yield Paragraph(_answer_what_the_layer_does(walk), "answer")
    at = stages.index(name)
    ends = {"back": at - 1, "next": at + 1}
    buttons = (
        Button(
            f"stage_{way}", say("steps", f"move-{way}"), {"step_stage": stages[to % len(stages)]}, is_disabled=is_end
        )
        for way, to in ends.items()
        for is_end in [not 0 <= to < len(stages)]
    )
    place = Paragraph(say("steps", "place", at=at + 1, of=len(stages)), "caption")
    stage = Widget("stage", {"label": say("steps", "stage"), "stages": stages})
    yield Columns(((stage,), (Group("step_moves", (*buttons, place), is_row=True),)), (3, 2))
    yield Paragraph(upper_first(name), "header")
    with np.errstate(invalid="ignore", over="ignore"):  # what has left fp32's range is drawn as such
        idea, charts = Paragraph(say("steps", f"idea-{find_idea(walk, name)}")), tuple(STAGES[name](walk))
        yield Group("step_computation", (idea, *charts))
        yield from _work_out_stage(walk, name)
        yield from _compare_results(scene, name, charts)
    title = say("steps", "dropout")
    yield fill_panel(options, "step_dropout", title, lambda: _show_dropout(walk, walk.lab), ":material/blur_on:")
    titles = {"tutorial": SHORT_TITLES["B"]}
    path = Control("step_path", say("steps", "path"), say("steps", "path.help", **titles))
    yield Panel("step_ways", say("steps", "ways", **titles), (path,), ":material/school:")


def _answer_what_the_layer_does(walk: Walk) -> str:
    names = ("before", "read", "between", "made")
    lengths = dict(zip(names, map(l2, (*walk.first_sum, *walk.second_sum)), strict=True))
    case = "added" if walk.config.residual else "alone"
    token, layer = quote_place(walk.layer.run.tokens, walk.query), walk.layer.layer
    return say("steps", f"answer-{case}", token=token, layer=layer, **lengths)


def explain_symbols(stage: str, formulas: Sequence[str]) -> str:
    """Return a legend of a stage's symbols (markdown)."""
    kind = "norm" if stage in _NORMS else "residual" if "residual" in stage else stage.replace(" ", "-")
    lines = say("steps", f"symbols-{kind}").splitlines()
    if stage == "embedding":
        lines += say("steps", "symbols-norm").splitlines()[1:-1]  # without its x and y
    written = " ".join(formulas)
    found = [
        line for line in lines
        if re.search(rf"(?<![A-Za-z\\]){re.escape(line.split('$')[1])}(?![A-Za-z])", written)
    ]  # fmt: skip
    return " · ".join(found)


_NORMS = ("norm after attention", "first norm", "norm after feed-forward", "second norm")


def _work_out_stage(walk: Walk, stage: str) -> Iterator[Item]:
    step = work_out(walk, stage)
    yield Columns(tuple(tuple(Paragraph(each, "formula") for each in lines) for lines in (step.formulas, step.numbers)))
    behind = (explain_symbols(stage, step.formulas), say("steps", "check", off=step.off))
    yield Panel(
        "", say("steps", "symbols"), tuple(Paragraph(each, "caption") for each in behind), ":material/functions:"
    )
    yield from _show_changes(walk, list_changed_points(walk, stage))


def _show_changes(walk: Walk, points: list[ChangedPoint]) -> Iterator[Item]:
    if not points:
        return
    changes = dict.fromkeys(change for point in points for change in point.changes)
    names = "; ".join(escape_markdown(name_change(change, walk.layer.run.tokens)) for change in changes)
    yield Paragraph(say("steps", "changes", names=names))
    for point in points:
        yield from (Paragraph(each, "formula") for each in point.formulas)
    title = {"attn.scores": "score", "attn.pattern": "attention weight"}.get(points[0].point)
    if title is not None:
        both = {"changed": points[0].after, "computed": points[0].before}
        yield draw_bars(walk, "changed", title, lambda _: both, say("steps", "changed-keys", title=title))
        return
    rows: dict[str, Floats] = {}
    for point in points:
        name = point.symbol.partition("_")[0]
        rows |= {f"{name}, computed": point.before, f"{name}, changed": point.after}
        rows[f"{name}, changed − computed"] = point.after - point.before
    yield draw_vectors(walk, "changed", lambda _: rows)


def _compare_results(scene: Scene[LabWalk], name: str, charts: Sequence[Item]) -> Iterator[Item]:
    if not scene.same_tokens:
        yield Paragraph(note_other_tokens(say("steps", "these-numbers")), "caption")
    chart, n = charts[-1], RESULTS.get(name, 1)
    if scene.pinned is not None and isinstance(chart, Vectors) and n:
        result = lambda walk: dict([*chart.rows(walk).items()][-n:])  # noqa: E731
        yield replace(chart, key="step_pinned", caption=say("steps", "both"), rows=result, compares=True)


@once
def drop_layer(lab: Lab, layer: int) -> tuple[Run, dict[str, tuple[Floats, Floats]]]:
    """Run the sentence in train mode, in a model of its own; raises as `Lab.run`."""
    return run_with_dropout(lab.encoder, lab.batch, lab.sentence, layer, seed=lab["seed"], causal=lab["causal"])


def find_drops(walk: Walk, drops: Mapping[str, tuple[Floats, Floats]]) -> dict[str, Floats]:
    """Return what each dropout multiplied the query's first 2 · SHOWN numbers by; NaN if 0 before."""
    found = {}
    for point, both in drops.items():
        place = (walk.head, walk.query) if both[0].ndim == 3 else walk.query
        before, after = (each[place][: 2 * SHOWN] for each in both)
        found[point] = np.divide(after, before, where=before != 0, out=np.full(len(before), np.nan))
    return found


def _show_dropout(walk: Walk, lab: Lab) -> Iterator[Item]:
    plain, layer = lab.without_changes, walk.layer.layer
    p, output = walk.config.dropout, plain.layer(layer)["out"][walk.query]
    dropped, every = drop_layer(plain, layer)
    drops = find_drops(walk, every)
    moved = l2(dropped.arrays[f"layers.{layer}.out"][walk.query] - output) / l2(output)
    numbers = {"p": f"{p:g}", "factor": 1 / (1 - p), "seed": lab["seed"], "moved": moved}
    yield Heatmap[Walk](
        key="step_drops",
        alt=say("steps", "drops.alt"),
        caption=say("steps", "drops", **numbers),
        values=lambda _: pd.DataFrame({point: pd.Series(each) for point, each in drops.items()}).to_numpy(np.float32).T,
        rows=Axis("", lambda _: list(drops)),
        columns=Axis(f"number in the vector, first {2 * SHOWN}", options={"dtick": 1}),
        bar="",
        hover="%{y}, number %{x}",
        more="",
        written=".2f",
        colours=colour_scales.from_zero,
        gap=1,
        height_of=lambda n: 100 + 34 * n,
        compares=False,
    )

"""A training run at one moment: its numbers, its curves, its attention, and what its network has learnt."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Any

import numpy as np
import pandas as pd

from playground.accounting import count_parameters
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Bars,
    Button,
    Columns,
    Control,
    Curves,
    Group,
    Heatmap,
    Item,
    Menu,
    Options,
    Paragraph,
    Picture,
    Table,
    Widget,
)
from playground.charts.figure import Array, Curve
from playground.charts.heads import head_map
from playground.charts.names import escape_markdown, shortened
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.link.params import LAST_MOMENT
from playground.training.answers import Sample
from playground.training.job import TrainingState
from playground.training.network import count_network
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Data, Task
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.trained_network import KeptRun, TrainedNetwork, list_changed_settings
from playground.views.training_curves import SHARES, draw_accuracies, draw_gradients, draw_losses, draw_rates
from playground.words import say

LONGEST_EXAMPLE = 40
"""Characters of the example beside the field for one's own sequence."""

RUN_COLOURS = (palette.Q, palette.K, palette.V, palette.ATTENTION, palette.FEED_FORWARD, palette.EMBEDDINGS)


@dataclass(frozen=True)
class WatchedRun:
    """What is to be seen of a run at one moment."""

    state: TrainingState
    seconds: float
    """That the run has taken."""
    grows: bool

    @property
    def latest(self) -> tuple[int, float, float] | None:
        """Step, loss and accuracy of the latest validation; after the end, of the final weights."""
        if self.state.trained is not None:
            results = self.state.trained.results
            return results.kept_step, results.validation_loss, results.validation_accuracy
        looks = self.state.history.evaluations
        return (looks[-1].step, looks[-1].validation.loss, looks[-1].validation.accuracy) if looks else None


def watch(state: TrainingState, seconds: float, *, grows: bool) -> WatchedRun:
    """Return a run as it is now."""
    return WatchedRun(replace(state, history=state.history.copy()), seconds, grows)


def show_answer(recipe: Recipe, step: int, right: float, rule: float, untrained: str = "") -> Paragraph:
    """What a network does, beside a simple rule; `untrained`: settings of the page it does not have."""
    task = TASKS[recipe.task].title
    answer = say("training", "answer", step=step, steps=recipe.steps, task=task, right=right, rule=rule)
    return Paragraph(f"{untrained} {answer}".strip(), "answer")


def show_curves(scene: Scene[WatchedRun]) -> Iterator[Item]:
    """How much is right, and how wrong the rest is, over all steps."""
    steps, data, grows = scene.now.state.recipe.steps, scene.now.state.data, scene.now.grows
    n_classes = len(data.labels)
    yield Picture[WatchedRun](
        key="training_accuracy",
        alt=say("training", "accuracy.alt"),
        caption=say("training", "accuracy.caption"),
        figure=lambda run: draw_accuracies(run.state.history, steps, data.baseline),
        grows=grows,
    )
    yield Picture[WatchedRun](
        key="training_loss",
        alt=say("training", "loss.alt"),
        caption=say("training", "loss.caption", classes=n_classes),
        figure=lambda run: draw_losses(run.state.history, steps, n_classes),
        grows=grows,
    )


def show_details(scene: Scene[WatchedRun]) -> Iterator[Item]:
    """The latest numbers, and how each step went; at the end tables of all."""
    recipe, history, grows = scene.now.state.recipe, scene.now.state.history, scene.now.grows
    yield Paragraph(" · ".join(f"{name}: **{text}**" for name, text in list_metrics(scene.now).items()))
    rates = Picture[WatchedRun](
        key="training_rate",
        alt=say("training", "rate.alt"),
        caption=say("training", "rate.caption", most=max(history.lr, default=0.0)),
        figure=lambda run: draw_rates(run.state.history.lr, recipe.steps),
        grows=grows,
    )
    gradients = Picture[WatchedRun](
        key="training_gradient",
        alt=say("training", "gradient.alt"),
        caption=say("training", "gradient.caption"),
        figure=lambda run: draw_gradients(run.state.history.grad_norm, recipe.steps, recipe.clip),
        grows=grows,
    )
    yield Columns(((rates,), (gradients,)), gap="small")
    if not grows:  # every look would send them again
        both, every = say("training", "both-sets"), say("training", "every-step")
        yield Table[WatchedRun](key="training_evaluations", title=both, frame=tabulate_evaluations, is_folded=True)
        yield Table[WatchedRun](key="training_steps", title=every, frame=tabulate_steps, is_folded=True)


def list_metrics(run: WatchedRun) -> dict[str, str]:
    """Return the latest numbers by name, those that were measured of these weights."""
    history, shown = run.state.history, {}
    if run.latest is not None:
        step, loss, accuracy = run.latest
        shown = {"Validation loss": f"{loss:.4f}", "Validation accuracy": f"{accuracy:.1%}"}
        if look := history.at(step):
            shown["Training accuracy"] = f"{look.train.accuracy:.1%}"
        shown["Tokens a second"] = f"{history.evaluations[-1].tokens_per_second:,.0f}"
    return shown | {"Time": f"{run.seconds:.0f} s"}


def tabulate_evaluations(run: WatchedRun) -> pd.DataFrame:
    """Return a row an evaluation."""
    history = run.state.history
    steps, *losses = history.series("loss")
    _, *accuracies = history.series("accuracy")
    names = [f"{which} {measured}" for measured in ("loss", "accuracy") for which in ("training", "validation")]
    table = pd.DataFrame(dict(zip(names, (*losses, *accuracies), strict=True)), pd.Index(steps, name="after step"))
    return table.assign(**{"tokens a second": [round(each.tokens_per_second) for each in history.evaluations]})


def tabulate_steps(run: WatchedRun) -> pd.DataFrame:
    """Return a row a step."""
    history = run.state.history
    columns = {"loss": history.loss, "learning rate": history.lr, "gradient norm": history.grad_norm}
    return pd.DataFrame(columns, pd.RangeIndex(1, len(history.loss) + 1, name="step"))


def show_attention(scene: Scene[WatchedRun], options: Options) -> Iterator[Item]:
    """One head's attention at one of the steps at which it was saved."""
    state, history = scene.now.state, scene.now.state.history
    if not history.evaluations:
        return
    yield Paragraph(say("training", "attention"), "header")
    if not history.snapshots:
        yield Paragraph(say("training", "attention-large"), "caption")
        return
    step = find_step(state, options)
    patterns = history.snapshots[step]
    name = name_attention(patterns, options)
    if len(patterns) > 1:
        usual = options["training_attention"] if name != options["training_attention"] else name
        names = {usual if each == name else each: each for each in patterns}
        yield Menu("training_attention", say("training", "which-attention"), names)
    n_layers, n_heads = patterns[name].shape[:2]
    most = None if scene.now.grows else most_changed_head(history.snapshots, name)
    layer, head = most or (0, 0)
    choices = (
        Control("training_moment", say("training", "moment", step=step, steps=state.recipe.steps), high=LAST_MOMENT),
        Control("training_layer", "layer", high=n_layers - 1),
        Control("training_head", "head", high=n_heads - 1),
        Button(
            "training_most_changed",
            say("training", "most-changed"),
            {"training_layer": layer, "training_head": head},
            is_disabled=most is None or most == _shown_head(patterns[name], options),
        ),
    )
    yield Group("training_map", (Group("", choices, is_row=True), saved_attention(scene.now, options)))


def find_step(state: TrainingState, options: Options) -> int:
    """Return the last step up to the chosen moment whose attention was saved."""
    asked = round(state.recipe.steps * int(options["training_moment"]) / LAST_MOMENT)
    return max(step for step in state.history.snapshots if step <= asked)


def name_attention(patterns: Mapping[str, Array], options: Options) -> str:
    """Return which attention is shown: the chosen one, or the first."""
    chosen: str = options["training_attention"]
    return chosen if chosen in patterns else next(iter(patterns))


def _shown_head(patterns: Array, options: Options) -> tuple[int, int]:
    n_layers, n_heads = patterns.shape[:2]
    return min(options["training_layer"], n_layers - 1), min(options["training_head"], n_heads - 1)


def most_changed_head(snapshots: Mapping[int, Mapping[str, Array]], name: str) -> tuple[int, int] | None:
    """Return layer and head with the largest mean Σ |change| of a row since the first snapshot, if there are more."""
    if len(snapshots) < 2:
        return None
    first, *_, last = (patterns[name] for patterns in snapshots.values())
    changes = np.abs(last - first).sum(axis=-1).mean(axis=-1)  # (L, H)
    layer, head = np.unravel_index(int(changes.argmax()), changes.shape)
    return int(layer), int(head)


def saved_attention(run: WatchedRun, options: Options) -> Heatmap[WatchedRun]:
    """The chosen head's attention on the first validation sequence, at the chosen moment."""
    state, step = run.state, find_step(run.state, options)
    patterns = state.history.snapshots[step]
    name = name_attention(patterns, options)
    layer, head = _shown_head(patterns[name], options)
    pattern = patterns[name][layer, head]
    example, vocabulary = state.data.validation[slice(0, 1)], state.data.vocabulary
    read, written = ([vocabulary[i] for i in ids[0].tolist()] for ids in (example.ids, example.decoder_ids))
    place = {"layer": layer, "head": head, "step": step}
    return head_map(
        key="training_pattern",
        alt=say("training", "pattern.alt", **place),
        caption=say("training", "pattern.caption", **place),
        reading=lambda _: say("training", "reading", **largest_weight(pattern)),
        weights=lambda _: pattern,
        tokens=lambda _: written if name in ("decoder self", "cross") else read,
        keys=lambda _: written if name == "decoder self" else read,
        allowed=lambda _: pattern > 0,
        window=lambda _: state.config.window_of(layer) if name == "self" else 0,
        colours=colour_scales.weight_colours(square_root=False),
        saved_as=f"training_attention_step{step}_layer{layer}_head{head}",
    )


def largest_weight(pattern: Array) -> dict[str, float]:
    """Return the largest weight of a map (Tq, Tk), of rows that can choose, and an even one."""
    n_keys = (pattern > 0).sum(axis=1)
    rows = pattern[n_keys > 1] if (n_keys > 1).any() else pattern
    return {"weight": float(rows.max()), "even": 1 / n_keys.max(), "tokens": int(n_keys.max())}


def show_answers(
    scene: Scene[TrainedNetwork], options: Options, answers: Sequence[Sample], ask: Callable[[str], Sample]
) -> Iterator[Item]:
    """Some answers, and the one to a visitor's own sequence, which `ask` returns or raises PlaygroundError."""
    results, task = scene.now.results, scene.now.task
    yield Paragraph(say("training", "answers", task=task.title), "header")
    own = _ask_typed(scene.now, task, options["training_sequence"], ask) if isinstance(task, MadeUpTask) else ()
    yield Group("training_trials", (*own, tabulate_answers("training_trials_table", task, answers)))
    n_right = sum(sample.n_wrong == 0 for sample in answers)
    told = say("training", "answers.caption", **vars(results) | {"sequences": len(answers), "right": n_right})
    yield Paragraph(told, "caption")


def _ask_typed(trained: TrainedNetwork, task: MadeUpTask, typed: str, ask: Callable[[str], Sample]) -> Iterator[Item]:
    label = say("training", "own", example=shortened(trained.example, LONGEST_EXAMPLE))
    yield Control("training_sequence", label, escape_markdown(task.describe_input(trained.recipe)))
    if typed.strip():
        try:
            yield tabulate_answers("training_own_table", task, [ask(typed)])
        except PlaygroundError as error:
            yield Paragraph(escape_markdown(error), "error")


def tabulate_answers(key: str, task: Task, answers: Sequence[Sample]) -> Table[Any]:
    """A row a sequence; what is wrong in an answer is marked."""
    columns = {
        "it reads": [escape_markdown(task.show_blanks(sample.text)) for sample in answers],
        "right answer": [escape_markdown(task.join(sample.right_answer)) for sample in answers],
        "it says": [_mark_mistakes(task, sample) for sample in answers],
        "mistakes": [
            f"{sample.n_wrong} of {max(len(sample.right_answer), len(sample.answer))}" if sample.n_wrong else "none"
            for sample in answers
        ],
    }
    frame = pd.DataFrame(columns).set_index("it reads")
    return Table(key=key, frame=lambda _: frame, is_markdown=True)


def _mark_mistakes(task: Task, sample: Sample) -> str:
    """The answer in markdown: what is wrong is red, what is missing a dash."""
    pairs = zip_longest(sample.right_answer, sample.answer, fillvalue="–")
    parts = (
        (is_right, escape_markdown(task.join(answer for _, answer in part)))
        for is_right, part in groupby(pairs, lambda pair: pair[0] == pair[1])
    )
    return task.join(part if is_right else f":red-background[{part}]" for is_right, part in parts)


def show_runs(scene: Scene[Sequence[KeptRun]]) -> Iterator[Item]:
    """Several runs: right answers by step, what each differs in from the first, and its button."""
    runs = scene.now
    if len(runs) < 2:
        return
    yield Paragraph(say("training", "runs"), "header")
    yield Curves[Sequence[KeptRun]](
        key="training_runs",
        alt=say("training", "runs.alt"),
        caption=say("training", "runs.caption"),
        curves=lambda runs: [
            Curve(f"run {number}", *run.right, colour, hover="after step %{x}: %{y:.2%}")
            for number, (run, colour) in enumerate(zip(runs, RUN_COLOURS, strict=False), start=1)
        ],
        x=Axis("step"),
        y=lambda _: SHARES,
        table=lambda runs: pd.DataFrame({f"run {i}": pd.Series(*run.right[::-1]) for i, run in enumerate(runs, 1)}),
    )
    for number, run in enumerate(runs, start=1):
        right, settings = run.network.results.validation_accuracy, _tell_apart(run, runs[0])
        told = say("training", "run", number=number, right=right, settings=settings)
        yield Widget("training_run", {"run": run, "told": told})


def _tell_apart(run: KeptRun, first: KeptRun) -> str:
    if run is first:
        return f"{run.network.task.title}: {describe_shape(run.network.config)}"
    before, now = ((replace(each.network.config, dropout=0.0), each.network.recipe) for each in (first, run))
    return ", ".join(list_changed_settings(before, now)) or say("training", "same-settings")


def show_next_characters(scene: Scene[Mapping[str, float]], n_possible: int) -> Iterator[Item]:
    """The likeliest next characters; `n_possible` may be drawn in all."""
    name, probability = next(iter(scene.now.items()))
    yield Bars[Mapping[str, float]](
        key="training_next",
        alt=say("training", "next.alt", likeliest=name, probability=probability),
        caption=say("training", "next.caption", possible=n_possible),
        bars=lambda probabilities: {"": probabilities},
        labels=Axis("character"),
        value={"title": "probability of being drawn next", "range": [0, 1], "tickformat": ".0%"},
        colours={"": palette.EMBEDDINGS},
        number=".2%",
        table=lambda probabilities: pd.DataFrame(probabilities.items(), columns=["character", "probability"]),
    )


def describe_shape(config: ModelConfig) -> str:
    """Return an architecture in words."""
    return say("training", "shape", **vars(config))


def describe_size(config: ModelConfig, data: Data) -> str:
    """Return a network's parameters, and those beside its encoder."""
    total = count_network(config, data.task, len(data.labels))
    head, decoder = total - count_parameters(config).total, "yes" if data.task.has_decoder else "no"
    return say("training", "size", parameters=total, head=head, decoder=decoder)

"""A training run at one moment: its numbers, its curves, its attention, and what its network has learnt."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Any

import numpy as np
import pandas as pd

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Bars,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Mask,
    Metric,
    Options,
    Paragraph,
    Picture,
    Table,
    Widget,
)
from playground.charts.figure import Array, Figure
from playground.charts.head_map import head_map
from playground.charts.heads import WeightScale, weight_colours
from playground.charts.names import escape_markdown, quote_token, shortened
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.link.params import LAST_MOMENT
from playground.model.positions import window_mask
from playground.training.answers import Sample
from playground.training.kept_run import KeptRun, list_changed_settings
from playground.training.network import History, Measure, Snapshot, attention_mask, count_head, count_network
from playground.training.recipe import Recipe
from playground.training.run_state import TrainingState
from playground.training.tasks import TASKS, Data, Task
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.trained_network import TrainedNetwork
from playground.training.trainer import learning_rate
from playground.views.training_curves import draw_accuracies, draw_gradients, draw_losses, draw_rates
from playground.words import say

MOST_CLASSES = 5
"""Classes of a task that are named."""

LONGEST_EXAMPLE = 40
"""Characters of the example beside the field for a visitor's own sequence."""

MOST_IN_A_LINE = 0.5
"""The mean weight from which on a map is said to show a line."""

RUN_COLOURS = (palette.Q, palette.K, palette.V, palette.ATTENTION, palette.FEED_FORWARD, palette.EMBEDDINGS)


@dataclass(frozen=True)
class WatchedRun:
    """What is to be seen of a run at one moment."""

    state: TrainingState
    """No step is added to it."""
    seconds: float
    """That the run has taken."""
    grows: bool
    """Whether it goes on."""

    @property
    def latest(self) -> tuple[int, Measure] | None:
        """The step of the latest measurement and its result; after the end, those of the weights that were kept."""
        if self.state.kept is not None:
            return self.state.kept_step, self.state.kept
        looks = self.state.history.evaluations
        return (looks[-1].step, looks[-1].validation) if looks else None


@dataclass(frozen=True)
class AskedNetwork:
    """A trained network, and what it answers to sequences that it has never learnt from."""

    trained: TrainedNetwork
    answers: Callable[[], Sequence[Sample]]
    ask: Callable[[str], Sample]
    """What it answers to a typed sequence; raises as `MadeUpTask.read`, or BusyError."""


def watch(state: TrainingState, seconds: float, *, grows: bool) -> WatchedRun:
    """Return a run as it is now, while another thread goes on with it."""
    return WatchedRun(replace(state, history=state.history.copy()), seconds, grows)


def show_plan(scene: Scene[Recipe]) -> Iterator[Item]:
    """The learning rate of every step, which is known before a run starts."""
    recipe = scene.now
    yield show_rates([learning_rate(step, recipe) for step in range(1, recipe.steps + 1)], recipe.steps)


def show_progress(scene: Scene[WatchedRun], untrained: str = "") -> Iterator[Item]:
    """What the network does now, beside a simple rule; `untrained`: which settings of the page it does not have."""
    state, latest = scene.now.state, scene.now.latest
    if latest is None:
        yield Paragraph(say("training", "answer-soon"), "answer")
        return
    yield _answer(state.recipe, latest[0], latest[1].accuracy, state.data.baseline, untrained)


def show_results(scene: Scene[TrainedNetwork], untrained: str = "") -> Iterator[Item]:
    """What a trained network does, beside a simple rule, if its run is not to be seen."""
    results = scene.now.results
    yield _answer(scene.now.recipe, results.kept_step, results.validation_accuracy, results.baseline, untrained)


def _answer(recipe: Recipe, step: int, right: float, rule: float, untrained: str) -> Paragraph:
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
    """The latest numbers, and how each step went: how far it moved, and how steep the loss was."""
    recipe, history, grows = scene.now.state.recipe, scene.now.state.history, scene.now.grows
    yield Group("", tuple(Metric(name, text) for name, text in list_metrics(scene.now).items()), is_row=True)
    gradients = Picture[WatchedRun](
        key="training_gradient",
        alt=say("training", "gradient.alt"),
        caption=say("training", "gradient.caption"),
        figure=lambda run: draw_gradients(run.state.history.grad_norm, recipe.steps, recipe.clip),
        grows=grows,
    )
    yield Columns(((show_rates(history.lr, recipe.steps, grows=grows),), (gradients,)), gap="small")


def show_rates(rates: Sequence[float], steps: int, *, grows: bool = False) -> Picture[Any]:
    """The learning rate of each step by now."""
    return Picture(
        key="training_rate",
        alt=say("training", "rate.alt"),
        caption=say("training", "rate.caption", most=max(rates, default=0.0)),
        figure=lambda _: draw_rates(rates, steps),
        grows=grows,
    )


def list_metrics(run: WatchedRun) -> dict[str, str]:
    """Return the latest numbers by what they are; those that were not measured of these weights are left out."""
    history, shown = run.state.history, {}
    if run.latest is not None:
        step, validation = run.latest
        shown = {"Validation loss": f"{validation.loss:.4f}", "Validation accuracy": f"{validation.accuracy:.1%}"}
        if look := history.at(step):
            shown["Training accuracy"] = f"{look.train.accuracy:.1%}"
        shown["Tokens a second"] = f"{history.evaluations[-1].tokens_per_second:,.0f}"
    return shown | {"Time": f"{run.seconds:.0f} s"}


def show_numbers(_scene: Scene[History]) -> Iterator[Item]:
    """The numbers of all four charts."""
    both, every = say("training", "both-sets"), say("training", "every-step")
    yield Table[History](key="training_evaluations", title=both, frame=tabulate_evaluations, is_folded=True)
    yield Table[History](key="training_steps", title=every, frame=tabulate_steps, is_folded=True)


def tabulate_evaluations(history: History) -> pd.DataFrame:
    """A row an evaluation."""
    steps, *losses = history.series("loss")
    _, *accuracies = history.series("accuracy")
    names = [f"{which} {measured}" for measured in ("loss", "accuracy") for which in ("training", "validation")]
    table = pd.DataFrame(dict(zip(names, (*losses, *accuracies), strict=True)), pd.Index(steps, name="after step"))
    return table.assign(**{"tokens a second": [round(each.tokens_per_second) for each in history.evaluations]})


def tabulate_steps(history: History) -> pd.DataFrame:
    """A row a step."""
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
    shown = find_snapshot(state, options)
    if len(shown.patterns) > 1:
        yield Widget("training_attention", {"names": list(shown.patterns)})
    name = name_attention(shown.patterns, options)
    n_layers, n_heads = shown.patterns[name].shape[:2]
    most = None if scene.now.grows else most_changed_head(history.snapshots, name)
    is_shown = most == _shown_head(shown.patterns[name], options)
    choices = (
        Control(
            "training_moment", say("training", "moment", step=shown.step, steps=state.recipe.steps), high=LAST_MOMENT
        ),
        Control("training_layer", "layer", high=n_layers - 1),
        Control("training_head", "head", high=n_heads - 1),
        Widget("training_most_changed", {"most": None if is_shown else most}),
    )
    yield Group("training_map", (Group("", choices, is_row=True), saved_attention(scene.now, options)))


def find_snapshot(state: TrainingState, options: Options) -> Snapshot:
    """Return the last saved attention up to the chosen moment."""
    asked = round(state.recipe.steps * int(options["training_moment"]) / LAST_MOMENT)
    return [snapshot for snapshot in state.history.snapshots if snapshot.step <= asked][-1]


def name_attention(patterns: Mapping[str, Array], options: Options) -> str:
    """Return which attention is shown: the chosen one, or the first if the run has none of its name."""
    chosen: str = options["training_attention"]
    return chosen if chosen in patterns else next(iter(patterns))


def _shown_head(patterns: Array, options: Options) -> tuple[int, int]:
    """The chosen layer and head, or the last that these patterns (L, H, Tq, Tk) have."""
    n_layers, n_heads = patterns.shape[:2]
    return min(options["training_layer"], n_layers - 1), min(options["training_head"], n_heads - 1)


def most_changed_head(snapshots: Sequence[Snapshot], name: str) -> tuple[int, int] | None:
    """Return layer and head whose attention differs most between the first snapshot and the last, if there are two.

    The difference is Σ |change| of a row's weights, as a mean over rows.
    """
    if len(snapshots) < 2:
        return None
    changes = np.abs(snapshots[-1].patterns[name] - snapshots[0].patterns[name]).sum(axis=-1).mean(axis=-1)  # (L, H)
    layer, head = np.unravel_index(int(changes.argmax()), changes.shape)
    return int(layer), int(head)


def saved_attention(run: WatchedRun, options: Options) -> Heatmap[WatchedRun]:
    """The chosen head's attention on the first validation sequence, at the last saved step up to the chosen moment."""
    state, shown = run.state, find_snapshot(run.state, options)
    name = name_attention(shown.patterns, options)
    layer, head = _shown_head(shown.patterns[name], options)
    pattern = shown.patterns[name][layer, head]
    queries, keys, visible = read_tokens(state, name, layer)
    case, numbers = find_pattern(pattern, visible)
    return head_map(
        key="training_pattern",
        alt=say("training", "pattern.alt", layer=layer, head=head, step=shown.step),
        caption=say("training", "pattern.caption", layer=layer, head=head, step=shown.step),
        reading=lambda _: say("training", f"reading-{case}", **numbers),
        weights=lambda _: pattern,
        tokens=lambda _: queries,
        keys=lambda _: keys,
        allowed=lambda _: visible,
        window=lambda _: state.config.window_of(layer) if name == "self" else 0,
        colours=weight_colours(WeightScale(square_root=False)),
        saved_as=f"training_attention_step{shown.step}_layer{layer}_head{head}",
    )


def read_tokens(state: TrainingState, name: str, layer: int) -> tuple[list[str], list[str], Mask]:
    """Of a layer's attention on the first validation sequence: who asks, who is asked, who may look where (Tq, Tk)."""
    example = state.data.validation[slice(0, 1)]
    query_ids = key_ids = example.ids[0].tolist()
    if state.data.task.has_decoder and name != "encoder self":
        query_ids = example.decoder_ids[0].tolist()
        key_ids = query_ids if name == "decoder self" else key_ids
    visible = np.ones((len(query_ids), len(key_ids)), bool)
    mask = attention_mask(example, state.recipe) if name == "self" else None
    if name == "decoder self":
        visible = np.tril(visible)
    elif mask is not None:
        visible = np.broadcast_to(mask[0].numpy(), visible.shape)
    if name == "self" and state.config.window_of(layer):
        visible = visible & window_mask(len(key_ids), state.config.window_of(layer))[0].numpy()
    queries, keys = ([state.data.vocabulary[i] for i in ids] for ids in (query_ids, key_ids))
    return queries, keys, visible


def find_pattern(pattern: Array, visible: Mask) -> tuple[str, dict[str, float]]:
    """Return whether a map (Tq, Tk) shows a `diagonal` or `mirrored` line, and its weight; else the `largest` weight.

    The largest is that of the rows that can choose: under a causal mask the first can not, and gives 1.
    """
    n_tokens = len(pattern)
    if visible.all() and pattern.shape[0] == pattern.shape[1]:
        for case, turned in (("diagonal", pattern), ("mirrored", pattern[:, ::-1])):
            weight, hits = float(np.diagonal(turned).mean()), int((turned.argmax(1) == np.arange(n_tokens)).sum())
            if weight >= MOST_IN_A_LINE:
                return case, {"weight": weight, "even": 1 / n_tokens, "hits": hits, "tokens": n_tokens}
    n_keys = visible.sum(axis=1)
    rows = pattern[n_keys > 1] if (n_keys > 1).any() else pattern
    return "largest", {"weight": float(rows.max()), "even": 1 / n_keys.max(), "tokens": int(n_keys.max())}


def show_answers(scene: Scene[AskedNetwork], options: Options) -> Iterator[Item]:
    """How much of the validation set is right, some answers, and the one to a visitor's own sequence."""
    results, task = scene.now.trained.results, scene.now.trained.task
    yield Paragraph(say("training", "answers", task=task.title), "header")
    answers = scene.now.answers()
    own = tuple(_ask_typed(scene.now, task, options["training_sequence"])) if isinstance(task, MadeUpTask) else ()
    yield Group("training_trials", (*own, tabulate_answers("training_trials_table", task, answers)))
    n_right = sum(sample.n_wrong == 0 for sample in answers)
    told = say("training", "answers.caption", **vars(results) | {"sequences": len(answers), "right": n_right})
    yield Paragraph(told, "caption")


def _ask_typed(asked: AskedNetwork, task: MadeUpTask, typed: str) -> Iterator[Item]:
    """The field for a visitor's own sequence, and its answer; or why there is none."""
    trained = asked.trained
    label = say("training", "own", example=shortened(trained.example, LONGEST_EXAMPLE))
    yield Control("training_sequence", label, escape_markdown(task.describe_input(trained.recipe)))
    if not typed.strip():
        return
    try:
        sample = asked.ask(typed)
    except PlaygroundError as error:
        yield Paragraph(escape_markdown(error), "error")
        return
    yield tabulate_answers("training_own_table", task, [sample])
    if unusual := task.describe_unusual(sample.text, trained.recipe):
        yield Paragraph(unusual, "caption")


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
    """The answer in markdown: what is wrong has a red ground, and a dash stands for a symbol that is missing."""
    pairs = zip_longest(sample.right_answer, sample.answer, fillvalue="–")
    parts = (
        (is_right, escape_markdown(task.join(answer for _, answer in part)))
        for is_right, part in groupby(pairs, lambda pair: pair[0] == pair[1])
    )
    return task.join(part if is_right else f":red-background[{part}]" for is_right, part in parts)


def show_runs(scene: Scene[Sequence[KeptRun]]) -> Iterator[Item]:
    """Several runs beside each other: right answers by step, what each differs in from the first, and its buttons."""
    runs = scene.now
    if len(runs) < 2:
        return
    yield Paragraph(say("training", "runs"), "header")
    yield Picture[Sequence[KeptRun]](
        key="training_runs",
        alt=say("training", "runs.alt"),
        caption=say("training", "runs.caption"),
        figure=draw_runs,
        table=lambda runs: pd.DataFrame({f"run {i}": _curve(run) for i, run in enumerate(runs, 1)}).rename_axis("step"),
        table_title="The numbers",
    )
    for number, run in enumerate(runs, start=1):
        right, settings = run.network.results.validation_accuracy, _tell_apart(run, runs[0])
        told = say("training", "run", number=number, right=right, settings=settings)
        yield Widget("training_run", {"run": run, "told": told})


def _tell_apart(run: KeptRun, first: KeptRun) -> str:
    """What a run is of: of the first all that shapes it, of each other what differs from the first."""
    if run is first:
        return f"{run.network.task.title}: {describe_shape(run.network.config)}"
    before, now = ((replace(each.network.config, dropout=0.0), each.network.recipe) for each in (first, run))
    return ", ".join(list_changed_settings(before, now)) or say("training", "same-settings")


def _curve(run: KeptRun) -> pd.Series:
    results = run.network.results
    steps, right = (run.steps, run.right) if run.steps else ((results.kept_step,), (results.validation_accuracy,))
    return pd.Series(right, index=steps, dtype=float)


def draw_runs(runs: Sequence[KeptRun]) -> Figure:
    """The share of right answers by step of each run; a point where only the end is known."""
    curves = [_curve(run) for run in runs]
    lines = [
        figures.step_line(
            curve.index.to_numpy(), curve.to_numpy(np.float32), f"run {number}", {"color": colour, "width": 2},
            "after step %{x}: %{y:.2%}",
        ) | {"mode": "lines+markers", "marker": {"size": 5}}
        for number, (curve, colour) in enumerate(zip(curves, RUN_COLOURS, strict=False), start=1)
    ]  # fmt: skip
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    last = max(int(curve.index.max()) for curve in curves)
    return figures.draw_over_steps(lines, max(1, last), y_axis, height=250, legend=True)


def show_next_characters(scene: Scene[Mapping[str, float]], n_possible: int) -> Iterator[Item]:
    """The probabilities of what may come next, by character, the likeliest first; `n_possible` may be drawn in all."""
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


def describe_training(config: ModelConfig, recipe: Recipe, data: Data) -> str:
    """Return task, data, architecture, optimiser and seed of a run."""
    shape = f"{describe_shape(config)} · {describe_size(config, data)}"
    lengths = data.train.mask.sum(1).double()
    sizes = {"sequences": len(lengths), "tokens": float(lengths.mean()), "shape": shape}
    named = {"task": TASKS[recipe.task].title, "seed": str(recipe.seed)}
    return say("training", "this-run", **vars(recipe) | sizes | named)


def describe_shape(config: ModelConfig) -> str:
    """Return the architecture of a network: its sizes, its positions, its norms and its residual connections."""
    return say("training", "shape", **vars(config))


def describe_size(config: ModelConfig, data: Data) -> str:
    """Return the parameters of the network that is trained, and those that the Parameters page leaves out."""
    total, head = (count(config, data.task, len(data.labels)) for count in (count_network, count_head))
    return say("training", "size", parameters=total, head=head, decoder="yes" if data.task.has_decoder else "no")


def describe_classes(data: Data) -> str:
    """Return the answers among which the network chooses at each position (markdown)."""
    answers = [label for label in data.labels if not label.startswith("[")]
    listed = ", ".join([*map(quote_token, answers[:MOST_CLASSES]), *["…"] * (len(answers) > MOST_CLASSES)])
    return say("training", "classes", n=len(data.labels), listed=listed)

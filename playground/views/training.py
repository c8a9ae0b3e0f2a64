"""A training run as it is at one moment: its numbers, its curves, its attention, and what its network has learnt."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.charts import figure as figures
from playground.charts import over_steps, palette
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
    Metrics,
    Options,
    Paragraph,
    Picture,
    Table,
    Widget,
)
from playground.charts.figure import Array, Figure
from playground.charts.head_map import head_map, weight_colours
from playground.charts.markdown import escape_markdown, quote_token
from playground.charts.names import shortened
from playground.charts.scene import Scene
from playground.charts.weights import WeightScale
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.link.params import LAST_MOMENT
from playground.model.positions import window_mask
from playground.text.wording import count_noun, join_words
from playground.training.answers import Sample
from playground.training.kept_run import KeptRun, list_changed_settings
from playground.training.network import History, Snapshot, attention_mask, count_head, count_network
from playground.training.recipe import Recipe
from playground.training.run_state import TrainingState
from playground.training.tasks import TASKS, Data, Task
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.tasks.task import BOS, EOS, IGNORE, SPECIALS, Examples
from playground.training.trained_network import TrainedNetwork
from playground.training.trainer import learning_rate

MOST_POINTS = 100
"""Of a curve over all steps: more would not be seen, and are sent anew at every update."""

MOST_CLASSES = 5
"""Classes of a task that are named."""

MARKS = (*SPECIALS, BOS, EOS)
"""Tokens that stand for no symbol."""

_LONGEST_EXAMPLE = 40
"""Characters of the example beside the field for a visitor's own sequence."""

LOGARITHMIC_FROM = 4
"""Where the largest loss is this many times that of guessing, the axis is logarithmic."""


@dataclass(frozen=True)
class WatchedRun:
    """What is to be seen of a run at one moment."""

    state: TrainingState
    """No step is added to it."""
    seconds: float
    """That the run has taken."""
    grows: bool
    """Whether it goes on."""


@dataclass(frozen=True)
class AskedNetwork:
    """A trained network, and what it answers to sequences that it has never learnt from."""

    trained: TrainedNetwork
    answers: Callable[[], Sequence[Sample]]
    ask: Callable[[str], Sample]
    """What it answers to a typed sequence; raises as `MadeUpTask.read`, or BusyError."""
    is_earlier: bool = False
    """Whether no run on the page has left it: it was trained before, or came from a file."""


def watch(state: TrainingState, seconds: float, *, grows: bool) -> WatchedRun:
    """A run as it is now, while another thread goes on with it."""
    return WatchedRun(replace(state, history=state.history.copy()), seconds, grows)


def show_plan(scene: Scene[Recipe]) -> Iterator[Item]:
    """What is known before a run starts: the learning rate of every step."""
    recipe = scene.now
    rates = [learning_rate(step, recipe) for step in range(1, recipe.steps + 1)]
    reached = f", reached at step {min(recipe.warmup, recipe.steps):,}" if recipe.schedule == "paper" else ""
    yield Picture[Recipe](
        key="training_rate",
        alt="Learning rate by step.",
        caption=f"The learning rate of every step, at most {max(rates):.3g}{reached}.",
        figure=lambda recipe: draw_rates(rates, recipe.steps),
        table=lambda _: pd.DataFrame({"learning rate": rates}, pd.RangeIndex(1, len(rates) + 1, name="step")),
    )


def show_nothing_yet(task: str, *, is_known: bool) -> Iterator[Item]:
    """What there is to do where no network has learnt yet; the task by its title, and whether its run `is_known`."""
    told = (
        f"The task “{task}” has been learnt here before with these settings. **Start** shows that run at once; "
        "**another seed** makes one to watch."
        if is_known
        else f"Nothing has been learnt yet. Press **Start**: a small transformer then learns the task “{task}” before "
        "your eyes."
    )
    yield Paragraph(told, "answer")


NO_ANSWER_YET = "This run has answered nothing yet: the share of its right answers comes here."
"""The page's answer between a press on Start and the first measurement."""


def show_progress(scene: Scene[WatchedRun], untrained: str = "") -> Iterator[Item]:
    """What the network does now, beside a simple rule; after the end, what the weights do that were kept.

    `untrained`: what of the page's settings is no longer the run's, in sentences.
    """
    state, evaluations = scene.now.state, scene.now.state.history.evaluations
    if not evaluations:
        yield Paragraph(NO_ANSWER_YET, "answer")
        return
    step, measured = evaluations[-1].step, evaluations[-1].validation
    if state.kept is not None:
        step, measured = state.kept_step, state.kept
    yield _answer_with_rule(state.recipe, step, measured.accuracy, state.data.baseline, untrained)


def show_results(scene: Scene[TrainedNetwork], untrained: str = "") -> Iterator[Item]:
    """What a trained network does, beside a simple rule, where its run is not to be seen.

    `untrained`: what of the page's settings is no longer the network's, in sentences.
    """
    results, recipe = scene.now.results, scene.now.recipe
    before = f"{untrained} This is the network that was trained before.".strip()
    yield _answer_with_rule(recipe, results.kept_step, results.validation_accuracy, results.baseline, before)


def _answer_with_rule(recipe: Recipe, step: int, accuracy: float, baseline: float, before: str) -> Paragraph:
    """The answer, with what is said before it."""
    task = f"“{TASKS[recipe.task].title}”"
    when = (
        f"After {step:,} of {recipe.steps:,} steps of learning {task},"
        if step
        else f"Before it learns {task}, with random weights,"
    )
    compared = "" if accuracy > baseline else " It knows no more than the rule."
    answer = (
        f"{when} **{accuracy:.1%}** of the network's answers to sequences that it has never seen are right. A simple "
        f"rule, which needs no network, gets **{baseline:.1%}** right.{compared}"
    )
    return Paragraph(f"{before} {answer}".strip(), "answer")


def show_curves(scene: Scene[WatchedRun]) -> Iterator[Item]:
    """How much is right, and how wrong the rest is, over all steps."""
    recipe, grows = scene.now.state.recipe, scene.now.grows
    yield Picture[WatchedRun](
        key="training_accuracy",
        alt="Accuracy by step: training set and validation set.",
        caption="The share of right answers, to sequences that it learns from (*training set*) and to others "
        "(*validation set*). Below the dashed line it knows no more than the simple rule.",
        figure=lambda run: draw_accuracies(run.state.history, recipe.steps, run.state.data.baseline),
        grows=grows,
    )
    yield Picture[WatchedRun](
        key="training_loss",
        alt="Loss by step: batches, training set and validation set.",
        caption="The *loss*: how wrong it is, −ln of the probability that it gives the right answer (in *nats*, the "
        f"unit of ln). {describe_classes(scene.now.state.data)} Guessing among them costs ln "
        f"{len(scene.now.state.data.labels)}. A *batch* is what one step learns from. Where the training set goes on "
        "falling and the validation set does not, it learns by heart.",
        figure=lambda run: draw_losses(run.state.history, recipe.steps, len(run.state.data.labels)),
        grows=grows,
    )


def show_details(scene: Scene[WatchedRun]) -> Iterator[Item]:
    """The latest numbers, and how each step went: how far it moved, and how steep the loss was."""
    recipe, grows = scene.now.state.recipe, scene.now.grows
    yield Metrics(tuple(Metric(name, text) for name, text in list_metrics(scene.now).items()))
    rates = Picture[WatchedRun](
        key="training_rate",
        alt="Learning rate by step.",
        caption="The learning rate: how far a step goes."
        + (" Up while it warms up, then down with 1/√step." if recipe.schedule == "paper" else ""),
        figure=lambda run: draw_rates(run.state.history.lr, recipe.steps),
        grows=grows,
    )
    gradients = Picture[WatchedRun](
        key="training_gradient",
        alt="Norm of the whole gradient by step.",
        caption="The norm of the whole gradient: how steep the loss is where the weights are. Of many steps at one "
        "place, the largest is drawn.",
        figure=lambda run: draw_gradients(run.state.history.grad_norm, recipe.steps, recipe.clip),
        grows=grows,
    )
    yield Columns(((rates,), (gradients,)), gap="small")


def list_metrics(run: WatchedRun) -> dict[str, str]:
    """The latest numbers by what they are; after the end, those of the weights that were kept.

    What was not measured is left out, such as the training accuracy of weights from between two measurements.
    """
    state, evaluations = run.state, run.state.history.evaluations
    evaluation = evaluations[-1] if evaluations else None
    validation = evaluation and evaluation.validation
    if state.kept is not None:
        evaluation, validation = state.history.at(state.kept_step), state.kept
    speeds = [each.tokens_per_second for each in evaluations if each.tokens_per_second]
    measured = {
        "Validation loss": validation and f"{validation.loss:.4f}",
        "Validation accuracy": validation and f"{validation.accuracy:.1%}",
        "Training accuracy": evaluation and f"{evaluation.train.accuracy:.1%}",
        "Tokens a second": speeds and f"{speeds[-1]:,.0f}",
        "Time": f"{run.seconds:.0f} s",
    }
    return {name: text for name, text in measured.items() if text}


def show_numbers(_scene: Scene[History]) -> Iterator[Item]:
    """The numbers of all four charts."""
    evaluations, steps = "The numbers of both sets", "The numbers of every step"
    yield Table[History](key="training_evaluations", title=evaluations, frame=tabulate_evaluations, is_folded=True)
    yield Table[History](key="training_steps", title=steps, frame=tabulate_steps, is_folded=True)


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
    yield Paragraph("What does a head look at, as it learns?", "header")
    if not history.snapshots:
        yield Paragraph(
            "Attention of this size is too large to be kept while it learns: with shorter sequences, fewer layers or "
            "fewer heads it is shown here.",
            "caption",
        )
        return
    patterns = history.snapshots[0].patterns
    if len(patterns) > 1:
        yield Widget("training_attention", {"names": list(patterns)})
    name = name_attention(patterns, options)
    n_layers, n_heads = patterns[name].shape[:2]
    most = None if scene.now.grows else most_changed_head(history.snapshots, name)
    choices = (
        Control("training_moment", _name_moment(state, options), high=LAST_MOMENT),
        Control("training_layer", "layer", high=n_layers - 1),
        Control("training_head", "head", high=n_heads - 1),
        Widget("training_most_changed", {"most": None if most == _shown_head(patterns[name], options) else most}),
    )
    yield Group("training_map", (Group("", choices, is_row=True), saved_attention(scene.now, options)))


def _name_moment(state: TrainingState, options: Options) -> str:
    """What the slider of the moment is called: the step at which it stands."""
    step = _asked_step(state, options)
    if _is_latest(state, options):
        where = f"the latest saved, step {step:,}"
    else:
        where = f"step {step:,} of {state.recipe.steps:,}"
    return f"moment: {where}" + ("" if step else ", before training")


def _is_latest(state: TrainingState, options: Options) -> bool:
    """Whether the slider stands at the end of a run that has not come so far."""
    return bool(options["training_moment"] == LAST_MOMENT) and state.step < state.recipe.steps


def _asked_step(state: TrainingState, options: Options) -> int:
    if _is_latest(state, options):
        return state.history.snapshots[-1].step
    return round(state.recipe.steps * int(options["training_moment"]) / LAST_MOMENT)


def name_attention(patterns: Mapping[str, Array], options: Options) -> str:
    """Which attention is shown: the one that was chosen, or the first where the run has none of its name."""
    chosen: str = options["training_attention"]
    return chosen if chosen in patterns else next(iter(patterns))


def _shown_head(patterns: Array, options: Options) -> tuple[int, int]:
    """The chosen layer and head, or the last that these patterns (L, H, Tq, Tk) have."""
    n_layers, n_heads = patterns.shape[:2]
    return min(options["training_layer"], n_layers - 1), min(options["training_head"], n_heads - 1)


def most_changed_head(snapshots: Sequence[Snapshot], name: str) -> tuple[int, int] | None:
    """Layer and head whose attention differs most between the first snapshot and the last; None where there is one.

    The difference is Σ |change| of a row's weights, as a mean over rows.
    """
    if len(snapshots) < 2:
        return None
    changes = np.abs(snapshots[-1].patterns[name] - snapshots[0].patterns[name]).sum(axis=-1).mean(axis=-1)  # (L, H)
    layer, head = np.unravel_index(int(changes.argmax()), changes.shape)
    return int(layer), int(head)


def saved_attention(run: WatchedRun, options: Options) -> Heatmap[WatchedRun]:
    """The chosen head's attention on the first validation sequence, at the last saved step up to the chosen moment."""
    state, snapshots = run.state, run.state.history.snapshots
    asked = _asked_step(state, options)
    shown = [snapshot for snapshot in snapshots if snapshot.step <= asked][-1]
    name = name_attention(shown.patterns, options)
    layer, head = _shown_head(shown.patterns[name], options)
    pattern = shown.patterns[name][layer, head]
    queries, keys, visible = read_tokens(state, name, layer)
    notes = [describe_line(pattern, visible) or describe_largest(pattern, visible)]
    if state.step < asked:
        notes.append(f"Step {asked:,} has not been reached; this is the last that was saved.")
    elif shown.step < asked:
        notes.append(f"Of step {asked:,} nothing was saved; this is the nearest saved step before.")
    if not run.grows and (layer, head) == most_changed_head(snapshots, name):
        notes.append("Of all heads, this one's attention changes most from before training to the last saved step.")
    when = "before training: random weights" if shown.step == 0 else f"after step {shown.step:,}"
    return head_map(
        key="training_pattern",
        alt=f"Attention of layer {layer}, head {head}, {when}.",
        caption=f"**Layer {layer}, head {head}, {when}.** A row is a token of the first validation sequence, and shows "
        "where it looks: its weights add up to 1.",
        reading=lambda _: " ".join(notes),
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


LINES: Mapping[str, tuple[str, Callable[[Array], Array]]] = {
    "from the top left to the bottom right": ("its own place", lambda each: each),
    "from the bottom left to the top right": (
        "the mirrored place, as far from the end as its own is from the start",
        lambda each: each[:, ::-1],
    ),
}
"""The lines that a map (T, T) can show: what each token looks at, and how the line becomes the diagonal."""

_MOST_IN_A_LINE = 0.5
"""The share of its weight from which on a map is said to show a line."""


def describe_line(pattern: Array, visible: Mask) -> str:
    """The line that has most of the weight (Tq, Tk), where one does; the weight beside that of an even spread."""
    if not visible.all() or pattern.shape[0] != pattern.shape[1]:
        return ""
    weights = {words: float(np.diagonal(turn(pattern)).mean()) for words, (_, turn) in LINES.items()}
    words, weight = max(weights.items(), key=lambda each: each[1])
    if weight < _MOST_IN_A_LINE:
        return ""
    (place, turn), n = LINES[words], len(pattern)
    n_there = int((turn(pattern).argmax(axis=1) == np.arange(n)).sum())
    return (
        f"The line runs {words}: {n_there} of {n} tokens look most at {place}. In this sequence, it gets {weight:.2f} "
        f"of the weight; spread evenly, {1 / n:.2f}."
    )


def describe_largest(pattern: Array, visible: Mask) -> str:
    """The largest weight (Tq, Tk) of all rows that can choose; under a causal mask the first can not, and gives 1."""
    n_keys = visible.sum(axis=1)
    can_choose = n_keys > 1
    if not can_choose.any():
        return "Each of them sees one token alone, and so gives it 1.00."
    alone = "A row that sees one token alone gives it 1.00. Of all other rows, the" if (n_keys == 1).any() else "The"
    return (
        f"{alone} largest weight is {pattern[can_choose].max():.2f}; spread evenly over {n_keys.max()} tokens, each "
        f"would get {1 / n_keys.max():.2f}."
    )


def show_answers(scene: Scene[AskedNetwork], options: Options) -> Iterator[Item]:
    """How much of the validation set is right, some answers, and the one to a visitor's own sequence."""
    results, task = scene.now.trained.results, scene.now.trained.task
    which = f"“{task.title}”, trained before," if scene.now.is_earlier else "it"
    yield Paragraph(f"What does {which} answer?", "header")
    answers = scene.now.answers()
    own = tuple(_ask_typed(scene.now, task, options["training_sequence"])) if isinstance(task, MadeUpTask) else ()
    yield Group("training_trials", (*own, tabulate_answers("training_trials_table", task, answers)))
    n_right = sum(sample.n_wrong == 0 for sample in answers)
    how = " The decoder says them symbol by symbol, the likeliest at every step." if task.has_decoder else ""
    yield Paragraph(
        f"{len(answers)} sequences that it has never learnt from, {n_right} of them without a mistake.{how} "
        f"The network: “{task.title}”, with the weights of step {results.kept_step:,}: "
        f"**{results.validation_accuracy:.1%}** of the validation set is right. Validation loss "
        f"{results.validation_loss:.6f} nats.",
        "caption",
    )


def _ask_typed(asked: AskedNetwork, task: MadeUpTask, typed: str) -> Iterator[Item]:
    """The field for a visitor's own sequence, and its answer; or why there is none."""
    trained = asked.trained
    reads = escape_markdown(task.describe_input(trained.recipe))
    yield Control(
        "training_sequence", f"Ask it yourself, such as `{shortened(trained.example, _LONGEST_EXAMPLE)}`", reads
    )
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


RUN_COLOURS = (palette.Q, palette.K, palette.V, palette.ATTENTION, palette.FEED_FORWARD, palette.EMBEDDINGS)


def show_runs(scene: Scene[Sequence[KeptRun]]) -> Iterator[Item]:
    """Several runs beside each other: right answers by step, what each differs in from the first, and its buttons."""
    runs = scene.now
    if len(runs) < 2:
        return
    yield Paragraph("What you have trained", "header")
    yield Picture[Sequence[KeptRun]](
        key="training_runs",
        alt="Right answers by step, a curve a run.",
        caption="The share of right answers to the validation set, a curve a run; the newest is last.",
        figure=draw_runs,
        table=lambda runs: pd.DataFrame({f"run {i}": _curve(run) for i, run in enumerate(runs, 1)}).rename_axis("step"),
        table_title="The numbers",
    )
    for number, run in enumerate(runs, start=1):
        seconds = f", {run.seconds:.0f} s" if run.seconds is not None else ""
        told = f"**{number}: {_share(run):.1%}**{seconds}. {_tell_apart(run, runs)}"
        yield Widget("training_run", {"run": run, "told": told})


def _tell_apart(run: KeptRun, runs: Sequence[KeptRun]) -> str:
    """What a run is of: of the first all that shapes it, of each other what differs from the first."""
    first, here = ((replace(each.network.config, dropout=0.0), each.network.recipe) for each in (runs[0], run))
    if run is runs[0]:
        return f"{run.network.task.title}: {describe_shape(run.network.config)}."
    return f"{', '.join(list_changed_settings(first, here)) or 'The same settings'}."


def _curve(run: KeptRun) -> pd.Series:
    steps, right = (run.steps, run.right) if run.steps else ((run.network.results.kept_step,), (_share(run),))
    return pd.Series(right, index=steps, dtype=float)


def _share(run: KeptRun) -> float:
    return run.network.results.validation_accuracy


def draw_runs(runs: Sequence[KeptRun]) -> Figure:
    """The share of right answers by step of each run; a point where only the end is known."""
    curves = [_curve(run) for run in runs]
    lines = [
        over_steps.step_line(
            curve.index.to_numpy(), curve.to_numpy(np.float32), f"run {number}", {"color": colour, "width": 2},
            "after step %{x}: %{y:.2%}",
        ) | {"mode": "lines+markers", "marker": {"size": 5}}
        for number, (curve, colour) in enumerate(zip(curves, RUN_COLOURS, strict=False), start=1)
    ]  # fmt: skip
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    last = max(int(curve.index.max()) for curve in curves)
    return over_steps.draw_over_steps(lines, max(1, last), y_axis, height=250, legend=True)


def show_next_characters(scene: Scene[Mapping[str, float]], n_possible: int) -> Iterator[Item]:
    """The probabilities of what may come next, by character, the likeliest first; `n_possible` may be drawn in all."""
    name, probability = next(iter(scene.now.items()))
    yield Bars[Mapping[str, float]](
        key="training_next",
        alt=f"Probabilities of the next character; the likeliest, {name}, has {probability:.0%}.",
        caption=f"The character after these would be drawn from {n_possible}, the likeliest on top. A low "
        "temperature and a small k leave little but the first; temperature 1 and k = 0 show what the network itself "
        "believes.",
        bars=lambda probabilities: {"": probabilities},
        labels=Axis("character"),
        value={"title": "probability of being drawn next", "range": [0, 1], "tickformat": ".0%"},
        colours={"": palette.EMBEDDINGS},
        number=".2%",
        table=lambda probabilities: pd.DataFrame(probabilities.items(), columns=["character", "probability"]),
    )


def describe_training(config: ModelConfig, recipe: Recipe, data: Data) -> str:
    """Task, data, architecture, optimiser and seed of a run, in one line."""
    return (
        f"{TASKS[recipe.task].title} · {describe_lengths(data.train)} · {describe_shape(config)} · "
        f"{describe_size(config, data)} · "
        f"{recipe.optimizer}, {recipe.schedule} schedule, lr {recipe.lr:g} · seed {recipe.seed}"
    )


def describe_shape(config: ModelConfig) -> str:
    """The architecture of a network: its sizes, its positions, its norms and its residual connections."""
    norms = "no norms" if config.norm == "none" else f"{config.norm_placement}-norm ({config.norm})"
    residual = "" if config.residual else ", no residuals"
    return (
        f"{count_noun(config.n_layers, 'layer')}, {count_noun(config.n_heads, 'head')}, width {config.d_model}, "
        f"d_ff {config.d_ff}, positions {config.positions}, {norms}{residual}"
    )


def describe_classes(data: Data) -> str:
    """Between which answers the network chooses at each position (markdown)."""
    right = {data.labels[i] for i in np.unique(data.train.targets.numpy()).tolist() if i != IGNORE}
    marks = [label for label in data.labels if label in MARKS and label not in right]
    never = marks if right else []  # what is kept of a run has no training set to tell
    others = [label for label in data.labels if label not in marks][:MOST_CLASSES]
    listed = ", ".join([*map(quote_token, others), *["…"] * (len(others) + len(never) < len(data.labels))])
    wrong = f"; and {join_words(never)}, which are never right" if never else ""
    return f"Each answer is one of {len(data.labels)}, the *classes*: {listed}{wrong}."


def describe_size(config: ModelConfig, data: Data) -> str:
    """The parameters of the network that is trained, and how many of them the Parameters page leaves out."""
    part = "decoder" if data.task.has_decoder else "output head"
    total, head = (count(config, data.task, len(data.labels)) for count in (count_network, count_head))
    return f"{total:,} parameters, its {part}'s {head:,} among them"


def describe_lengths(examples: Examples) -> str:
    """How many sequences there are, and how long they are in tokens."""
    lengths = examples.mask.sum(1)
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest == longest:
        return f"{len(lengths):,} sequences of {longest} tokens"
    mean = f"{lengths.double().mean():.3g} on average"
    return f"{len(lengths):,} sequences of {shortest} to {longest} tokens ({mean})"


def draw_losses(history: History, steps: int, n_classes: int) -> Figure:
    """The loss of batches, their running mean, and the loss of both sets at every evaluation so far, in nats.

    The axis is as long as all `steps` of the run; guessing among `n_classes` costs ln(n_classes).
    """
    losses = finite(history.loss)
    together, span = window(len(losses)), max(2, steps // 25)
    name = "batches" if together == 1 else f"batches, mean of each {together}"
    guess = math.log(n_classes)
    evaluated = history.series("loss")
    lines = [
        _line(*thinned(losses), name, figures.faint(palette.BATCHES, figures.PALE), width=1),
        _line(*running_mean(losses, span), f"mean of {span} batches", palette.BATCHES),
        *_both_sets(*evaluated, "%{y:.4f} nats"),
        over_steps.level_line(steps, guess, f"guessing: ln {n_classes} = {guess:.2f}"),
    ]
    drawn = [guess, *losses.tolist(), *evaluated[2]]
    top = max((loss for loss in drawn if math.isfinite(loss)), default=guess)
    y_axis: dict[str, Any] = {"title": "loss, nats", "range": [0, 1.08 * top]}
    if top > LOGARITHMIC_FROM * guess:
        y_axis = {"title": "loss, nats (log scale)", "type": "log", "exponentformat": "power"}
    return over_steps.draw_over_steps(lines, steps, y_axis, height=290, legend=True)


def draw_accuracies(history: History, steps: int, baseline: float) -> Figure:
    """The share of right answers in both sets so far, beside the simple rule's share on the validation set."""
    lines = [
        *_both_sets(*history.series("accuracy"), "%{y:.2%}"),
        over_steps.level_line(steps, baseline, f"simple rule: {baseline:.0%}"),
    ]
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    return over_steps.draw_over_steps(lines, steps, y_axis, height=250, legend=True)


def draw_rates(rates: Sequence[float], steps: int) -> Figure:
    """The learning rate so far, with its peak; of a long run not every step."""
    curve = _line(*peaks(finite(rates), MOST_POINTS // 2), "learning rate", palette.RESIDUAL)
    y_axis = {"title": "learning rate", "rangemode": "tozero", "exponentformat": "power", "nticks": 5}
    return over_steps.draw_over_steps([curve], steps, y_axis, height=190)


def draw_gradients(norms: Sequence[float], steps: int, clip: float) -> Figure:
    """The gradient's norm so far, of a long run the largest of every few steps, before it is shortened to `clip`.

    With `clip` 0, no gradient is shortened.
    """
    values = finite(norms)
    together = window(len(values))
    name = "gradient norm" if together == 1 else f"gradient norm, largest of each {together} steps"
    lines = [_line(*peaks(values), name, palette.RESIDUAL)]
    if clip:
        lines.append(over_steps.level_line(steps, clip, f"clipped to {clip:g}"))
    drawn = [number for number in (*values.tolist(), clip) if number > 0]
    decades = math.log10(max(drawn) / min(drawn)) if drawn else 0.0
    # 1, 2 and 5 times each power of ten, where these labels have room below one another; else few powers.
    dtick = "D2" if decades < 2 else math.ceil(decades / 5)
    y_axis = {"title": "gradient norm (log scale)", "type": "log", "exponentformat": "power", "dtick": dtick}
    return over_steps.draw_over_steps(lines, steps, y_axis, height=190)


def finite(values: Sequence[float]) -> Array:
    """The values up to the first that is no finite number."""
    array = np.asarray(values, np.float64)
    return array[np.logical_and.accumulate(np.isfinite(array))].astype(np.float32)


def running_mean(values: Array, span: int) -> tuple[Array, Array]:
    """Of values of steps 1, 2, …, the mean of each and those before it, `span` in all or as many as there are.

    Each stands in the middle of its steps: at the last, the curve would seem to lag. Of many, some are left out.
    """
    size, n = window(len(values)), len(values)
    ends = np.array([min(end, n) for end in range(size, n + size, size)], np.int64)
    starts = np.maximum(ends - span, 0)
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    means = (sums[ends] - sums[starts]) / (ends - starts)
    return ((starts + 1 + ends) / 2).astype(np.float32), means.astype(np.float32)


def window(n: int, most: int = MOST_POINTS) -> int:
    """How many of n values have to share a point, where there are at most `most` points."""
    return max(1, -(-n // most))


def thinned(values: Array) -> tuple[Array, Array]:
    """Values of steps 1, 2, … as means over equal windows, with the step in the middle of each."""
    starts = np.arange(0, len(values), window(len(values)))
    sizes, numbers = np.diff([*starts, len(values)]), (np.arange(1, len(values) + 1), values)
    at, means = (np.add.reduceat(each, starts, dtype=np.float64) / sizes for each in numbers)
    return at.astype(np.float32), means.astype(np.float32)


def peaks(values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """Values of steps 1, 2, …, the largest of each of at most `most` equal windows, with their steps, and both ends."""
    size = window(len(values), most)
    largest = [i + int(values[i : i + size].argmax()) for i in range(0, len(values), size)]
    return _picked(values, sorted({*largest, 0, len(values) - 1}) if largest else [])


def _picked(values: Array, indices: list[int]) -> tuple[Array, Array]:
    chosen = np.array(indices, np.int64)
    return (chosen + 1).astype(np.float32), values[chosen]


def _line(steps: NDArray[Any], values: Array, name: str, colour: str, *, width: float = 2) -> dict[str, Any]:
    look = {"color": colour, "width": width}
    return over_steps.step_line(steps, values, name, look, "step %{x:.0f}: %{y:.4g}")


def _both_sets(
    steps: Sequence[int], train: Sequence[float], validation: Sequence[float], number: str
) -> Iterator[dict[str, Any]]:
    for values, name, colour, symbol in (
        (train, "training set", palette.TRAINING, "circle"),
        (validation, "validation set", palette.VALIDATION, "diamond"),
    ):
        look, hover = {"color": colour, "width": 2}, f"after step %{{x}}: {number}"
        line = over_steps.step_line(np.array(steps, np.int32), np.array(values, np.float32), name, look, hover)
        yield line | {"mode": "lines+markers", "marker": {"size": 6, "symbol": symbol}}

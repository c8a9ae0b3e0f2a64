"""A training run at one moment: its curves, its attention, its network's answers."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.accounting import count_parameters
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Bars,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Menu,
    Options,
    Paragraph,
    Picture,
    Table,
)
from playground.charts.figure import Array, Figure
from playground.charts.heads import head_map
from playground.charts.names import escape_markdown, shortened
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.link.params import LAST_MOMENT
from playground.training.network import History, Measured, Sample, count_network
from playground.training.recipe import Data, Recipe, Task
from playground.training.tasks import TASKS
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.trained_network import TrainedNetwork
from playground.training.variants import TrainingState
from playground.words import say

LONGEST_EXAMPLE = 40

N_BARS = 10
"""Characters that may come next, in their chart."""


def show_answer(recipe: Recipe, step: int, right: float, rule: float, untrained: str = "") -> Paragraph:
    """What a network does, beside a simple rule."""
    task = TASKS[recipe.task].title
    answer = say("training", "answer", step=step, steps=recipe.steps, task=task, right=right, rule=rule)
    return Paragraph(f"{untrained} {answer}".strip(), "answer")


def show_curves(scene: Scene[TrainingState]) -> Iterator[Item]:
    """Yield how much is right, and how wrong the rest is, over all steps."""
    steps, data = scene.now.recipe.steps, scene.now.data
    n = len(data.labels)
    yield _picture("accuracy", lambda run: draw_accuracies(run.history, steps, data.baseline))
    yield _picture("loss", lambda run: draw_losses(run.history, steps, n), classes=n)


def show_details(scene: Scene[TrainingState]) -> Iterator[Item]:
    """Yield how each step went."""
    steps, clip = scene.now.recipe.steps, scene.now.recipe.clip
    most = max(scene.now.history.lr, default=0.0)
    rates = _picture("rate", lambda run: draw_rates(run.history.lr, steps), most=most)
    norms = _picture("gradient", lambda run: draw_gradients(run.history.grad_norm, steps, clip))
    yield Columns(((rates,), (norms,)), gap="small")


def _picture(name: str, figure: Callable[[TrainingState], Figure], **values: float) -> Picture[TrainingState]:
    alt, caption = say("training", f"picture-{name}.alt"), say("training", f"picture-{name}.caption", **values)
    return Picture(key=f"training_{name}", alt=alt, caption=caption, figure=figure)


def show_attention(scene: Scene[TrainingState], options: Options) -> Iterator[Item]:
    """Yield one head's attention at one of the steps at which it was saved."""
    state, history = scene.now, scene.now.history
    if not history.evaluations:
        return
    yield Paragraph(say("training", "attention"), "header")
    if not history.snapshots:
        yield Paragraph(say("training", "attention-large"), "caption")
        return
    asked, chosen = int(options["training_moment"]) / LAST_MOMENT, options["training_attention"]
    step = max(step for step in history.snapshots if step <= round(state.recipe.steps * asked))
    patterns = history.snapshots[step]
    name = chosen if chosen in patterns else next(iter(patterns))
    if len(patterns) > 1:
        names = {chosen if each == name else each: each for each in patterns}
        yield Menu("training_attention", say("training", "which-attention"), names)
    n_layers, n_heads = patterns[name].shape[:2]
    choices = (
        Control("training_moment", say("training", "moment", step=step, steps=state.recipe.steps), high=LAST_MOMENT),
        Control("training_layer", "layer", high=n_layers - 1),
        Control("training_head", "head", high=n_heads - 1),
    )
    place = {"layer": min(options["training_layer"], n_layers - 1), "head": min(options["training_head"], n_heads - 1)}
    yield Group("training_map", (Group("", choices, is_row=True), _saved_attention(state, step, name, **place)))


def _saved_attention(run: TrainingState, step: int, name: str, layer: int, head: int) -> Heatmap[TrainingState]:
    pattern = run.history.snapshots[step][name][layer, head]
    n_keys = (pattern > 0).sum(axis=1)
    rows = pattern[n_keys > 1] if (n_keys > 1).any() else pattern
    example, vocabulary = run.data.validation, run.data.vocabulary
    read, written = ([vocabulary[i] for i in ids[0].tolist()] for ids in (example.ids, example.decoder_ids))
    place = {"layer": layer, "head": head, "step": step}
    return head_map(
        key="training_pattern",
        alt=say("training", "pattern.alt", **place),
        caption=say("training", "pattern.caption", **place),
        reading=lambda _: say("training", "reading", weight=rows.max(), even=1 / n_keys.max(), tokens=n_keys.max()),
        weights=lambda _: pattern,
        tokens=lambda _: written if name in ("decoder self", "cross") else read,
        keys=lambda _: written if name == "decoder self" else read,
        allowed=lambda _: pattern > 0,
        window=lambda _: run.config.window_of(layer) if name == "self" else 0,
        colours=colour_scales.weight_colours(square_root=False),
        saved_as=f"training_attention_step{step}_layer{layer}_head{head}",
    )


def show_answers(
    scene: Scene[TrainedNetwork],
    options: Options,
    answers: Sequence[Sample],
    ask: Callable[[str], Sample],
    ask_next: Callable[[str], Mapping[str, float]],
) -> Iterator[Item]:
    """Some answers, and those to what a visitor types; `ask` may raise PlaygroundError."""
    results, task = scene.now.results, scene.now.task
    yield Paragraph(say("training", "answers", task=task.title), "header")
    own = _ask_typed(scene.now, task, options["training_sequence"], ask) if isinstance(task, MadeUpTask) else ()
    yield Group("training_trials", (*own, tabulate_answers("training_trials_table", task, answers)))
    n_right = sum(sample.n_wrong == 0 for sample in answers)
    told = say("training", "answers.caption", **vars(results) | {"sequences": len(answers), "right": n_right})
    yield Paragraph(told, "caption")
    if task.predicts_next:
        yield Control("training_prompt", say("training", "prompt"))
        if prompt := options["training_prompt"]:
            yield next_characters(ask_next(prompt))


def next_characters(probabilities: Mapping[str, float]) -> Bars[TrainedNetwork]:
    """The likeliest next characters."""
    shown = dict(list(probabilities.items())[:N_BARS])
    likeliest = next(iter(shown))
    return Bars(
        key="training_next",
        alt=say("training", "next.alt", likeliest=likeliest, probability=shown[likeliest]),
        caption=say("training", "next.caption", possible=len(probabilities)),
        bars=lambda _: {"": shown},
        labels=Axis("character"),
        value={"title": "probability of coming next", "range": [0, 1], "tickformat": ".0%"},
        colours={"": palette.EMBEDDINGS},
        number=".2%",
        table=lambda _: pd.DataFrame(shown.items(), columns=["character", "probability"]),
    )


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
    """What is wrong is red, what is missing a dash."""
    pairs = zip_longest(sample.right_answer, sample.answer, fillvalue="–")
    parts = (
        (is_right, escape_markdown(task.join(answer for _, answer in part)))
        for is_right, part in groupby(pairs, lambda pair: pair[0] == pair[1])
    )
    return task.join(part if is_right else f":red-background[{part}]" for is_right, part in parts)


def describe_shape(config: ModelConfig) -> str:
    """Return an architecture in words."""
    return say("training", "shape", **vars(config))


def describe_size(config: ModelConfig, data: Data) -> str:
    """Return a network's parameters, and those beside its encoder."""
    total = count_network(config, data.task, len(data.labels))
    head, decoder = total - count_parameters(config).total, "yes" if data.task.has_decoder else "no"
    return say("training", "size", parameters=total, head=head, decoder=decoder)


# --- curves over the steps

SETS = {"train": "training set", "validation": "validation set"}

SHARES: Mapping[str, Any] = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}

MOST_POINTS = 100

HIGHEST = 4
"""Ratio of the highest loss that is shown to guessing's."""

_HOVERS: Mapping[Measured, str] = {"accuracy": "%{y:.1%}", "loss": "%{y:.4f} nats"}


def draw_losses(history: History, steps: int, n_classes: int) -> Figure:
    """Draw the loss so far, in nats, of batches and both sets."""
    losses, guess = finite(history.loss), math.log(n_classes)
    lines = [
        _line(*thinned(losses), "batches", palette.BATCHES),
        *_both_sets(history, "loss"),
        figures.level_line(steps, guess, f"guessing: ln {n_classes} = {guess:.2f}"),
    ]
    drawn = [guess, *losses.tolist(), *history.series("loss")[2]]
    top = max(loss for loss in drawn if math.isfinite(loss))
    y_axis = {"title": "loss, nats", "range": [0, min(1.08 * top, HIGHEST * guess)]}
    return figures.draw_over_steps(lines, steps, y_axis, height=290, legend=True)


def draw_accuracies(history: History, steps: int, baseline: float) -> Figure:
    """Draw the accuracy on both sets so far, beside the simple rule's."""
    level = figures.level_line(steps, baseline, f"simple rule: {baseline:.0%}")
    return figures.draw_over_steps([*_both_sets(history, "accuracy"), level], steps, SHARES, height=250, legend=True)


def draw_rates(rates: Sequence[float], steps: int) -> Figure:
    """Draw the learning rate so far, with its peak."""
    curve = _line(*_peaks(finite(rates), MOST_POINTS // 2), "learning rate", palette.RESIDUAL)
    y_axis = {"title": "learning rate", "rangemode": "tozero", "exponentformat": "power", "nticks": 5}
    return figures.draw_over_steps([curve], steps, y_axis, height=190)


def draw_gradients(norms: Sequence[float], steps: int, clip: float) -> Figure:
    """Draw the gradient's norm so far, and `clip`, unless it is 0."""
    lines = [_line(*_peaks(finite(norms)), "gradient norm", palette.RESIDUAL)]
    if clip:
        lines.append(figures.level_line(steps, clip, f"clipped to {clip:g}"))
    y_axis = {"title": "gradient norm (log scale)", "type": "log", "exponentformat": "power", "nticks": 5}
    return figures.draw_over_steps(lines, steps, y_axis, height=190)


def finite(values: Sequence[float]) -> Array:
    """Return the values up to the first that is no finite number."""
    array = np.array(values, np.float64)
    return array[np.logical_and.accumulate(np.isfinite(array))].astype(np.float32)


def thinned(values: Array) -> tuple[Array, Array]:
    """Return steps and values as means over equal windows."""
    frame = pd.DataFrame({"step": np.arange(1.0, len(values) + 1), "value": values.astype(float)})
    means = frame.groupby(frame.index // _window(len(values), MOST_POINTS)).mean()
    return means["step"].to_numpy(np.float32), means["value"].to_numpy(np.float32)


def _peaks(values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """Return step and value of the largest of each of `most` windows, and of both ends."""
    size = _window(len(values), most)
    largest = {i + int(values[i : i + size].argmax()) for i in range(0, len(values), size)}
    chosen = np.array(sorted(largest | {0, len(values) - 1}) if largest else [], np.int64)
    return (chosen + 1).astype(np.float32), values[chosen]


def _window(n: int, most: int) -> int:
    return max(1, -(-n // most))


def _line(steps: NDArray[Any], values: Array, name: str, colour: str) -> dict[str, Any]:
    return figures.step_line(steps, values, name, {"color": colour, "width": 2}, "step %{x:.0f}: %{y:.4g}")


def _both_sets(history: History, measured: Measured) -> Iterator[dict[str, Any]]:
    steps, *values = history.series(measured)
    looks = ((palette.TRAINING, "circle"), (palette.VALIDATION, "diamond"))
    for numbers, name, (colour, symbol) in zip(values, SETS.values(), looks, strict=True):
        yield evaluated_line(steps, numbers, name, {"color": colour, "width": 2}, measured) | {
            "mode": "lines+markers",
            "marker": {"size": 6, "symbol": symbol},
        }


def evaluated_line(
    steps: Sequence[int], values: Sequence[float], name: str, look: Mapping[str, Any], measured: Measured
) -> dict[str, Any]:
    """Return a line through what was measured after some steps."""
    hover = f"after step %{{x}}: {_HOVERS[measured]}"
    return figures.step_line(np.array(steps, np.int32), np.array(values, np.float32), name, look, hover)

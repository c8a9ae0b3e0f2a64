"""The view Training on values: what is shown of a run is its history, its attention and its network's answers."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground.charts import palette
from playground.charts.chart import Bars, Control, Group, Heatmap, Item, Metrics, Paragraph, Picture, Table, Widget
from playground.charts.draw import Drawn, draw_chart, draw_table
from playground.charts.figure import Figure
from playground.charts.names import text_width
from playground.charts.scene import Scene
from playground.training import network
from playground.training.answers import Sample, answer_examples, answer_samples
from playground.training.network import Evaluation, History, Measure, Snapshot, build_network
from playground.training.recipe import Recipe, architecture
from playground.training.run_state import TrainingRequest, TrainingState
from playground.training.tasks import TASKS, make_data
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.trained_network import from_trainer
from playground.training.trainer import learning_rate
from playground.views import training as view
from playground.views.training import AskedNetwork, WatchedRun, watch
from tests.training.trained import CONFIG, RECIPE, trainer
from tests.views.scenes import parts_of, unmarked

NOISE = np.random.default_rng(0).uniform(0, 0.2, 5_000)
ATTENTION = {"training_attention": "self", "training_moment": 20, "training_layer": 0, "training_head": 0}


@cache
def ended(**changes: Any) -> TrainingState:
    """A run that has ended, as others see it."""
    run = TrainingRequest(CONFIG, replace(RECIPE, **changes)).build()
    for _ in run.run():
        pass
    run.close("finished")
    return run.state


def scene(state: TrainingState, *, grows: bool = False) -> Scene[WatchedRun]:
    return Scene(watch(state, 2.6, grows=grows))


def drawn(items: Sequence[Item], run: Scene[Any]) -> dict[str, Drawn]:
    """The charts of a view, by key; Plotly takes them."""
    charts = {each.key: draw_chart(each, run).now for each in items if isinstance(each, Picture | Heatmap)}
    for chart in charts.values():
        go.Figure(chart.figure)
    return charts


def texts(items: Sequence[Item]) -> str:
    return "\n".join(each.text for each in items if isinstance(each, Paragraph))


def batches(n: int) -> list[float]:
    """The losses of a run of n steps that goes well."""
    return list(2.5 - np.arange(n) / n + NOISE[:n])


def evaluations(n: int, every: int = 30) -> list[Evaluation]:
    return [
        Evaluation(step, Measure(2.5 - step / n, step / n), Measure(2.6 - step / n, 0.5 * step / n), 100.4 * step)
        for step in range(0, n + 1, every)
    ]


def floats(values: Sequence[float]) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def trace(figure: Figure, name: str) -> dict[str, Any]:
    (found,) = (each for each in figure["data"] if each.get("name") == name)
    return dict(found)


def level(figure: Figure) -> dict[str, Any]:
    (found,) = (each for each in figure["data"] if each["line"].get("dash") == "dash")
    return dict(found)


# --- a run in numbers


def test_before_a_start_the_schedule_is_what_is_known() -> None:
    recipe = Recipe(warmup=10, lr=0.01, steps=5_000)
    items = list(view.show_plan(Scene(recipe)))
    chart = drawn(items, Scene(recipe))["training_rate"]
    (line,) = chart.figure["data"]
    np.testing.assert_array_equal(line["y"], floats([learning_rate(int(step), recipe) for step in line["x"]]))
    assert (line["x"][line["y"].argmax()], line["y"].max()) == (10, np.float32(0.01))
    assert chart.caption == "The learning rate of every step, at most 0.01, reached at step 10."
    assert chart.table is not None
    assert chart.table()["learning rate"].to_dict() == {n: learning_rate(n, recipe) for n in range(1, 5_001)}


@pytest.mark.parametrize("grows", [True, False])
def test_four_charts_and_five_numbers_are_the_history(grows: bool) -> None:
    state = ended(clip=0.5)
    history, run = state.history, scene(state, grows=grows)
    items = parts_of([*view.show_curves(run), *view.show_details(run)])
    charts = drawn(items, run)
    looks = history.evaluations
    for key, number, values, y_title in (
        ("loss", 0, history.loss, "loss, nats"),
        ("loss", 3, [look.validation.loss for look in looks], "loss, nats"),
        ("accuracy", 0, [look.train.accuracy for look in looks], "right answers"),
        ("rate", 0, history.lr, "learning rate"),
        ("gradient", 0, history.grad_norm, "gradient norm (log scale)"),
    ):
        figure = charts[f"training_{key}"].figure
        np.testing.assert_array_equal(figure["data"][number]["y"], floats(values))
        titles = [figure["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
        assert (titles, figure["layout"]["uirevision"]) == (["step", y_title], "keep")
    assert level(charts["training_gradient"].figure)["text"][1] == "clipped to 0.5"
    assert {chart.grows for chart in charts.values()} == {grows}
    (metrics,) = (each.metrics for each in items if isinstance(each, Metrics))
    last = looks[-1]
    assert [each.value for each in metrics] == [
        f"{last.validation.loss:.4f}", f"{last.validation.accuracy:.1%}", f"{last.train.accuracy:.1%}",
        f"{last.tokens_per_second:,.0f}", "3 s",
    ]  # fmt: skip


def test_the_numbers_are_those_of_the_weights_that_were_kept() -> None:
    state = replace(ended(), kept_step=4, kept=Measure(1.25, 0.5))
    shown = view.list_metrics(watch(state, 0, grows=False))
    assert [shown[f"Validation {name}"] for name in ("loss", "accuracy")] == ["1.2500", "50.0%"]
    between = replace(state, history=replace(state.history, evaluations=state.history.evaluations[:1]))
    assert "Training accuracy" in shown
    assert "Training accuracy" not in view.list_metrics(watch(between, 0, grows=False)), "it was not measured there"
    nothing = TrainingState(CONFIG, RECIPE, state.data, History())
    assert list(view.list_metrics(watch(nothing, 0, grows=True))) == ["Time"]


def test_the_answer_is_the_latest_accuracy_and_at_the_end_that_of_the_weights_that_were_kept() -> None:
    state = replace(ended(), kept=None, history=History(evaluations=evaluations(60)))
    for asked, step, accuracy in (
        (state, 60, 0.5),
        (replace(state, kept=Measure(0.3, 0.25), kept_step=30), 30, 0.25),
        (replace(state, history=History(evaluations=evaluations(60)[:1])), 0, 0.0),
    ):
        (answer,) = texts(list(view.show_progress(scene(asked)))).splitlines()
        assert f"**{accuracy:.1%}**" in answer
        assert f"**{state.data.baseline:.1%}**" in answer
        assert f"“{TASKS[RECIPE.task].title}”" in answer
        assert (f"After {step} of" in answer) is (step > 0)
        assert ("no more than the rule" in answer) is (accuracy <= state.data.baseline)
    assert texts(list(view.show_progress(scene(replace(state, history=History()))))) == view.NO_ANSWER_YET


def test_an_answer_of_other_settings_says_so_first() -> None:
    state = ended()
    (usual,), (other,) = (list(view.show_progress(scene(state), told)) for told in ("", "Told."))
    assert isinstance(usual, Paragraph)
    assert isinstance(other, Paragraph)
    assert other.text == f"Told. {usual.text}"


def test_the_classes_of_a_task_are_its_answers_and_marks_that_are_none() -> None:
    for task, said in (
        ("reverse", "one of 11, the *classes*: `a`, `b`, `c`, `d`, `e`, …; and [PAD], [UNK] and [MASK]"),
        ("seq2seq-reverse", "`[EOS]`, `a`, `b`, `c`, `d`, …; and [PAD], [UNK], [MASK] and [BOS]"),
        ("count", "one of 8, the *classes*: `1`, `2`, `3`, `4`, `5`, …."),
        ("brackets", "`4`, …."),
    ):  # fmt: skip
        data = make_data(Recipe(task=task, n_train=512, **TASKS[task].ablation_sizes))
        assert said in view.describe_classes(data)
        kept = replace(data, train=data.train[slice(0, 0)])
        assert "never right" not in view.describe_classes(kept), "a run has no training set after its end"
        assert f"one of {len(data.labels)}, the *classes*: " in view.describe_classes(kept)


def test_what_is_watched_stays_as_it_is_while_the_run_goes_on() -> None:
    run = TrainingRequest(CONFIG, RECIPE).build()
    steps = run.run()
    next(steps)
    shown = watch(run.state, 0, grows=True)
    before = (shown.state.step, len(shown.state.history.loss))
    for _ in steps:
        pass
    assert (shown.state.step, len(shown.state.history.loss)) == before != (run.state.step, len(run.state.history.loss))


def test_tables_have_the_numbers_of_all_charts() -> None:
    history = ended().history
    both, every = (each for each in view.show_numbers(Scene(history)) if isinstance(each, Table))
    looks = {look.step: look.validation.loss for look in history.evaluations}
    assert draw_table(both, Scene(history))["validation loss"].to_dict() == looks
    table = draw_table(every, Scene(history))
    assert [list(table[name]) for name in table] == [history.loss, history.lr, history.grad_norm]
    assert list(table.index) == list(range(1, RECIPE.steps + 1))
    assert (both.is_folded, every.is_folded) == (True, True)


@pytest.mark.parametrize("task", TASKS)
def test_a_run_is_described_with_its_sizes(task: Any) -> None:
    asked = Recipe(task=task, length=8, n_symbols=5, n_train=64)
    data = make_data(asked)
    config = architecture(CONFIG, asked, data)
    network = build_network(config, data.task, len(data.labels), asked.seed)
    n, n_encoder = (sum(each.numel() for each in part.parameters()) for part in (network, network.encoder))
    lengths = [int(row.sum()) for row in data.train.mask]
    said = view.describe_training(config, asked, data)
    assert f"{n:,} parameters" in said
    assert f"{n - n_encoder:,} among them" in said
    if min(lengths) == max(lengths):
        assert f"{len(lengths):,} sequences of {max(lengths)} tokens ·" in said
    else:
        mean = f"{sum(lengths) / len(lengths):.3g} on average"
        assert f"{len(lengths):,} sequences of {min(lengths)} to {max(lengths)} tokens ({mean})" in said


# --- curves


def test_the_losses_are_those_given() -> None:
    history = History(loss=batches(90), evaluations=evaluations(90))
    figure = view.draw_losses(history, 600, 13)
    np.testing.assert_array_equal(trace(figure, "batches")["y"], floats(batches(90)))
    np.testing.assert_array_equal(trace(figure, "batches")["x"], np.arange(1, 91))
    mean = pd.Series(batches(90)).rolling(24, min_periods=1).mean()
    np.testing.assert_allclose(trace(figure, "mean of 24 batches")["y"], mean, rtol=1e-6)
    middles = [(max(step - 23, 1) + step) / 2 for step in range(1, 91)]
    np.testing.assert_array_equal(trace(figure, "mean of 24 batches")["x"], middles)
    for name, colour, first in (("training set", palette.TRAINING, 2.5), ("validation set", palette.VALIDATION, 2.6)):
        line = trace(figure, name)
        np.testing.assert_array_equal(line["x"], [0, 30, 60, 90])
        np.testing.assert_array_equal(line["y"], floats([first - step / 90 for step in (0, 30, 60, 90)]))
        assert line["line"]["color"] == colour
    assert set(level(figure)["y"]) == {np.float32(math.log(13))}
    assert level(figure)["text"][1] == "guessing: ln 13 = 2.56"


def test_axes_stay_while_a_run_goes_on() -> None:
    """They are as long as the whole run from the first step on, and as high as the loss before it."""

    def ends(figure: Figure) -> list[Any]:
        return [figure["layout"][axis]["range"] for axis in ("xaxis", "yaxis")] + [figure["layout"]["height"]]

    histories = [History(loss=batches(600)[:n], evaluations=evaluations(600)[: n // 30 + 1]) for n in (30, 200, 600)]
    losses = [ends(view.draw_losses(history, 600, 13)) for history in histories]
    shares = [ends(view.draw_accuracies(history, 600, 0.1)) for history in histories]
    assert losses == [losses[0]] * 3
    assert shares == [shares[0]] * 3


def test_before_the_first_step_there_are_axes_and_the_level_of_guessing() -> None:
    figure = view.draw_losses(History(), 100, 8)
    assert [len(line["y"]) for line in figure["data"]] == [0, 0, 0, 0, 2]
    assert figure["layout"]["yaxis"]["range"] == [0, 1.08 * math.log(8)]
    assert len(view.draw_gradients([], 100, 0)["data"][0]["y"]) == 0


def test_a_loss_that_runs_away_is_drawn_on_a_log_axis_up_to_its_last_finite_value() -> None:
    values = [*batches(20), 100.0, 1e5, math.inf, math.nan, *[1.0] * 16]
    figure = view.draw_losses(History(loss=values, evaluations=evaluations(40)), 40, 13)
    assert figure["layout"]["yaxis"]["type"] == "log"
    assert "log scale" in figure["layout"]["yaxis"]["title"]["text"]
    np.testing.assert_array_equal(trace(figure, "batches")["y"], floats(values[:22]))
    assert np.isfinite(trace(figure, "mean of 2 batches")["y"]).all()


def test_accuracies_and_the_simple_rule() -> None:
    figure = view.draw_accuracies(History(evaluations=evaluations(90, every=45)), 90, 0.113)
    np.testing.assert_array_equal(trace(figure, "validation set")["y"], floats([0, 0.25, 0.5]))
    assert set(level(figure)["y"]) == {np.float32(0.113)}
    assert level(figure)["text"][1] == "simple rule: 11%"
    low, high = figure["layout"]["yaxis"]["range"]
    assert low == 0
    assert high >= 1


@pytest.mark.parametrize("n", [1, 99, 100, 101, 5_000])
def test_long_curves_are_thinned_by_averages_and_nothing_is_left_out(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n).astype(np.float32)
    at, means = view.thinned(values)
    size = -(-n // 100)
    assert len(at) == len(means) == -(-n // size) <= 100
    windows = [range(start, min(start + size, n)) for start in range(0, n, size)]
    np.testing.assert_allclose(means, [np.mean(values[window]) for window in windows], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(at, [np.mean(window) + 1 for window in windows])
    assert at.dtype == means.dtype == np.float32


@pytest.mark.parametrize("warmup", [1, 10, 777, 4_000])
def test_a_rate_is_drawn_with_its_peak_at_its_step(warmup: int) -> None:
    rates = [2e-3 * min(step / warmup, math.sqrt(warmup / step)) for step in range(1, 5_001)]
    (line,) = view.draw_rates(rates, 5_000)["data"]
    assert len(line["x"]) <= 52
    assert line["y"].max() == np.float32(2e-3)
    assert line["x"][line["y"].argmax()] == warmup
    assert (line["x"][0], line["x"][-1]) == (1, 5_000)
    np.testing.assert_array_equal(line["y"], floats(rates)[line["x"].astype(int) - 1])


def test_the_steepest_gradient_is_drawn_as_steep_as_it_was() -> None:
    norms = [1.0] * 5_000
    norms[1_234] = 50.0
    (line,) = view.draw_gradients(norms, 5_000, 0)["data"]
    assert line["y"].max() == 50
    assert line["x"][line["y"].argmax()] == 1_235
    assert line["name"] == "gradient norm, largest of each 50 steps"


def test_batches_that_share_a_point_are_called_their_mean() -> None:
    figure = view.draw_losses(History(loss=batches(5_000)), 5_000, 13)
    means = trace(figure, "batches, mean of each 50")["y"]
    np.testing.assert_allclose(means, np.reshape(batches(5_000), (100, 50)).mean(1), rtol=1e-5)
    running = trace(figure, "mean of 200 batches")
    rolling = pd.Series(batches(5_000)).rolling(200, min_periods=1).mean().to_numpy()
    last = np.arange(50, 5_001, 50)
    np.testing.assert_allclose(running["y"], rolling[last - 1], rtol=1e-5)
    np.testing.assert_array_equal(running["x"], (np.maximum(last - 199, 1) + last) / 2)


def test_labels_of_the_gradient_have_room_and_so_has_the_last_step() -> None:
    for norms, dtick in (([0.5, 3.0], "D2"), ([0.01, 40.0], 1), ([1e-9, 1.0], 2), ([0.0, 0.0], "D2")):
        layout = view.draw_gradients(norms, 1_000, clip=1.0)["layout"]
        assert layout["yaxis"]["dtick"] == dtick
        assert layout["margin"]["r"] >= text_width(["1000"]) / 2


# --- attention over time


def attention(state: TrainingState, **options: Any) -> tuple[list[Item], Drawn]:
    """The view's items, and its map."""
    items = parts_of(view.show_attention(scene(state), ATTENTION | options))
    return items, drawn(items, scene(state))["training_pattern"]


def test_what_a_layers_window_hides_is_grey() -> None:
    run = TrainingRequest(replace(CONFIG, window=2, global_every=2), RECIPE).build()
    for _ in run.run():
        pass
    run.close("finished")
    _, everywhere = attention(run.state, training_layer=0)
    _, within = attention(run.state, training_layer=1)
    hidden = np.isnan(within.figure["data"][0]["z"])
    n = len(hidden)
    np.testing.assert_array_equal(hidden, np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 1)
    assert not np.isnan(everywhere.figure["data"][0]["z"]).any()
    assert "this layer's window" in within.caption
    assert "spread evenly over 3 tokens" in within.caption


@pytest.mark.parametrize(("task", "name"), [("reverse", "self"), ("seq2seq-reverse", "cross")])
def test_attention_is_that_of_the_chosen_moment_and_head(task: Any, name: str) -> None:
    state = ended(task=task)
    first, *_, final = state.history.snapshots
    items, chart = attention(state, training_attention=name, training_layer=1, training_head=1)
    np.testing.assert_array_equal(chart.figure["data"][0]["z"], final.patterns[name][1, 1])
    assert chart.saved_as == f"training_attention_step{final.step}_layer1_head1"
    _, chart = attention(state, training_attention=name, training_layer=7, training_head=15, training_moment=0)
    np.testing.assert_array_equal(chart.figure["data"][0]["z"], first.patterns[name][1, 1])
    assert "**Layer 1, head 1, before training: random weights.**" in chart.caption, "7 and 15 are more than there are"
    for moment, label in ((0, "step 0 of 6, before training"), (10, "step 3 of 6"), (20, "step 6 of 6")):
        slider = next(each for each in attention(state, training_moment=moment)[0] if isinstance(each, Control))
        assert slider.label == f"moment: {label}"
    controls = {each.key: each.high for each in items if isinstance(each, Control)}
    assert controls == {"training_moment": 20, "training_layer": 1, "training_head": 1}
    names = [each.data["names"] for each in items if isinstance(each, Widget) and "names" in each.data]
    assert names == ([list(final.patterns)] if len(final.patterns) > 1 else [])
    data = state.data
    ids = data.validation.decoder_ids if name == "cross" else data.validation.ids
    assert [row[:-1] for row in chart.figure["data"][0]["y"]] == [data.vocabulary[i] for i in ids[0].tolist()]


def test_later_tokens_that_a_decoder_hides_are_grey_and_a_name_of_another_task_means_the_first() -> None:
    state = ended(task="seq2seq-reverse")
    _, chart = attention(state, training_attention="decoder self")
    pattern = state.history.snapshots[-1].patterns["decoder self"][0, 0]
    hidden = np.where(np.tril(np.ones(pattern.shape, bool)), pattern, np.float32(np.nan))
    np.testing.assert_array_equal(chart.figure["data"][0]["z"], hidden)
    assert "Grey cells are masked" in chart.caption
    _, chart = attention(state)
    np.testing.assert_array_equal(
        chart.figure["data"][0]["z"], state.history.snapshots[-1].patterns["encoder self"][0, 0]
    )


def test_who_predicts_the_next_character_sees_no_later_ones() -> None:
    _, chart = attention(ended(task="characters", text="the cat sat on the mat. " * 20))
    z = chart.figure["data"][0]["z"]
    assert (np.isnan(z) == ~np.tril(np.ones(z.shape, bool))).all()


def test_the_head_that_changed_most_is_named_at_the_end() -> None:
    state = ended()
    most = view.most_changed_head(state.history.snapshots, "self")
    assert most is not None
    for place in np.ndindex(2, 2):
        items, chart = attention(state, training_layer=place[0], training_head=place[1])
        assert ("this one's attention changes most" in chart.caption) == (place == most)
        assert way_to_most_changed(items) == (None if place == most else most)
    run = scene(state, grows=True)
    for place in ((1 - most[0], most[1]), most):
        options = ATTENTION | {"training_layer": place[0], "training_head": place[1]}
        items = parts_of(view.show_attention(run, options))
        assert "changes most" not in drawn(items, run)["training_pattern"].caption
        assert way_to_most_changed(items) is None, "it may be another one later"


def way_to_most_changed(items: Sequence[Item]) -> tuple[int, int] | None:
    """The head that a button shows."""
    (found,) = (each.data["most"] for each in items if isinstance(each, Widget) and "most" in each.data)
    return found  # type: ignore[no-any-return]


def test_at_the_end_of_the_slider_is_the_latest_saved_step_of_a_run_that_goes_on() -> None:
    state = ended()
    saved = [snapshot for snapshot in state.history.snapshots if snapshot.step <= 3]
    begun = replace(state, step=4, history=replace(state.history, snapshots=saved))
    items, chart = attention(begun)
    slider = next(each for each in items if isinstance(each, Control))
    assert slider.label == f"moment: the latest saved, step {saved[-1].step}"
    assert f"after step {saved[-1].step}." in chart.caption
    assert "reached" not in chart.caption
    assert "nothing was saved" not in chart.caption


def test_the_head_that_learnt_most_is_the_one_whose_rows_have_moved_most() -> None:
    before = np.full((2, 3, 4, 4), 0.25, np.float32)
    middle, after = before.copy(), before.copy()
    middle[0, 0] = np.eye(4)
    after[1, 2] = np.eye(4)
    after[0, 1, 0] = [1, 0, 0, 0]
    snapshots = [Snapshot(step, {"self": pattern}) for step, pattern in enumerate((before, middle, after))]
    assert view.most_changed_head(snapshots, "self") == (1, 2)
    assert view.most_changed_head(snapshots[:1], "self") is None


def test_a_step_that_was_not_saved_is_told_from_one_that_was_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    n = ended().data.validation.ids.shape[1]
    monkeypatch.setattr(network, "MAX_SNAPSHOT_NUMBERS", 2 * 2 * 2 * n * n)  # before training and at the end
    state = ended(seed=1)
    _, chart = attention(state, training_moment=10)
    assert "before training: random weights" in chart.caption
    assert "Of step 3 nothing was saved; this is the nearest saved step before." in chart.caption
    assert "nothing was saved" not in attention(state)[1].caption
    cancelled = attention(replace(state, step=2), training_moment=10)[1].caption
    assert "Step 3 has not been reached; this is the last that was saved." in cancelled


def test_attention_that_is_too_large_to_keep_is_one_sentence() -> None:
    state = ended()
    run = scene(replace(state, history=replace(state.history, snapshots=[])))
    items = list(view.show_attention(run, ATTENTION))
    assert [type(each) for each in items] == [Paragraph, Paragraph]
    assert "too large to be kept while it learns" in texts(items)
    begun = scene(replace(state, history=History()), grows=True)
    assert list(view.show_attention(begun, ATTENTION)) == []


def test_the_largest_weight_is_that_of_rows_that_can_choose() -> None:
    pattern = np.array([[1, 0, 0], [0.4, 0.6, 0], [0.3, 0.3, 0.4]], np.float32)
    reading = view.describe_largest(pattern, np.tri(3, dtype=bool))
    assert "largest weight is 0.60" in reading
    assert "over 3 tokens, each would get 0.33" in reading
    assert "1.00" in reading, "what the first row gives, and why, is said"
    every = view.describe_largest(np.eye(2, dtype=np.float32), np.ones((2, 2), bool))
    assert "largest weight is 1.00" in every
    assert "alone" not in every
    assert "largest" not in view.describe_largest(np.ones((1, 1), np.float32), np.ones((1, 1), bool))


def test_a_line_that_has_most_of_the_weight_is_told_in_words() -> None:
    every, even = np.ones((4, 4), bool), np.full((4, 4), 0.25, np.float32)
    for line, words in ((np.eye(4), "its own place"), (np.eye(4)[::-1], "the mirrored place")):
        told = view.describe_line((0.8 * line + 0.05).astype(np.float32), every)
        assert words in told
        assert "4 of 4 tokens" in told
        assert "0.85 of the weight; spread evenly, 0.25" in told
    assert view.describe_line(even, every) == ""
    assert view.describe_line(np.eye(4, dtype=np.float32), np.tri(4, dtype=bool)) == ""
    assert view.describe_line(np.eye(4, 5, dtype=np.float32), np.ones((4, 5), bool)) == ""


# --- the trained network


UNASKED = {"training_sequence": ""}


def never(_: str) -> Sample:
    raise AssertionError("nothing was typed")


@pytest.mark.parametrize("task", ["reverse", "seq2seq-copy", "characters"])
def test_answers_stand_beside_the_right_ones(task: Any) -> None:
    run = trainer(task=task)
    made = from_trainer(run)
    samples = answer_samples(run.network, run.data, run.recipe)
    asked = Scene(AskedNetwork(made, lambda: samples, never))
    items = list(view.show_answers(asked, UNASKED))
    assert f"Validation loss {made.results.validation_loss:.6f} nats" in texts(items)
    assert f"**{made.results.validation_accuracy:.1%}**" in texts(items)
    (group,) = (each for each in items if isinstance(each, Group))
    (table,) = (each for each in group.items if isinstance(each, Table))
    assert (group.key, table.key) == ("training_trials", "training_trials_table")
    shown, join = draw_table(table, asked), made.task.join
    said = [join(word or "–" for _, word in zip_longest(each.right_answer, each.answer)) for each in samples]
    assert unmarked(shown["it says"]) == said
    assert unmarked(shown["right answer"]) == [join(sample.right_answer) for sample in samples]
    for sample, mistakes, answer in zip(samples, shown["mistakes"], shown["it says"], strict=True):
        n = max(len(sample.right_answer), len(sample.answer))
        assert mistakes == (f"{sample.n_wrong} of {n}" if sample.answer != sample.right_answer else "none")
        assert (":red-background[" in answer) == (sample.n_wrong > 0)
    n_right = sum(sample.answer == sample.right_answer for sample in samples)
    assert f"8 sequences that it has never learnt from, {n_right} of them without a mistake." in texts(items)


def test_what_is_wrong_in_an_answer_is_marked_and_what_is_missing_too() -> None:
    samples = [Sample("a", ("a", "b", "c"), tuple(answer)) for answer in ("abc", "bbc", "a", "abc*")]
    frame = view.tabulate_answers("key", TASKS["reverse"], samples).frame(None)
    assert list(frame["it says"]) == [
        "a b c",
        ":red-background[b] b c",
        "a :red-background[– –]",
        r"a b c :red-background[\*]",
    ]


@pytest.mark.parametrize("task", TASKS)
def test_a_visitors_own_sequence_is_answered_like_those_of_the_validation_set(task: Any) -> None:
    run = trainer(task=task)
    made = from_trainer(run)
    first = answer_samples(run.network, run.data, run.recipe, n=1)

    def ask(typed: str) -> Sample:
        assert isinstance(made.task, MadeUpTask)
        examples = made.task.read(typed, made.recipe)
        return answer_examples(made.network, run.data, examples, made.recipe)[0]

    asked = Scene(AskedNetwork(made, lambda: first, ask))

    def items(typed: str) -> list[Item]:
        return parts_of(view.show_answers(asked, {"training_sequence": typed}))

    fields = [each for each in items("") if isinstance(each, Control)]
    tables = [draw_table(each, asked) for each in items(made.example.upper()) if isinstance(each, Table)]
    if made.task.reads_text:
        assert (len(fields), len(tables)) == (0, 1)
    else:
        assert ([each.key for each in fields], len(tables)) == (["training_sequence"], 2)
        own, other = tables
        pd.testing.assert_frame_equal(own, other)
        problem = [each.text for each in items("*x*") if isinstance(each, Paragraph) and each.kind == "error"]
        assert [text.replace("\\", "").startswith("The network does not know") for text in problem] == [True]
        assert "*x*" not in problem[0]


def test_what_comes_next_is_a_bar_each_with_its_name_escaped() -> None:
    shares = {"<": 0.5, "&": 0.3, "␣": 0.2}
    (item,) = view.show_next_characters(Scene(shares), 12)
    assert isinstance(item, Bars)
    chart = draw_chart(item, Scene(shares)).now
    go.Figure(chart.figure)
    (bars,), layout = chart.figure["data"], chart.figure["layout"]
    assert bars["y"] == ["&lt;", "&amp;", "␣"]
    assert list(bars["x"]) == list(shares.values())
    assert (layout["yaxis"]["autorange"], layout["xaxis"]["range"]) == ("reversed", [0, 1])
    titles = [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert titles == ["probability of being drawn next", "character"]
    assert "drawn from 12" in chart.caption
    assert chart.table is not None
    assert list(chart.table()["character"]) == list(shares)

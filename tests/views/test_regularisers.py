"""The view Regularisers as a function on values: curves, legend, table and cards against runs made here."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.charts import palette
from playground.charts.chart import Control, Group, Item, Paragraph, Picture, Table, Widget
from playground.charts.draw import draw_chart, draw_table
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.link.params import COMPARED
from playground.training.ablation import Ablation, AblationState
from playground.training.ablation_report import (
    COLUMNS,
    SPREAD_COLUMNS,
    ablation_table,
    measure_effects,
    summarise_ablation,
)
from playground.training.network import Measured
from playground.training.regularisers import (
    REGULARISERS,
    SIZES,
    TEN,
    ablation_recipe,
    ablation_trainings,
    explain_regulariser,
)
from playground.training.tasks import TASKS, make_data
from playground.views.ablation_curves import WatchedAblation, tabulate_runs
from playground.views.regularisers import (
    LINES,
    MISSING_MASKS,
    choose_top,
    describe_use,
    draw_runs,
    show_catalogue,
    show_curves,
    show_details,
)
from playground.web.components.charts import curve_data
from tests.views.scenes import parts_of

N_STEPS = 6


@cache
def make_ablation(*fields: str, n_seeds: int = 1, n_done: int | None = None) -> WatchedAblation:
    """An ablation of “Reverse”, after so many steps of all its trainings; at its end without a number."""
    usual = {field: REGULARISERS[field].usual for field in fields if not REGULARISERS[field].on_by_default}
    recipe = replace(ablation_recipe("reverse", "small", 7, usual), n_validation=40, steps=N_STEPS)
    data = make_data(recipe)
    config = ModelConfig(vocab_size=len(data.vocabulary), **SIZES)
    ablation = Ablation(ablation_trainings(config, recipe, fields, n_seeds))
    for _ in islice(ablation.run(), n_done):
        pass
    return WatchedAblation(ablation.state, data, grows=n_done is not None)


def show(ablation: WatchedAblation, measured: Measured = "accuracy") -> list[Item]:
    scene, options = Scene(ablation), {"regularisers_measure": measured}
    return parts_of([*show_curves(scene, options), *show_details(scene, options)])


def texts(items: Iterable[Item]) -> list[str]:
    return [each.text for each in items if isinstance(each, Paragraph)]


def lines_of(ablation: WatchedAblation, name: str, measured: Measured) -> list[dict[str, Any]]:
    """What is drawn of a set's chart, which is valid for Plotly: the level, and a line a run."""
    charts = {each.key: each for each in show(ablation, measured) if isinstance(each, Picture)}
    figure = draw_chart(charts[f"regularisers_{name}"], Scene(ablation)).now.figure
    return [trace.to_plotly_json() for trace in go.Figure(figure).data]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("measured", ["accuracy", "loss"])
@pytest.mark.parametrize("n_seeds", [1, 3])
def test_a_line_is_its_run(n_seeds: int, measured: Measured) -> None:
    ablation = make_ablation("mask_padding", "weight_decay", n_seeds=n_seeds)
    results, guess = ablation.state.results, math.log(len(ablation.data.labels))
    assert len(results) == 3 * n_seeds
    table = tabulate_runs(ablation, measured)
    for name, called in (("train", "training set"), ("validation", "validation set")):
        level, *lines = lines_of(ablation, name, measured)
        np.testing.assert_allclose(level["y"], [{"accuracy": ablation.data.baseline, "loss": guess}[measured]] * 2)
        for line, result in zip(lines, results, strict=True):
            seed = f", seed {result.training.recipe.seed}" if n_seeds > 1 else ""
            assert line["name"] == f"{result.training.title}{seed}"
            assert line["name"] in line["hovertemplate"]
            numbers = [getattr(getattr(each, name), measured) for each in result.history.evaluations]
            np.testing.assert_allclose(line["y"], numbers, rtol=1e-6)
            assert line["x"].tolist() == list(range(N_STEPS + 1))
            look = LINES[result.training.name]
            assert line["line"] == {**look, "width": look["width"] if n_seeds == 1 else 1}
            np.testing.assert_array_equal(table[f"{line['name']}, {called}"], numbers)
    assert table.index.name == "after step"


@pytest.mark.parametrize("measured", ["accuracy", "loss"])
def test_where_a_run_diverged_its_chart_has_a_cross_with_the_step(measured: Measured) -> None:
    ablation = make_ablation("weight_decay")
    none, other = ablation.state.results
    away = replace(none, outcome="diverged", history=replace(none.history, loss=none.history.loss[:2]))
    assert len(lines_of(ablation, "train", measured)) == 3
    for results, words in (
        ((away, other), "diverged at step 2"),
        ((away, replace(away)), "2 runs diverged, at step 2"),
    ):
        shown = replace(ablation, state=replace(ablation.state, results=results))
        crosses = lines_of(shown, "train", measured)[3:]
        assert [cross["x"].tolist() for cross in crosses] == [[2]] * len(crosses)
        last = getattr(none.history.evaluations[-1].train, measured)
        assert crosses[0]["y"].tolist() == pytest.approx([last])
        assert [text for cross in crosses for text in cross["text"] if text] == [words]
        drawn = curve_data(draw_runs(shown, "train", measured))["lines"][-1]
        assert (drawn["cross"], drawn["dots"], drawn["note"]) == (True, True, words)


def test_before_a_run_there_are_the_axes_and_the_level() -> None:
    begun = make_ablation("weight_decay")
    planned = replace(begun, state=AblationState(begun.state.trainings, (), n_answers=0, progress=0.0, baseline=0.0))
    assert not [each for each in show(planned) if isinstance(each, Table) and each.is_folded]
    for name in ("train", "validation"):
        assert len(lines_of(planned, name, "accuracy")) == 1
        ranges = [draw_runs(each, name, "accuracy")["layout"]["yaxis"]["range"] for each in (planned, begun)]
        assert ranges == [[0, 1.04]] * 2
    layout = draw_runs(planned, "train", "loss")["layout"]
    assert [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")] == ["step", "loss, nats"]
    assert layout["xaxis"]["range"][1] > N_STEPS
    assert [each["state"] for each in legend(planned)] == ["coming", "coming"]


def legend(ablation: WatchedAblation) -> list[dict[str, str]]:
    (widget,) = (each for each in show(ablation) if isinstance(each, Widget))
    assert (widget.name, widget.data["key"]) == ("legend", "regularisers_key")
    return list(widget.data["entries"])


def test_the_legend_says_how_far_each_run_is_and_charts_grow_until_all_have_ended() -> None:
    under_way, ended = make_ablation("mask_padding", "clip", n_done=N_STEPS + 2), make_ablation("mask_padding", "clip")
    assert [each["state"] for each in legend(under_way)] == ["done", "growing", "coming"]
    assert [each["state"] for each in legend(ended)] == ["done"] * 3
    assert [(each["name"], each["colour"], each["dash"]) for each in legend(ended)] == [
        ("plain run", palette.NO_REGULARISER, "solid"),
        ("without padding mask", palette.REGULARISERS[2], "solid"),
        ("Gradient clipping", palette.REGULARISERS[8], "solid"),
    ]
    for ablation in (under_way, ended):
        assert {each.grows for each in show(ablation) if isinstance(each, Picture)} == {ablation.grows}
        drawn = curve_data(draw_runs(ablation, "train", "accuracy"))["lines"]
        assert [line["dash"] for line in drawn[1:]] == ["solid"] * (2 if ablation.grows else 3)
        assert drawn[0]["note"] == "simple rule"


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_the_table_and_the_sentences_are_the_reports(n_seeds: int) -> None:
    ablation = make_ablation("mask_padding", "weight_decay", n_seeds=n_seeds)
    state, items = ablation.state, show(ablation)
    table, curves = (each for each in items if isinstance(each, Table))
    assert (curves.key, curves.is_folded, table.key) == ("regularisers_curves", True, "regularisers_table")
    shown = draw_table(table, Scene(ablation))
    assert shown.equals(ablation_table(state.results, state.trainings))
    assert set(shown) <= table.formats.keys()
    assert (set(SPREAD_COLUMNS.values()) <= set(shown)) == (n_seeds == 3)
    assert shown.loc["plain run", COLUMNS["accuracy_change"]] == 0
    said = "\n".join(f"- {sentence}" for sentence in summarise_ablation(state.results, state.n_answers))
    assert said in texts(items)
    assert ("3 are planned" in texts(items)[-1]) == (n_seeds == 3)
    assert describe_use(TASKS["reverse"]) in texts(items)[-1]


def test_what_in_use_means_is_said_of_the_task() -> None:
    for name, (padding, later) in {
        "reverse": (True, False), "characters": (False, True), "masked": (False, False), "seq2seq-copy": (True, False),
    }.items():  # fmt: skip
        told = describe_use(TASKS[name])
        assert ("without padding" in told, "later characters hidden" in told) == (padding, later)


def test_every_regulariser_has_a_line_of_its_own_in_the_colour_of_its_number() -> None:
    assert set(LINES) == {"none", "all", *REGULARISERS}
    assert len({tuple(line.values()) for line in LINES.values()}) == len(LINES)
    assert (LINES["none"]["width"], LINES["all"]["width"], LINES["clip"]["width"]) == (3, 3, 2)
    for field, regulariser in REGULARISERS.items():
        assert LINES[field]["color"] == palette.REGULARISERS[regulariser.number]
    assert {field: line["dash"] for field, line in LINES.items() if line["dash"] != "solid"} == {
        "dropout_feedforward": "dash", "dropout_positions": "dot", "dropout_residual": "dashdot", "causal": "dash",
        "token_swapping": "dash", "span_masking": "dot", "noise": "dashdot", "shuffling": "longdash",
    }  # fmt: skip


def test_the_axis_ends_above_all_losses_and_seldom_moves() -> None:
    guess = math.log(10)

    def top(*values: float) -> float:
        return choose_top(np.array(values), 10)

    assert top() == top(guess) == pytest.approx(1.5 * guess)
    assert len({top(2.0, highest) for highest in np.linspace(2.0, 6.8, 50)}) <= 5
    assert all(top(highest) >= highest for highest in (2.0, 5.0, 40.0))
    assert math.isfinite(top(2.0, math.inf, math.nan))


def show_cards(task: str = "Reverse", norm: str = "layer", ablation: WatchedAblation | None = None) -> list[Item]:
    """What the cards hold, in one list."""
    results = () if ablation is None else ablation.state.results
    items: list[Item] = list(show_catalogue({"regularisers_task": task}, norm, results))
    assert [each.key for each in items if isinstance(each, Group)] == [f"regularisers_card_{n}" for n in TEN]
    return parts_of(parts_of(parts_of(items)))


def test_the_catalogue_has_ten_cards_with_every_switch() -> None:
    items = show_cards()
    said = texts(items)
    assert [f"**{number} · {title}**" for number, title in TEN.items()] == [each for each in said if " · " in each[:9]]
    for regulariser in REGULARISERS.values():
        assert any(each.endswith(explain_regulariser(regulariser, "layer")) for each in said)
        assert f"Where: {regulariser.where}." in said
    assert sum(each == "Not measured yet." for each in said) == len(REGULARISERS)
    assert {each.key for each in items if isinstance(each, Control)} == {f"regularisers_{field}" for field in COMPARED}
    started = [each.data["ready"] for each in items if isinstance(each, Widget)]
    assert tuple(started) == MISSING_MASKS


def test_what_a_card_says_of_masks_and_norms_is_of_the_chosen_task_and_norm() -> None:
    said = "\n".join(texts(show_cards()))
    assert "only “Next character” hides what comes later" in said
    assert "“Without padding mask” is chosen above" in said
    assert "“Without causal mask” is chosen above" not in said, "nothing is hidden in this task"
    assert "mean 0 and variance 1" in said
    said = "\n".join(texts(show_cards("Next character", "rms")))
    assert "“Without causal mask” is chosen above" in said
    assert "“Without padding mask” is chosen above" not in said, "windows are equally long"
    assert ("mean 0 and variance 1" in said, "mean square of 1" in said) == (False, True)


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_a_card_says_what_was_measured_and_at_what_strength(n_seeds: int) -> None:
    ablation = make_ablation("mask_padding", "weight_decay", n_seeds=n_seeds)
    said = texts(show_cards(ablation=ablation))
    effects = measure_effects(ablation.state.results)
    for field, how in {"mask_padding": "Without it", "weight_decay": "At 0.3"}.items():
        effect, spreads = effects[field], ("", "")
        if n_seeds > 1:
            spreads = f" (spread {100 * effect.accuracy_spread:.1f})", f" (spread {effect.loss_spread:.2f})"
            how += ", mean of 3 seeds"
        assert (
            f"{how}, on “Reverse” with 100 sequences: right answers **{100 * effect.accuracy_change:+.1f} points**"
            f"{spreads[0]}, loss **{effect.loss_change:+.2f} nats**{spreads[1]}, gap {100 * effect.gap_change:+.1f} "
            "points."
        ) in said
    assert sum(each == "Not in this comparison." for each in said) == len(REGULARISERS) - 2

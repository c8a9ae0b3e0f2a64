"""What the browser draws our components from."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from playground.figures import training as ablation_figures
from playground.figures import training as figures
from playground.figures.attribution import Bars
from playground.web.components import load_component as loader
from playground.web.components.charts import _describe_longest, curve_data
from tests.web.app_test import drawn_bars, working

BATCHES = [2.123456] * 40
LOSSES = figures.Evaluations([0, 20, 40], [2.0, 1.6, 1.2], [2.1, 2.1, 2.1])
SHARES = figures.Evaluations([0, 20, 40], [0.5] * 3, [0.25] * 3)


def test_every_line_of_the_figure_is_drawn_with_its_numbers_in_four_digits() -> None:
    figure = figures.loss_curves(BATCHES, LOSSES, 100, 13)
    data = curve_data(figure)
    assert [line["name"] for line in data["lines"]] == [
        "batches", "mean of 4 batches", "training set", "validation set", None,
    ]  # fmt: skip
    for line, trace in zip(data["lines"], figure.data, strict=True):
        np.testing.assert_array_equal(line["x"], trace.x)
        np.testing.assert_allclose(line["y"], trace.y, rtol=5e-4)
        assert (line["colour"], line["width"]) == (trace.line.color, trace.line.width)
    assert data["lines"][0]["y"][0] == 2.123
    assert [line["dots"] for line in data["lines"]] == [False, False, True, True, False]
    assert [line["dash"] for line in data["lines"]] == ["solid", "solid", "solid", "solid", "dash"]
    assert data["lines"][4]["note"] == "guessing: ln 13 = 2.56"


def test_what_is_no_finite_number_is_left_out() -> None:
    """Of a run whose loss ran away, or whose evaluation failed; JSON has no word for it, and the browser would stop."""
    losses = figures.Evaluations([0, 20, 40, 60], [*LOSSES.train, math.nan], [*LOSSES.validation, math.inf])
    data = curve_data(figures.loss_curves([], losses, 100, 13))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    train, validation = data["lines"][2:4]
    assert train["x"] == validation["x"] == [0, 20, 40]
    assert train["y"] == [2.0, 1.6, 1.2]


def test_the_runs_of_an_ablation_keep_their_dashes() -> None:
    names = ["none", "dropout_attention", "dropout_feedforward", "dropout_positions", "dropout_residual"]
    lines = [ablation_figures.LINES[name] for name in names]
    runs = [ablation_figures.Curve("", line, LOSSES.steps, LOSSES.train) for line in lines]
    data = curve_data(ablation_figures.curves(runs, "loss", steps=40, top=3, level=(2.5, "guessing")))
    assert [line["dash"] for line in data["lines"]] == ["dot", *(line.dash for line in lines)]
    assert {"solid", "dash", "dot", "dashdot"} == {line["dash"] for line in data["lines"]}


def test_axes_are_the_figures() -> None:
    loss, shares = (
        curve_data(figures.loss_curves(BATCHES, LOSSES, 100, 13)),
        curve_data(figures.accuracy_curves(SHARES, 100, 0.1)),
    )
    assert loss["x"] == shares["x"] == [-1, 101]
    assert loss["y"][0] == 0
    assert (loss["log"], loss["percent"], shares["percent"]) == (False, False, True)
    assert loss["titles"] == ["step", "loss, nats"]
    assert loss["height"] == figures.loss_curves(BATCHES, LOSSES, 100, 13).layout.height
    norm = curve_data(figures.gradient_curve([3.0] * 40, 100, 0.5))
    assert (norm["log"], norm["y"], norm["legend"]) == (True, None, False)


def test_bars_reach_the_browser_as_they_are_and_what_is_no_number_as_none() -> None:
    def script() -> None:
        from playground.figures.attribution import Bars
        from playground.web.components.charts import draw_bars

        bars = Bars(["<b>", "x", "y"], [0.5, -1.25, float("nan")], ["red", "blue", "blue"], ["a", "b", "–"], "part")
        draw_bars("some", bars, alt="Bars")

    app = working(AppTest.from_function(script).run())
    data = drawn_bars(app)["some"]
    assert data["values"] == [0.5, -1.25, None]
    assert data["labels"] == ["<b>", "x", "y"], "the browser puts them in as text"
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["alt"] == "Bars. The longest bar is b, at x."


def test_bars_without_a_number_have_no_longest() -> None:
    assert _describe_longest(Bars(["x"], [math.nan], [""], ["–"], "")) == ""


FOLDER = Path(loader.__file__).parent
HELPERS = re.findall(r"^const (\w+)", (FOLDER / "elements.js").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*/*.js")), ids=lambda script: script.stem)
def test_a_component_has_its_files_and_the_helpers_that_it_calls(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared: dict[str, dict[str, Any]] = {}
    monkeypatch.setattr(st.components.v2, "component", lambda name, **texts: declared.update({name: texts}))
    faces = "\n".join(module.read_text(encoding="utf-8") for module in FOLDER.rglob("*.py"))
    ((name, options),) = re.findall(rf'= load_component\("({script.stem})"(.*)\)', faces)
    loader.load_component(name, draws="draws=True" in options)
    texts, source = declared[script.stem], script.read_text(encoding="utf-8")
    assert texts["js"].endswith(source)
    for kind in ("html", "css"):
        file = script.with_suffix(f".{kind}")
        assert texts[kind] == (file.read_text(encoding="utf-8") if file.exists() else None)
    called = [helper for helper in HELPERS if re.search(rf"\b{helper}\b", source)]
    assert bool(called) == ("draws=True" in options)

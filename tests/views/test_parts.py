"""The view Parts as a function on values: what it says of a table that is written here by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.charts.chart import Chart, Heatmap, Panel, Paragraph
from playground.charts.draw import draw_chart
from playground.language import family
from playground.language.capabilities import CAPABILITIES
from playground.language.family import SEEDS, Row, change, compared_specs
from playground.link import params
from playground.link.kinds import Whole
from playground.views import parts as view
from playground.views.capability_shares import GUESSING, CapabilityShares
from playground.views.parts import list_settings, name_spec, read_parts, show_parts
from tests.views.scenes import parts_of, words

OPTIONS: dict[str, Any] = {key: param.default for key, param in params.OWN.items() if key.startswith("parts_")}
AWAY = "one part away"
LOSSES = {
    "no positions": {"who_did_what": 0.5, "recall": 0.55},
    "width 8": {"recall": 0.9},
    "8 heads": {"recall": 0.98},
}
"""By the encoder's name: its shares that are not the base's."""


def shares(name: str) -> dict[str, float]:
    base = dict.fromkeys(CAPABILITIES, 1.0) | {"biggest": 0.5}
    return base | ({"biggest": 0.95} if name == "4 layers" else {}) | LOSSES.get(name, {})


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three seeds of the base and of every single change; the second is 0.01 below, and no file is there."""
    rows = {
        replace(spec, seed=seed).key: Row({k: v - 0.01 * (seed == 1) for k, v in shares(name_spec(spec)).items()}, "")
        for spec in compared_specs()
        for seed in SEEDS
    }
    monkeypatch.setattr(family, "table", lambda: rows)


def shown(**options: Any) -> list[Any]:
    return parts_of(show_parts(read_parts(AWAY), OPTIONS | options))


def test_every_encoder_has_a_name_of_its_own_and_is_opened_by_its_settings() -> None:
    specs = family.shipped_specs()
    names = [name_spec(spec) for spec in specs]
    assert len(set(names)) == len(specs)
    assert names[:2] == ["base", "1 layer"]
    assert {"2 heads", "width 8", "ALiBi positions", "post-norm", "no residuals", "causal mask"} <= set(names)
    assert all(change(**list_settings(spec)) == spec for spec in specs)
    assert name_spec(change(n_layers=3, positions="none")) == "3 layers, no positions"


def test_the_link_has_a_number_for_every_row_and_column_and_begins_where_order_needs_positions() -> None:
    row, column = params.OWN["parts_row"], params.OWN["parts_column"]
    assert isinstance(row, Whole)
    assert isinstance(column, Whole)
    assert (row.high, column.high) == (len(compared_specs()) - 1, len(CAPABILITIES) - 1)
    assert name_spec(compared_specs()[row.default]) == "no positions"
    assert list(CAPABILITIES)[column.default] == "who_did_what"


def test_a_cell_is_the_mean_over_seeds_and_grey_where_it_is_no_better_than_guessing() -> None:
    scene = read_parts(AWAY)
    chart = next(each for each in shown() if isinstance(each, Heatmap))
    drawn = draw_chart(chart, scene).now
    (cells,) = go.Figure(drawn.figure).data
    assert cells.z.shape == (len(compared_specs()), len(CAPABILITIES))
    assert cells.z[0, 0] == pytest.approx(1 - 0.01 / 3)
    grey = np.isnan(cells.z)
    np.testing.assert_array_equal(grey, scene.now.mean <= GUESSING)
    row = scene.now.names.index("no positions")
    assert [list(CAPABILITIES)[column] for column in np.flatnonzero(grey[row])] == ["who_did_what", "recall", "biggest"]
    assert drawn.table is not None
    assert drawn.table().loc["width 8", "recall"] == "0.90 (0.89–0.90)"
    assert chart.chosen == {"parts_row": row, "parts_column": 2}


def test_the_answer_is_the_change_that_costs_most() -> None:
    answer = next(each.text for each in shown() if isinstance(each, Paragraph) and each.kind == "answer")
    assert answer == "Of 22 changes of one setting, **no positions** costs most: 2 of 10 capabilities fall to guessing."


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("positions", "**Positions:** 2 of 10 capabilities fall to guessing (no positions)."),
        ("d_model", "**Width:** *recall* falls from 1.00 to 0.90 (width 8)."),
        ("n_layers", "**Layers:** *biggest* rises from 0.50 to 0.95 (4 layers)."),
        ("n_heads", "**Attention heads:** nothing, at this size."),
        ("residual", "**Residual connections:** nothing, at this size."),
    ],
)
def test_every_setting_has_a_sentence_also_where_nothing_was_measured(setting: str, sentence: str) -> None:
    assert view.describe_setting(read_parts(AWAY).now, setting) == sentence
    assert sentence in words(shown())


def test_what_the_seed_does_too_is_no_loss() -> None:
    base, other = (np.array([[share] * 10 for share in each]) for each in ((1.0, 1.0), (0.4, 1.0)))
    specs = (change(), change(causal=True))
    assert view.describe_loss(CapabilityShares(("base", "other"), specs, (base, other)), 1) == ""


def test_without_a_table_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "table", dict)
    items = list(show_parts(read_parts(AWAY), OPTIONS))
    assert not [each for each in items if isinstance(each, Chart | Panel)]
    assert "not there yet" in words(items)

"""The view Parts as a function on values: what it says of a table that is written here by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.charts.chart import Heatmap
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.language import family
from playground.language.capabilities import CAPABILITIES
from playground.language.family import SEEDS, Row, change, compared_specs
from playground.link import params
from playground.link.kinds import Whole
from playground.link.opening import open_link
from playground.views.parts import (
    GUESSING,
    CapabilityShares,
    describe_lost,
    find_worst,
    list_settings,
    name_spec,
    parts_scene,
    show_parts,
    tabulate_settings,
)
from tests.views.scenes import parts_of

OPTIONS: dict[str, Any] = {key: param.default for key, param in params.OWN.items() if key.startswith("parts_")}
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


def scene() -> Scene[CapabilityShares]:
    return parts_scene(open_link("https://host/parts"))


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
    chart = next(each for each in parts_of(show_parts(scene(), OPTIONS)) if isinstance(each, Heatmap))
    drawn = draw_chart(chart, scene()).now
    (cells,) = go.Figure(drawn.figure).data
    assert cells.z.shape == (len(compared_specs()), len(CAPABILITIES))
    assert cells.z[0, 0] == pytest.approx(1 - 0.01 / 3)
    grey = np.isnan(cells.z)
    np.testing.assert_array_equal(grey, scene().now.mean <= GUESSING)
    row = scene().now.names.index("no positions")
    assert [list(CAPABILITIES)[column] for column in np.flatnonzero(grey[row])] == ["who_did_what", "recall", "biggest"]
    assert drawn.table is not None
    assert drawn.table().loc["width 8", "recall"] == "0.90 (0.89–0.90)"
    assert chart.chosen == {"parts_row": row, "parts_column": 2}


def test_the_answer_is_the_change_that_costs_most() -> None:
    base, without = 0.95 - 0.01 / 3, 0.95 - (0.5 + 0.45) / 10 - 0.01 / 3
    assert find_worst(scene().now) == {
        "changes": 22, "name": "no positions", "before": pytest.approx(base), "after": pytest.approx(without),
        "fallen": 2,
    }  # fmt: skip
    assert "*who did what* 0.50 and *recall* 0.55" in describe_lost(change(positions="none"))
    assert "*" not in describe_lost(change(residual=False))


def test_every_setting_has_its_worst_and_its_best_value() -> None:
    table = tabulate_settings(scene().now)
    positions, mask = table.loc["Positions"], table.loc["Causal mask"]
    assert table.loc["Layers", "best"] == "4 layers: 99.2% (98.5%–99.5%)"
    assert str(positions["worst"]).startswith("no positions: 85.2%")
    assert len(set(mask)) == 1
    assert len(table) == len(family.STOPS)

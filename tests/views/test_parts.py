"""The view Parts as a function on values: single changes against a table by hand, the ladder against the family's."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.charts.chart import Heatmap, Widget
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.language import family
from playground.language.capabilities import CAPABILITIES
from playground.language.family import SEEDS, START, TABLE, Row, change, compared_specs, ladder_specs
from playground.link import params
from playground.link.opening import open_link
from playground.link.params import english_defaults, spec_of
from playground.pages import LADDER
from playground.views import parts
from playground.views.parts import CapabilityShares, name_spec, parts_scene, show_parts
from playground.words import say
from tests.views.scenes import parts_of, words

SPECS = ladder_specs()
NAMES = tuple(SPECS)
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


@pytest.fixture
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
    assert {"width 8", "ALiBi positions", "post-norm", "no residuals", "causal mask", "shared W_Q = W_K"} <= set(names)
    assert all(change(**parts.list_settings(spec)) == spec for spec in specs)
    assert name_spec(change(n_layers=3, positions="none")) == "3 layers, no positions"


@pytest.mark.usefixtures("measured")
def test_a_cell_is_the_mean_over_seeds_and_grey_where_it_is_no_better_than_guessing() -> None:
    chart = next(each for each in parts_of(show_parts(scene(), OPTIONS)) if isinstance(each, Heatmap))
    drawn = draw_chart(chart, scene()).now
    (cells,) = go.Figure(drawn.figure).data
    assert cells.z[0, 0] == pytest.approx(1 - 0.01 / 3)
    grey = np.isnan(cells.z)
    np.testing.assert_array_equal(grey, scene().now.mean <= parts.GUESSING)
    row, names = scene().now.names.index("no positions"), scene().now.names
    assert names[names.index("sinusoidal positions") + 1] == "concatenated sinusoids"
    assert [list(CAPABILITIES)[column] for column in np.flatnonzero(grey[row])] == ["who_did_what", "recall", "biggest"]
    assert drawn.table is not None
    assert drawn.table().loc["width 8", "recall"] == "0.90 (0.89–0.90)"
    assert chart.chosen == {"parts_row": row, "parts_column": 2}


@pytest.mark.usefixtures("measured")
def test_the_answer_is_the_change_that_costs_most() -> None:
    base, without = 0.95 - 0.01 / 3, 0.95 - (0.5 + 0.45) / 10 - 0.01 / 3
    assert parts.find_worst(scene().now) == {
        "changes": 25, "name": "no positions", "before": pytest.approx(base), "after": pytest.approx(without),
        "fallen": 2,
    }  # fmt: skip
    assert "*who did what* 0.50 and *recall* 0.55" in parts.describe_lost(change(positions="none"))
    assert "*" not in parts.describe_lost(change(residual=False))


# --- the ladder


def ladder() -> Scene[CapabilityShares]:
    return parts_scene(open_link(f"https://host/parts?parts_view={LADDER.replace(' ', '+')}"))


def shown(**options: Any) -> list[Any]:
    return parts_of(show_parts(ladder(), OPTIONS | {"parts_view": LADDER} | options))


def averages() -> dict[str, list[float]]:
    """By rung: the mean over the capabilities, a number for each seed, read from the file itself."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        name: [fmean(rows[replace(spec, seed=seed).key]["shares"].values()) for seed in SEEDS]
        for name, spec in SPECS.items()
    }


def test_the_answer_is_the_rung_that_changes_most() -> None:
    means = {name: fmean(each) for name, each in averages().items()}
    before, most = max(pairwise(NAMES), key=lambda pair: abs(means[pair[1]] - means[pair[0]]))
    found = parts.find_climb(ladder().now)
    assert (found["changes"], str(found["rung"]).lower()) == (len(SPECS) - 1, most.lower())
    for key, name in (("first", START), ("top", NAMES[-1]), ("before", before), ("after", most)):
        seeds, written = averages()[name], [float(each) / 100 for each in re.findall(r"[\d.]+", str(found[key]))]
        assert written == pytest.approx([fmean(seeds), min(seeds), max(seeds)], abs=6e-4)


@pytest.mark.parametrize("row", [0, 1, len(NAMES) - 1])
def test_the_chosen_rung_has_its_papers_claim_and_settings_that_open_its_encoder(row: int) -> None:
    items = shown(parts_rung=row)
    said = words(items)
    assert [i for i in range(1, len(NAMES)) if say("parts", f"rung-{i}.paper") in said] == [row] * (row > 0)
    assert all(f"{i}. **{name}** (20" in said for i, name in enumerate(NAMES[1:], 1))
    (button,) = (each for each in items if isinstance(each, Widget))
    settings = button.data["settings"]
    opened = {**english_defaults(settings), "causal": False, "seed": 0, **settings}
    assert spec_of(opened) == SPECS[NAMES[row]]


def test_an_old_link_opens_this_view_and_says_what_is_gone() -> None:
    view = open_link("https://host/ladder?ladder_task=Sort&weights=random&tokenizer=char&d_model=64&n_heads=4")
    assert (view.page, view.values["parts_view"]) == ("parts", LADDER)
    assert view.notices[0] == "The playground knows no “ladder_task”; nothing depends on it here."
    assert open_link("/ladder?parts_view=one+part+away&weights=random").values["parts_view"] == "one part away"

"""The ladder as a view: its answer and cells against the family's table, its links, and its costs."""

import json
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from playground.charts.chart import Heatmap, Panel, Table, Widget
from playground.charts.scene import Scene
from playground.language.family import RUNGS, SEEDS, START, TABLE, ladder_specs
from playground.learn.lesson import LessonStep, find_problem
from playground.link import params
from playground.link.english import default_settings, spec_of
from playground.link.kinds import Whole
from playground.link.opening import open_link
from playground.pages import LADDER
from playground.views.parts import CapabilityShares, find_climb, parts_scene, show_parts, tabulate_costs, write_change
from tests.views.scenes import parts_of, words

OPTIONS: dict[str, Any] = {key: param.default for key, param in params.OWN.items() if key.startswith("parts_")}
SPECS = ladder_specs()
NAMES = tuple(SPECS)


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
    found = find_climb(ladder().now)
    assert (found["changes"], str(found["rung"]).lower()) == (len(RUNGS), most.lower())
    for key, name in (("first", START), ("top", NAMES[-1]), ("before", before), ("after", most)):
        seeds = averages()[name]
        assert found[key] == f"{fmean(seeds):.1%} ({min(seeds):.1%}–{max(seeds):.1%})"


def test_the_table_has_a_row_for_each_rung_and_its_choice_fits() -> None:
    chart = next(each for each in shown() if isinstance(each, Heatmap))
    assert chart.rows.names is not None
    assert tuple(chart.rows.names(ladder().now)) == NAMES
    np.testing.assert_allclose(ladder().now.mean.mean(1), [fmean(each) for each in averages().values()])
    rung = params.OWN["parts_rung"]
    assert isinstance(rung, Whole)
    assert rung.high == len(RUNGS)
    assert chart.chosen == {"parts_rung": rung.default, "parts_column": 2}


@pytest.mark.parametrize("row", [0, 1, len(NAMES) - 1])
def test_the_chosen_rung_has_its_papers_claim_and_settings_that_open_its_encoder(row: int) -> None:
    items = shown(parts_rung=row)
    said = words(items)
    assert [rung.name for rung in RUNGS if rung.claim in said] == list(NAMES[1:][row - 1 : row] if row else ())
    assert all(f"**{rung.name}** ({rung.year})" in said for rung in RUNGS)
    (button,) = (each for each in items if isinstance(each, Widget))
    settings = button.data["settings"]
    opened = {**default_settings(settings), "causal": False, "seed": 0, **settings}
    assert spec_of(opened) == SPECS[NAMES[row]]


def test_costs_stand_in_a_panel_with_their_changes_however_small() -> None:
    assert [
        each.items for each in show_parts(ladder(), OPTIONS | {"parts_view": LADDER}) if isinstance(each, Panel)
    ] == [()]
    table = next(each for each in shown(parts_costs=True) if isinstance(each, Table))
    frame: Any = table.frame(ladder().now)
    assert tuple(frame.index) == NAMES
    assert frame.loc["GELU", "parameters"].endswith("(±0)")
    assert frame.equals(tabulate_costs(SPECS[START].config, 48))
    assert write_change(1_000, 1_125) == "+12\u00a0%"
    assert write_change(10_000_000, 10_000_768) == "+0.0077\u00a0%"


def test_an_old_link_opens_this_view_and_says_what_is_gone() -> None:
    view = open_link("https://host/ladder?ladder_task=Sort&weights=random&tokenizer=char&d_model=64&n_heads=4")
    assert (view.page, view.values["parts_view"]) == ("parts", LADDER)
    assert view.notices[0] == "The playground knows no “ladder_task”; nothing depends on it here."
    assert not any("no page" in notice for notice in view.notices)
    assert open_link("/ladder?parts_view=one+part+away&weights=random").values["parts_view"] == "one part away"
    assert find_problem(LessonStep(link="https://host/ladder?seed=3"), {}) == ""

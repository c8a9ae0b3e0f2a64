"""The ladder as a view: its answer and cells against the family's table, its links, and its costs."""

import json
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from playground.charts.chart import Heatmap, Panel, Paragraph, Table, Widget
from playground.language.family import SEEDS, TABLE
from playground.language.ladder import RUNGS, START, ladder_specs
from playground.learn.lesson import LessonStep, find_problem
from playground.link import params
from playground.link.english import default_settings, spec_of
from playground.link.kinds import Whole
from playground.link.opening import open_link
from playground.pages import LADDER
from playground.views.capability_shares import CapabilityShares
from playground.views.parts import read_parts, show_parts
from playground.views.parts_ladder import answer_ladder, describe_change, tabulate_costs, write_change
from tests.views.scenes import parts_of, words

OPTIONS: dict[str, Any] = {key: param.default for key, param in params.OWN.items() if key.startswith("parts_")}
SPECS = ladder_specs()
NAMES = tuple(SPECS)


def shown(**options: Any) -> list[Any]:
    return parts_of(show_parts(read_parts(LADDER), OPTIONS | {"parts_view": LADDER} | options))


def averages() -> dict[str, list[float]]:
    """By rung: the mean over the capabilities, a number for each seed, read from the file itself."""
    rows = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        name: [fmean(rows[replace(spec, seed=seed).key]["shares"].values()) for seed in SEEDS]
        for name, spec in SPECS.items()
    }


def made(*rungs: tuple[float, ...]) -> CapabilityShares:
    """A ladder whose rungs have these shares, one a seed, of every capability."""
    by_seed = tuple(np.array([[share] * 10 for share in each]) for each in rungs)
    return CapabilityShares(NAMES[: len(rungs)], tuple(SPECS.values())[: len(rungs)], by_seed)


def test_the_answer_is_that_of_the_table() -> None:
    seeds = averages()
    means = {name: fmean(each) for name, each in seeds.items()}
    apart = [
        (name, before)
        for before, name in pairwise(NAMES)
        if min(seeds[name]) > max(seeds[before]) or max(seeds[name]) < min(seeds[before])
    ]
    most, before = max(apart, key=lambda pair: abs(means[pair[0]] - means[pair[1]]))
    answer = next(each.text for each in shown() if isinstance(each, Paragraph) and each.kind == "answer")
    assert f"**{means[START]:.1%}**" in answer
    first, top = seeds[START], seeds[NAMES[-1]]
    overlap = min(first) <= max(top) and min(top) <= max(first)
    assert f"**{means[NAMES[-1]]:.1%}**{', which may be chance' if overlap else ''}." in answer
    assert f"**{most[0].upper()}{most[1:]}** changes most: from {means[before]:.1%} to {means[most]:.1%}." in answer


def test_a_change_counts_only_if_the_seeds_ranges_do_not_overlap() -> None:
    overlaps = made((0.6, 0.7, 0.8), (0.9, 0.8, 1.0))
    assert "each may be chance" in answer_ladder(overlaps)
    assert "may be chance" in describe_change(overlaps, 1)
    apart = made((0.6, 0.7, 0.8), (0.9, 0.9, 0.9), (0.5, 0.5, 0.5))
    assert answer_ladder(apart).endswith("**Learned positions** changes most: from 90.0% to 50.0%.")
    assert describe_change(apart, 1) == "All capabilities: 70.0% on the row above, 90.0% here."
    assert describe_change(apart, 0) == ""


def test_the_table_has_a_row_for_each_rung_and_its_choice_fits() -> None:
    chart = next(each for each in shown() if isinstance(each, Heatmap))
    ladder = read_parts(LADDER).now
    assert chart.rows.names is not None
    assert tuple(chart.rows.names(ladder)) == NAMES
    np.testing.assert_allclose(ladder.mean.mean(1), [fmean(each) for each in averages().values()])
    rung = params.OWN["parts_rung"]
    assert isinstance(rung, Whole)
    assert rung.high == len(RUNGS)
    assert chart.chosen == {"parts_rung": rung.default, "parts_column": 2}


@pytest.mark.parametrize("row", range(len(NAMES)))
def test_the_chosen_rung_has_its_papers_claim_and_settings_that_open_its_encoder(row: int) -> None:
    items = shown(parts_rung=row)
    said = words(items)
    assert [rung.name for rung in RUNGS if rung.claim in said] == list(NAMES[1:][row - 1 : row] if row else ())
    assert all(f"**{rung.name}** ({rung.year})" in said for rung in RUNGS)
    (button,) = (each for each in items if isinstance(each, Widget))
    settings = button.data["settings"]
    opened = {**default_settings(settings), "causal": False, "seed": 0, **settings}
    assert spec_of(opened) == SPECS[NAMES[row]]


def test_fewer_measured_rungs_are_shown_all_the_same() -> None:
    items = parts_of(
        show_parts(read_parts(LADDER).with_subjects(made((0.5,), (0.9,)), None), OPTIONS | {"parts_view": LADDER})
    )
    assert "**GELU, who did what:** 0.90 (0.90–0.90) right." in words(items)


@pytest.mark.parametrize("counted", ["as trained here", "as large as BERT base"])
def test_costs_stand_in_a_panel(counted: str) -> None:
    assert [
        each for each in show_parts(read_parts(LADDER), OPTIONS | {"parts_view": LADDER}) if isinstance(each, Panel)
    ]
    table = next(each for each in shown(parts_costs=True, parts_counted=counted) if isinstance(each, Table))
    frame: Any = table.frame(read_parts(LADDER).now)
    assert tuple(frame.index) == NAMES
    assert frame.loc["GELU", "parameters"].endswith("(±0)")
    if counted == "as trained here":
        assert frame.equals(tabulate_costs(SPECS[START].config, 48))


@pytest.mark.parametrize(
    ("before", "after", "written"),
    [
        (100, 100, "±0"),
        (1_000, 1_125, "+12\u00a0%"),
        (1_000, 935, "−6.5\u00a0%"),
        (10_000_000, 10_000_768, "+0.0077\u00a0%"),
    ],
)
def test_a_change_is_a_share_however_small_it_is(before: int, after: int, written: str) -> None:
    assert write_change(before, after) == written


def test_an_old_link_opens_this_view_and_says_what_is_gone() -> None:
    view = open_link("https://host/ladder?ladder_task=Sort&weights=random&tokenizer=char&d_model=64&n_heads=4")
    assert (view.page, view.values["parts_view"]) == ("parts", LADDER)
    assert view.notices[0] == "The playground knows no “ladder_task”; nothing depends on it here."
    assert not any("no page" in notice for notice in view.notices)
    assert open_link("/ladder?parts_view=one+part+away&weights=random").values["parts_view"] == "one part away"
    assert find_problem(LessonStep(link="https://host/ladder?seed=3"), {}) == ""

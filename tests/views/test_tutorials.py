"""The view Tutorials as a function on values: its sentences and charts against the five run here."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from playground.charts.chart import Control, Heatmap, Item, LabelledBars, Panel, Paragraph, Widget
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.mistakes.registry import MISTAKES
from playground.presets import PRESETS
from playground.text.wording import upper_first
from playground.tutorials import comparison
from playground.tutorials.comparison import DEPARTURES, NAMES, PROPERTIES_OF_FIELDS, SHORT_TITLES, build_table
from playground.tutorials.tutorial_texts import TUTORIALS
from playground.views.tutorials import IN_YOUR_CODE, FiveTutorials, list_properties, show_tutorials, trace_tutorials
from tests.views.scenes import parts_of

FIVE = FiveTutorials(7, trace_tutorials(7), partial(comparison.causes, seed=7))
OPEN: dict[str, Any] = dict.fromkeys(("tutorials_mistakes", "tutorials_five", "tutorials_differences"), True)
SCENE = Scene(FIVE)


def show(against: str = "E", letter: str = "A") -> list[Item]:
    """What the view yields with its panels open."""
    return parts_of(show_tutorials(SCENE, OPEN | {"tutorials_against": against, "tutorials_letter": letter}))


def texts(items: list[Item]) -> list[str]:
    return [each.text for each in items if isinstance(each, Paragraph)]


def answer_for(letter: str) -> str:
    (found,) = (each.text for each in show(letter=letter) if isinstance(each, Paragraph) and each.kind == "answer")
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("letter", "ABCD")
def test_the_answer_is_one_number_of_the_tutorial_beside_the_papers_and_its_largest_cause(letter: str) -> None:
    paper = replace(PRESETS["vaswani-base"].config, **comparison.SIZES)
    yours, papers = (
        comparison.trace_of(config, 7)["final"].numpy() for config in (comparison.small_config(letter), paper)
    )
    place = np.unravel_index(np.abs(yours - papers).argmax(), yours.shape)
    told = answer_for(letter)
    assert f"utorial {letter}**" in told
    assert f"**{yours[place]:.2f}** instead of **{papers[place]:.2f}**" in told.replace("−", "-")
    effects = {}
    for cause in comparison.causes("E", 7):
        if cause.letter == letter and cause.field != "norm_eps":  # the paper names none
            changed = comparison.trace_of(replace(paper, **{cause.field: cause.here}), 7)["final"].numpy()
            effects[DEPARTURES[cause.field, cause.here]] = np.abs(changed - papers).max()
    (chart,) = (each for each in show(letter=letter) if isinstance(each, LabelledBars))
    bars = chart.bars(FIVE)
    assert [*bars.labels] == [short for short, _ in sorted(effects, key=lambda each: -effects[each])]
    np.testing.assert_allclose(bars.values, sorted(effects.values(), reverse=True), atol=1e-12)
    assert not any("e" in text for text in bars.texts), "no power of ten"
    np.testing.assert_allclose([float(text) for text in bars.texts], bars.values, rtol=0.5, atol=1e-9)
    assert told.endswith(f"reason: {max(effects, key=lambda each: effects[each])[1]}.")
    listed = "\n".join(texts(show(letter=letter)))
    assert all(f"- {upper_first(sentence)}." in listed for _, sentence in effects)


def test_the_answer_of_the_tutorial_that_computes_the_papers_encoder_is_how_far_the_others_are() -> None:
    paper = comparison.trace_of(replace(PRESETS["vaswani-base"].config, **comparison.SIZES), 7)["final"]
    assert torch.equal(paper, FIVE.traces["E"]["final"]), "number by number"
    others = {letter: float((FIVE.traces[letter]["final"] - paper).abs().max()) for letter in "ABCD"}
    told = answer_for("E")
    assert f"up to **{min(others.values()):.2f}**" in told
    assert told.endswith(f"up to **{max(others.values()):.2f}**.")
    (chart,) = (each for each in show(letter="E") if isinstance(each, LabelledBars))
    assert list(chart.bars(FIVE).values) == sorted(others.values(), reverse=True)


def test_closed_panels_compute_nothing_and_keep_what_was_chosen() -> None:
    closed = dict.fromkeys(OPEN, False) | {"tutorials_against": "E", "tutorials_letter": "A"}
    items = list(show_tutorials(SCENE, closed))
    panels = {each.key: each.items for each in items if isinstance(each, Panel)}
    assert panels.keys() == OPEN.keys()
    assert panels["tutorials_mistakes"] == panels["tutorials_five"] == ()
    (control,) = panels["tutorials_differences"]
    assert isinstance(control, Control)


def test_the_charts_are_this_seeds() -> None:
    items = show()
    outputs = [FIVE.traces[letter]["final"][0].numpy() for letter in NAMES]
    distances = np.array([[np.abs(one - other).max() for other in outputs] for one in outputs])
    matrix, where = (each for each in items if isinstance(each, Heatmap))
    np.testing.assert_allclose(matrix.values(FIVE), distances, rtol=1e-6)
    (cells,) = draw_chart(matrix, SCENE).now.figure["data"]
    assert (cells["text"][0][1], cells["x"], cells["y"]) == (
        f"{distances[0, 1]:.2f}",
        *[list(SHORT_TITLES.values())] * 2,
    )
    drawn = draw_chart(where, SCENE).now
    np.testing.assert_allclose(drawn.figure["data"][0]["z"][:, -1], distances[4, :4], rtol=1e-6)
    assert drawn.figure["data"][0]["x"][:3] == ["embed.out", "0.attn.pattern", "0.attn.z"]
    assert drawn.figure["data"][0]["y"] == [SHORT_TITLES[letter] for letter in "ABCD"]
    assert drawn.table is not None
    np.testing.assert_allclose(drawn.table().loc["final"], distances[4, :4], rtol=1e-6)
    others, answer = distances[~np.eye(5, dtype=bool)], next(text for text in texts(items) if "No two" in text)
    row, column = (list(SHORT_TITLES.values())[i] for i in np.unravel_index(distances.argmax(), (5, 5)))
    assert f"differ by up to {others.min():.2f}" in answer
    assert f"{row} and {column}: theirs differ by up to {others.max():.2f}." in answer
    assert "seed 7" in "".join(texts(items))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("against", NAMES)
def test_every_other_is_told_apart_with_its_causes(against: str) -> None:
    cells = {row.name: row.cells for row in build_table()}
    lines = next(text for text in texts(show(against)) if text.startswith("- **") and " instead of " in text).split(
        "\n- "
    )
    letters = [line.removeprefix("- ")[2] for line in lines]
    assert letters == [letter for letter in NAMES if letter != against]
    for letter, line in zip(letters, lines, strict=True):
        causes = [cause for cause in FIVE.find_causes(against) if cause.letter == letter]
        assert line.count(" instead of ") == len(causes)
        for cause in causes:
            name = PROPERTIES_OF_FIELDS[cause.field]
            here, there = (cells[name][each].replace("none", "sinusoidal") for each in (letter, against))
            assert f"**{name}**: *{here}* instead of *{there}* (" in line
        assert ("(nothing: only the layout differs)" in line) == any(cause.effect < 1e-9 for cause in causes)


def test_the_table_marks_what_stands_out() -> None:
    table = list_properties()
    for row in build_table():
        for letter, cell in row.cells.items():
            text = str(table.loc[f"**{row.name}**", SHORT_TITLES[letter]])
            assert cell in text
            assert text.startswith(":violet-background[") == (letter in row.unusual())
            assert row.notes.get(letter, "") in text


@pytest.mark.parametrize("letter", TUTORIALS)
def test_each_tutorial_says_what_it_teaches_where_and_what_is_wrong(letter: str) -> None:
    tutorial, items = TUTORIALS[letter], show(letter=letter)
    text = "\n".join(texts(items))
    assert f"**{PRESETS[NAMES[letter]].title}.** {tutorial.what}" in text
    for mistake in tutorial.mistakes:
        assert f"{mistake.printed}. {mistake.happens}".rstrip() in text
        assert all(MISTAKES[key].symptom in text for key in mistake.keys)
        assert mistake.demonstration is None or mistake.demonstration() in text
    odd = "; ".join(f"**{row.name}** {row.cells[letter]}" for row in build_table() if letter in row.unusual())
    assert f"{odd}." in text
    topics = [each.data["topic"] for each in items if isinstance(each, Widget) and each.name == "tutorial_topic"]
    assert topics[1:] == [*tutorial.topics, IN_YOUR_CODE]
    assert any(isinstance(each, Widget) and each.name == "tutorial_flow" for each in items) == bool(
        tutorial.order_in_text
    )
    controls = [each.key for each in items if isinstance(each, Control)]
    assert controls == ["tutorials_letter", "tutorials_against"]

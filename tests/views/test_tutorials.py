"""The view Tutorials as a function on values: its sentences and charts against the five run here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground.charts.chart import Heatmap, Item, LabelledBars, Paragraph, Widget
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.mistakes.registry import MISTAKES
from playground.presets import PRESETS
from playground.tutorials import comparison
from playground.tutorials.comparison import DEPARTURES, NAMES, SHORT_TITLES, read_properties, trace_all
from playground.tutorials.demonstrations import TUTORIALS
from playground.views.tutorials import list_causes, list_properties, show_tutorials
from tests.views.scenes import parts_of, words

SEED = 7
OPEN: dict[str, Any] = dict.fromkeys(("tutorials_mistakes", "tutorials_five", "tutorials_differences"), True)
SCENE = Scene(SEED)


def show(against: str = "E", letter: str = "A") -> list[Item]:
    """What the view yields with its panels open."""
    return parts_of(show_tutorials(SCENE, OPEN | {"tutorials_against": against, "tutorials_letter": letter}))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("letter", NAMES)
def test_the_answer_is_the_distance_from_the_paper_and_its_largest_cause(letter: str) -> None:
    paper = replace(PRESETS["vaswani-base"].config, **comparison.SIZES)
    papers = comparison.trace_of(paper, SEED)["final"].numpy()
    (told,) = (each.text for each in show(letter=letter) if isinstance(each, Paragraph) and each.kind == "answer")
    assert f"**{np.abs(trace_all(SEED)[letter]['final'].numpy() - papers).max():.2f}**" in told
    effects = {}
    for cause in comparison.causes("E", SEED):
        if cause.letter == letter and cause.field != "norm_eps":  # the paper names none
            changed = comparison.trace_of(replace(paper, **{cause.field: cause.here}), SEED)["final"].numpy()
            effects[DEPARTURES[cause.field, cause.here]] = np.abs(changed - papers).max()
    charts = [each for each in show(letter=letter) if isinstance(each, LabelledBars)]
    assert bool(charts) == bool(effects) == (letter != "E")
    for bars in charts:
        assert [*bars.labels] == [short for short, _ in sorted(effects, key=lambda each: -effects[each])]
        np.testing.assert_allclose(bars.values, sorted(effects.values(), reverse=True), atol=1e-12)
        assert max(effects, key=lambda each: effects[each])[1] in told


def test_the_charts_are_this_seeds() -> None:
    outputs = [trace_all(SEED)[letter]["final"][0].numpy() for letter in NAMES]
    distances = np.array([[np.abs(one - other).max() for other in outputs] for one in outputs])
    matrix, where = (each for each in show() if isinstance(each, Heatmap))
    np.testing.assert_allclose(matrix.values(SEED), distances, rtol=1e-6)
    drawn = draw_chart(where, SCENE).now
    np.testing.assert_allclose(drawn.figure["data"][0]["z"][:, -1], distances[4, :4], rtol=1e-6)
    assert drawn.figure["data"][0]["x"][:3] == ["embed.out", "0.attn.pattern", "0.attn.z"]
    assert drawn.figure["data"][0]["y"] == [SHORT_TITLES[letter] for letter in "ABCD"]


def test_every_cause_has_a_row() -> None:
    rows = list_causes(SEED, "B")
    causes = sorted(comparison.causes("B", SEED), key=lambda cause: (cause.letter, -cause.effect))
    assert list(rows["tutorial"]) == [SHORT_TITLES[cause.letter] for cause in causes]
    np.testing.assert_allclose(rows["output moves by"], [cause.effect for cause in causes], atol=1e-9)
    assert all(rows["there"] != rows["instead of"])


def test_the_table_marks_what_stands_out() -> None:
    table = list_properties()
    for name, row in read_properties().items():
        for letter in NAMES:
            text = str(table.loc[f"**{name}**", SHORT_TITLES[letter]])
            assert row[letter] in text
            assert text.startswith(":violet-background[") == (letter in comparison.find_unusual(row))
            assert comparison.NOTES.get(name, {}).get(letter, "") in text


@pytest.mark.parametrize("letter", TUTORIALS)
def test_each_tutorial_says_what_it_teaches_where_and_what_is_wrong(letter: str) -> None:
    tutorial, items = TUTORIALS[letter], show(letter=letter)
    text = words(items)
    for flaw in tutorial.flaws:
        assert flaw.printed in text
        assert flaw.demonstrate() in text
        assert all(MISTAKES[key].symptom in text for key in flaw.keys)
    topics = [each.data["topic"] for each in items if isinstance(each, Widget) and each.name == "tutorial_topic"]
    assert topics[1:-1] == [*tutorial.topics]
    assert topics[-1].page == "diagnosis"

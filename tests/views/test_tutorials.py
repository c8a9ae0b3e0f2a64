"""The view Tutorials as a function on values: its sentences and charts against the five run here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground import tutorials
from playground.charts.chart import Button, Item, LabelledBars, Paragraph
from playground.charts.scene import Scene
from playground.mistakes.registry import MISTAKES
from playground.presets import PRESETS
from playground.tutorials import DEPARTURES, NAMES, TUTORIALS, trace_all
from playground.views.tutorials import show_tutorials
from tests.views.scenes import parts_of, words

SEED = 7
OPEN: dict[str, Any] = dict.fromkeys(("tutorials_mistakes", "tutorials_five", "tutorials_differences"), True)
SCENE = Scene(SEED)


def show(letter: str = "A") -> list[Item]:
    """What the view yields with its panels open."""
    return parts_of(show_tutorials(SCENE, OPEN | {"tutorials_letter": letter}))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("letter", NAMES)
def test_the_answer_is_the_distance_from_the_paper_and_its_largest_cause(letter: str) -> None:
    paper = replace(PRESETS["vaswani-base"].config, **tutorials.SIZES)
    papers = tutorials.trace_of(paper, SEED)["final"].numpy()
    (told,) = (each.text for each in show(letter) if isinstance(each, Paragraph) and each.kind == "answer")
    assert f"**{np.abs(trace_all(SEED)[letter]['final'].numpy() - papers).max():.2f}**" in told
    effects = {}
    for of, field in tutorials.effects(SEED):
        if of == letter and field != "norm_eps":  # the paper names none
            here = getattr(tutorials.small_config(letter), field)
            changed = tutorials.trace_of(replace(paper, **{field: here}), SEED)["final"].numpy()
            effects[DEPARTURES[field, here]] = np.abs(changed - papers).max()
    charts = [each for each in show(letter) if isinstance(each, LabelledBars)]
    assert bool(charts) == bool(effects) == (letter != "E")
    for bars in charts:
        assert [*bars.labels] == [short for short, _ in sorted(effects, key=lambda each: -effects[each])]
        np.testing.assert_allclose(bars.values, sorted(effects.values(), reverse=True), atol=1e-12)
        assert max(effects, key=lambda each: effects[each])[1] in told


@pytest.mark.parametrize("letter", TUTORIALS)
def test_each_tutorial_says_what_it_teaches_where_and_what_is_wrong(letter: str) -> None:
    tutorial, items = TUTORIALS[letter], show(letter)
    text = words(items)
    for flaw in tutorial.flaws:
        assert flaw.printed in text
        assert flaw.demonstrate() in text
        lines = [MISTAKES[key].write_lines(PRESETS[NAMES[letter]].config)[1] for key in flaw.keys]
        assert all(line in text for line in lines)
    assert all(topic.text in text for topic in tutorial.topics)
    opened = [each.opens for each in items if isinstance(each, Button)]
    assert opened == ["overview", *(topic.page for topic in tutorial.topics), "diagnosis"]

"""The Tutorials page, its numbers against ones computed here, and its doors to the other pages."""

import numpy as np
import pytest

from playground.presets import PRESETS
from playground.tutorials import comparison
from playground.tutorials.table import NAMES, SHORT_TITLES, build_table
from playground.tutorials.tutorial_texts import TUTORIALS
from playground.web.choices.architecture_params import ARCHITECTURE
from playground.web.choices.params import DEFAULT_TEXT
from playground.web.shared.navigation import pages
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    open_page,
    press,
    prose,
    sentences,
    values,
    without_error,
)

LETTERS = list(NAMES)


def test_the_answer_and_the_charts_are_this_seeds() -> None:
    app = without_error(open_page("tutorials", seed="7"))
    assert sentences(app) == ""
    traces = {letter: comparison.trace_of(comparison.small_config(letter), 7) for letter in NAMES}
    distances = comparison.matrix(traces)
    np.testing.assert_allclose(array(charts(app)["tutorials_matrix"]), distances, rtol=1e-6)
    where = charts(app)["tutorials_where"]
    np.testing.assert_allclose(array(where), list(comparison.by_point(traces, "E").values()), rtol=1e-6)
    assert where[0]["y"] == [SHORT_TITLES[letter] for letter in "ABCD"]
    others = distances[~np.eye(5, dtype=bool)]
    answer = next(element.value for element in app.markdown if "no two give the same numbers" in element.value)
    row, column = divmod(int(distances.argmax()), 5)
    assert f"differ by up to {others.min():.2f}" in answer
    assert (
        f"{SHORT_TITLES[LETTERS[row]]} and {SHORT_TITLES[LETTERS[column]]}: theirs differ by up to {others.max():.2f}."
        in answer
    )
    assert "seed 7" in prose(app)


def test_every_other_is_told_apart_with_its_causes() -> None:
    app = open_page("tutorials")
    for against in NAMES:
        choose(app, tutorials_against=against)
        lines = next(element.value for element in app.markdown if element.value.startswith("- **")).splitlines()
        assert [line[4] for line in lines] == [letter for letter in NAMES if letter != against]
        for line in lines:
            causes = [cause for cause in comparison.causes(against, 0) if cause.letter == line[4]]
            assert line.count(" instead of ") == len(causes)
            for cause in causes:
                assert f"**{cause.field}** {cause.here} instead of {cause.there}" in line
                assert ("(nothing: only the layout differs)" in line) == any(one.effect < 1e-9 for one in causes)


def test_the_table_holds_every_row_and_marks_what_stands_out() -> None:
    (element,) = open_page("tutorials").table
    drawn = element.value
    assert list(drawn.columns) == [*SHORT_TITLES.values(), "a difference changes"]
    assert list(drawn.index) == [f"**{row.name}**" for row in build_table()]
    for row in build_table():
        for letter, cell in row.cells.items():
            text = str(drawn.loc[f"**{row.name}**", SHORT_TITLES[letter]])
            assert cell in text
            assert text.startswith(":violet-background[") == (letter in row.unusual())
            assert row.notes.get(letter, "") in text


def test_each_tutorial_says_what_it_teaches_where_and_what_is_wrong_and_has_a_door_to_each_page() -> None:
    app = open_page("tutorials")
    for letter, tutorial in TUTORIALS.items():
        text = prose(without_error(choose(app, tutorials_letter=letter)))
        assert f"**{PRESETS[NAMES[letter]].title}.** {tutorial.what}" in text
        assert all(f"- {topic.text}" in text for topic in tutorial.topics)
        for mistake in tutorial.mistakes:
            assert f"{mistake.printed}. {mistake.happens}" in text
            assert mistake.demonstration is None or mistake.demonstration() in captions(app)
        odd = "; ".join(f"**{row.name}** {row.cells[letter]}" for row in build_table() if letter in row.unusual())
        assert f"{odd}." in text
        doors = [str(button.key) for button in app.button if "tutorials_open_" in str(button.key)]
        wanted = {"overview", *(topic.page for topic in tutorial.topics)} & pages().keys()
        assert sorted(doors) == sorted(f"tutorials_open_{page}" for page in wanted)


@pytest.mark.parametrize("letter", ["A", "C", "E"])
def test_open_as_preset_sets_the_sidebar_and_opens_the_page(letter: str) -> None:
    app = press(open_page("tutorials", tutorials_letter=letter, seed="3"), "tutorials_open_overview")
    preset = PRESETS[NAMES[letter]]
    assert values(app) == {key: getattr(preset.config, key) for key in ARCHITECTURE}
    expected = {"weights": "random", "seed": 3, "text": preset.text or DEFAULT_TEXT,
                "tokenizer": preset.tokenizer}  # fmt: skip
    assert values(app, *expected) == expected
    assert app.title[0].value == "What happens to a sentence in an encoder?"
    assert f"{preset.config.n_layers} layers × {preset.config.n_heads} heads" in captions(app)


def test_a_door_leads_to_the_lessons_page() -> None:
    app = press(open_page("tutorials", tutorials_letter="D"), "tutorials_open_parameters")
    assert app.title[0].value == "Where do the parameters sit?"
    assert "matches: Tutorial D" in captions(app)


def test_tutorial_a_comes_with_its_text_from_the_sidebar_too() -> None:
    app = open_page("overview", text="mine", weights="random", tokenizer="char")
    for preset, text, tokenizer in (
        ("tutorial-c", "mine", "vectors"),
        ("tutorial-a", "this is an example sentence", "word"),
    ):
        choose(app, preset=preset)
        assert values(app, "preset", "text", "tokenizer") == {"preset": None, "text": text, "tokenizer": tokenizer}
    assert "5 tokens ·" in captions(app)


def test_a_wrong_link_is_told() -> None:
    app = without_error(open_page("tutorials", tutorials_letter="Z", tutorials_against=""))
    assert "tutorials_letter" in sentences(app)
    defaults = {"tutorials_letter": "A", "tutorials_against": "E"}
    assert values(app, *defaults) == defaults

"""The page Bug lab: tests, accusations, and a link that holds them."""

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.mistakes.bug_lab import open_lab
from playground.mistakes.lab_tests import TESTS
from playground.mistakes.registry import MISTAKES
from playground.views.bug_lab import explain_innocence, name_suspect
from tests.web.app_test import answer, array, captions, charts, open_page, press, prose, sentences, without_error

LAB = open_lab(2, "easy")
(GUILTY,) = LAB.case.mistakes
WRONG = next(key for key in LAB.case.suspects if key not in LAB.case.mistakes)


def page(**query: Any) -> AppTest:
    return without_error(open_page("bug_lab", **{"lab_seed": 2, **query}))


def accuse(app: AppTest, key: str) -> AppTest:
    return press(app, f"lab_accuse_{key.replace('-', '_')}")


def test_the_symptom_is_a_hint() -> None:
    app = page()
    assert MISTAKES[GUILTY].symptom not in prose(app)
    app = press(app, "lab_test_symptom")
    assert MISTAKES[GUILTY].symptom in prose(app)


def test_the_map_of_weights_has_the_padding_too() -> None:
    app = page(lab_seed=0, lab_tests=["pattern"])
    (drawn,) = charts(app).values()
    assert array(drawn).shape == (6, 8)
    assert [name for name in drawn[0]["x"] if "PAD" in name] == ["[PAD] (6)", "[PAD] (7)"]


def test_a_newcomer_reads_nothing_of_the_mistake() -> None:
    app = page()
    assert "**one mistake**" in prose(app)
    assert not app.code
    assert not charts(app)


def test_a_test_shows_what_it_shows() -> None:
    app = press(page(), "lab_test_pattern")
    assert TESTS["pattern"].run(LAB).sentence in prose(app)
    assert list(charts(app)) == ["lab_pattern_0"]
    assert app.button(key="lab_test_pattern").disabled
    app = press(app, "lab_test_row_sums")
    assert app.session_state["lab_tests"] == ("pattern", "row-sums")


def test_a_wrong_accusation_is_answered_by_a_number() -> None:
    app = accuse(page(), WRONG)
    (size,) = re.findall(r"by up to (\S+)\.$", explain_innocence(LAB, WRONG))
    assert re.search(rf"\*\*Not “.+”\.\*\* If it were, .* by up to {re.escape(size)}\.", prose(app))
    assert "layers.0." not in prose(app)
    assert app.button(key=f"lab_accuse_{WRONG.replace('-', '_')}").disabled


def test_who_finds_it_sees_the_lines() -> None:
    app = accuse(press(page(), "lab_test_score"), GUILTY)
    assert f"Found: **{name_suspect(GUILTY)}**" in prose(app)
    assert f"# right\n{MISTAKES[GUILTY].write_lines(LAB.case.config)[1]}" in app.code[0].value
    assert MISTAKES[GUILTY].source in prose(app)


def test_a_case_that_a_link_opens_as_solved_says_nothing_of_how_it_was_found() -> None:
    app = page(lab_accused=[GUILTY])
    assert f"Found: **{name_suspect(GUILTY)}**" in prose(app)
    assert "point" not in answer(app)


@pytest.mark.parametrize("seed", [1, 7, 11, 16, 43, 58])
def test_the_lines_of_a_solved_case_are_those_of_its_encoder(seed: int) -> None:
    lab = open_lab(seed, "any")
    (key,) = lab.case.mistakes
    assert callable(MISTAKES[key].right)
    app = page(lab_seed=seed, lab_level="any", lab_accused=[key])
    wrong, right = MISTAKES[key].write_lines(lab.case.config)
    assert app.code[0].value == f"# wrong\n{wrong}\n\n# right\n{right}"


def test_two_mistakes_are_found_one_after_the_other() -> None:
    case = open_lab(2, "two").case
    first, second = case.mistakes
    app = accuse(page(lab_level="two"), second)
    assert f"One is found: **{name_suspect(second)}**" in prose(app)
    app = accuse(app, first)
    assert answer(app).startswith("Found: ")


def test_a_link_holds_tests_and_accusations_in_their_order() -> None:
    app = page(lab_tests=["score", "pattern"], lab_accused=[WRONG])
    assert prose(app).index("**2. Map") > 0
    assert "**1. One score by hand**" in [each.label for each in app.expander], "an older one is folded"
    assert TESTS["score"].run(LAB).sentence in prose(app)


def test_each_suspect_is_explained_and_further_tests_are_folded() -> None:
    app = page()
    assert all(explain_suspect(key) in captions(app) for key in LAB.case.suspects)
    (fold,) = (each for each in app.expander if each.label == "More tests")
    assert "lab_test_train" in [each.key for each in fold.button]
    assert "lab_test_pattern" not in [each.key for each in fold.button]


def test_the_next_case_begins_with_nothing_tested() -> None:
    app = press(accuse(page(), GUILTY), "lab_next")
    state = app.session_state
    assert (state["lab_seed"], state["lab_tests"], state["lab_accused"]) == (3, (), ())
    app = press(page(lab_tests=["score"]), "lab_again")
    assert app.session_state["lab_tests"] == ()


@pytest.mark.parametrize(
    "query",
    [
        {"lab_seed": "-3"},
        {"lab_seed": "9" * 30},
        {"lab_level": "<script>"},
        {"lab_tests": ["nonsense", "score"]},
        {"lab_accused": ["../../etc", "bias-of-the-keys"]},
    ],
    ids=str,
)
def test_what_a_link_says_wrongly_is_told_in_one_sentence(query: dict[str, Any]) -> None:
    app = page(**query)
    assert "one mistake" in prose(app)
    assert sentences(app)

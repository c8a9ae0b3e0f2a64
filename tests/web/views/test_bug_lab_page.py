"""The page Bug lab: tests, accusations, and a link that holds them."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.mistakes.bug_lab import TESTS, open_case
from playground.mistakes.registry import MISTAKES
from playground.views.bug_lab import explain_innocence
from tests.web.app_test import answer, array, charts, open_page, press, prose, sentences, without_error

LAB = open_case(2, "easy")
(GUILTY,) = LAB.mistakes
WRONG = next(key for key in LAB.suspects if key not in LAB.mistakes)


def page(**query: Any) -> AppTest:
    return without_error(open_page("bug_lab", **{"lab_seed": 2, **query}))


def accuse(app: AppTest, key: str) -> AppTest:
    return press(app, f"lab_accuse_{key.replace('-', '_')}")


def test_a_newcomer_reads_nothing_of_the_mistake() -> None:
    app = page()
    assert "**1**" in answer(app)
    assert not app.code
    assert not charts(app)
    assert MISTAKES[GUILTY].symptom not in prose(app)
    (fold,) = (each for each in app.expander if each.label == "More tests")
    assert "lab_test_score" in [each.key for each in fold.button]


def test_tests_show_what_they_show_in_their_order() -> None:
    app = press(page(), "lab_test_pattern")
    assert TESTS["pattern"].write_finding(LAB) in prose(app)
    assert array(charts(app)["lab_pattern_0"]).shape == (8, 8)
    assert app.button(key="lab_test_pattern").disabled
    app = press(app, "lab_test_symptom")
    assert app.session_state["lab_tests"] == ("pattern", "symptom")
    assert MISTAKES[GUILTY].symptom in prose(app)
    assert "**1. Map: attention weights**" in [each.label for each in app.expander], "an older one is folded"


def test_a_solved_case_shows_the_lines_of_its_encoder() -> None:
    lab = open_case(7, "any")
    (key,) = lab.mistakes
    app = page(lab_seed=7, lab_level="any", lab_accused=[key])
    wrong, right = MISTAKES[key].write_lines(lab.config)
    assert app.code[0].value == f"# wrong\n{wrong}\n\n# right\n{right}"
    assert MISTAKES[key].title in answer(app)


def test_a_wrong_accusation_is_answered_by_numbers_and_the_next_case_begins_with_nothing_tested() -> None:
    app = accuse(page(), WRONG)
    assert explain_innocence(LAB, WRONG) in prose(app)
    state = press(accuse(app, GUILTY), "lab_next").session_state
    assert (state["lab_seed"], state["lab_tests"], state["lab_accused"]) == (3, (), ())
    assert press(page(lab_tests=["score"]), "lab_again").session_state["lab_tests"] == ()


@pytest.mark.parametrize(
    "query",
    [
        {"lab_seed": "9" * 30},
        {"lab_level": "<script>"},
        {"lab_tests": ["nonsense", "score"]},
        {"lab_accused": ["../../etc", "bias-of-the-keys"]},
    ],
    ids=str,
)
def test_what_a_link_says_wrongly_is_told_in_one_sentence(query: dict[str, Any]) -> None:
    assert sentences(page(**query))

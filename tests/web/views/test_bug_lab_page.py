"""The page Bug lab: tests and accusations cost points, a link holds them, and a duel begins anew."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from playground.mistakes.bug_lab import (
    TESTS,
    WRONG_COST,
    explain_innocence,
    explain_suspect,
    name_suspect,
    open_lab,
)
from playground.mistakes.registry import MISTAKES
from tests.web.app_test import array, captions, charts, open_page, press, prose, sentences, without_error

LAB = open_lab(2, "easy")
(GUILTY,) = LAB.case.mistakes
WRONG = next(key for key in LAB.case.suspects if key not in LAB.case.mistakes)


def page(**query: Any) -> AppTest:
    return without_error(open_page("bug_lab", **{"lab_seed": 2, **query}))


def accuse(app: AppTest, key: str) -> AppTest:
    return press(app, f"lab_accuse_{key.replace('-', '_')}")


def test_the_symptom_is_a_hint_that_costs_points() -> None:
    app = page()
    assert MISTAKES[GUILTY].symptom not in prose(app)
    app = press(app, "lab_test_symptom")
    assert MISTAKES[GUILTY].symptom in prose(app)
    assert "You have spent **3 points**" in prose(app)


def test_the_map_of_weights_has_the_padding_too() -> None:
    app = page(lab_seed=0, lab_tests=["pattern"])
    (drawn,) = charts(app).values()
    assert array(drawn).shape == (6, 8)
    assert [name for name in drawn[0]["x"] if "PAD" in name] == ["[PAD] (6)", "[PAD] (7)"]


def test_a_newcomer_reads_nothing_of_the_mistake() -> None:
    app = page()
    assert "**one mistake**" in prose(app)
    assert MISTAKES[GUILTY].right not in [each.value for each in app.code]
    assert not charts(app)


def test_a_test_shows_what_it_shows_and_costs_its_points() -> None:
    app = press(page(), "lab_test_pattern")
    assert TESTS["pattern"].run(LAB).sentence in prose(app)
    assert "**2 points**" in prose(app)
    assert list(charts(app)) == ["lab_pattern_0"]
    assert app.button(key="lab_test_pattern").disabled
    app = press(app, "lab_test_row_sums")
    assert "**3 points**" in prose(app)
    assert app.session_state["lab_tests"] == ("pattern", "row-sums")


def test_a_wrong_accusation_costs_and_is_answered_by_a_number() -> None:
    app = accuse(page(), WRONG)
    assert f"**{WRONG_COST} points**" in prose(app)
    (size,) = re.findall(r"by up to (\S+)\.$", explain_innocence(LAB, WRONG))
    assert re.search(rf"\*\*Not “.+”\.\*\* If it were, .* by up to {re.escape(size)}\.", prose(app))
    assert "layers.0." not in prose(app)
    assert app.button(key=f"lab_accuse_{WRONG.replace('-', '_')}").disabled


def test_who_finds_it_sees_the_lines_and_sends_the_case_without_them() -> None:
    app = accuse(press(page(), "lab_test_score"), GUILTY)
    assert "Found, for **2 points**" in prose(app)
    assert f"# right\n{MISTAKES[GUILTY].right}" in app.code[0].value
    assert MISTAKES[GUILTY].source in prose(app)
    link = parse_qs(urlsplit(app.code[1].value).query)
    assert link == {"lab_seed": ["2"], "lab_level": ["easy"], "lab_beat": ["2"]}
    other = page(**{key: value for key, (value,) in link.items()})
    assert "Whoever sent you this case found it for **2**." in prose(other)
    assert "Found, for" not in prose(other)


def test_two_mistakes_are_found_one_after_the_other() -> None:
    case = open_lab(2, "two").case
    first, second = case.mistakes
    app = accuse(page(lab_level="two"), second)
    assert f"One is found: **{name_suspect(second)}**" in prose(app)
    app = accuse(app, first)
    assert "Found, for **0 points**" in prose(app)


def test_a_link_holds_tests_and_accusations_in_their_order() -> None:
    app = page(lab_tests=["score", "pattern"], lab_accused=[WRONG])
    assert f"**{TESTS['score'].cost + TESTS['pattern'].cost + WRONG_COST} points**" in prose(app)
    assert prose(app).index("**2. Map") > 0
    assert "**1. One score by hand** (2 points)" in [each.label for each in app.expander], "an older one is folded"
    assert TESTS["score"].run(LAB).sentence in prose(app)


def test_each_suspect_is_explained_and_the_dear_tests_are_folded() -> None:
    app = page()
    assert all(explain_suspect(key) in captions(app) for key in LAB.case.suspects)
    (fold,) = (each for each in app.expander if each.label == "Dearer tests: 3 to 8 points")
    assert "lab_test_train" in [each.key for each in fold.button]
    assert "lab_test_pattern" not in [each.key for each in fold.button]


def test_the_next_case_begins_with_nothing_spent() -> None:
    app = press(accuse(page(lab_beat=3), GUILTY), "lab_next")
    state = app.session_state
    assert (state["lab_seed"], state["lab_tests"], state["lab_accused"], state["lab_beat"]) == (3, (), (), -1)
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
        {"lab_beat": "1e9"},
    ],
    ids=str,
)
def test_what_a_link_says_wrongly_is_told_in_one_sentence(query: dict[str, Any]) -> None:
    app = page(**query)
    assert "one mistake" in prose(app)
    assert sentences(app)

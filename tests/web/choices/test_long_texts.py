"""A text that is longer than its field may hold: it is cut, and the page says so."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.limits import MAX_CHARACTERS
from tests.web.app_test import SMALL, choose, open_page, values, widgets, words, working

LONG = "a cat " * 600


def says_what_was_left_out(app: AppTest) -> bool:
    return f"{len(LONG):,} characters" in words(app)


def test_a_long_paste_is_cut_until_another_text_takes_its_place() -> None:
    app = choose(open_page("attention", **SMALL), text=LONG)
    assert values(app, "text") == {"text": LONG[:MAX_CHARACTERS]}
    assert says_what_was_left_out(app)
    assert not says_what_was_left_out(choose(app, text="a cat"))
    assert not says_what_was_left_out(choose(app, text=LONG[:MAX_CHARACTERS].replace("cat", "dog")))


def test_the_field_of_a_phone_cuts_alike() -> None:
    app = open_page("attention", **SMALL)
    working(widgets(app)["phone_text"].set_value(LONG).run())
    assert values(app, "text", "phone_text") == dict.fromkeys(("text", "phone_text"), LONG[:MAX_CHARACTERS])
    assert says_what_was_left_out(app)


@pytest.mark.parametrize(
    ("page", "key", "longest"),
    [("similarity", "similarity_list", MAX_CHARACTERS), ("training", "training_text", 4_000)],
)
def test_every_field_of_a_page_does(page: str, key: str, longest: int) -> None:
    app = open_page(page, **({"training_task": "Next character"} if page == "training" else {}))
    choose(app, **{key: LONG * 2})
    assert values(app, key) == {key: (LONG * 2)[:longest]}
    assert f"{2 * len(LONG):,} characters" in words(app)

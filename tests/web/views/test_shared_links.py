"""A link shows a classmate the same numbers, on every page; what the browser does with it is in tests/browser."""

import pytest

from playground.link.params import FOCUS, OWN, SHARED
from playground.link.query import PINNED_KEYS
from tests.web.app_test import charts, open_page, sentences, without_error
from tests.web.chosen_views import SETUP, VIEWS

SHOW_THEM_LATER = ("", "exercises", "lessons", "diagnosis", "regularisers", "training")
"""Pages that show charts after an answer, after a file or after a training, or none."""


@pytest.mark.sweep
@pytest.mark.parametrize("page", VIEWS)
def test_two_who_open_a_link_see_the_same_to_the_digit(page: str) -> None:
    link = SETUP | VIEWS[page]
    mine, theirs = (without_error(open_page(page.replace("-", "_") or "overview", **link)) for _ in range(2))
    assert sentences(mine) == ""
    assert charts(mine) or page in SHOW_THEM_LATER
    assert charts(theirs) == charts(mine)
    assert {key: mine.query_params[key] for key in link} == link


def test_every_parameter_of_the_link_is_tried_here() -> None:
    assert set(SETUP) <= set(SHARED)
    assert {key for view in VIEWS.values() for key in view} <= {*OWN, *FOCUS, *PINNED_KEYS}

"""The Positions page: what its sliders do, and what it shows of the pinned settings."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.web.app_test import SMALL, array, charts, choose, open_page, values, without_error


def page(**query: object) -> AppTest:
    return without_error(open_page("positions", **SMALL, **query))


def test_sliders_choose_the_words_to_swap_if_there_are_two() -> None:
    app = page(text="abcdef")
    assert values(app, "positions_first", "positions_second") == {"positions_first": 2, "positions_second": 5}
    first = array(charts(app)["swap_differences"], 0, "y")
    assert np.abs(array(charts(choose(app, positions_first=0))["swap_differences"], 0, "y") - first).max() > 1e-3
    choose(app, text="ab", positions_second=1)
    assert list(array(charts(app)["swap_differences"], 0, "x")) == ["a₀", "b₁"]
    assert not charts(choose(app, text="a"))

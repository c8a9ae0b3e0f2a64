"""The Positions page: what it gives its view, what its sliders do, and what it shows of the pinned settings."""

import numpy as np
from streamlit.testing.v1 import AppTest

from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL,
    answer,
    array,
    charts,
    choose,
    open_page,
    sentences,
    values,
    without_error,
    words,
)


def page(**query: object) -> AppTest:
    return without_error(open_page("positions", **query))


def test_the_trained_table_is_drawn_and_told_from_a_random_one() -> None:
    encoder, _ = checkpoint.load("minilm")
    app = page(positions_table=True)
    table = encoder.embed.position_vectors(128).numpy()
    np.testing.assert_array_equal(array(charts(app)["position_table"]), table[:, :256])
    assert "andom" not in words(app)
    assert "nothing is trained yet" in words(page(**SMALL | {"positions": "learned"}, positions_table=True))


def test_sliders_choose_the_words_to_swap_if_there_are_two() -> None:
    app = page(**SMALL, text="abcdef")
    assert values(app, "positions_first", "positions_second") == {"positions_first": 2, "positions_second": 5}
    first = array(charts(app)["swap_differences"], 0, "y")
    assert np.abs(array(charts(choose(app, positions_first=0))["swap_differences"], 0, "y") - first).max() > 1e-3
    assert "Choose two different positions" in answer(choose(app, positions_second=0))
    choose(app, text="ab", positions_second=1)
    assert list(array(charts(app)["swap_differences"], 0, "x")) == ["a₀", "b₁"]
    assert "only one token" in sentences(choose(app, text="a"))
    assert not charts(app)


def test_a_causal_mask_is_that_of_the_settings() -> None:
    assert "The causal mask tells" in words(page(**SMALL, text="abcdef", positions_second=4, causal=True))


def test_pinned_settings_that_differ_in_changes_alone_have_no_bars() -> None:
    two = {**SMALL, "text": "abcdef", "do": "1.1:zero", "b_do": ""}
    app = page(**two)
    assert len(charts(app)["swap_differences"]) == 1
    assert "both are the same here" in words(app)
    app = page(**two, b_seed=3)
    assert len(charts(app)["swap_differences"]) == 2
    assert "both are the same here" not in words(app)


def test_a_link_to_a_closer_view_opens_its_panel() -> None:
    assert set(charts(page(**SMALL, text="abcdef", positions_view="curves"))) == {"swap_differences", "position_curves"}
    assert set(charts(page(**SMALL, text="abcdef", positions_first=1))) == {"swap_differences"}

"""Everything at its start again, and all of it back."""

from typing import Any

from streamlit.testing.v1 import AppTest

from playground.link.params import DEFAULT_TEXT
from tests.web.app_test import choose, component_data, open_page, press, shown_focus, values

QUERY: dict[str, Any] = {
    "weights": "random", "tokenizer": "char", "d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 128, "seed": 9,
    "text": "a cat sat", "causal": True, "layer": 1, "head": 2, "query": 5, "key": 3, "attention_view": "entropy",
    "do": "1.2:zero", "b_n_layers": 1,
}  # fmt: skip


def state(app: AppTest) -> Any:
    """Where widgets, focus, changes and pinned settings stand."""
    return component_data(app, "address_guard")["parameters"]


def test_undo_beside_the_notice_brings_all_of_it_back() -> None:
    app = open_page("attention", **QUERY)
    before = state(app)
    assert before["do"] == ["1.2:zero"]
    assert before["b_n_layers"] == ["1"]
    press(app, "reset")
    assert not any(state(app).values())
    assert values(app, "text", "head") == {"text": DEFAULT_TEXT, "head": 1}
    press(app, "undo_reset")
    assert state(app) == before
    assert shown_focus(app) == {"layer": 1, "head": 2, "query": 5, "key": 3}
    assert not any(button.key == "undo_reset" for button in app.button)


def test_undo_is_offered_until_something_else_is_chosen() -> None:
    app = choose(press(open_page("attention", **QUERY), "reset"), seed=3)
    assert not any(button.key == "undo_reset" for button in app.button)


def test_a_shape_that_the_trained_weights_had_locked_comes_back_with_undo() -> None:
    app = choose(open_page("norms", weights="random", n_layers=3), weights="minilm")
    press(press(app, "reset"), "undo_reset")
    assert values(choose(app, weights="random"), "n_layers") == {"n_layers": 3}


def test_undo_brings_back_who_chose_the_pair_of_words() -> None:
    for query, is_chosen in (({}, False), ({"query": 5, "key": 3}, True)):
        app = open_page("attention", text="a cat sat on it", **query)
        press(press(app, "reset"), "undo_reset")
        assert app.session_state["_focus_by_page"] is not is_chosen

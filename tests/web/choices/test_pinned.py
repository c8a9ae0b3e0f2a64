"""Pinned settings: they outlive what is changed beside them, travel in the link, and junk in a link does no harm."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import DEFAULT_TEXT
from playground.link.query import MARKER, PINNED_KEYS
from tests.web.app_test import SMALL, charts, choose, component_data, open_page, press, sentences, values


def written(app: AppTest) -> dict[str, list[str]]:
    """The address's parameters of what is pinned."""
    parameters = component_data(app, "address_guard")["parameters"]
    return {key: texts for key, texts in parameters.items() if key in {MARKER, *PINNED_KEYS}}


@pytest.mark.long
def test_what_is_pinned_outlives_a_change_a_swap_and_ends_with_unpinning() -> None:
    app = press(open_page("norms", **SMALL), "pin")
    assert written(app) == {MARKER: ["true"]}
    choose(app, n_layers=4, norm_placement="pre", text="another")
    assert written(app) == {"b_n_layers": ["2"], "b_norm_placement": ["post"], "b_text": [DEFAULT_TEXT]}
    press(app, "pin_swap")
    assert values(app, "n_layers", "norm_placement", "text") == {
        "n_layers": 2, "norm_placement": "post", "text": DEFAULT_TEXT,
    }  # fmt: skip
    assert written(app) == {"b_n_layers": ["4"], "b_norm_placement": ["pre"], "b_text": ["another"]}
    press(press(app, "pin_swap"), "pin")
    assert values(app, "n_layers") == {"n_layers": 4}
    assert written(app) == {MARKER: ["true"]}
    assert written(press(app, "unpin")) == {}
    assert "pin" in {button.key for button in app.button}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"b_text": "  \n\t"}, "no text"),
        ({"b_n_layers": 96, "b_d_model": 4096, "b_n_heads": 32}, "pinned settings cannot be run"),
        ({"b_d_ff": 33}, "In the pinned settings: The link's d_ff=“33”"),
        ({"b_weights": "minilm", "b_d_model": 64}, "In the pinned settings: The trained weights have another"),
        ({"b_weights": "mine"}, "In the pinned settings: A link can't carry a weights file"),
        ({"b_weights": "trained here"}, "In the pinned settings: This server has not kept"),
        ({"b_sentence": 5}, "no sentence"),
    ],
    ids=str,
)
def test_what_cannot_be_pinned_is_told_in_one_sentence(query: dict[str, object], told: str) -> None:
    app = open_page("attention", **SMALL, **query)
    assert told in sentences(app)
    assert len(sentences(app).splitlines()) == 1
    assert not app.error
    assert "attention_pattern" in charts(app)
    assert sentences(choose(app, seed=5)).count("The link's") == 0

"""Pinned settings: they outlive what is changed beside them, travel in the link, and junk in a link does no harm."""

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.params import SHARED
from playground.link.query import MARKER, PINNED_KEYS, read_pinned
from playground.web.choices import setup
from playground.web.choices.setup import pinned_values, write_pinned
from playground.web.sidebar.controls import EXPERT
from tests.web.app_test import (
    SMALL,
    charts,
    choose,
    component_data,
    open_page,
    open_panels,
    press,
    sentences,
    values,
)  # fmt: skip

NOW: dict[str, Any] = {key: param.default for key, param in SHARED.items()}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The session that the pinned settings lie in."""
    values: dict[str, Any] = {}
    monkeypatch.setattr(setup, "st", SimpleNamespace(session_state=values))
    return values


def written(app: AppTest) -> dict[str, list[str]]:
    """The address's parameters of what is pinned."""
    parameters = component_data(app, "address_guard")["parameters"]
    return {key: texts for key, texts in parameters.items() if texts and key in {MARKER, *PINNED_KEYS}}


def keep(values: Any, from_link: Any) -> Any:
    return dict(values), []


# --- the link


def test_no_pinned_parameter_is_called_like_another() -> None:
    assert set(PINNED_KEYS.values()) == set(SHARED)
    assert not {MARKER, *PINNED_KEYS} & set(SHARED)


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        ({}, {MARKER: ["true"]}),
        ({"n_layers": 12}, {"b_n_layers": ["12"]}),
        ({"n_layers": 12, "causal": True, "text": ""}, {"b_n_layers": ["12"], "b_causal": ["true"], "b_text": [""]}),
    ],
)
def test_what_differs_is_written_and_read_back(
    changes: dict[str, Any], texts: dict[str, list[str]], session: dict[str, Any]
) -> None:
    setup.pin(NOW | changes)
    assert {key: text for key, text in write_pinned(NOW).items() if text} == texts
    assert read_pinned(texts, NOW) == (NOW | changes, set(changes), [])
    setup.unpin()
    assert set(write_pinned(NOW)) == {MARKER, *PINNED_KEYS}
    assert not any(write_pinned(NOW).values())


def test_a_default_that_is_pinned_beside_another_value_is_written(session: dict[str, Any]) -> None:
    setup.pin(NOW)
    now = NOW | {"seed": 7}
    assert {key: text for key, text in write_pinned(now).items() if text} == {"b_seed": ["0"]}
    assert read_pinned({"b_seed": ["0"]}, now)[0] == NOW


def test_only_the_first_link_of_a_session_is_read(session: dict[str, Any]) -> None:
    assert setup.settle_pinned({}, NOW, keep) == []
    assert setup.settle_pinned({"b_seed": ["3"]}, NOW, keep) == []
    assert pinned_values() is None


# --- on the pages

KEPT = ("text", "weights", "tokenizer", "n_layers", "d_model", "seed")


def test_swapping_twice_changes_nothing() -> None:
    def sides() -> list[dict[str, Any]]:
        return [{key: side[key] for key in KEPT} for side in (app.session_state, app.session_state["_pinned"])]

    app = choose(press(open_page("norms", **SMALL), "pin"), n_layers=4, text="another")
    now, pinned = sides()
    press(app, "pin_swap")
    assert sides() == [pinned, now]
    press(app, "pin_swap")
    assert sides() == [now, pinned]


@pytest.mark.long
def test_what_is_pinned_outlives_a_change_a_swap_and_ends_with_unpinning() -> None:
    app = press(open_page("norms", **SMALL), "pin")
    assert written(app) == {MARKER: ["true"]}
    choose(app, n_layers=4, norm_placement="pre")
    assert written(app) == {"b_n_layers": ["2"], "b_norm_placement": ["post"]}
    press(app, "pin_swap")
    assert values(app, "n_layers", "norm_placement") == {"n_layers": 2, "norm_placement": "post"}
    assert written(app) == {"b_n_layers": ["4"], "b_norm_placement": ["pre"]}
    press(app, "pin")
    assert written(app) == {MARKER: ["true"]}
    press(app, "unpin")
    assert written(app) == {}
    assert {button.key for button in app.button} >= {"pin"}
    assert "unpin" not in {button.key for button in app.button}


@pytest.mark.long
def test_swapping_brings_trained_weights_and_their_text_back() -> None:
    app = press(open_panels(open_page("compare", text="short"), EXPERT), "pin")
    press(app, "unlock")
    choose(app, text="longer than that", tokenizer="char", d_model=48)
    assert written(app).keys() == {"b_text", "b_weights", "b_tokenizer", "b_d_model"}
    press(app, "pin_swap")
    assert values(app, "text", "weights", "tokenizer", "d_model") == {
        "text": "short", "weights": "minilm", "tokenizer": "wordpiece", "d_model": 384,
    }  # fmt: skip
    assert values(press(app, "pin_swap"), "text", "d_model") == {"text": "longer than that", "d_model": 48}


def test_reset_unpins() -> None:
    assert written(press(open_page("norms", **SMALL, b_n_layers=1), "reset")) == {}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"b_text": ""}, "no text"),
        ({"b_text": "  \n\t"}, "no text"),
        ({"b_n_layers": 96, "b_d_model": 4096, "b_n_heads": 32}, "pinned settings cannot be run"),
        ({"b_d_ff": 33}, "b_d_ff=“33”"),
        ({"b_n_heads": 3}, "In the pinned settings: n_heads=3 does not divide"),
        ({"b_weights": "minilm", "b_d_model": 64}, "In the pinned settings: The trained weights decide"),
        ({"b_weights": "mine"}, "In the pinned settings: A link can't carry a weights file"),
        (
            {"b_weights": "trained here"},
            "In the pinned settings: This server has not kept",
        ),
        ({"b_sentence": 5}, "no sentence"),
        ({"pinned": "perhaps"}, "pinned=“perhaps”"),
    ],
    ids=str,
)
@pytest.mark.parametrize("page", ["attention", "compare"])
def test_what_cannot_be_pinned_is_told_in_one_sentence(page: str, query: dict[str, object], told: str) -> None:
    app = open_page(page, **SMALL, **query)
    assert told in sentences(app)
    assert len(sentences(app).splitlines()) == 1
    assert not app.error
    assert (page == "compare") or "attention_pattern" in charts(app)
    assert sentences(choose(app, seed=5)).count("The link's") == 0

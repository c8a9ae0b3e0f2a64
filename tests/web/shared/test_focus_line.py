"""The focus in charts: which cell has the frame, what a click on another sets, and what the line says."""

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.web import components
from playground.web.choices import setup
from playground.web.shared import renderer
from tests.web.app_test import SMALL, choose, component_data, drawn_data, open_page, small_trace

PLACE = {"layer": 1, "head": 2, "query": 4, "key": 1}


def frames(app: AppTest) -> dict[str, Any]:
    """What the browser draws frames from, by the charts' names."""
    drawings = [one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith("cell_frame")]
    return {data["container"]: data for data in map(drawn_data, drawings)}


def selected(app: AppTest) -> dict[str, Any]:
    return {name: data["selected"] for name, data in frames(app).items()}


def test_each_chart_frames_the_same_place_by_its_own_axes() -> None:
    app = open_page("attention", **SMALL, text="a cat sat", attention_view="entropy", **PLACE)
    assert selected(app) == {"attention_grid": [1, 2], "attention_pattern": [4, 1], "attention_entropy": [1, 2]}
    weights = small_trace("a cat sat")["layers.1.attn.pattern"][0, 2, 4]
    choose(app, attention_view="ranking")
    assert selected(app)["attention_ranking"] == [int((weights > weights[1]).sum()), 0]
    assert component_data(app, "focus_line")["weight"] == f"weight {weights[1]:.2f}"
    app = open_page("norms", **SMALL, text="a cat sat", norms_closer=True, **PLACE)
    assert selected(app) == {"norms_by_layer": [0, 1], "norms_by_token": [2, 4]}, "layer 1 leads to depth 2"
    assert component_data(app, "focus_line")["shown"] == ["layer", "query"], "no head and no key count"
    app = open_page("step_by_step", **SMALL, text="a cat sat", step_stage="softmax", **PLACE)
    assert selected(app) == {"step_softmax": [0, 1], "step_pattern": [4, 1]}


def test_hidden_tokens_have_no_frame_and_move_those_of_others() -> None:
    hidden = {"text": "two words", "attention_hide": True}
    assert selected(open_page("attention", **hidden, query=2, key=1))["attention_pattern"] == [1, 0]
    assert selected(open_page("attention", **hidden, query=0, key=1))["attention_pattern"] is None
    padded = open_page("attention", **SMALL, text="a\nlonger", attention_hide=True, key=3)
    assert selected(padded)["attention_pattern"] is None, "the key is padding"
    assert selected(choose(padded, key=0))["attention_pattern"] == [0, 0]


def test_a_masked_key_has_no_weight_and_the_line_says_so() -> None:
    line = component_data(open_page("attention", **SMALL, text="a cat sat", causal=True, query=1, key=5), "focus_line")
    assert line["weight"] == "weight 0 (masked)"
    assert line["note"] == ""


@pytest.mark.parametrize(
    ("clicked", "expected"),
    [
        ([1, 2], {"query": 5, "key": 3}),
        ([0, 9], {"query": 4}),
        ([-1, 0], {"key": 1}),
        ([[1], {}], {}),
        (None, {}),
        ("12", {}),
    ],
)
def test_a_click_sets_what_row_and_column_stand_for(
    clicked: object, expected: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    session: dict[str, Any] = {}
    monkeypatch.setattr(setup, "st", SimpleNamespace(session_state=session))
    sent = {"map_frame": SimpleNamespace(clicked=clicked)}
    monkeypatch.setattr(components, "st", SimpleNamespace(session_state=sent))
    renderer.take_click("map", (("query", {0: 4, 1: 5}), ("key", {0: 1, 1: 2, 2: 3})))
    assert {key: value for key, value in session.items() if key != setup.CHOICES} == expected

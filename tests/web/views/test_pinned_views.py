"""Every page beside the pinned settings: what of both it shows, and what the two sides are called.

Numbers of both sides and their difference are tested where charts are drawn.
"""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.kinds import Changes, MadeChange
from playground.link.params import SHARED
from playground.model.changes import Change
from playground.views.scenes import list_differences
from tests.web.app_test import SMALL, captions, charts, open_page, prose, without_error

PLACE = {"layer": 1, "head": 2, "query": 3, "key": 1}
OTHER_TOKENS = "read other tokens"


def page(name: str, **query: object) -> AppTest:
    """The page, drawn without an error."""
    return without_error(open_page(name, **SMALL | {"text": "abcab"} | PLACE | query))


@pytest.mark.parametrize(
    ("name", "query", "drawn"),
    [
        ("attention", {"attention_view": "entropy"}, {"attention_entropy_pinned", "attention_entropy_difference"}),
        ("norms", {"norms_closer": True}, {"norms_by_token_pinned"}),
        ("step_by_step", {"step_stage": "feed-forward"}, {"step_pinned"}),
        ("positions", {"positions_table": True, "positions": "learned"}, {"position_table_difference"}),
    ],
    ids=lambda value: "" if isinstance(value, set) else str(value),
)
def test_both_sides_are_shown_if_they_read_the_same_tokens(name: str, query: dict[str, Any], drawn: set[str]) -> None:
    assert charts(page(name, **query, b_seed=5)).keys() >= drawn
    other = page(name, **query, b_text="xyz")
    assert OTHER_TOKENS in captions(other) or name == "attention"


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"norm": "none", "n_layers": 96, "d_model": 64, "b_norm": "layer"},
        {"b_n_layers": 96, "b_d_model": 12288, "b_n_heads": 96},
        {"b_text": ""},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["attention", "norms", "positions", "step_by_step"])
def test_views_open_beside_what_overflows_or_cannot_be_run(name: str, changes: dict[str, Any]) -> None:
    page(name, **changes)


NOW: dict[str, Any] = {key: param.default for key, param in SHARED.items()}
TWO_MADE = Changes((MadeChange(Change("zero", 1, 2)), MadeChange(Change("off", 0, None, ("ffn",)))))


@pytest.mark.parametrize(
    ("pinned", "now", "differences"),
    [
        ({}, {}, []),
        ({"n_layers": 6}, {"n_layers": 12}, [("n_layers 6", "n_layers 12")]),
        ({"vocab_size": 300, "tokenizer": "bpe"}, {"tokenizer": "bpe"}, [("vocab size 300", "vocab size 2000")]),
        ({"untrained": True}, {}, []),
        ({"weights": "random"}, {"weights": "minilm"}, [("random weights", "trained weights")]),
        ({"do": Changes()}, {"do": TWO_MADE}, [("no change", "“layer 1, head 2 off” and 1 more")]),
        ({"text": "a\nb"}, {"text": ""}, [("text “ab”", "text “”")]),
    ],
)
def test_differences_are_those_that_can_be_seen(
    pinned: dict[str, Any], now: dict[str, Any], differences: list[tuple[str, str]]
) -> None:
    assert list_differences(NOW | pinned, NOW | now) == differences


def test_a_sides_name_has_two_differences_and_says_how_many_more_and_the_page_has_them_all() -> None:
    app = open_page("norms", **SMALL, b_n_layers=4, b_d_ff=64, b_seed=5, b_norm="rms")
    names = {trace.get("name") for trace in charts(app)["norms_by_layer"]}
    assert "dotted: pinned (n_layers 4, d_ff 64 and 2 more)" in names
    told = prose(app).replace("\\", "")
    assert "pinned (n_layers 4, d_ff 64, norm rms, seed 5) and now (n_layers 2, d_ff 32, norm layer, seed 0)." in told


def test_a_pinned_text_acts_as_no_markup() -> None:
    app = open_page("norms", **SMALL, b_text="<b>**x**</b> [y](z)")
    names = [trace.get("name", "") for trace in charts(app)["norms_by_layer"]]
    assert not [name for name in names if "<b>" in name]
    assert [name for name in names if "&lt;b&gt;" in name]
    assert "**x**" not in prose(app) + captions(app)

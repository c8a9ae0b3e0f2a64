"""A change is put together at the focus, checked before it is made, and can be set to another strength."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.link.kinds import MAX_CHANGES
from playground.web.views.what_if.make_change import TITLES
from tests.web.app_test import SMALL, captions, component_data, new_page, open_page, press, prose, working

PAIR = {**SMALL, "text": "abcdefgh\nhgfedcba\nabc", "layer": "1", "head": "2", "query": "5", "key": "3"}


def chips(app: AppTest) -> list[str]:
    return [text for chip in component_data(app, "change_chips").get("chips", []) for text in chip["text"].split(",")]


def composed(app: AppTest, kind: str, **choices: Any) -> AppTest:
    """The page, opened or not, with a change put together."""
    app.session_state["compose_kind"] = next(each for each in TITLES if each.startswith(kind))
    app.session_state["whatif_more"] = True
    working(app.run())
    for key, value in choices.items():
        found = [
            each
            for each in (*app.segmented_control, *app.slider, *app.number_input, *app.selectbox)
            if (each.key or "").startswith(f"compose_{key}")
        ]
        working(found[0].set_value(value).run())
    return app


@pytest.mark.parametrize(
    ("kind", "choices", "text"),
    [
        ("switch a head off", {}, "1.2:zero"),
        ("switch a head off", {"head": "every head", "strength": 0.5}, "1.*:zero~0.5"),
        ("replace a head", {}, "1.2:mean"),
        ("switch a sublayer", {"sublayer": "feed-forward"}, "1.ffn:off"),
        ("forbid a pair", {}, "1.2:cut_5_3"),
        ("forbid a pair", {"when": "after the softmax", "head": "every head"}, "1.*:cut_5_3_after"),
        ("force a pair", {}, "1.2:force_5_3"),
        ("set a pair's weight", {"weight": 0.25}, "1.2:weight_5_3_0.25"),
        ("hide a token", {"layers": "the chosen layer"}, "1.*:hide_3"),
        ("hide a token", {"layers": "the chosen layer", "hidden": "the chosen head"}, "1.2:hide_3"),
        ("set what", {}, "1.2:uniform_5"),
        ("set what", {"row": "to itself alone", "token": "every token"}, "1.2:diagonal_*"),
        ("set what", {"row": "as another head"}, "1.2:copy_5_0"),
        ("shuffle", {"seed": 7}, "positions:shuffle_7"),
        ("take a vector", {}, "1.out:patch_5_2"),
        ("take a vector", {"point": "values", "token": "every token"}, "1.2.v:patch_*_2"),
        ("take a vector", {"point": "the embedding"}, "embed:patch_5_2"),
    ],
)
def test_what_is_chosen_is_what_is_made(kind: str, choices: dict[str, Any], text: str) -> None:
    def script() -> None:
        import streamlit as st

        from playground.link.opening import Focus
        from playground.model.change_texts import write_change
        from playground.web.views.what_if.make_change import compose_changes
        from tests.web.views.what_if.what_if_page import CONFIG

        st.text(",".join(map(write_change, compose_changes(Focus(1, 2, 5, 3), CONFIG, 3, 0))))

    app = composed(AppTest.from_function(script), kind, **choices)
    assert [each.value for each in app.text] == [text]


@pytest.mark.parametrize(
    ("kind", "choices", "query", "reason"),
    [
        ("take a vector", {"sentence": 3}, {}, "8 and 3 tokens"),
        ("take a vector", {}, {"text": "abc"}, "the text has 1 sentence"),
        ("shuffle", {}, {"positions": "none"}, "adds no positions"),
        ("forbid a pair", {}, {"causal": "true", "query": "2"}, "the mask hides d₃ from c₂"),
        ("switch a head off", {}, {"do": "1.2:mean"}, "already sets the same numbers; take that back first"),
        ("force a pair", {}, {"do": "1.2:force_5_1"}, "layer 1, head 2: f₅ → b₁ alone” already sets"),
        ("force a pair", {}, {"do": "1.2:force_5_1"}, "another weight of this row; take that back first"),
        ("hide a token", {}, {"n_layers": "96"}, "A link holds"),
        ("set what", {"row": "as another head"}, {"n_heads": "1", "head": "0"}, "already as it is itself"),
        ("switch a head off", {}, {"do": ",".join(f"9.{i}:mean" for i in range(MAX_CHANGES))},
         "A link holds"),
    ],
)  # fmt: skip
def test_what_cannot_apply_is_said_before_it_is_made(
    kind: str, choices: dict[str, Any], query: dict[str, str], reason: str
) -> None:
    app = composed(new_page("what_if", **PAIR | query, whatif_more=True), kind, **choices)
    assert app.button(key="compose_make").disabled
    assert reason in captions(app).replace("\\", "")
    assert "token 3" not in captions(app), "tokens have words"


def test_a_token_is_hidden_in_every_layer_unless_asked_otherwise() -> None:
    app = composed(new_page("what_if", **PAIR, whatif_more=True), "hide a token")
    assert "every layer, all heads" in prose(app)
    press(app, "compose_make")
    assert chips(app) == ["0.*:hide_3", "1.*:hide_3"]
    composed(app, "hide a token", strength=0.5)
    press(app, "compose_make")
    assert chips(app) == ["0.*:hide_3~0.5", "1.*:hide_3~0.5"]


def test_a_made_change_is_set_to_another_strength() -> None:
    app = composed(
        new_page("what_if", **PAIR, do="1.2:zero,0.0:zero", whatif_more=True), "switch a head off", strength=0.25
    )
    assert "strength" in app.button(key="compose_make").label
    press(app, "compose_make")
    assert chips(app) == ["1.2:zero~0.25", "0.0:zero"]


HIDE = ["0.*:hide_3", "1.*:hide_3"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("query", "made"),
    [
        ({}, [["1.2:zero"], ["1.2:cut_5_3"], HIDE]),
        ({"do": "0.0:mean"}, [["0.0:mean", "1.2:zero"], ["0.0:mean", "1.2:cut_5_3"], ["0.0:mean", *HIDE]]),
        ({"causal": "true", "query": "2"}, [["1.2:zero"], None, HIDE]),
        ({"n_layers": "96"}, [["1.2:zero"], ["1.2:cut_5_3"], ["1.*:hide_3"]]),
    ],
)
def test_three_kinds_of_change_are_made_by_one_press_and_taken_back_by_another(
    query: dict[str, str], made: list[list[str] | None]
) -> None:
    for place, texts in enumerate(made):
        app = open_page("what_if", **PAIR | query)
        before = chips(app)
        assert app.button(key=f"example_{place}").disabled == (texts is None)
        assert captions(app).count("cannot be made") == made.count(None)
        if texts is not None:
            press(app, f"example_{place}")
            assert chips(app) == texts
            assert not any(chip["reason"] for chip in component_data(app, "change_chips")["chips"])
            assert "The sentence vector moves by" in prose(app), "what came of it stands above the pressed button"
            assert chips(press(app, f"example_{place}")) == before

"""The page What if: numbers that grow part by part, the form of every kind of change, and what its presses do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.errors import BusyError
from playground.runs.arrays import Array
from playground.web.session.services import Turns, other_services
from playground.web.views import what_if
from playground.web.views.what_if import MOST_TOGETHER, TITLES, Growing, Rows, cut
from tests.web.app_test import (
    ODD_TEXT,
    SMALL,
    array,
    captions,
    charts,
    choose,
    component_data,
    new_page,
    open_page,
    press,
    prose,
    sentences,
    status_text,
    without_error,
    words,
    working,
)

PARTS, PLACES = "which parts matter", "where the difference sits"
PAIR = "a cat sat\na dog sat"


# --- numbers that grow


def doubled(rows: Rows) -> Array:
    return 2 * np.array(rows, np.float32)


def refuse(rows: Rows) -> Array:
    pytest.fail(f"{rows} are measured again")


def test_a_step_measures_a_part_or_as_many_as_fit_into_its_time_unless_somebody_else_does() -> None:
    growing = Growing([(0, 1), (2,), (3, 4)])
    growing.advance(doubled, 0)
    np.testing.assert_array_equal(growing.numbers, [0, 2, np.nan, np.nan, np.nan])
    with growing.lock:
        growing.advance(refuse, 100)
    growing.advance(doubled, 100)
    assert (growing.numbers == [0, 2, 4, 6, 8]).all()
    growing.advance(refuse, 1)
    assert cut(range(3, 8), 2) == [(3, 4), (5, 6), (7,)]
    assert [len(part) for part in cut(range(60), 1_000)] == [MOST_TOGETHER, MOST_TOGETHER, 60 - 2 * MOST_TOGETHER]


def test_what_was_measured_stays_where_a_part_fails() -> None:
    growing = Growing([(0,), (1,)])

    def refuse_second(rows: Rows) -> Array:
        if rows == (1,):
            raise BusyError("Many people are computing right now.")
        return doubled(rows)

    with pytest.raises(BusyError):
        growing.advance(refuse_second, 100)
    assert growing.n_done == 1
    assert not growing.lock.locked()
    growing.advance(doubled, 100)
    assert growing.is_complete


def open_pairs(seed: int) -> AppTest:
    """The pairs of a head of weights that no other test has, so that nothing of it is measured yet."""
    chosen = {"whatif_parts": "pairs of one head", "layer": 1, "head": 1, "seed": seed, "text": "a sentence of its own"}
    return open_page("what_if", whatif_view=PARTS, **SMALL, **chosen)


def n_measured(app: AppTest) -> int:
    return int(np.isfinite(array(charts(app)["pair_effects"])).sum())


def test_many_rows_are_measured_once_switched_on_and_another_visitor_sees_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_if, "SLICE", 0.0)
    monkeypatch.setattr(what_if, "MOST_TOGETHER", 20)
    app = open_pairs(101)
    assert "0 of 441 runs" in status_text(app)
    assert not component_data(app, "ask_again")
    working(app.toggle(key="whatif_effects_measure").set_value(True).run())
    assert component_data(app, "ask_again")
    assert n_measured(working(app.run())) == 40
    other = open_pairs(101)
    assert n_measured(other) == 40
    assert not component_data(other, "ask_again"), "who has not asked for more"


def test_where_no_turn_comes_free_or_parts_are_too_many_one_sentence_says_so() -> None:
    app = open_pairs(104)
    with other_services(turns=Turns(1, 0.01)) as busy, busy.turns.take():
        choose(app, whatif_parts="sublayers")
        assert "Many people are computing right now" in sentences(app)
    assert "sublayer_effects" in charts(without_error(app.run()))
    app = open_page("what_if", whatif_view=PARTS, whatif_parts="pairs of one head", text="ab " * 70, layer=0, **SMALL)
    assert "too many" in sentences(app)


@contextmanager
def measuring_all_at_once() -> Iterator[None]:
    """Whatever is shown is measured before it is drawn, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(what_if, "SLICE", float("inf"))
        patch.setattr(what_if, "BY_ITSELF", 10**6)
        yield


def open_view(view: str, text: str = PAIR, **query: object) -> AppTest:
    """A view of the page, for the encoder behind SMALL, with everything measured."""
    with measuring_all_at_once():
        return without_error(open_page("what_if", whatif_view=view, text=text, **SMALL | query))


# --- presses, links, and every state


def test_from_the_line_of_changes_a_press_leads_to_what_followed_whatever_was_open() -> None:
    app = open_page("attention", **SMALL, text=PAIR, whatif_view=PARTS, do="0.2:zero")
    press(app, "followed")
    assert app.session_state["whatif_view"] == "what followed"


@pytest.mark.parametrize(("asked", "taken"), [(1, 2), (8, 4)])
def test_a_sentence_that_cannot_be_patched_from_gives_way_to_the_next_that_can(asked: int, taken: int) -> None:
    app = open_view(PLACES, "a cat sat\na dog sat\na long sentence\na fox ran", whatif_other=asked)
    assert any(each.value.startswith(f"Sentence {taken}: ") for each in app.caption)


def test_without_a_pair_a_button_copies_the_sentence_with_another_word() -> None:
    link = {**SMALL, "text": "The man saw it", "query": 5, "do": "0.1:zero,0.*:hide_3"}
    app = open_page("what_if", whatif_view=PLACES, **link)
    assert "patched_places" not in charts(app)
    with measuring_all_at_once():
        press(app, "whatif_corrupt")
    changed = app.session_state["text"].split("\n")
    assert (app.session_state["sentence"], app.session_state["whatif_other"]) == (2, 1)
    assert app.session_state["query"] == next(i for i in range(14) if changed[0][i] != changed[1][i])
    assert array(charts(app)["patched_places"]).shape == (3, 14)
    assert [each.is_on for each in app.session_state["do"].made] == [True, False], "token 3 is another one here"


@pytest.mark.sweep
@pytest.mark.parametrize(("text", "changes"), [
    (PAIR, {"norm_placement": "pre", "final_norm": True, "causal": True}), (ODD_TEXT, {"tokenizer": "vectors"}),
    ("x", {"norm": "none", "residual": False, "n_heads": 1, "n_layers": 1, "positions": "none"}),
])  # fmt: skip
def test_every_view_is_drawn_in_every_architecture(text: str, changes: dict[str, object]) -> None:
    app = open_view(PARTS, text, **changes)
    assert "head_effects" in charts(app)
    assert "sublayer_effects" in charts(choose(app, whatif_parts="sublayers"))
    choose(app, whatif_parts="pairs of one head")
    assert ("pair_effects" in charts(app)) != ("no pair can be cut" in sentences(app))
    app = open_page("what_if", **SMALL | changes, text=text, do="0.0:zero", whatif_view=PLACES)
    assert "nan" not in words(choose(app, whatif_view="what followed")).lower().split()


# --- the form of every kind of change

THREE = {**SMALL, "text": "abcdefgh\nhgfedcba\nabc", "layer": "1", "head": "2", "query": "5", "key": "3"}


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
        ("switch a head off", {"head": "every head", "strength": 0.5}, "1.*:zero~0.5"),
        ("replace a head", {}, "1.2:mean"),
        ("switch a sublayer", {"sublayer": "feed-forward"}, "1.ffn:off"),
        ("set a pair's weight after", {"weight": 0.0, "head": "every head"}, "1.*:cut_5_3_after"),
        ("force a pair", {}, "1.2:force_5_3"),
        ("set a pair's weight:", {"weight": 0.25}, "1.2:weight_5_3_0.25"),
        ("hide a token", {"layers": "the chosen layer"}, "1.*:hide_3"),
        ("set what a query attends to: itself", {"token": "every token"}, "1.2:diagonal_*"),
        ("set what a query attends to: as", {}, "1.2:copy_5_0"),
        ("shuffle", {"seed": 7}, "positions:shuffle_7"),
        ("take a vector", {"point": "values", "token": "every token"}, "1.2.v:patch_*_2"),
        ("take a vector", {"point": "the embedding"}, "embed:patch_5_2"),
    ],
)
def test_what_is_chosen_is_what_is_made(kind: str, choices: dict[str, Any], text: str) -> None:
    def script() -> None:
        import streamlit as st

        from playground import ModelConfig
        from playground.link.opening import Focus
        from playground.model.change_texts import write_change
        from playground.web.views.what_if import compose_changes
        from tests.web.app_test import SMALL_CONFIG

        made = compose_changes(Focus(1, 2, 5, 3), ModelConfig(**SMALL_CONFIG), 3, 0)
        st.text(",".join(map(write_change, made)))

    app = composed(AppTest.from_function(script), kind, **choices)
    assert [each.value for each in app.text] == [text]


@pytest.mark.parametrize(
    ("kind", "choices", "query", "reason"),
    [
        ("take a vector", {"sentence": 3}, {}, "8 and 3 tokens"),
        ("forbid a pair", {}, {"causal": "true", "query": "2"}, "the mask hides d₃ from c₂"),
        ("switch a head off", {}, {"do": "1.2:mean"}, "already sets the same numbers; take that back first"),
        ("hide a token", {}, {"n_layers": "96"}, "A link holds"),
    ],
)
def test_what_cannot_apply_is_said_before_it_is_made(
    kind: str, choices: dict[str, Any], query: dict[str, str], reason: str
) -> None:
    app = composed(new_page("what_if", **THREE | query, whatif_more=True), kind, **choices)
    assert app.button(key="compose_make_0").disabled
    assert reason in captions(app).replace("\\", "")
    assert "token 3" not in captions(app), "tokens have words"


def test_a_token_is_hidden_in_every_layer_and_another_strength_takes_its_place() -> None:
    app = composed(new_page("what_if", **THREE, do="0.0:zero", whatif_more=True), "hide a token")
    assert "every layer, all heads" in prose(app)
    press(app, "compose_make_0")
    assert "2 changes move the sentence vector" in prose(app)
    assert str(app.session_state["do"]) == "0.0:zero,0.*:hide_3,1.*:hide_3"
    composed(app, "hide a token", strength=0.5)
    press(app, "compose_make_0")
    assert str(app.session_state["do"]) == "0.0:zero,0.*:hide_3~0.5,1.*:hide_3~0.5"

"""What a visitor chooses: widgets, presets, resets, texts that are replaced or long."""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from playground.accounting import count_parameters
from playground.limits import MAX_CHARACTERS
from playground.link.kinds import write
from playground.link.opening import open_link
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT, PARAMS
from playground.link.query import MARKER, PINNED_KEYS
from playground.presets import PRESETS
from playground.web.choices import setup
from playground.web.sidebar.controls import EXPERT
from tests.web.app_test import (
    SMALL,
    captions,
    choose,
    component_data,
    open_page,
    open_panels,
    parameter_count,
    press,
    sentences,
    shown_focus,
    values,
    words,
    working,
)

DEFAULTS = {key: param.default for key, param in ARCHITECTURE.items()}


def test_a_link_sets_every_widget() -> None:
    options: dict[str, Any] = {key: getattr(param, "options", (False, True)) for key, param in ARCHITECTURE.items()}
    asked = {key: next(value for value in options[key] if value != DEFAULTS[key]) for key in ARCHITECTURE}
    asked |= {"d_model": 64, "n_heads": 2, "n_layers": 3, "d_ff": 96, "n_segments": 0, "max_len": 32}
    asked |= {"n_kv_heads": 0, "d_head": 16, "tied": "separate"}  # of a fused projection, each head has its own keys
    assert all(asked[key] != default for key, default in DEFAULTS.items() if key not in ("n_kv_heads", "tied"))
    app = open_page(weights="random", seed="11", **{key: write(value) for key, value in asked.items()})
    assert sentences(app) == ""
    assert values(app, *asked, "seed") == {**asked, "seed": 11}
    assert "3 layers × 2 heads" in captions(app)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("junk", ["NaN", "--5", "", "9" * 1500, "<script>alert(1)</script>", "-inf", "🙂"])
def test_junk_for_every_parameter_leaves_a_page_that_works(junk: str) -> None:
    keys = {*PARAMS, MARKER, *PINNED_KEYS} - {"text", "b_text"}
    app = open_page("attention", **dict.fromkeys(keys, junk))
    assert not app.error
    assert sentences(app)
    assert "16 tokens" in captions(app)
    assert values(app, "text") == {"text": DEFAULT_TEXT}


def test_a_notice_stays_until_the_visitor_changes_something_and_the_rest_of_the_link_counts() -> None:
    kept = {"text": "kept", "seed": 5, "causal": True, "head": 4}
    app = open_page("attention", d_model="13", n_layers="junk", weights="random", n_heads="5", v="0", **kept)
    for _ in range(2):
        assert all(words in sentences(app) for words in ("d_model=“13”", "n_layers=“junk”", "another version"))
        assert values(app, *kept, "n_heads") == kept | {"n_heads": 5}
        app.run()
    assert sentences(choose(app, seed=3)) == ""


def test_a_link_for_another_shape_gets_random_weights_unless_it_asks_for_trained_ones() -> None:
    app = open_page(n_layers="2")
    assert values(app, "weights") == {"weights": "random"}
    assert sentences(app)
    assert "2 layers × 12 heads" in captions(app)
    app = open_page(weights="minilm", n_layers="2", norm="rms")
    assert values(app) == DEFAULTS
    assert sentences(app)
    assert "trained weights" in captions(app)


def test_parameters_that_nothing_depends_on_are_named_once_as_a_notebook_names_them() -> None:
    misspelt = {"n_layer": "2", "<b>x</b>": "1", "wieghts": "random", "amp;hed": "3", "amp;layer": "1"}
    app = open_page("norms", **misspelt)
    assert state(app) == {"layer": ["1"]}, "after an escaped ampersand too"
    (notice,) = (each for each in sentences(app).splitlines() if "n_layer" in each)
    assert notice.removeprefix("- ") in open_link(f"http://h/norms?{urlencode(misspelt)}").notices
    assert "<" not in notice
    choose(app, weights="random")
    assert "n_layer" not in sentences(app), "it was about the link"


@pytest.mark.long
def test_a_preset_sets_the_whole_architecture_and_its_token_table() -> None:
    app = open_panels(open_page("parameters", text="some words of mine"), EXPERT)
    for name, preset in PRESETS.items():
        working(app.selectbox(key="preset").set_value(name).run())
        assert values(app) == {key: getattr(preset.config, key) for key in ARCHITECTURE}, name
        assert values(app, "weights") == {"weights": "random"}
        assert parameter_count(app) == f"{count_parameters(preset.config).total:,}", name


def test_the_setup_is_the_same_on_every_page() -> None:
    asked = {"n_layers": 4, "seed": 9, "text": "one\ntwo two\nthree three three", "sentence": 3}
    app = open_page("overview", weights="random", tokenizer="word", **asked)
    for page in ("attention", "norms", "parameters"):
        working(app.switch_page(f"../../pages/{page}.py").run())
        assert values(app, *asked) == asked
    assert values(choose(app, text="one\ntwo two"), "sentence") == {"sentence": 2}, "the last that there is"


QUERY: dict[str, Any] = {
    "weights": "random", "tokenizer": "char", "d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 128, "seed": 9,
    "text": "a cat sat", "causal": True, "layer": 1, "head": 2, "query": 5, "key": 3, "attention_view": "entropy",
    "do": "1.2:zero", "b_n_layers": 1,
}  # fmt: skip


def state(app: AppTest) -> Any:
    """Where widgets, focus, changes and pinned settings stand."""
    return component_data(app, "address_guard")["parameters"]


def test_undo_after_a_reset_brings_all_of_it_back() -> None:
    app = open_page("attention", **QUERY)
    before = state(app)
    assert before["do"] == ["1.2:zero"]
    assert before["b_n_layers"] == ["1"]
    press(app, "reset")
    assert state(app) == {}
    assert values(app) == DEFAULTS
    assert values(app, "text", "head") == {"text": DEFAULT_TEXT, "head": 1}
    press(app, "undo")
    assert state(app) == before
    assert shown_focus(app) == {"layer": 1, "head": 2, "query": 5, "key": 3}


def test_the_last_fifty_moments_are_kept_and_one_run_makes_one() -> None:
    app = open_page("norms", **SMALL)
    for seed in range(1, 4):
        choose(app, seed=seed)
    assert [each.values["seed"] for each in app.session_state[setup.CHOICES].moments] == [0, 1, 2, 3]
    app.session_state[setup.CHOICES].moments *= 20
    assert len(choose(app, seed=9).session_state[setup.CHOICES].moments) == setup.LONGEST


def test_undo_steps_back_through_one_choice_after_the_other_and_ends_at_the_first() -> None:
    app = open_page("attention", **QUERY)
    choices = ({"n_layers": 3}, {"seed": 4}, {"n_heads": 2}, {"weights": "minilm"})
    steps = [state(app), *(state(choose(app, **chosen)) for chosen in choices)]
    for step in [*reversed(steps[:-1]), steps[0]]:
        assert state(press(app, "undo")) == step
    choose(app, seed=5)
    press(app.switch_page("../../pages/norms.py").run(), "undo")
    assert values(app, "seed") == {"seed": 9}, "from another page too"


def drawn_otherwise() -> None:
    """A page on which a choice is drawn as another widget after a press, which chooses too."""
    import streamlit as st

    from playground.web.choices import open_page, widgets

    open_page.open_page("norms")
    if "chosen" in st.session_state:
        widgets.menu("positions", "positions")
        widgets.whole("norms_norm", high=3)
    else:
        widgets.choice("positions")
        widgets.whole("norms_norm", high=5)
    st.button("go", key="go", on_click=lambda: st.session_state.update(positions="rotary", chosen=1))


def test_a_widget_that_is_drawn_as_another_kind_keeps_what_was_chosen() -> None:
    app = AppTest.from_function(drawn_otherwise)
    app.query_params.update(weights="random", positions="alibi", norms_norm="2")
    assert app.run().session_state["positions"] == "alibi"
    press(app, "go")
    for _ in range(2):
        assert app.selectbox(key="positions").value == app.session_state["positions"] == "rotary"
        assert app.slider(key="norms_norm").value == 2
        app.run()


# --- texts that are replaced, late or long

FIELDS = ("text", "phone_text")
OLD = "The man saw it"


def say(app: AppTest, fields: Collection[str], text: str) -> str:
    """The text of the sidebar after one request in which these fields say something."""
    for key in fields:
        app.text_area(key=key).set_value(text)
    return str(working(app.run()).session_state["text"])


def with_example() -> tuple[AppTest, str]:
    """The page What if after a press that added sentences, and its text."""
    app = press(open_page("what_if", whatif_view="where the difference sits", text=OLD, **SMALL), "whatif_corrupt")
    return app, app.session_state["text"]


def test_a_field_that_is_late_does_not_undo_what_a_button_or_the_second_field_brought() -> None:
    app, new = with_example()
    assert new.startswith(f"{OLD}\n")
    for fields in (["text"], ["phone_text"], FIELDS):
        assert say(app, fields, OLD) == new
        assert {app.text_area(key=key).value for key in FIELDS} == {new}
    app = open_page("attention", text=OLD, **SMALL)
    assert say(app, ["phone_text"], "typed") == "typed"
    assert say(app, ["text"], OLD) == "typed", "the browser sent the press before it had heard of the new text"
    assert say(app, ["phone_text"], OLD) == OLD


def test_another_text_is_the_visitors_at_once_and_the_old_one_a_while_later(monkeypatch: pytest.MonkeyPatch) -> None:
    app, _ = with_example()
    assert say(app, ["text"], "typed") == "typed"
    assert say(app, ["text"], OLD) == OLD, "after another text, the old one is nobody's late report"
    app, _ = with_example()
    monkeypatch.setattr(setup, "LATE", 0.0)
    working(app.run())
    assert say(app, ["text"], OLD) == OLD


def press_too_early(app: AppTest, key: str, text: str) -> AppTest:
    """Press a button in a browser whose field still says a text that was replaced."""
    app.text_area(key="text").set_value(text)
    return press(app, key)


def test_a_press_that_comes_with_an_old_text_brings_back_none_that_was_replaced() -> None:
    app = press_too_early(press(open_page(text="cats purr"), "reset"), "pin", "cats purr")
    assert values(app, "text") == {"text": DEFAULT_TEXT}
    app = press_too_early(press(press(app, "undo"), "undo"), "front_look", DEFAULT_TEXT)
    assert values(app, "text") == {"text": "cats purr"}
    app = choose(press(open_page("norms", **SMALL, text="cats purr"), "pin"), text="dogs bark")
    app = press_too_early(press(app, "pin_swap"), "pin_swap", "dogs bark")
    assert values(app, "text") == {"text": "dogs bark"}, "two quick swaps"
    assert values(press(app, "pin_swap"), "text") == {"text": "cats purr"}


LONG = "a cat " * 1000


@pytest.mark.parametrize(
    ("page", "key", "longest"),
    [
        ("attention", "text", MAX_CHARACTERS),
        ("similarity", "similarity_list", MAX_CHARACTERS),
        ("training", "training_text", 4_000),
    ],
)
def test_a_long_paste_is_cut_until_another_text_takes_its_place(page: str, key: str, longest: int) -> None:
    app = open_page(page, **SMALL, **({"training_task": "Next character"} if page == "training" else {}))
    assert values(choose(app, **{key: LONG}), key) == {key: LONG[:longest]}
    assert f"{len(LONG):,} characters" in words(app)
    assert f"{len(LONG):,} characters" not in words(choose(app, **{key: "a dog"}))

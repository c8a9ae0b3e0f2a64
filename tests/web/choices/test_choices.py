"""What a visitor chooses: widgets, presets, resets, texts that are replaced or long."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

from playground.accounting import count_parameters
from playground.config import SETTINGS
from playground.learn.lesson import Lesson, LessonStep, encode_lesson
from playground.limits import MAX_CHARACTERS
from playground.link import query
from playground.link.opening import open_link
from playground.link.params import (
    ARCHITECTURE,
    DEFAULT_TEXT,
    LOCKED,
    PARAMS,
    RECIPE,
    TASK_TITLES,
    TRAINING,
    write,
)
from playground.link.query import MARKER, PINNED_KEYS
from playground.presets import PRESETS
from playground.training.recipe import Recipe
from playground.web.choices import setup, shortcuts
from playground.web.choices.open_page import training_parameters
from playground.web.session import caches
from playground.web.sidebar.controls import EXPERT, IN_SIGHT
from tests.web.app_test import (
    SMALL,
    captions,
    choose,
    component_data,
    locked,
    open_page,
    open_panels,
    parameter_count,
    press,
    sentences,
    shown_focus,
    table,
    values,
    widgets,
    words,
    working,
)

DEFAULTS = {key: param.default for key, param in ARCHITECTURE.items()}


@pytest.mark.long
def test_without_a_link_every_widget_stands_at_its_default() -> None:
    app = open_page()
    assert values(app) == DEFAULTS
    assert values(app, "text", "seed", "weights") == {"text": DEFAULT_TEXT, "seed": 0, "weights": "minilm"}
    without_effect = {key for key, setting in SETTINGS.items() if not setting.has_effect(DEFAULTS)}
    assert locked(app) == set(LOCKED) - {"table_rows", *IN_SIGHT} - without_effect
    assert without_effect >= {"rotary_base", "global_every", "first_norm"}


def test_a_link_sets_every_widget() -> None:
    options: dict[str, Any] = {key: getattr(param, "options", (False, True)) for key, param in ARCHITECTURE.items()}
    asked = {key: next(value for value in options[key] if value != DEFAULTS[key]) for key in ARCHITECTURE}
    asked |= {"d_model": 64, "n_heads": 2, "n_layers": 3, "d_ff": 96, "n_segments": 0, "max_len": 32}
    asked |= {"n_kv_heads": 0, "d_head": 16}  # of a fused projection, each head has its own keys
    assert all(asked[key] != default for key, default in DEFAULTS.items() if key != "n_kv_heads")
    app = open_page(weights="random", seed="11", **{key: write(value) for key, value in asked.items()})
    assert sentences(app) == ""
    assert values(app, *asked, "seed") == {**asked, "seed": 11}
    assert "3 layers × 2 heads" in captions(app)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("n_layers", "causal", "seed"),
    [
        ("12.0", ("True", True, False), ("0012", 12, False)),
        ("1_2", ("FALSE", False, False), ("+12", 0, True)),
        ("1.2e1", ("1", False, True), ("١٢", 0, True)),
        *((text, ("true", True, False), ("12", 12, False)) for text in (" 12", "012", "１２", "+12")),
    ],
)
def test_widget_and_page_agree_on_a_value_that_is_oddly_written(
    n_layers: str, causal: tuple[str, bool, bool], seed: tuple[str, int, bool]
) -> None:
    written = {"n_layers": (n_layers, 12, False), "causal": causal, "seed": seed}
    app = open_page(**SMALL | {key: text for key, (text, _, _) in written.items()})
    assert values(app, *written) == {key: value for key, (_, value, _) in written.items()}
    assert {key: f"{key}=" in sentences(app) for key in written} == {key: told for key, (*_, told) in written.items()}
    assert "12 layers × 4 heads" in captions(app)


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


def test_parameters_after_an_escaped_ampersand_are_read_and_written_as_they_should_be() -> None:
    app = open_page("norms", weights="random", **{"amp;n_layers": "2", "amp;layer": "1", "amp;only": "norms_by_layer"})
    assert values(app, "n_layers") == {"n_layers": 2}
    assert app.session_state["layer"] == 1
    assert not sentences(app)
    assert not any(key.startswith("amp;") for key in app.query_params)
    linked = open_link("http://h/norms?weights=random&amp;n_layers=2&amp;layer=1&amp;v=2")
    assert (linked.config.n_layers, linked.focus.layer) == (2, 1)
    assert linked.notices == ()


def test_parameters_that_nothing_depends_on_are_named_once_as_a_notebook_names_them() -> None:
    misspelt = {"n_layer": "2", "<b>x</b>": "1", "wieghts": "random", "hed": "3"}
    app = open_page("norms", **misspelt)
    (notice,) = (each for each in sentences(app).splitlines() if "n_layer" in each)
    assert notice.removeprefix("- ") in open_link(f"http://h/norms?{urlencode(misspelt)}").notices
    assert "<" not in notice
    choose(app, weights="random")
    assert "n_layer" not in sentences(app), "it was about the link"


@pytest.mark.parametrize("chosen", ["rotary", "learned"])
def test_a_widget_that_is_drawn_as_another_kind_takes_what_a_callback_has_chosen_and_not_the_address(
    chosen: str,
) -> None:
    def script() -> None:
        import streamlit as st

        from playground.web.choices import open_page, widgets

        open_page.open_page("attention")
        widgets.choice("weights")
        if "chosen" in st.session_state:
            widgets.menu("positions", "positions")
        else:
            widgets.choice("positions")
        st.button(
            "go", key="go", on_click=lambda: st.session_state.update(positions=st.session_state["other"], chosen=1)
        )

    app = AppTest.from_function(script)
    app.query_params.update(weights="random", positions="alibi")
    app.session_state["other"] = chosen
    assert working(app.run()).session_state["positions"] == "alibi"
    press(app, "go")
    for _ in range(2):
        assert app.selectbox(key="positions").value == app.session_state["positions"] == chosen
        working(app.run())


def test_unlocking_keeps_the_shape_and_says_that_weights_are_random() -> None:
    app = press(open_panels(open_page(), EXPERT), "unlock")
    assert values(app, *DEFAULTS, "weights") == {**DEFAULTS, "weights": "random"}
    assert not locked(app)
    assert ":orange-badge[random weights]" in captions(app)


def test_a_shape_that_a_press_has_set_comes_back_and_not_the_one_before_it() -> None:
    app = choose(open_page("tutorials", **SMALL | {"n_layers": "5"}), weights="minilm")
    pressed = values(press(app, "tutorials_open_overview"), *LOCKED, "weights")
    assert (pressed["weights"], pressed["n_layers"] == 5) == ("random", False)
    choose(app, weights="minilm")
    assert values(choose(app, weights="random"), *LOCKED, "weights") == pressed


@pytest.mark.long
def test_a_preset_sets_the_whole_architecture_and_its_token_table() -> None:
    app = open_panels(open_page("parameters", text="some words of mine"), EXPERT)
    for name, preset in PRESETS.items():
        working(app.selectbox(key="preset").set_value(name).run())
        assert values(app) == {key: getattr(preset.config, key) for key in ARCHITECTURE}, name
        assert values(app, "weights") == {"weights": "random"}
        assert parameter_count(app) == f"{count_parameters(preset.config).total:,}", name
        assert f"matches: {preset.title}" in captions(app)


def test_without_the_checkpoints_tokenizer_the_token_table_has_as_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "checkpoint_available", lambda: False)
    app = open_page("parameters", weights="random")
    working(app.selectbox(key="preset").set_value("bert-base").run())
    assert values(app, "tokenizer", "table_rows") == {"tokenizer": "word", "table_rows": 30_522}
    assert parameter_count(app) == f"{count_parameters(PRESETS['bert-base'].config).total:,}"
    assert "matches: BERT base" in captions(app)


@pytest.mark.parametrize(
    ("name", "change", "differs"),
    [
        ("tutorial-a", {"text": "this is another sentence"}, "another text"),
        ("tutorial-d", {"table_rows": 5_000}, "table_rows 5000 instead of 10000"),
        ("tutorial-d", {"tokenizer": "char"}, "tokenizer char instead of word"),
        ("tutorial-b", {"tokenizer": "word"}, "tokenizer word instead of vectors"),
    ],
)
def test_all_that_a_preset_sets_counts_for_its_match(name: str, change: dict[str, Any], differs: str) -> None:
    app = open_panels(open_page("parameters"), EXPERT)
    working(app.selectbox(key="preset").set_value(name).run())
    choose(app, **change)
    assert f"nearest: {PRESETS[name].title}, but {differs}" in captions(app).splitlines()


def test_rows_of_the_token_table_are_at_least_the_tokenizers_tokens() -> None:
    query = {"weights": "random", "tokenizer": "char", "d_model": "16", "n_heads": "4", "positions": "none"}
    tables = {}
    for rows in ("0", "1000", "50257"):
        frame = table(open_page("parameters", parameters_formulas=True, table_rows=rows, **query), "formula").set_index(
            "part"
        )
        tables[rows] = frame.loc["tokens", "total"]
    assert tables == {"0": 97 * 16, "1000": 1_000 * 16, "50257": 50_257 * 16}


@pytest.mark.parametrize("query", [{}, {"weights": "random", "tokenizer": "vectors"}])
def test_the_rows_cannot_be_chosen_where_there_is_no_table_or_the_weights_have_one(query: dict[str, str]) -> None:
    assert "table_rows" not in widgets(open_page("parameters", **query))


def test_a_link_for_more_rows_gets_random_weights() -> None:
    app = open_page("parameters", table_rows="37000")
    assert values(app, "weights", "table_rows") == {"weights": "random", "table_rows": 37_000}
    assert "table_rows" in sentences(app)


@pytest.mark.long
def test_heads_move_with_a_slider_that_they_no_longer_divide() -> None:
    app = choose(open_page(weights="random"), d_model=512)
    n_heads = values(app)["n_heads"]
    assert 512 % n_heads == 0
    assert f"6 layers × {n_heads} heads" in captions(app)
    assert "12 heads cannot share d_model = 512 features equally" in sentences(app)
    choose(app, seed=1)
    assert sentences(choose(app, seed=0)) == "", "it is told once"
    choose(app, n_heads=12)
    assert "12 heads cannot share" in sentences(app)
    for page in ("norms", "overview"):
        assert sentences(working(app.switch_page(f"../../pages/{page}.py").run())) == "", "and where it happened"


def test_reset_brings_every_default_back() -> None:
    query = {"seed": "9", "text": "mine", "causal": "true", "head": "2"}
    app = press(open_page("attention", **SMALL | query), "reset")
    keys = [*ARCHITECTURE, "weights", "text", "seed", "causal", "head"]
    assert values(app, *keys) == {key: PARAMS[key].default for key in keys}
    assert "16 tokens · 6 layers × 12 heads" in captions(app)


def test_the_setup_is_the_same_on_every_page() -> None:
    asked = {"n_layers": 4, "seed": 9, "text": "one\ntwo two\nthree three three", "sentence": 3}
    app = open_page("overview", weights="random", tokenizer="word", **asked)
    assert "nearest: MiniLM-L6, but n_layers 4 instead of 6" in captions(app)
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
    return {key: texts for key, texts in component_data(app, "address_guard")["parameters"].items() if texts}


def test_undo_after_a_reset_brings_all_of_it_back() -> None:
    app = open_page("attention", **QUERY)
    before = state(app)
    assert before["do"] == ["1.2:zero"]
    assert before["b_n_layers"] == ["1"]
    press(app, "reset")
    assert state(app) == {}
    assert values(app, "text", "head") == {"text": DEFAULT_TEXT, "head": 1}
    press(app, "undo")
    assert state(app) == before
    assert shown_focus(app) == {"layer": 1, "head": 2, "query": 5, "key": 3}


def test_undo_steps_back_through_one_choice_after_the_other_and_ends_at_the_first() -> None:
    app = open_page("attention", **QUERY)
    choices = ({"n_layers": 3}, {"seed": 4}, {"n_heads": 2}, {"weights": "minilm"})
    steps = [state(app), *(state(choose(app, **chosen)) for chosen in choices)]
    for step in [*reversed(steps[:-1]), steps[0]]:
        assert state(press(app, "undo")) == step
    choose(app, seed=5)
    press(app.switch_page("../../pages/norms.py").run(), "undo")
    assert values(app, "seed") == {"seed": 9}, "from another page too"


def test_the_last_fifty_moments_are_kept() -> None:
    app = open_page("norms", **SMALL)
    for seed in range(1, setup.LONGEST + 3):
        choose(app, seed=seed)
    assert len(app.session_state["_moments"]) == setup.LONGEST


def test_undo_brings_back_who_chose_the_pair_of_words() -> None:
    for link, is_chosen in (({}, False), ({"query": 5, "key": 3}, True)):
        app = open_page("attention", text="a cat sat on it", **link)
        press(press(app, "reset"), "undo")
        assert app.session_state["_focus_by_page"] is not is_chosen


FIELDS = {"text", "phone_text"}
OLD = "The man saw it"


def say(app: AppTest, fields: Collection[str], text: str) -> str:
    """The text of the sidebar after one request in which these fields say something."""
    for key in fields:
        app.text_area(key=key).set_value(text)
    return str(working(app.run()).session_state["text"])


def with_example() -> tuple[AppTest, str]:
    """The page What if after a press that added sentences, and its text."""
    app = open_page("what_if", whatif_view="where the difference sits", text=OLD, **SMALL)
    press(app, "whatif_corrupt")
    return app, app.session_state["text"]


def test_late_fields_do_not_undo_what_a_button_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortcuts, "LATE", 60.0)
    app, new = with_example()
    assert new.startswith(f"{OLD}\n")
    for fields in (["text"], ["phone_text"], sorted(FIELDS)):
        assert say(app, fields, OLD) == new
        assert {app.text_area(key=key).value for key in FIELDS} == {new}


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_another_text_is_the_visitors_at_once_and_the_old_one_a_while_later(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortcuts, "LATE", 60.0)
    app, _ = with_example()
    assert say(app, {field}, "typed") == "typed"
    assert say(app, {field}, OLD) == OLD, "after another text, the old one is nobody's late report"
    app, _ = with_example()
    monkeypatch.setattr(shortcuts, "LATE", 0.0)
    working(app.run())
    assert say(app, {field}, OLD) == OLD


def test_a_press_right_after_the_second_field_does_not_bring_the_old_text_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shortcuts, "LATE", 60.0)
    app = open_page("attention", text=OLD, **SMALL)
    assert say(app, {"phone_text"}, "typed") == "typed"
    assert say(app, {"text"}, OLD) == "typed", "the browser sent the press before it had heard of the new text"
    assert say(app, {"phone_text"}, OLD) == OLD


LONG = "a cat " * 600


def says_what_was_left_out(app: AppTest) -> bool:
    return f"{len(LONG):,} characters" in words(app)


def test_a_long_paste_is_cut_until_another_text_takes_its_place() -> None:
    app = choose(open_page("attention", **SMALL), text=LONG)
    assert values(app, "text") == {"text": LONG[:MAX_CHARACTERS]}
    assert says_what_was_left_out(app)
    assert not says_what_was_left_out(choose(app, text="a cat"))
    assert not says_what_was_left_out(choose(app, text=LONG[:MAX_CHARACTERS].replace("cat", "dog")))


def test_a_long_text_of_a_link_is_cut_and_the_rest_of_the_link_counts() -> None:
    app = open_page("overview", text="long " * 6000, weights="random", n_layers="1")
    assert f"only the first {MAX_CHARACTERS:,} are kept" in sentences(app)
    assert "cut after 256 tokens" in sentences(app)
    assert values(app, "text", "n_layers") == {"text": ("long " * 6000)[:MAX_CHARACTERS], "n_layers": 1}


def test_a_link_whose_heads_do_not_divide_and_one_that_says_it_twice() -> None:
    app = open_page("attention", weights="random", d_model="13", n_heads="4", seed="4")
    assert "d_model=“13” is not a stop of its slider" in sentences(app)
    assert "n_heads=4 does not divide" in sentences(app)
    shown = values(app, "d_model", "n_heads", "seed")
    assert shown["d_model"] % shown["n_heads"] == 0
    assert shown["seed"] == 4
    assert f"6 layers × {shown['n_heads']} heads" in captions(app)
    app = open_page("attention", weights="random", n_layers=["2", "3"], seed=["1", "junk"], text=["one", "two"])
    assert "3 layers × 12 heads" in captions(app)
    assert values(app, "n_layers", "text") == {"n_layers": 3, "text": "two"}


def test_the_field_of_a_phone_cuts_alike() -> None:
    app = open_page("attention", **SMALL)
    working(widgets(app)["phone_text"].set_value(LONG).run())
    assert values(app, "text", "phone_text") == dict.fromkeys(("text", "phone_text"), LONG[:MAX_CHARACTERS])
    assert says_what_was_left_out(app)


@pytest.mark.parametrize(
    ("page", "key", "longest"),
    [("similarity", "similarity_list", MAX_CHARACTERS), ("training", "training_text", 4_000)],
)
def test_every_field_of_a_page_does(page: str, key: str, longest: int) -> None:
    app = open_page(page, **({"training_task": "Next character"} if page == "training" else {}))
    choose(app, **{key: LONG * 2})
    assert values(app, key) == {key: (LONG * 2)[:longest]}
    assert f"{2 * len(LONG):,} characters" in words(app)


RECIPES = (
    Recipe(),
    Recipe(task="sort", steps=200, optimizer="adamw", weight_decay=0.01, clip=1.0, n_symbols=7, mask_padding=False),
    Recipe(task="characters", text="to be or not to be", length=8, causal=False, distill=0.5, temperature=3.0),
)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.task)
def test_the_settings_in_a_link_make_the_same_run(recipe: Recipe) -> None:
    texts = training_parameters(recipe)
    read: dict[str, Any] = {key: param.default for key, param in TRAINING.items()}
    for key, written in texts.items():
        read[key], complaint = query.read(key, written)
        assert complaint is None
    asked = {name: read[f"training_{name}"] for name in RECIPE}
    again = replace(recipe, task=TASK_TITLES[read["training_task"]], **asked)
    assert again == recipe


def test_the_usual_run_adds_nothing_to_a_link() -> None:
    usual: dict[str, Any] = {name: param.default for name, param in RECIPE.items()}
    assert training_parameters(Recipe(**usual)) == {}


def test_a_link_to_another_page_keeps_the_run_for_the_training_page() -> None:
    app = open_page("attention", weights="trained here", training_task="Sort", training_steps="200")
    (door,) = app.sidebar.get("page_link")
    assert door.proto.label == "Train it as in the link"
    assert door.proto.query_string == "training_task=Sort&training_steps=200"
    assert open_page("attention", weights="trained here").sidebar.get("page_link")[0].proto.query_string == ""


def test_the_training_page_has_no_door_to_itself_but_names_its_button() -> None:
    app = open_page("training", weights="trained here", training_task="Sort", n_layers=2, d_model=64, n_heads=4)
    assert not app.sidebar.get("page_link")
    assert f"**{app.button(key='training_start').label}** on the Training page trains it again." in sentences(app)


def press_too_early(app: AppTest, key: str, text: str) -> AppTest:
    """Press a button in a browser whose field still says a text that was replaced."""
    app.text_area(key="text").set_value(text)
    return press(app, key)


def test_a_field_that_is_late_does_not_bring_back_what_a_reset_or_its_undo_has_replaced() -> None:
    app = press_too_early(press(open_page(text="cats purr"), "reset"), "front_look", "cats purr")
    assert values(app, "text") == {"text": DEFAULT_TEXT}
    app = press_too_early(press(app, "undo"), "front_look", DEFAULT_TEXT)
    assert values(app, "text") == {"text": "cats purr"}


def test_a_field_that_is_late_does_not_bring_back_the_text_of_the_other_side() -> None:
    app = choose(press(open_page("norms", **SMALL, text="cats purr"), "pin"), text="dogs bark")
    app = press_too_early(press(app, "pin_swap"), "pin", "dogs bark")
    assert values(app, "text") == {"text": "cats purr"}


def test_two_quick_swaps_keep_the_text_of_both_sides() -> None:
    app = choose(press(open_page("norms", **SMALL, text="cats purr"), "pin"), text="dogs bark")
    app = press_too_early(press(app, "pin_swap"), "pin_swap", "dogs bark")
    assert values(app, "text") == {"text": "dogs bark"}
    assert values(press(app, "pin_swap"), "text") == {"text": "cats purr"}


def test_what_is_pinned_right_after_a_reset_is_the_text_that_is_shown() -> None:
    app = press_too_early(press(open_page("norms", text="cats purr"), "reset"), "pin", "cats purr")
    assert values(app, "text") == {"text": DEFAULT_TEXT}
    assert values(press(choose(app, text="dogs bark"), "pin_swap"), "text") == {"text": DEFAULT_TEXT}


def test_a_late_field_does_not_keep_a_lessons_text() -> None:
    steps = [LessonStep(link=f"attention?text={text}&weights=random&n_layers=1") for text in ("one", "two")]
    lesson = encode_lesson(Lesson(title="x", steps=steps))
    app = press(open_page("lessons", lesson=lesson, text="cats purr"), "lesson_begin")
    app = press_too_early(press(app, "lesson_next"), "lesson_end", "one")
    assert values(app, "text") == {"text": "cats purr"}

"""Link, widgets and run say the same, whatever the link said and whatever was pressed since."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from playground.presets import PRESETS
from playground.web.choices.kinds import Choice, Switch
from playground.web.choices.params import (
    ARCHITECTURE,
    DEFAULT_TEXT,
    PARAMS,
    SIZES,
    write,
)
from tests.web.app_test import captions, open_page, sentences

WORDS = [key for key, param in ARCHITECTURE.items() if isinstance(param, Choice)]
SWITCHES = [key for key, param in ARCHITECTURE.items() if isinstance(param, Switch)]


def sidebar(app: AppTest) -> dict[str, Any]:
    """The architecture, as the widgets stand."""
    values: dict[str, Any] = {key: app.select_slider(key=key).value for key in SIZES}
    values |= {key: app.segmented_control(key=key).value for key in WORDS}
    return values | {key: app.toggle(key=key).value for key in SWITCHES}


def defaults() -> dict[str, Any]:
    return {key: param.default for key, param in ARCHITECTURE.items()}


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def test_without_a_link_every_widget_stands_at_its_default() -> None:
    app = open_page()
    assert sidebar(app) == defaults()
    assert app.text_area(key="text").value == DEFAULT_TEXT
    assert app.number_input(key="seed").value == 0
    assert app.segmented_control(key="weights").value == "minilm"
    assert all(app.select_slider(key=key).disabled for key in SIZES)
    assert all(app.toggle(key=key).disabled for key in SWITCHES)
    assert all(app.segmented_control(key=key).disabled for key in (*WORDS, "tokenizer"))


def test_a_link_sets_every_widget() -> None:
    asked: dict[str, Any] = {
        "d_model": 64, "n_heads": 2, "n_layers": 3, "d_ff": 96, "max_len": 32, "norm_eps": 1e-3, "n_segments": 0,
        "norm_placement": "pre", "norm": "rms", "activation": "silu", "positions": "none", "head_merge": "reshape",
        "final_norm": True, "scale_embeddings": True, "embedding_norm": False, "fused_qkv": True, "residual": False,
        "dropout": 0.3,
    }  # fmt: skip
    assert set(asked) == set(ARCHITECTURE)
    assert all(asked[key] != param.default for key, param in ARCHITECTURE.items())
    app = open_page(weights="random", seed="11", **{key: write(value) for key, value in asked.items()})
    assert not app.exception
    assert sentences(app) == ""
    assert sidebar(app) == asked
    assert app.number_input(key="seed").value == 11
    assert "3 layers × 2 heads" in captions(app)


@pytest.mark.parametrize("text", ["12", "12.0", "1_2", "1.2e1", " 12", "012", "１２", "+12"])
def test_widget_and_page_agree_on_a_number_in_any_digits(text: str) -> None:
    app = open_page(weights="random", n_layers=text)
    assert not app.exception
    n_layers = app.select_slider(key="n_layers").value
    assert f"{n_layers} layers × 12 heads" in captions(app)
    assert ("matches: MiniLM-L6" in captions(app)) == (n_layers == 6)
    assert n_layers == 12 or sentences(app)


@pytest.mark.parametrize("text", ["0012", "+12", "١٢"])
def test_widget_and_link_agree_on_a_seed_in_any_digits(text: str) -> None:
    app = open_page(weights="random", seed=text)
    assert not app.exception
    assert app.number_input(key="seed").value == 12 or "seed" in sentences(app)


@pytest.mark.parametrize(
    ("text", "value", "is_told"), [("True", True, False), ("FALSE", False, False), ("1", False, True)]
)
def test_widget_and_link_agree_on_a_switch(text: str, value: bool, is_told: bool) -> None:
    app = open_page(causal=text)
    assert not app.exception
    assert app.toggle(key="causal").value is value
    assert ("causal" in sentences(app)) == is_told


@pytest.mark.parametrize("junk", ["NaN", "--5", "", "9" * 4000, "<script>alert(1)</script>", "-inf", "🙂"])
def test_junk_for_every_parameter_leaves_a_page_that_works(junk: str) -> None:
    app = open_page("attention", **{key: junk for key in PARAMS if key != "text"})
    assert not app.exception
    assert not app.error
    assert sentences(app)
    assert "16 tokens" in captions(app)
    assert app.text_area(key="text").value == DEFAULT_TEXT


def test_a_notice_stays_until_the_visitor_changes_something() -> None:
    app = open_page(d_model="13", weights="random", n_heads="4")
    assert "d_model=“13”" in sentences(app)
    assert "Moved to" in sentences(app)
    assert "d_model=“13”" in sentences(app.run())
    app.number_input(key="seed").set_value(3).run()
    assert sentences(app) == ""


def test_a_link_for_another_shape_gets_random_weights() -> None:
    app = open_page(n_layers="2")
    assert app.segmented_control(key="weights").value == "random"
    assert sentences(app)
    assert "2 layers × 12 heads" in captions(app)


def test_a_link_for_trained_weights_keeps_their_shape() -> None:
    app = open_page(weights="minilm", n_layers="2", norm="rms")
    assert sidebar(app) == defaults()
    assert sentences(app)
    assert "trained weights" in captions(app)


def test_the_other_parameters_of_a_bad_link_are_kept() -> None:
    app = open_page("attention", text="kept", seed="5", attention_head="4", n_layers="junk", causal="true")
    assert app.text_area(key="text").value == "kept"
    assert app.number_input(key="seed").value == 5
    assert app.toggle(key="causal").value is True
    assert app.slider(key="attention_head").value == 4


def test_another_version_is_told_once() -> None:
    assert "another version" in sentences(open_page(v="0", seed="1"))
    assert sentences(open_page(v="1", seed="1")) == ""


def test_unlocking_keeps_the_shape_and_says_that_weights_are_random() -> None:
    app = press(open_page(), "unlock")
    assert sidebar(app) == defaults()
    assert app.segmented_control(key="weights").value == "random"
    assert not app.select_slider(key="d_model").disabled
    assert ":orange-badge[random weights]" in captions(app)


def test_the_visitors_own_shape_comes_back_after_a_look_at_the_trained_one() -> None:
    app = open_page(weights="random", n_layers="3", norm="rms")
    mine = sidebar(app)
    app.segmented_control(key="weights").set_value("minilm").run()
    assert sidebar(app) == defaults()
    app.segmented_control(key="weights").set_value("random").run()
    assert sidebar(app) == mine
    assert not app.exception


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_the_whole_architecture(name: str) -> None:
    app = open_page("parameters")
    app.selectbox(key="preset").set_value(name).run()
    assert not app.exception
    config = PRESETS[name].config
    assert sidebar(app) == {key: getattr(config, key) for key in ARCHITECTURE}
    assert app.segmented_control(key="weights").value == "random"
    assert "matches: " in captions(app)


def test_the_sidebar_says_how_far_the_nearest_preset_is() -> None:
    app = open_page(weights="random", n_layers="4")
    assert "nearest: MiniLM-L6, but n_layers 4 instead of 6" in captions(app)


def test_heads_move_with_a_slider_that_they_no_longer_divide() -> None:
    app = open_page(weights="random")
    app.select_slider(key="d_model").set_value(512).run()
    assert not app.exception
    n_heads = int(sidebar(app)["n_heads"])
    assert 512 % n_heads == 0
    assert f"6 layers × {n_heads} heads" in captions(app)
    assert "n_heads=12 does not divide d_model=512" in sentences(app)


def test_reset_brings_every_default_back() -> None:
    app = open_page(
        "attention", weights="random", n_layers="2", seed="9", text="mine", causal="true", attention_head="2"
    )
    press(app, "reset")
    assert sidebar(app) == defaults()
    assert app.text_area(key="text").value == DEFAULT_TEXT
    assert app.number_input(key="seed").value == 0
    assert app.toggle(key="causal").value is False
    assert app.slider(key="attention_head").value == PARAMS["attention_head"].default
    assert "16 tokens · 6 layers × 12 heads" in captions(app)


def test_the_setup_is_the_same_on_every_page() -> None:
    app = open_page("overview", weights="random", n_layers="2", seed="9", text="mine")
    for page in ("attention", "norms", "parameters"):
        app.switch_page(f"../../pages/{page}.py").run()
        assert not app.exception
        assert app.select_slider(key="n_layers").value == 2
        assert app.number_input(key="seed").value == 9
        assert app.text_area(key="text").value == "mine"


def test_a_sentence_that_is_no_longer_there_is_the_last() -> None:
    app = open_page(text="one\ntwo two\nthree three three", sentence="3", weights="random", tokenizer="word")
    assert app.slider(key="sentence").value == 3
    app.text_area(key="text").set_value("one\ntwo two").run()
    assert not app.exception
    assert app.slider(key="sentence").value == 2
    assert "2 tokens ·" in captions(app)

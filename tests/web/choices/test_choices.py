"""Link, widgets and run say the same, whatever the link said and whatever was pressed since."""

from typing import Any

import pytest

from playground.presets import PRESETS
from playground.web.choices.architecture_params import ARCHITECTURE
from playground.web.choices.params import DEFAULT_TEXT, LOCKED, PARAMS, write
from tests.web.app_test import captions, choose, locked, open_page, press, sentences, values, working

DEFAULTS = {key: param.default for key, param in ARCHITECTURE.items()}


def test_without_a_link_every_widget_stands_at_its_default() -> None:
    app = open_page()
    assert values(app) == DEFAULTS
    assert values(app, "text", "seed", "weights") == {"text": DEFAULT_TEXT, "seed": 0, "weights": "minilm"}
    assert locked(app) == set(LOCKED)


def test_a_link_sets_every_widget() -> None:
    asked: dict[str, Any] = {
        "d_model": 64, "n_heads": 2, "n_layers": 3, "d_ff": 96, "max_len": 32, "norm_eps": 1e-3, "n_segments": 0,
        "norm_placement": "pre", "norm": "rms", "activation": "silu", "positions": "none", "head_merge": "reshape",
        "final_norm": True, "scale_embeddings": True, "embedding_norm": False, "fused_qkv": True, "residual": False,
        "dropout": 0.3, "initialisation": "torch",
    }  # fmt: skip
    assert set(asked) == set(ARCHITECTURE)
    assert all(asked[key] != default for key, default in DEFAULTS.items())
    app = open_page(weights="random", seed="11", **{key: write(value) for key, value in asked.items()})
    assert sentences(app) == ""
    assert values(app, *asked, "seed") == {**asked, "seed": 11}
    assert "3 layers × 2 heads" in captions(app)


@pytest.mark.parametrize("text", ["12.0", "1_2", "1.2e1", " 12", "012", "１２", "+12"])
def test_widget_and_page_agree_on_a_number_in_any_digits(text: str) -> None:
    app = open_page(weights="random", n_layers=text)
    n_layers = values(app)["n_layers"]
    assert f"{n_layers} layers × 12 heads" in captions(app)
    assert ("matches: MiniLM-L6" in captions(app)) == (n_layers == 6)
    assert n_layers == 12 or sentences(app)


@pytest.mark.parametrize(
    ("key", "text", "value", "is_told"),
    [
        ("causal", "True", True, False),
        ("causal", "FALSE", False, False),
        ("causal", "1", False, True),
        ("seed", "0012", 12, False),
        ("seed", "+12", 0, True),
        ("seed", "١٢", 0, True),
    ],
)
def test_widget_and_link_agree_on_a_value_that_is_oddly_written(
    key: str, text: str, value: object, is_told: bool
) -> None:
    app = open_page(weights="random", **{key: text})
    assert values(app, key) == {key: value}
    assert (key in sentences(app)) == is_told


@pytest.mark.parametrize("junk", ["NaN", "--5", "", "9" * 4000, "<script>alert(1)</script>", "-inf", "🙂"])
def test_junk_for_every_parameter_leaves_a_page_that_works(junk: str) -> None:
    app = open_page("attention", **{key: junk for key in PARAMS if key != "text"})
    assert not app.error
    assert sentences(app)
    assert "16 tokens" in captions(app)
    assert values(app, "text") == {"text": DEFAULT_TEXT}


def test_a_notice_stays_until_the_visitor_changes_something() -> None:
    app = open_page(d_model="13", weights="random", n_heads="4")
    assert "d_model=“13”" in sentences(app)
    assert "Moved to" in sentences(app)
    assert "d_model=“13”" in sentences(app.run())
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


def test_the_other_parameters_of_a_bad_link_are_kept() -> None:
    app = open_page("attention", text="kept", seed="5", attention_head="4", n_layers="junk", causal="true")
    kept = {"text": "kept", "seed": 5, "causal": True, "attention_head": 4}
    assert values(app, *kept) == kept


def test_another_version_is_told_once() -> None:
    assert "another version" in sentences(open_page(v="0", seed="1"))
    assert sentences(open_page(v="1", seed="1")) == ""


def test_unlocking_keeps_the_shape_and_says_that_weights_are_random() -> None:
    app = press(open_page(), "unlock")
    assert values(app, *DEFAULTS, "weights") == {**DEFAULTS, "weights": "random"}
    assert not locked(app)
    assert ":orange-badge[random weights]" in captions(app)


def test_the_visitors_own_shape_comes_back_after_a_look_at_the_trained_one() -> None:
    app = open_page(weights="random", n_layers="3", norm="rms")
    mine = values(app)
    assert values(choose(app, weights="minilm")) == DEFAULTS
    assert values(choose(app, weights="random")) == mine


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_the_whole_architecture(name: str) -> None:
    app = open_page("parameters")
    working(app.selectbox(key="preset").set_value(name).run())
    assert values(app) == {key: getattr(PRESETS[name].config, key) for key in ARCHITECTURE}
    assert values(app, "weights") == {"weights": "random"}
    assert "matches: " in captions(app)


def test_the_sidebar_says_how_far_the_nearest_preset_is() -> None:
    app = open_page(weights="random", n_layers="4")
    assert "nearest: MiniLM-L6, but n_layers 4 instead of 6" in captions(app)


def test_heads_move_with_a_slider_that_they_no_longer_divide() -> None:
    app = choose(open_page(weights="random"), d_model=512)
    n_heads = values(app)["n_heads"]
    assert 512 % n_heads == 0
    assert f"6 layers × {n_heads} heads" in captions(app)
    assert "n_heads=12 does not divide d_model=512" in sentences(app)


def test_reset_brings_every_default_back() -> None:
    query = {"weights": "random", "n_layers": "2", "seed": "9", "text": "mine", "causal": "true", "attention_head": "2"}
    app = press(open_page("attention", **query), "reset")
    keys = [*ARCHITECTURE, "weights", "text", "seed", "causal", "attention_head"]
    assert values(app, *keys) == {key: PARAMS[key].default for key in keys}
    assert "16 tokens · 6 layers × 12 heads" in captions(app)


def test_the_setup_is_the_same_on_every_page() -> None:
    app = open_page("overview", weights="random", n_layers="2", seed="9", text="mine")
    for page in ("attention", "norms", "parameters"):
        working(app.switch_page(f"../../pages/{page}.py").run())
        assert values(app, "n_layers", "seed", "text") == {"n_layers": 2, "seed": 9, "text": "mine"}


def test_a_sentence_that_is_no_longer_there_is_the_last() -> None:
    app = open_page(text="one\ntwo two\nthree three three", sentence="3", weights="random", tokenizer="word")
    assert values(app, "sentence") == {"sentence": 3}
    assert values(choose(app, text="one\ntwo two"), "sentence") == {"sentence": 2}
    assert "2 tokens ·" in captions(app)

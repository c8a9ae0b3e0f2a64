"""Links with junk, and values that do not go together: both end in a setup that runs, with a plain sentence."""

import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from playground.limits import MAX_CHARACTERS
from playground.text import split_sentences
from playground.web.choices.kinds import Choice, Several, Size, Switch, Text, Whole
from playground.web.choices.link import model_config, read, settle
from playground.web.choices.params import ARCHITECTURE, LOCKED, PARAMS, SHARED, SIZES

JUNK = ["", " ", "NaN", "nan", "<script>alert(1)</script>", "None", "null", "[]", "-", "--5", "+", "²", "½", "1e",
        "0x10", "🙂", "\x00", "\u202e12", "true;", "9" * 5000, "a" * 100_000, "`x` **y** [z](w)"]  # fmt: skip
DEFAULTS = {key: param.default for key, param in SHARED.items()}


def inside(key: str, value: Any) -> bool:
    """Whether a value is one that the parameter's widget can have, type included."""
    param = PARAMS[key]
    if isinstance(param, Choice | Size):
        return any(value == option and type(value) is type(option) for option in param.options)
    if isinstance(param, Switch):
        return isinstance(value, bool)
    if isinstance(param, Whole):
        return type(value) is int and param.low <= value <= param.high
    if isinstance(param, Several):
        return isinstance(value, tuple) and set(value) <= set(param.options) and len(set(value)) == len(value)
    return isinstance(value, str) and len(value) <= param.longest


# --- reading


@pytest.mark.parametrize("key", [key for key, param in PARAMS.items() if not isinstance(param, Text)])
@pytest.mark.parametrize("junk", JUNK, ids=lambda text: repr(text[:12]))
def test_junk_becomes_a_value_of_the_parameter_with_a_sentence(key: str, junk: str) -> None:
    value, sentence = read(key, [junk])
    assert inside(key, value)
    if isinstance(PARAMS[key], Several) and not junk:
        assert (value, sentence) == ((), None)  # how a browser writes that none is chosen
        return
    assert sentence is not None
    assert sentence.startswith(f"The link's {key}=")
    assert sentence.endswith(" is used instead.")


@pytest.mark.parametrize("key", PARAMS)
@given(text=st.text())
@example("inf")
@example("-inf")
@example("1e400")
@example("1_0")
@example("-0")
@example("--1")
@example("٣")
@example("ＴＲＵＥ")
def test_whatever_a_link_says_reading_ends_inside_the_domain(key: str, text: str) -> None:
    value, sentence = read(key, [text])
    assert inside(key, value)
    assert sentence is None or len(sentence) < 300


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("d_model", "13", 15),
        ("d_model", "9e99", 12_288),
        ("d_model", "inf", 12_288),
        ("d_model", "-inf", 8),
        ("d_model", "-7", 8),
        ("n_layers", "13.5", 12),
        ("norm_eps", "0", 1e-12),
        ("seed", "-1", 0),
        ("seed", "2147483648", 2**31 - 1),
        ("sentence", "0", 1),
        ("vocab_size", "12", 300),
        ("attention_layer", "96", 95),
    ],
)
def test_a_number_outside_becomes_the_nearest_inside(key: str, text: str, value: float) -> None:
    read_value, sentence = read(key, [text])
    assert read_value == value
    assert sentence is not None


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [("d_model", "768", 768), ("norm_eps", "1e-05", 1e-5), ("norm_eps", "0.001", 0.001), ("causal", "true", True),
     ("residual", "false", False), ("weights", "random", "random"), ("seed", "7", 7),
     ("attention_show", "average of heads", "average of heads"), ("text", "<b>&\n", "<b>&\n"), ("text", "", "")],
)  # fmt: skip
def test_a_good_value_is_taken_without_a_word(key: str, text: str, value: object) -> None:
    assert read(key, [text]) == (value, None)


def test_of_a_repeated_parameter_the_last_counts() -> None:
    assert read("n_layers", ["2", "junk", "3"]) == (3, None)
    assert read("n_layers", ["3", "junk"])[0] == SHARED["n_layers"].default


def test_several_words_are_read_one_by_one() -> None:
    key = "regularisers_chosen"
    default = PARAMS[key].default
    assert read(key, ["Weight decay", "Causal mask", "Weight decay"]) == (("Weight decay", "Causal mask"), None)
    value, sentence = read(key, ["Weight decay", "<b>junk</b>", "Causal mask"])
    assert value == ("Weight decay", "Causal mask")
    assert sentence == (
        "The link's regularisers_chosen=“bjunkb” is not an option there; Weight decay and 1 more is used instead."
    )
    assert read(key, ["", "weight decay"]) == (
        default,
        "The link's regularisers_chosen=“weight decay” is not an option there; Dropout on attention weights and 5 more "
        "is used instead.",
    )
    assert read(key, [""]) == ((), None)


def test_a_text_that_is_too_long_is_cut() -> None:
    text, sentence = read("text", ["é" * 100_000])
    assert text == "é" * MAX_CHARACTERS
    assert sentence == f"The text has 100,000 characters; only the first {MAX_CHARACTERS:,} are kept."
    target, sentence = read("encdec_target", ["a" * 600])
    assert target == "a" * 500
    assert sentence == "The target has 600 characters; only the first 500 are kept."


def test_a_strangers_text_is_quoted_short_and_without_markup() -> None:
    sentence = read("norm", ["[click](http://x) <b> `$x$` " + "a" * 50])[1]
    assert sentence is not None
    assert not set("[]()<>`$*:/") & set(sentence.split("“")[1].split("”")[0])
    assert len(sentence) < 150


# --- values that do not go together


def with_(**values: Any) -> dict[str, Any]:
    """The defaults, but for these."""
    return DEFAULTS | values


def test_defaults_go_together() -> None:
    assert settle(DEFAULTS) == (DEFAULTS, [])


@pytest.mark.parametrize("d_model", SIZES["d_model"].options)
def test_heads_move_to_a_divisor_that_is_on_the_slider(d_model: int) -> None:
    for n_heads in SIZES["n_heads"].options:
        values, sentences = settle(with_(weights="random", d_model=d_model, n_heads=n_heads))
        moved = values["n_heads"]
        assert moved in SIZES["n_heads"].options
        assert d_model % moved == 0
        assert {**values, "n_heads": n_heads} == with_(weights="random", d_model=d_model, n_heads=n_heads)
        model_config(values, vocab_size=100)
        nearest = min(abs(n - n_heads) for n in SIZES["n_heads"].options if d_model % n == 0)
        assert abs(moved - n_heads) == nearest
        assert len(sentences) == (moved != n_heads)
        for sentence in sentences:
            assert sentence.startswith(f"n_heads={n_heads} does not divide d_model={d_model}")
            assert sentence.endswith(f"Moved to {moved}.")


def values_of_the_sidebar() -> st.SearchStrategy[dict[str, Any]]:
    """Any setup of the widgets."""
    kinds: dict[str, st.SearchStrategy[Any]] = {}
    for key, param in SHARED.items():
        if isinstance(param, Choice | Size):
            kinds[key] = st.sampled_from(param.options)
        elif isinstance(param, Switch):
            kinds[key] = st.booleans()
        elif isinstance(param, Whole):
            kinds[key] = st.integers(param.low, param.high)
        else:
            kinds[key] = st.text(max_size=20)
    return st.fixed_dictionaries(kinds)


@given(
    values=values_of_the_sidebar(),
    asked=st.sets(st.sampled_from(sorted(SHARED))),
    trained=st.booleans(),
)
def test_settled_values_run_stay_settled_and_change_only_what_has_to(
    values: dict[str, Any], asked: set[str], trained: bool
) -> None:
    before = dict(values)
    settled, sentences = settle(values, asked, trained=trained)
    assert values == before
    assert settle(settled, asked, trained=trained) == (settled, [])
    assert settled.keys() == values.keys()
    assert all(inside(key, value) for key, value in settled.items())
    model_config(settled, vocab_size=100)
    changed = {key for key in settled if settled[key] != values[key]}
    assert changed <= {"weights", "n_heads", "sentence", *LOCKED}
    assert settled["sentence"] <= max(1, len(split_sentences(settled["text"]).sentences))
    assert all(sentence.endswith(".") for sentence in sentences)
    if settled["weights"] == "minilm":
        assert trained
        assert all(settled[key] == SHARED[key].default for key in LOCKED)
    if not trained:
        assert settled["tokenizer"] != "wordpiece"


def test_the_trained_weights_decide_their_shape() -> None:
    values, sentences = settle(with_(d_model=768, norm="rms", tokenizer="char"))
    assert values == DEFAULTS
    assert sentences == []  # nobody has asked for it just now: the sliders are locked, and say so


def test_a_link_for_another_shape_without_weights_gets_random_ones() -> None:
    values, sentences = settle(with_(d_model=768, norm="rms"), ["d_model", "norm"])
    assert values == with_(d_model=768, norm="rms", weights="random")
    assert sentences == ["The trained weights have another d_model and norm, so these are random weights."]


def test_a_link_for_trained_weights_of_another_shape_keeps_the_weights() -> None:
    values, sentences = settle(with_(d_model=768, n_layers=2), ["weights", "d_model", "n_layers"])
    assert values == DEFAULTS
    assert sentences == ["The trained weights decide d_model and n_layers; choose random weights to set them yourself."]


def test_without_trained_weights_random_ones_take_their_place() -> None:
    values, (sentence,) = settle(DEFAULTS, trained=False)
    assert values == with_(weights="random", tokenizer="word")
    assert "random weights of the same shape" in sentence
    assert "README" in sentence


def test_the_config_is_the_sidebars() -> None:
    config = model_config(with_(d_model=64, n_heads=4, norm="none"), vocab_size=11)
    assert config.vocab_size == 11
    assert {key: getattr(config, key) for key in ARCHITECTURE} == {
        key: with_(d_model=64, n_heads=4, norm="none")[key] for key in ARCHITECTURE
    }
    assert math.isclose(config.norm_eps, 1e-12)

"""Links with junk, and values that do not go together: both end in a setup that runs, with a plain sentence."""

from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.limits import MAX_CHARACTERS
from playground.link import query
from playground.link.kinds import Param, read_changes
from playground.link.params import LOCKED, PARAMS, SHARED, SIZES, model_config
from playground.link.query import MARKER, pinned_texts, read, read_link, read_pinned, settle, values_of_preset
from playground.text import split_sentences
from playground.weights.recognise import RecognisedWeights

JUNK = ["", " ", "NaN", "nan", "<script>alert(1)</script>", "None", "null", "[]", "-", "--5", "+", "²", "½", "1e",
        "0x10", "🙂", "\x00", "\u202e12", "true;", "9" * 5000, "a" * 100_000, "`x` **y** [z](w)"]  # fmt: skip
DEFAULTS = {key: param.default for key, param in SHARED.items()}
CHANGES = ("3.1:zero", "-0.ffn:off~0.5", "2.*:cut_4_7", "positions:shuffle_1", "0.out:patch_1_2")


def inside(param: Param, value: Any) -> bool:
    """Whether a value is one that the parameter's widget can have, type included."""
    match param.kind:
        case "text":
            return isinstance(value, str) and len(value) <= param.longest
        case "notation":
            return param.parse(str(value)) == (value, None)
        case "several":
            return isinstance(value, tuple) and set(value) <= set(param.options) and len(set(value)) == len(value)
    return value in param.options and type(value) in set(map(type, param.options[:99]))


# --- reading


@pytest.mark.parametrize("junk", JUNK, ids=lambda text: repr(text[:12]))
def test_junk_becomes_a_value_of_the_parameter_with_a_sentence(junk: str) -> None:
    for key, param in PARAMS.items():
        value, sentence = read(key, [junk])
        assert inside(param, value)
        if param.kind == "several" and not junk:
            assert (value, sentence) == ((), None)  # how a browser writes that none is chosen
        elif param.kind != "text" and (junk or param.kind != "notation"):
            assert sentence is not None
            assert sentence.startswith(f"The link's {key}=")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("d_model", "13", 15), ("d_model", "1e400", 12_288), ("d_model", "inf", 12_288), ("d_model", "-inf", 8),
        ("d_model", "-7", 8), ("n_layers", "13.5", 12), ("norm_eps", "0", 1e-12), ("seed", "-1", 0),
        ("seed", "2147483648", 2**31 - 1), ("sentence", "0", 1), ("vocab_size", "12", 300),
        ("table_rows", "9999", 10_000), ("table_rows", "-3", 0), ("norms_norm", "194", 193), ("layer", "96", 95),
    ],
)  # fmt: skip
def test_a_number_outside_becomes_the_nearest_inside(key: str, text: str, value: float) -> None:
    read_value, sentence = read(key, [text])
    assert read_value == value
    assert sentence is not None


def test_of_a_repeated_parameter_the_last_counts() -> None:
    assert read("n_layers", ["2", "junk", "3"]) == (3, None)
    assert read("n_layers", ["3", "junk"])[0] == SHARED["n_layers"].default


def test_several_words_are_read_one_by_one() -> None:
    key = "regularisers_chosen"
    chosen = ("Weight decay", "Without causal mask")
    assert read(key, ["Weight decay", "Without causal mask", "Weight decay"]) == (chosen, None)
    value, sentence = read(key, ["Weight decay", "<b>junk</b>", "Without causal mask"])
    assert value == chosen
    assert "regularisers_chosen=“bjunk/b”" in str(sentence)
    assert read(key, ["", "weight decay"])[0] == PARAMS[key].default
    assert read(key, [""]) == ((), None)


def test_a_text_that_is_too_long_is_cut() -> None:
    for key, longest in (("text", MAX_CHARACTERS), ("encdec_target", 500)):
        text, sentence = read(key, ["é" * 100_000])
        assert read(key, [text]) == ("é" * longest, None)
        assert f"100,000 characters; only the first {longest:,}" in str(sentence)


# --- values that do not go together


def with_(**values: Any) -> dict[str, Any]:
    """The defaults, but for these."""
    return DEFAULTS | values


def test_heads_move_to_the_nearest_divisor_that_is_on_the_slider() -> None:
    stops = SIZES["n_heads"].options
    for d_model in SIZES["d_model"].options:
        for n_heads in stops:
            asked = with_(weights="random", d_model=d_model, n_heads=n_heads)
            values, sentences = settle(asked)
            moved = values["n_heads"]
            assert moved in stops
            assert values == asked | {"n_heads": moved}
            model_config(values, vocab_size=100)
            assert abs(moved - n_heads) == min(abs(n - n_heads) for n in stops if d_model % n == 0)
            assert len(sentences) == (moved != n_heads)
            assert all(f"n_heads={n_heads} does" in text and f"n_heads is {moved}" in text for text in sentences)


def test_heads_move_on_in_the_direction_of_the_slider() -> None:
    for before, asked, moved in [(8, 9, 16), (16, 15, 8), (16, 9, 8)]:
        values, _ = settle(
            with_(weights="random", d_model=512, n_heads=asked), shown_before=with_(d_model=512, n_heads=before)
        )
        assert values["n_heads"] == moved


def values_of_the_sidebar() -> st.SearchStrategy[dict[str, Any]]:
    """Any setup of the widgets."""
    known = {
        key: st.integers(param.options[0], param.options[-1])
        if param.kind == "whole"
        else st.sampled_from(param.options)
        if param.options
        else st.text(max_size=20)
        for key, param in SHARED.items()
    }
    changes = st.lists(st.sampled_from(CHANGES), unique=True).map(lambda made: read_changes(",".join(made))[0])
    known |= {"do": changes}
    return st.fixed_dictionaries(known | {"run": st.sampled_from(("", 32 * "a", 32 * "b" + "-9000"))})


@given(values=values_of_the_sidebar(), from_link=st.sets(st.sampled_from(sorted(SHARED))), has_checkpoint=st.booleans())
def test_settled_values_run_stay_settled_and_change_only_what_has_to(
    values: dict[str, Any], from_link: set[str], has_checkpoint: bool
) -> None:
    before = dict(values)
    settled, sentences = settle(values, from_link, has_checkpoint=has_checkpoint)
    assert values == before
    assert settle(settled, from_link, has_checkpoint=has_checkpoint) == (settled, [])
    assert settled.keys() == values.keys()
    assert all(inside(SHARED[key], value) for key, value in settled.items())
    model_config(settled, vocab_size=100)
    changed = {key for key in settled if settled[key] != values[key]}
    assert changed <= {"weights", "n_heads", "sentence", *LOCKED}
    assert settled["sentence"] <= max(1, len(split_sentences(settled["text"]).sentences))
    assert all(sentence.endswith(".") for sentence in sentences)
    if settled["weights"] == "minilm":
        assert has_checkpoint
        assert all(settled[key] == SHARED[key].default for key in LOCKED)
    if not has_checkpoint and settled["weights"] != "english":
        assert settled["tokenizer"] != "wordpiece"


@pytest.mark.parametrize(
    ("asked", "from_link", "settled"),
    [
        ({"d_model": 768, "norm": "rms", "tokenizer": "char"}, [], {}),  # locked sliders say so themselves
        ({"d_model": 768, "norm": "rms"}, ["d_model", "norm"], {"d_model": 768, "norm": "rms", "weights": "random"}),
        ({"d_model": 768, "n_layers": 2}, ["weights", "d_model", "n_layers"], {}),
    ],
)
def test_the_checkpoint_decides_its_shape_unless_a_link_asks_for_another_one_alone(
    asked: dict[str, Any], from_link: list[str], settled: dict[str, Any]
) -> None:
    values, sentences = settle(with_(**asked), from_link)
    assert values == with_(**settled)
    assert len(sentences) == bool(from_link)
    assert all(key in sentence for sentence in sentences for key in from_link)


def test_a_file_with_a_token_table_takes_no_vectors() -> None:
    for rows, tokenizer in ((9, "word"), (0, "vectors")):
        found = RecognisedWeights("playground", {"vocab_size": rows}, open_settings={})
        values, notices = settle(with_(weights="mine", tokenizer="vectors"), recognised=found)
        assert values["tokenizer"] == tokenizer
        assert len(notices) == (rows > 0)


def test_without_the_checkpoint_random_weights_take_its_place() -> None:
    values, (sentence,) = settle(DEFAULTS, has_checkpoint=False)
    assert values == with_(weights="random", tokenizer="word")
    assert "CONTRIBUTING.md" in sentence


@given(pinned=values_of_the_sidebar(), now=values_of_the_sidebar())
def test_whatever_is_pinned_is_read_back(pinned: dict[str, Any], now: dict[str, Any]) -> None:
    texts = pinned_texts(pinned, now)
    different = {key for key in SHARED if pinned[key] != now[key]}
    assert texts.keys() == ({f"b_{key}" for key in different} or {MARKER})
    assert read_pinned(texts, now) == (pinned, different, [])


@pytest.mark.parametrize("texts", [{}, {MARKER: ["false"]}, {"b": ["1"], "b_": ["1"], "b_junk": ["1"]}])
def test_a_link_without_pinned_parameters_pins_nothing(texts: dict[str, list[str]]) -> None:
    assert read_pinned(texts, DEFAULTS) == (None, set(), [])


def test_a_link_opens_the_panel_of_what_it_sets_and_the_source_of_a_pair() -> None:
    texts = {"gradient_of": ["stream"]}
    assert read_link(texts)[0]["gradient_six"] is True
    assert read_link({**texts, "gradient_six": ["false"]})[0]["gradient_six"] is False
    assert "gradient_six" not in read_link({"gradient_layers": ["3"]})[0]
    assert read_link({"encdec_layer": ["1"]})[0]["encdec_source"] == "your text"
    assert read_link({"encdec_layer": ["1"], "encdec_source": ["trained example"]})[0]["encdec_source"] != "your text"


@pytest.mark.parametrize("from_link", [(), ("sentence",)])
def test_a_sentence_that_is_not_there_is_the_last_and_a_link_hears_of_it(from_link: tuple[str, ...]) -> None:
    values, notices = settle(with_(sentence=5), from_link)
    assert values["sentence"] == 1
    assert len(notices) == len(from_link)


@pytest.mark.parametrize("tokenizer", ["wordpiece", "word"])
def test_a_preset_has_the_tokenizer_that_is_there(tokenizer: str) -> None:
    assert values_of_preset("bert-base", has_wordpiece=tokenizer == "wordpiece")["tokenizer"] == tokenizer


def test_a_link_keeps_maps_and_joins_that_fit_and_repairs_others_with_a_sentence() -> None:
    small = {**DEFAULTS, "weights": "random", "tokenizer": "word", "position_join": "concatenate"}
    values, notices = settle(small | {"tied": "merged"})
    assert (values["tied"], values["position_join"], notices) == ("merged", "concatenate", [])
    texts = parse_qs(query.write_query({**DEFAULTS, **values}))
    assert {key: value for key, value in read_link(texts)[0].items() if key in ("tied", "position_join")} == {
        "tied": "merged", "position_join": "concatenate",
    }  # fmt: skip
    for changes, key, reason in (
        ({"tied": "shared", "n_kv_heads": 2}, "tied", "takes no map of keys"),
        ({"tokenizer": "vectors"}, "position_join", "needs a token table"),
        ({"positions": "rotary"}, "position_join", "needs a table of positions"),
    ):
        values, (notice,) = settle(small | changes)
        assert values[key] == DEFAULTS[key]
        assert reason in notice

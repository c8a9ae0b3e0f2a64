"""Architectures that cannot be built are refused with a reason and a value that works."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import ModelConfig
from playground.config import CHOICES, nearest_divisors
from playground.errors import ConfigError
from playground.limits import read_limit

SMALL = ModelConfig(vocab_size=7, d_model=12, n_heads=3, n_layers=2, d_ff=16, max_len=8)

NOT_INTEGERS: tuple[Any, ...] = (1.5, 2.0, "8", None, True, float("nan"), float("inf"), [1])
NOT_CHOICES: tuple[Any, ...] = ("", "banana", None, 0, True, float("nan"), [])
NOT_SWITCHES: tuple[Any, ...] = (0, 1, "yes", None, float("nan"))
NOT_NUMBERS: tuple[Any, ...] = ("0.1", None, True, float("nan"), float("inf"), float("-inf"), 10**400, [0.1])

SWITCHES = [field.name for field in fields(ModelConfig) if isinstance(field.default, bool)]

WRONG: dict[str, tuple[Any, ...]] = {
    "vocab_size": (*NOT_INTEGERS, -1, -(10**9)),
    "d_model": (*NOT_INTEGERS, 0, -12),
    "n_heads": (*NOT_INTEGERS, 0, -3, 5, 7, 13, 10**9),
    **dict.fromkeys(("n_layers", "d_ff", "max_len"), (*NOT_INTEGERS, 0, -1)),
    **dict.fromkeys(("n_segments", "d_head", "d_embedding", "position_offset"), (*NOT_INTEGERS, -1)),
    **dict.fromkeys(("local_rotary_base", "global_every"), (*NOT_INTEGERS, -1)),
    **dict.fromkeys(("rotary_base", "relative_buckets", "relative_distance"), (*NOT_INTEGERS, 0)),
    "n_kv_heads": (*NOT_INTEGERS, -1, 2, 4),
    "window": (*NOT_INTEGERS, -1, 1, 3),
    "dropout": (*NOT_NUMBERS, -0.1, 1, 1.0, 1.5),
    "norm_eps": (*NOT_NUMBERS, 0, 0.0, -1e-5, 1, 2.0),
    **dict.fromkeys(CHOICES, NOT_CHOICES),
    **dict.fromkeys(SWITCHES, NOT_SWITCHES),
}


def test_every_field_has_wrong_values_below() -> None:
    assert set(WRONG) == {field.name for field in fields(ModelConfig)}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_value_is_refused_with_values_that_work(field: str) -> None:
    for value in WRONG[field]:
        with pytest.raises(ConfigError) as caught:
            replace(SMALL, **{field: value})
        error = caught.value
        assert error.field == field
        assert error.value is value
        assert str(error).startswith(f"{field}={value!r} ")
        assert error.works
        for works in error.works:
            assert str(works) in str(error)
            repaired: Any = {field: works}
            assert getattr(replace(SMALL, **repaired), field) == works


def test_the_defaults_are_the_papers_base_model_and_never_change() -> None:
    paper = {"d_model": 512, "n_heads": 8, "n_layers": 6, "d_ff": 2048, "max_len": 512, "dropout": 0.1}
    kinds = {"norm_placement": "post", "norm": "layer", "activation": "relu", "positions": "sinusoidal"}
    others = {"head_merge": "transpose", "initialisation": "xavier", "norm_eps": 1e-5, "rotary_base": 10_000}
    others |= {"tied": "separate", "position_join": "add"}
    buckets = {"relative_buckets": 32, "relative_distance": 128}
    on = dict.fromkeys(("bias", "first_norm", "scale_embeddings", "residual"), True)
    told = paper | kinds | others | buckets | on
    for field in fields(ModelConfig)[1:]:
        assert field.default == told.get(field.name, 0), field.name  # False == 0


ODD: list[tuple[dict[str, Any], str]] = [
    ({"positions": "rotary", "d_head": 3}, r"d_head=3 makes heads of 3 features, .*; 4 would work"),
    ({"positions": "rotary", "n_heads": 4}, r"d_head=0 makes heads of 3 features, .*; 4 would work"),
    ({"fused_qkv": True, "n_kv_heads": 1}, r"fused_qkv=True lays .* out head by head, and n_kv_heads=1 is another"),
    ({"positions": "relative", "relative_buckets": 6}, r"relative_buckets=6 is not a multiple of 4"),
    ({"positions": "relative", "relative_distance": 8}, r"relative_distance=8 is not above 8, .*; 9 would work"),
    ({"tied": "shared", "n_kv_heads": 1}, r"tied='shared' takes no map of keys, .*; separate would work"),
    ({"tied": "merged", "fused_qkv": True}, r"tied='merged' takes no map of keys"),
    ({"tied": "merged", "qk_norm": True}, r"tied='merged' has no keys of a head's own"),
    (
        {"tied": "merged", "positions": "rotary", "d_model": 15, "d_head": 2},
        r"tied='merged' makes queries of 15 features",
    ),
    ({"position_join": "concatenate", "positions": "alibi"}, r"position_join='concatenate' needs a table of positions"),
    ({"position_join": "concatenate", "vocab_size": 0}, r"position_join='concatenate' needs a token table"),
    ({"position_join": "concatenate", "d_embedding": 5}, r"position_join='concatenate' .* 5 features have no half"),
    ({"norm": "scalar", "d_embedding": 1}, r"d_embedding=1 has no unbiased .*; 2 would work"),
]


@pytest.mark.parametrize(("fields", "sentence"), ODD, ids=str)
def test_fields_that_do_not_fit_each_other_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence) as caught:
        replace(SMALL, **fields)
    repaired: Any = fields | {caught.value.field: caught.value.works[0]}
    assert getattr(replace(SMALL, **repaired), caught.value.field) == caught.value.works[0]


def test_windows_and_bases_are_by_layer() -> None:
    config = replace(SMALL, window=4, global_every=3, rotary_base=160_000, local_rotary_base=10_000)
    assert [config.window_of(i) for i in range(5)] == [0, 4, 4, 0, 4]
    assert [config.rotary_base_of(i) for i in range(3)] == [160_000, 10_000, 10_000]
    assert replace(config, global_every=0).window_of(0) == 4
    assert replace(SMALL, local_rotary_base=7).rotary_base_of(1) == 10_000


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(1, 400), st.integers(1, 500))
def test_nearest_divisors_are_the_neighbours_that_divide(whole: int, part: int) -> None:
    found = nearest_divisors(whole, part)
    divisors = [n for n in range(1, whole + 1) if whole % n == 0 and n != part]
    below, above = [n for n in divisors if n < part], [n for n in divisors if n > part]
    assert set(found) == set(below[-1:] + above[:1])
    assert sorted(found, key=lambda n: abs(n - part)) == list(found)


@pytest.mark.parametrize(("text", "limit"), [("3", 3), ("1_000", 1000), ("0", 8), ("", 8), ("2.5", 8)])
def test_a_limit_is_what_the_environment_says_where_that_makes_sense(
    text: str, limit: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PLAYGROUND_MAX_SENTENCES", text)
    assert read_limit("MAX_SENTENCES", 8) == limit
    assert bool(caplog.records) == (limit == 8)

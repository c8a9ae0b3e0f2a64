"""The overview's table of shapes: of the visitor's batch, or of tutorial C's."""

import math

import pytest

from playground import Encoder, Trace
from playground.accounting.shapes import list_shapes
from playground.presets import PRESETS
from playground.text import words
from playground.web.choices.params import ARCHITECTURE, DEFAULT_TEXT, write
from playground.weights.checkpoint import load
from tests.web.app_test import captions, open_page

C_BATCH = "tutorial C: 30 × 200"


def test_it_is_made_only_when_it_is_opened() -> None:
    app = open_page()
    assert not app.dataframe
    assert not app.code
    assert open_page(overview_shapes="true").dataframe


def test_the_trained_models_shapes_are_those_of_its_trace() -> None:
    app = open_page(overview_shapes="true", text=f"{DEFAULT_TEXT}\nShort.")
    assert not app.exception
    encoder, tokenizer = load("minilm")
    batch, trace = tokenizer.encode_batch([DEFAULT_TEXT, "Short."]), Trace()
    encoder(batch.ids, batch.mask, trace)
    points = {name: tensor for name, tensor in trace.items() if not name.endswith(".in")}  # made at an earlier point
    shown = app.dataframe[0].value
    rows = dict(zip(shown["intermediate"], shown["shape"], strict=True))
    assert {name: rows[name] for name in points} == {name: str(tuple(tensor.shape)) for name, tensor in points.items()}
    letters = dict(zip(shown["intermediate"], shown["in letters"], strict=True))
    assert letters["layers.5.attn.pattern"] == "(B, H, T, T)"
    assert letters["embed.segment"] == "(d_model,)"
    for name, tensor in points.items():
        assert shown.set_index("intermediate").loc[name, "numbers"] == tensor.numel()


def test_tutorial_cs_own_batch_under_its_preset() -> None:
    config = PRESETS["tutorial-c"].config
    query = {key: write(getattr(config, key)) for key in ARCHITECTURE}
    app = open_page(weights="random", tokenizer="word", overview_shapes="true", overview_batch=C_BATCH, **query)
    assert not app.exception
    expected = list_shapes(Encoder(config, seed=None).config, 30, 200)
    shown = app.dataframe[0].value
    steps = list(zip(shown["intermediate"], shown["shape"], strict=True))
    # The app's text always has ids and a table; the tutorial starts from vectors.
    assert steps == [("ids", "(30, 200)"), *((name, str(shape)) for name, shape in expected)]
    assert f"{30 * 200 + sum(math.prod(shape) for _, shape in expected):,} numbers in all" in captions(app)
    lines = app.code[0].value.splitlines()
    assert [tuple(line.split(maxsplit=1)) for line in lines] == steps


@pytest.mark.parametrize(("causal", "mask"), [("false", "(1, 1, 1, 5)"), ("true", "(1, 1, 5, 5)")])
def test_the_mask_is_the_sidebars(causal: str, mask: str) -> None:
    text = "this is an example sentence"
    assert words([text]).vocab_size == 5
    app = open_page(weights="random", tokenizer="word", text=text, causal=causal, overview_shapes="true")
    shown = app.dataframe[0].value.set_index("intermediate")
    assert shown.loc["layers.0.attn.mask", "shape"] == mask


@pytest.mark.parametrize(("positions", "ids"), [("learned", "(30, 64)"), ("none", "(30, 200)")])
def test_a_batch_longer_than_the_position_table_is_cut_with_a_notice(positions: str, ids: str) -> None:
    app = open_page(weights="random", overview_shapes="true", overview_batch=C_BATCH, max_len="64", positions=positions)
    assert not app.exception
    assert ("(max_len)" in captions(app)) == (positions == "learned")
    assert app.dataframe[0].value.set_index("intermediate").loc["ids", "shape"] == ids

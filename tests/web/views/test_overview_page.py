"""The overview: its numbers and shapes against ones computed here, every preset, and odd texts."""

import math
from typing import Any

import numpy as np
import pytest

from playground import Encoder, count_parameters
from playground.accounting import count_flops
from playground.accounting.shapes import list_shapes
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT
from playground.presets import PRESETS
from playground.runs.encoder_run import run
from playground.text import words
from playground.web.choices.shortcuts import preset_values
from playground.web.server.settings import settings
from playground.web.shared.navigation import pages
from playground.weights.checkpoint import load
from tests.web.app_test import (
    SMALL,
    array,
    block_boxes,
    captions,
    charts,
    component_data,
    open_page,
    open_panels,
    sentences,
    trained_trace,
    without_error,
    working,
)

C_BATCH = "tutorial C: 30 × 200"
CHARTS = {"overview_attention", "overview_norms", "overview_parameters"}


def test_the_first_page_is_the_trained_model_on_the_default_sentence() -> None:
    app = without_error(open_page())
    assert sentences(app) == ""
    encoder, tokenizer = load("minilm")
    expected = run(encoder, tokenizer.encode_batch([DEFAULT_TEXT]))
    assert charts(app).keys() == CHARTS
    mosaic = array(charts(app)["overview_attention"])
    pitch = len(expected.tokens) + 1
    assert mosaic.shape == (6 * pitch, 12 * pitch)
    tile = mosaic[4 * pitch : 5 * pitch - 1, 7 * pitch : 8 * pitch - 1]
    assert np.abs(tile - 255 * np.sqrt(expected.patterns()[4, 7])).max() <= 1.01
    assert "trained weights" in captions(app)
    assert f"{count_parameters(encoder.config).total:,} parameters" in captions(app)
    flops = count_flops(encoder.config, len(expected.tokens)).total
    assert f"{flops / 1e6:,.1f} million floating-point operations** in its matrix products" in captions(app)
    assert "16 tokens · 6 layers × 12 heads" in captions(app)


@pytest.mark.parametrize("page", ["overview", "attention"])
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_runs_or_says_why_not(name: str, page: str) -> None:
    config = PRESETS[name].config
    app = open_page(page, weights="random", **preset_values(name))
    refused = count_parameters(config).total > settings().max_parameters
    assert bool(app.error) == refused
    if refused:
        assert f"at most {settings().max_parameters:,}" in app.error[0].value
        assert not charts(app)
    else:
        assert sentences(app) == ""
        assert f"{config.n_layers} layers × {config.n_heads} heads" in captions(app)
        assert ":orange-badge[random weights]" in captions(app)
        assert charts(app).keys() >= ({"attention_pattern", "attention_grid"} if page == "attention" else CHARTS)


@pytest.mark.parametrize("length", [2_000, 100_000])
def test_a_long_text_is_cut_with_a_notice_that_counts_right(length: int) -> None:
    text = "ab " * (length // 3)
    app = without_error(open_page(text=text))
    n_tokens = len(text[:2_000].split()) + 2
    assert "after 256 tokens" in sentences(app)
    assert f"{n_tokens - 256} more" in sentences(app)
    assert (length > 2_000) == ("the first 2,000" in sentences(app))
    assert "256 tokens ·" in captions(app)


# --- the boxes


POST_NORM = [(True, ["attention", "add"]), (False, ["norm"]), (True, ["feed-forward", "add"]), (False, ["norm"])]
PRE_NORM = [(True, ["norm", "attention", "add"]), (True, ["norm", "feed-forward", "add"])]


@pytest.mark.parametrize(
    ("changes", "block", "after"),
    [
        ({}, POST_NORM, ["vectors"]),
        ({"norm_placement": "pre", "final_norm": True}, PRE_NORM, ["final norm", "vectors"]),
        ({"norm": "none"}, [(True, ["attention", "add"]), (True, ["feed-forward", "add"])], ["vectors"]),
        ({"residual": False}, [(False, ["attention", "norm", "feed-forward", "norm"])], ["vectors"]),
    ],
    ids=["post-norm", "pre-norm", "no norms", "no residuals"],
)
def test_norms_and_residual_lines_are_drawn_where_they_are(
    changes: dict[str, Any], block: list[tuple[bool, list[str]]], after: list[str]
) -> None:
    app = without_error(open_page(**SMALL | changes))
    assert block_boxes(app) == block
    drawn = component_data(app, "data_flow")
    assert [box["title"] for box in drawn["before"]] == ["tokens", "embed", *["norm"] * (changes.get("norm") != "none")]
    assert [box["title"] for box in drawn["after"]] == after
    assert drawn["opens"]
    boxes = [box for group in drawn["block"] for box in group["boxes"]]
    assert all(box["sum"] == (box["title"] == "add") and box["page"] in pages() for box in boxes)
    assert ("*residual connection*" in captions(app)) == changes.get("residual", True)


# --- the table of shapes


def test_the_trained_models_shapes_are_those_of_its_trace_once_their_panel_is_open() -> None:
    texts = (DEFAULT_TEXT, "Short.")
    app = open_page(text="\n".join(texts))
    assert not app.dataframe
    assert not app.code
    shown = open_panels(app, "overview_shapes").dataframe[0].value.set_index("intermediate")
    for name, tensor in trained_trace(*texts).items():
        if not name.endswith(".in"):  # made at an earlier point
            assert (shown.loc[name, "shape"], shown.loc[name, "numbers"]) == (str(tuple(tensor.shape)), tensor.numel())
    assert shown.loc["layers.5.attn.pattern", "in letters"] == "(B, H, T, T)"
    assert shown.loc["embed.segment", "in letters"] == "(d_model,)"


def test_tutorial_cs_own_batch_under_its_preset() -> None:
    config = PRESETS["tutorial-c"].config
    query = {key: getattr(config, key) for key in ARCHITECTURE}
    app = working(
        open_page(weights="random", tokenizer="vectors", overview_shapes="true", overview_batch=C_BATCH, **query)
    )
    expected = list_shapes(Encoder(config, seed=None).config, 30, 200)
    shown = app.dataframe[0].value
    steps = list(zip(shown["intermediate"], shown["shape"], strict=True))
    assert steps == [(name, str(shape)) for name, shape in expected]
    assert f"{sum(math.prod(shape) for _, shape in expected):,} numbers in all" in captions(app)
    lines = app.code[0].value.splitlines()
    assert [tuple(line.split(maxsplit=1)) for line in lines] == steps


@pytest.mark.parametrize(("causal", "mask"), [("false", "(1, 1, 1, 5)"), ("true", "(1, 1, 5, 5)")])
def test_the_masks_shape_is_the_sidebars(causal: str, mask: str) -> None:
    text = "this is an example sentence"
    assert words([text]).vocab_size == 5
    app = open_page(weights="random", tokenizer="word", text=text, causal=causal, overview_shapes="true")
    shown = app.dataframe[0].value.set_index("intermediate")
    assert shown.loc["layers.0.attn.mask", "shape"] == mask


@pytest.mark.parametrize(("positions", "ids"), [("learned", "(30, 64)"), ("none", "(30, 200)")])
def test_a_batch_longer_than_the_position_table_is_cut_with_a_notice(positions: str, ids: str) -> None:
    app = working(
        open_page(weights="random", overview_shapes="true", overview_batch=C_BATCH, max_len="64", positions=positions)
    )
    assert ("(max_len)" in captions(app)) == (positions == "learned")
    assert app.dataframe[0].value.set_index("intermediate").loc["ids", "shape"] == ids


def test_a_text_in_another_script_is_told_once_for_the_trained_model_alone() -> None:
    arabic = "الحيوان لم يعبر الشارع"
    app = working(open_page(text=arabic))
    batch = load("minilm")[1].encode_batch([arabic])
    assert len(app.info) == 1
    assert "Arabic" in app.info[0].value
    assert f"{len(batch.tokens[0]) - 2} tokens" in app.info[0].value
    assert f"{sum(batch.unknown[0])} are [UNK]" in app.info[0].value
    assert not working(open_page(text=arabic, weights="random")).info
    assert not working(open_page(text="Ein Größenvergleich")).info


def test_lines_of_code_are_sentences_and_the_sidebar_says_so() -> None:
    assert "Each line is a sentence of its own" in captions(open_page(text="def f(x):\n    return x"))
    assert "Each line is a sentence of its own" not in captions(open_page(text="def f(x): return x"))

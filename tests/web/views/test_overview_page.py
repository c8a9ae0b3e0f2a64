"""The overview as a page: the trained model first, every preset, boxes, the panel of shapes, and odd texts."""

from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import streamlit as st

from playground import count_parameters
from playground.accounting import count_flops
from playground.link.params import DEFAULT_TEXT
from playground.pages import PAGES
from playground.presets import PRESETS
from playground.runs.encoder_run import run
from playground.text.wording import count_heads
from playground.web.choices.shortcuts import preset_values
from playground.web.session.services import services
from playground.web.shared import navigation
from playground.web.views import overview
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL,
    array,
    block_boxes,
    captions,
    charts,
    choose,
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
POST_NORM = [(True, ["attention", "add"]), (False, ["norm"]), (True, ["feed-forward", "add"]), (False, ["norm"])]


def test_the_first_page_is_the_trained_model_on_the_default_sentence() -> None:
    app = without_error(open_page())
    assert sentences(app) == ""
    assert not charts(app), "the diagram comes first"
    open_panels(app, "overview_more")
    encoder, tokenizer = checkpoint.load("minilm")
    expected = run(encoder, tokenizer.encode_batch([DEFAULT_TEXT]))
    assert charts(app).keys() == CHARTS
    assert block_boxes(app) == POST_NORM
    boxes = [box for group in component_data(app, "data_flow")["block"] for box in group["boxes"]]
    assert all(box["sum"] == (box["title"] == "add") and box["page"] in PAGES for box in boxes)
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_runs_or_says_why_not(name: str) -> None:
    config = PRESETS[name].config
    app = open_page(weights="random", overview_more=True, **preset_values(name))
    refused = count_parameters(config).total > services().settings.max_parameters
    assert bool(app.error) == refused
    if refused:
        assert f"at most {services().settings.max_parameters:,}" in app.error[0].value
        assert not charts(app)
    else:
        assert sentences(app) == ""
        assert count_heads(config.n_layers, config.n_heads) in captions(app)
        assert ":orange-badge[random weights]" in captions(app)
        assert charts(app).keys() == CHARTS


def test_words_that_are_raw_vectors_have_numbers_for_names() -> None:
    app = open_page(weights="random", overview_more=True, **preset_values("tutorial-b"))
    assert "word 3" in str(component_data(app, "token_chips"))
    assert "3,280 parameters" in captions(app)


@pytest.mark.parametrize("length", [2_000, 100_000])
def test_a_long_text_is_cut_with_a_notice_that_counts_right(length: int) -> None:
    text = "ab " * (length // 3)
    app = without_error(open_page(text=text))
    n_tokens = len(text[:2_000].split()) + 2
    assert "after 256 tokens" in sentences(app)
    assert f"{n_tokens - 256} more" in sentences(app)
    assert (length > 2_000) == ("the first 2,000" in sentences(app))
    assert "256 tokens ·" in captions(app)


def test_no_line_leads_past_boxes_where_there_are_no_residual_connections() -> None:
    app = without_error(open_page(**SMALL, residual=False, final_norm=True))
    assert block_boxes(app) == [(False, ["attention", "norm", "feed-forward", "norm"])]
    assert [box["title"] for box in component_data(app, "data_flow")["after"]] == ["final norm", "vectors"]


def test_the_shapes_of_the_text_or_of_tutorial_cs_batch_stand_in_a_panel_once_it_is_open() -> None:
    texts = (DEFAULT_TEXT, "Short.")
    app = open_page(text="\n".join(texts))
    assert not app.dataframe
    assert not app.code
    shown = open_panels(app, "overview_shapes").dataframe[0].value.set_index("intermediate")
    for name, tensor in trained_trace(*texts).items():
        if not name.endswith(".in"):  # made at an earlier point
            assert (shown.loc[name, "shape"], shown.loc[name, "numbers"]) == (str(tuple(tensor.shape)), tensor.numel())
    assert shown.loc["layers.5.attn.mask", "shape"] == "(2, 1, 1, 16)"
    shown = choose(app, overview_batch=C_BATCH, causal=True).dataframe[0].value
    assert shown["shape"].iloc[0] == "(30, 200)"
    assert shown.set_index("intermediate").loc["layers.5.attn.mask", "shape"] == "(30, 1, 200, 200)"
    assert [line.split()[0] for line in app.code[0].value.splitlines()] == list(shown["intermediate"])
    linked = open_page(overview_shapes="true", overview_batch=C_BATCH, causal="true")
    assert linked.dataframe[0].value.equals(shown)


def test_a_text_in_another_script_is_told_once_for_the_trained_model_alone() -> None:
    arabic = "الحيوان لم يعبر الشارع"
    app = working(open_page(text=arabic))
    assert len(app.info) == 1
    assert "Arabic" in app.info[0].value
    assert not working(open_page(text=arabic, weights="random")).info
    assert not working(open_page(text="Ein Größenvergleich")).info


def test_lines_of_code_are_sentences_and_the_sidebar_says_so() -> None:
    assert "Each line is a sentence of its own" in captions(open_page(text="def f(x):\n    return x"))
    assert "Each line is a sentence of its own" not in captions(open_page(text="def f(x): return x"))


@pytest.mark.parametrize(
    ("sent", "asked_for"), [("norms", "norms"), ("nowhere", None), (["norms"], None), ({}, None), (7, None)]
)
def test_a_press_on_a_box_opens_its_page_and_none_that_there_is_not(sent: object, asked_for: str | None) -> None:
    session = {"data_flow": SimpleNamespace(open=sent)}
    with mock.patch.object(st, "session_state", session):
        overview._remember_opened_page()
    assert session.get(navigation.NEXT) == asked_for

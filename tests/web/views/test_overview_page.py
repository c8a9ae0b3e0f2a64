"""The overview as a page: the trained model first, every preset, boxes, the panel of shapes, and odd texts."""

from unittest import mock

import pytest
import streamlit as st

from playground import count_parameters
from playground.pages import PAGES
from playground.presets import PRESETS
from playground.text.wording import count_heads
from playground.web.choices.shortcuts import preset_values
from playground.web.session.services import services
from playground.web.shared import navigation
from tests.web.app_test import captions, component_data, open_page, sentences, without_error


def test_the_first_page_is_the_trained_model_on_the_default_sentence() -> None:
    app = without_error(open_page())
    assert sentences(app) == ""
    boxes = [box for group in component_data(app, "data_flow")["block"] for box in group["boxes"]]
    assert [box["title"] for box in boxes] == ["attention", "add", "norm", "feed-forward", "add", "norm"]
    assert all(box["sum"] == (box["title"] == "add") and box["page"] in PAGES for box in boxes)
    assert "trained weights" in captions(app)
    assert f"{count_parameters(PRESETS['minilm-l6'].config).total:,} parameters" in captions(app)
    assert "16 tokens · 6 layers × 12 heads" in captions(app)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_runs_or_says_why_not(name: str) -> None:
    config = PRESETS[name].config
    app = open_page(weights="random", **preset_values(name))
    if count_parameters(config).total > services().settings.max_parameters:
        assert f"at most {services().settings.max_parameters:,}" in app.error[0].value
    else:
        assert sentences(app) == ""
        assert count_heads(config.n_layers, config.n_heads) in captions(app)


@pytest.mark.parametrize(
    ("sent", "asked_for"), [("norms", "norms"), ("nowhere", None), (["norms"], None), ({}, None), (7, None)]
)
def test_a_press_on_a_box_opens_its_page_and_none_that_there_is_not(sent: object, asked_for: str | None) -> None:
    session: dict[str, object] = {}
    with mock.patch.object(st, "session_state", session):
        navigation.request_page(sent)
    assert session.get(navigation.NEXT) == asked_for

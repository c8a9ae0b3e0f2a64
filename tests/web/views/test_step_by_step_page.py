"""The page Steps, as it opens: the ways through the stages, dropout."""

import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground import ModelConfig
from playground.analysis.steps import order
from playground.presets import PRESETS
from playground.web.choices.shortcuts import preset_values
from playground.web.session import caches
from tests.web import app_test
from tests.web.app_test import (
    array,
    captions,
    charts,
    choose,
    open_page,
    open_panels,
    press,
    shown_focus,
    trained_trace,
    without_error,
)  # fmt: skip
from tests.written_numbers import read_number

SMALL: dict[str, Any] = {**app_test.SMALL, "seed": 3, "text": "abc"}


def page(**query: object) -> AppTest:
    return without_error(open_page("step_by_step", **query))


def off(app: AppTest) -> float:
    """How far the numbers that are worked out are from the model's."""
    found = re.search(r"from the model is (\S+(?:\s×\s10\S+)?)\.", captions(app))
    assert found
    return read_number(found[1])


def test_a_stage_of_the_trained_model() -> None:
    app, pattern = page(layer=2, head=5), trained_trace()["layers.2.attn.pattern"][0, 5].numpy()
    choose(app, step_stage="softmax")
    assert app.header[0].value == "Softmax"
    assert shown_focus(app) == {"layer": 2, "head": 5, "query": 10, "key": 2}
    assert off(app) < 1e-5
    np.testing.assert_allclose(array(charts(app)["step_softmax"], name="y"), pattern[10], atol=1e-5)
    np.testing.assert_allclose(array(charts(app)["step_pattern"]), pattern, atol=1e-5)


# --- the way through the stages


@pytest.mark.long
def test_next_and_back_walk_through_the_stages_in_the_blocks_own_order() -> None:
    app = page(**SMALL, norm_placement="pre")
    assert app.button(key="stage_back").disabled
    seen = [app.header[0].value]
    while not app.button(key="stage_next").disabled:
        seen.append(press(app, "stage_next").header[0].value)
    assert seen[:3] == ["Embedding", "First norm", "Projections"]
    assert (seen[-1], len(seen)) == ("Second residual", len(order(PRESETS["minilm-l6"].config)))
    assert press(app, "stage_back").header[0].value == "Feed-forward"
    assert app.session_state["step_stage"] == "feed-forward"
    choose(app, norm_placement="post")
    assert app.header[0].value == "Feed-forward", "another norm placement keeps the stage"


def test_tutorial_bs_path_begins_with_attention_and_a_link_to_it_opens_its_panel() -> None:
    tutorial = {"weights": "random", **preset_values("tutorial-b"), "text": "a cat"}
    app = page(**tutorial, step_stage="first norm")
    assert choose(app, step_path="as tutorial B").header[0].value == "Dot products"
    assert choose(app, step_path="as the data moves").header[0].value == "Embedding"
    assert page(**tutorial, step_path="as tutorial B").session_state["step_ways"]


# --- dropout


def test_dropout_leaves_the_shared_model_alone() -> None:
    app = page(step_stage="softmax", layer=1, head=4)
    weights = array(charts(app)["step_softmax"], name="y")
    factors = array(charts(open_panels(app, "step_dropout"))["step_drops"])
    assert np.array_equal(array(charts(app)["step_softmax"], name="y"), weights)
    assert not any(module.training for module in caches.encoder("minilm", ModelConfig(vocab_size=1), 0).modules())
    other, same = (array(charts(choose(app, seed=seed))["step_drops"]) for seed in (1, 0))
    assert np.array_equal(same, factors, equal_nan=True)
    assert not np.array_equal(other, factors, equal_nan=True)

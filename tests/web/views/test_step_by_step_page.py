"""The page Steps, as it opens: the ways through the stages, the chapters' own inputs, dropout."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, Trace
from playground.analysis.walkthrough import order
from playground.presets import PRESETS
from playground.text.tokenizer import draw_vectors
from playground.web.choices.shortcuts import preset_values
from playground.web.session import caches
from tests.web import app_test
from tests.web.app_test import (
    answer,
    array,
    captions,
    charts,
    choose,
    component_data,
    open_page,
    open_panels,
    press,
    prose,
    sentences,
    shown_focus,
    trained_trace,
    values,
    widgets,
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


def test_tokens_cannot_act_as_markdown() -> None:
    text = "[a](https://example.org) `$x$` *b*"
    app = page(**SMALL | {"tokenizer": "word", "text": text}, query=0, key=3)
    assert all(line.count("`") % 2 == 0 for line in captions(app).splitlines())


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


# --- the chapters' own inputs

TUTORIAL_B = {"weights": "random", **preset_values("tutorial-b"), "step_path": "as tutorial B"}
INPUTS = [
    ("dot products", "Attention", (5, 3, 8), 1, "none"),
    ("projections", "Self-attention", (2, 4, 8), 1, "none"),
    ("merge", "Multi-head attention", (2, 5, 16), 4, "none"),
    ("embedding", "Positions", (1, 10, 16), 4, "sinusoidal-doubled"),
    ("feed-forward", "The block", (1, 10, 16), 4, "sinusoidal-doubled"),
]


def chapter_trace(
    shape: tuple[int, int, int], n_heads: int, positions: str, sentence: int, seed: int, *, causal: bool = False
) -> Trace:
    """What tutorial B's encoder computes from one sentence of a chapter's input, without the app."""
    _, n_tokens, d_model = shape
    config = ModelConfig(vocab_size=0, d_model=d_model, n_heads=n_heads, n_layers=1, d_ff=4 * d_model, dropout=0.0,
                         positions=positions, initialisation="torch")  # type: ignore[arg-type]  # fmt: skip
    first, model, trace = (sentence - 1) * n_tokens, Encoder(config, seed), Trace()
    x = draw_vectors([f"x{i}" for i in range(first, first + n_tokens)], d_model, seed)
    allowed = torch.ones(1, n_tokens, n_tokens, dtype=torch.bool)
    with torch.inference_mode():
        model.encode(model.embed_vectors(x[None], trace), allowed.tril() if causal else allowed, trace)
    return trace


@pytest.mark.parametrize(("stage", "title", "shape", "n_heads", "positions"), INPUTS)
def test_each_chapter_of_tutorial_b_has_its_own_input(
    stage: str, title: str, shape: tuple[int, int, int], n_heads: int, positions: str
) -> None:
    sentence = shape[0]
    app = page(**TUTORIAL_B, seed=5, step_stage=stage, step_sentence=sentence, query=1, key=2)
    assert sentences(app) == ""
    assert f"has the shape **{shape}**" in captions(app)
    assert f": {title}.**" in prose(app)
    line = component_data(app, "focus_line")
    assert line["tokens"][line["places"]["query"]] == f"x{(sentence - 1) * shape[1] + 1}"
    assert line["counts"] == {"layer": 1, "head": n_heads, "query": shape[1], "key": shape[1]}
    assert ("step_sentence" in widgets(app)) == (shape[0] > 1)
    assert off(app) < 1e-5

    trace = chapter_trace(shape, n_heads, positions, sentence, 5)
    x, q, k, z = (trace[name][0].numpy() for name in ("embed.out", *(f"layers.0.attn.{each}" for each in "qkz")))
    expected: dict[str, tuple[str, str, Any, Any]] = {
        "dot products": ("step_dot_products", "y", ..., k[0] @ q[0, 1]),
        "projections": ("step_projections", "z", ..., q[0]),
        "merge": ("step_merge", "z", ..., z[:, 1]),
        "embedding": ("step_embedding", "z", -1, x[1, :8]),
        "feed-forward": ("step_feed_forward", "z", -1, trace["layers.0.ffn.out"][0, 1, :8].numpy()),
    }
    chart, name, rows, numbers = expected[stage]
    np.testing.assert_allclose(array(charts(app)[chart], name=name)[rows], numbers, atol=1e-5)


def test_the_chapters_input_is_left_for_the_students_own_text_and_for_another_architecture() -> None:
    app = page(**TUTORIAL_B, step_stage="softmax", step_sentence=2, causal=True, query=1)
    pattern = chapter_trace((5, 3, 8), 1, "none", 2, 0, causal=True)["layers.0.attn.pattern"][0, 0, 1].numpy()
    np.testing.assert_allclose(array(charts(app)["step_softmax"], name="y")[:2], pattern[:2], atol=1e-5)
    choose(app, step_input="my text")
    assert "14 tokens · 1 layer × 4 heads" in captions(app)
    assert "step_sentence" not in widgets(app)
    choose(app, step_input="the tutorial's")
    assert "**(5, 3, 8)**" in captions(app)
    choose(app, norm_placement="pre")
    assert "14 tokens · 1 layer × 4 heads" in captions(app)
    choose(app, norm_placement="post", step_path="as the data moves")
    assert "14 tokens · 1 layer × 4 heads" in captions(app)
    assert "step_input" not in widgets(app)


def test_the_chapters_input_needs_no_text_and_hostile_numbers_move_into_it() -> None:
    app = page(**TUTORIAL_B | {"text": ""}, step_stage="merge", step_sentence=5, query=99, head=95)
    assert values(app, "step_sentence", "query", "head") == {"step_sentence": 2, "query": 4, "head": 3}
    assert "step_sentence=" in sentences(app)
    note = component_data(app, "focus_line")["note"]
    assert "the last query is 4" in note
    assert "the last head is 3" in note
    assert charts(app).keys() == {"step_merge"}
    assert not charts(choose(app, step_input="my text"))
    app = page(**TUTORIAL_B, step_input="theirs", step_stage="scale")
    assert "step_input" in sentences(app)
    assert widgets(app)["step_input"].value == "the tutorial's"


def test_tutorial_bs_path_begins_with_attention() -> None:
    app = page(**TUTORIAL_B | {"step_path": "as the data moves"}, step_stage="first norm")
    assert choose(app, step_path="as tutorial B").header[0].value == "Dot products"
    assert choose(app, step_path="as the data moves").header[0].value == "Embedding"


def test_a_link_to_the_tutorials_path_opens_its_panel() -> None:
    assert page(**TUTORIAL_B).session_state["step_ways"]
    assert not page(**SMALL).session_state["step_ways"]


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


def test_a_texts_own_query_is_answered_from_the_first_look_on() -> None:
    app = open_page("step_by_step", weights="english")
    assert shown_focus(app)["query"] == 16
    assert "`[MASK]`₁₆" in answer(app)

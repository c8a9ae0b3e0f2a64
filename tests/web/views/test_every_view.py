"""Every page, in every view, opens on any sentence and architecture, with its tables and its code."""

import pytest
from streamlit.testing.v1 import AppTest

from playground.analysis.steps import order
from playground.link.params import FOCUS
from playground.presets import PRESETS
from tests.web.app_test import (
    ODD_TEXT,
    SMALL,
    captions,
    charts,
    choose,
    component_data,
    drawn_lines,
    open_page,
    sentences,
    values,
    without_error,
    words,
)

STAGES = order(PRESETS["minilm-l6"].config)
STEPS = {stage: {f"step_{stage.replace(' ', '_').replace('-', '_')}"} for stage in STAGES} | {
    "dot products": {"step_products", "step_dot_products"}, "softmax": {"step_softmax", "step_pattern"},
}  # fmt: skip
MASKS = {f"encdec_mask_{name}" for name in ("source_padding", "target_padding", "no_peek", "combined")}
VIEWS: dict[str, tuple[str, set[str], dict[str, set[str]]]] = {
    "overview": ("overview_batch", set(),
                 {"this text": set()}),
    "attention": ("attention_view", {"attention_grid", "attention_pattern"},
                  {view: {f"attention_{view}"} for view in ("lines", "ranking", "entropy")}),
    "norms": ("norms_view", {"norms_by_layer"},
              {"tokens": {"norms_by_token"}, "statistics": {"norm_statistics", "norm_means"}, "by hand": set()}),
    "positions": ("positions_view", {"position_table", "swap_differences"},
                  {"this sentence": set(), "similarity": {"between_positions"}, "doubled exponent": {"wavelengths"}}),
    "step_by_step": ("step_stage", set(), STEPS),
    "gradient_flow": ("gradient_of", {"gradient_by_layer"}, {"attention": set(), "stream": set()}),
    "encoder_decoder": ("encdec_attention", {"encdec_grid", "encdec_pattern"} | MASKS,
                        {view: set() for view in ("encoder self", "decoder self", "cross")}),
    "parameters": ("parameters_view", {"parameter_breakdown", "flops_breakdown", "flops_by_length",
                   "capability_by_parameters"},
                   {view: set() for view in ("components", "layers")}),
}  # fmt: skip
"""Of each page: the key of its view, the charts of every view, and those of each."""
FOLDS = dict.fromkeys(
    ("norms_closer", "positions_table", "positions_closer", "parameters_formulas", "parameters_costs",
     "parameters_bought", "gradient_six", "encdec_show_masks"),
    True,
)  # fmt: skip
"""What opens the pages' panels."""


def drawn(app: AppTest) -> set[str]:
    """The names of everything that is drawn, but for why a token looks there, and what a norm does to one."""
    found = {name for name in charts(without_error(app)) if not name.startswith(("why_", "norm_numbers_"))}
    return found | ({"attention_lines"} if drawn_lines(app) else set())


ODD: tuple[dict[str, object], ...] = (
    {"norm_placement": "pre", "final_norm": True, "norm": "scalar", "sentence": 2, "causal": True},
    {"norm": "none", "residual": False, "n_heads": 1, "n_layers": 1, "positions": "none", "n_segments": 0},
    {"norm": "rms", "fused_qkv": True, "head_merge": "reshape", "activation": "silu", "gated": True},
    {"d_model": 15, "n_heads": 15, "norm": "scalar", "positions": "sinusoidal-doubled", "sentence": 3},
    {"tokenizer": "word", "text": "x", "encdec_target": "x", "attention_show": "average of heads"},
    {"weights": "minilm", "tokenizer": "wordpiece", "text": "\u200b", "attention_hide": True},
    {"weights": "minilm", "tokenizer": "wordpiece", "text": "é\u0301 ﷽ [MASK] 🙂 שלום\x00\x1b ☃ 漢字"},
)


@pytest.mark.sweep
@pytest.mark.parametrize("page", VIEWS)
@pytest.mark.parametrize("number", range(len(ODD)))
def test_every_page_opens_on_odd_sentences_and_architectures(page: str, number: int) -> None:
    link = SMALL | {"text": ODD_TEXT, "gradient_layers": 3, "step_dropout": True, "encdec_source": "your text"}
    key, always, views = VIEWS[page]
    view, own = [*views.items()][number % len(views)]
    app = open_page(page, **link | ODD[number] | FOLDS | {key: view})
    swapped = set() if "nothing to swap" in sentences(app) else {"swap_differences"}
    drops = {"step_drops"} if page == "step_by_step" else set()
    assert drawn(app) == (always | own | drops) - ({"swap_differences"} - swapped)
    assert "nan" not in words(app).split()  # such as the mean over the pairs of one token


@pytest.mark.sweep
@pytest.mark.parametrize("page", ["norms", "positions", "step_by_step"])
def test_every_view_opens_where_numbers_overflow(page: str) -> None:
    deep = {"norm": "none", "n_layers": 96, "d_model": 64, "layer": 95, "step_dropout": True}
    app = open_page(page, **SMALL | deep | FOLDS)
    key, always, views = VIEWS[page]
    for view, own in views.items():
        assert drawn(choose(app, **{key: view})) >= always | own
        assert sentences(app).count("**Overflow**") == 1, "the frame says it, once"


def test_a_number_past_the_last_is_moved_there_with_a_sentence() -> None:
    app = without_error(open_page("encoder_decoder", **SMALL, encdec_target="een kat", encdec_position=50, seed=7))
    assert values(app, "encdec_position", "seed") == {"encdec_position": 6, "seed": 7}
    assert "encdec_position=50" in sentences(app)


def test_a_focus_past_the_last_is_shown_at_the_last_with_a_word() -> None:
    app = without_error(open_page("norms", **SMALL, text="a cat sat", **dict.fromkeys(FOCUS, 50)))
    line = component_data(app, "focus_line")
    assert line["places"] == {"layer": 1, "head": 3, "query": 8, "key": 8}
    assert all(f"the last {place} is {last}" in line["note"] for place, last in line["places"].items())
    assert sentences(app) == ""


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("attention", {"n_layers": 96, "d_model": 4096, "n_heads": 32}),
        ("encoder_decoder", {"d_model": 1024, "n_heads": 16, "d_ff": 4096, "encdec_source": "your text"}),
        ("attention", {"tokenizer": "char", "d_model": 96, "n_heads": 96, "d_ff": 8, "text": "many words " * 180}),
    ],
)
def test_what_is_over_the_budget_is_refused_in_one_sentence(page: str, query: dict[str, object]) -> None:
    app = open_page(page, weights="random", **query)
    (error,) = app.error
    assert "at most" in error.value.replace("\\", "")
    assert not charts(app)
    assert "×" not in captions(app).splitlines()[:1]

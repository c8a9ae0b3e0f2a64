"""Every chart beside that of the pinned settings: both sides' numbers and their difference, against ones made here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, Trace, count_parameters
from playground.analysis.attention import mean_entropy
from playground.link.changes import Changes, MadeChange
from playground.link.params import SHARED
from playground.model.changes import Change
from playground.model.positions import sinusoids
from playground.views.scenes import Difference, list_differences
from tests.web.app_test import (
    SMALL,
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    component_data,
    open_page,
    open_panels,
    prose,
    small_trace,
    table,
    without_error,
)

TEXT = "abcab"
PLACE = {"layer": 1, "head": 2, "query": 3, "key": 1}
OTHER_TOKENS = "read other tokens"


def page(name: str, **query: object) -> AppTest:
    """The page, drawn without an error."""
    return without_error(open_page(name, **SMALL | {"text": TEXT} | PLACE | query))


def colour_ends(traces: list[dict[str, Any]]) -> tuple[float, float]:
    """The numbers at both ends of a heatmap's colours."""
    return traces[0]["zmin"], traces[0]["zmax"]


def patterns(trace: Trace, n_layers: int = 2) -> NDArray[np.float32]:
    return np.stack([trace[f"layers.{i}.attn.pattern"][0].numpy() for i in range(n_layers)])


def lengths(trace: Trace, n_layers: int = 2) -> NDArray[np.float32]:
    names = ["embed.out", *(f"layers.{i}.out" for i in range(n_layers))]
    return np.stack([torch.linalg.vector_norm(trace[name][0], dim=-1).numpy() for name in names])


# --- attention


def test_both_runs_have_their_lines() -> None:
    app = page("attention", attention_view="lines", b_seed=5, b_text="abcab")
    drawings = [one.proto.id for one in app.get("bidi_component") if one.proto.component_name.endswith("head_lines")]
    assert [name.rsplit("-", 1)[-1] for name in drawings] == [
        "attention_lines_drawing",
        "attention_lines_pinned_drawing",
    ]
    app = page("attention", attention_view="lines", b_text="x")
    assert OTHER_TOKENS in captions(app)
    assert len([one for one in app.get("bidi_component") if one.proto.component_name.endswith("head_lines")]) == 1


def test_entropies_have_their_change_in_the_heads_that_both_have_whatever_they_read() -> None:
    for text in (TEXT, "ab"):
        app = page("attention", attention_view="entropy", b_n_layers=1, b_text=text)
        now, before = (mean_entropy(patterns(small_trace(words, n_layers=n), n), np.full(len(words), True))
                       for words, n in ((TEXT, 2), (text, 1)))  # fmt: skip
        drawn = charts(app)
        np.testing.assert_allclose(array(drawn["attention_entropy_pinned"]), before, atol=1e-5)
        difference = drawn["attention_entropy_difference"]
        expected = now[:1] - before
        assert np.abs(array(difference) - expected).max() < 1e-5 or not expected.round(5).any()
        assert colour_ends(drawn["attention_entropy"]) == colour_ends(drawn["attention_entropy_pinned"])


def test_heads_that_link_have_both_weights_where_both_have_the_head() -> None:
    rows = table(page("attention", attention_view="heads that link", b_n_layers=1, b_seed=5), "weight, pinned")
    before = small_trace(TEXT, 5, n_layers=1)["layers.0.attn.pattern"][0, :, 3, 1].numpy()
    shown = rows.sort_index()
    np.testing.assert_allclose(shown["weight, pinned"], [*before, *[np.nan] * 4], atol=1e-6)
    np.testing.assert_allclose(shown["weight"] - shown["weight, pinned"], shown["weight, now − pinned"], atol=1e-6)


# --- norms


def test_lengths_by_token_share_their_colours() -> None:
    app = page("norms", norms_closer=True, b_norm_placement="pre", b_n_layers=1)
    now, before = lengths(small_trace(TEXT)), lengths(small_trace(TEXT, norm_placement="pre", n_layers=1), 1)
    drawn = charts(app)
    np.testing.assert_allclose(array(drawn["norms_by_token_pinned"]), before, rtol=1e-5)
    np.testing.assert_allclose(array(drawn["norms_by_token_difference"]), now[:2] - before, atol=1e-5)
    assert colour_ends(drawn["norms_by_token"]) == colour_ends(drawn["norms_by_token_pinned"])
    assert OTHER_TOKENS in captions(page("norms", b_text="x"))


# --- parameters


def test_the_pinned_model_is_counted_and_a_block_is_the_layer_that_every_page_looks_at() -> None:
    app = page("parameters", parameters_view="layers", b_n_layers=5)
    config = ModelConfig(**SMALL_CONFIG | {"max_len": 512})
    more = count_parameters(replace(config, n_layers=5)).total - count_parameters(config).total
    assert open_panels(app, "parameters_costs").metric[0].delta == f"{-more:+,} since pinned"
    frame = component_data(app, "cell_frame")
    assert (frame["selected"], frame["columns"]) == ([0, 2], [1, 2])
    assert not component_data(choose(app, parameters_model="bert-base"), "cell_frame")


# --- nothing pinned, nothing lost


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"norm": "none", "n_layers": 96, "d_model": 64, "b_norm": "layer"},
        {"b_n_layers": 96, "b_d_model": 12288, "b_n_heads": 96},
        {"b_text": ""},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("name", "key", "views"),
    [
        ("attention", "attention_view", ("lines", "ranking", "entropy", "rollout")),
        ("norms", "norms_view", ("tokens", "statistics", "cosines", "by hand")),
        (
            "positions",
            "positions_view",
            ("swap two words", "this sentence", "curves", "similarity", "doubled exponent"),
        ),
        ("step_by_step", "step_stage", ("embedding", "mask", "merge")),
    ],
)
def test_views_open_beside_what_overflows_or_cannot_be_run(
    name: str, key: str, views: tuple[str, ...], changes: dict[str, Any]
) -> None:
    for view in views:
        page(name, **changes, **{key: view})


# --- steps


def test_a_stage_has_its_result_in_both_where_they_read_the_same_tokens() -> None:
    drawn = charts(page("step_by_step", step_stage="softmax", b_seed=5, b_n_heads=2))["step_softmax"]
    before = small_trace(TEXT, 5, n_heads=2)["layers.1.attn.pattern"][0, 1, 3].numpy()
    np.testing.assert_allclose(array(drawn, 1, "y"), before, atol=1e-5)
    app = page("step_by_step", b_text="x")
    assert OTHER_TOKENS in captions(app)
    assert "step_pinned" not in charts(app)


# --- positions


def test_positions_of_both_are_shown() -> None:
    app = page(
        "positions",
        positions_table=True,
        positions_view="curves",
        b_positions="sinusoidal-doubled",
        positions_curve_1=4,
    )
    rows = sinusoids(128, 16, doubled=True).numpy()
    np.testing.assert_array_equal(array(charts(app)["position_table_pinned"]), rows)
    ghost = next(each for each in charts(app)["position_curves"] if each["line"].get("dash") == "dot")
    np.testing.assert_array_equal(array([ghost], name="y"), rows[:, 4])
    drawn = charts(choose(app, positions_view="similarity"))
    assert colour_ends(drawn["between_positions"]) == colour_ends(drawn["between_positions_pinned"])
    assert len(charts(app)["swap_differences"]) == 2
    other = page("positions", positions_table=True, b_text="xyz", positions="learned", b_seed=5)
    assert OTHER_TOKENS in captions(other)
    assert len(charts(other)["swap_differences"]) == 1
    tables = [Encoder(ModelConfig(**SMALL_CONFIG | {"positions": "learned"}), seed=seed).embed.position_vectors(128)
              for seed in (0, 5)]  # fmt: skip
    change = (tables[0] - tables[1]).detach().numpy()
    np.testing.assert_array_equal(array(charts(other)["position_table_difference"]), change)


NOW: dict[str, Any] = {key: param.default for key, param in SHARED.items()}


@pytest.mark.parametrize(
    ("pinned", "now", "differences"),
    [
        ({}, {}, []),
        ({"n_layers": 6}, {"n_layers": 12}, [Difference("n_layers", "6", "12")]),
        (
            {"norm_placement": "pre", "causal": True},
            {},
            [Difference("norm placement", "pre", "post"), Difference("causal", "on", "off")],
        ),
        ({"vocab_size": 300}, {}, []),
        ({"vocab_size": 300, "tokenizer": "bpe"}, {"tokenizer": "bpe"}, [Difference("vocab size", "300", "2000")]),
        ({"untrained": True}, {}, []),
        (
            {"untrained": True, "weights": "trained here"},
            {"weights": "trained here"},
            [Difference("before training", "on", "off")],
        ),
        ({"weights": "random"}, {"weights": "minilm"}, [Difference("", "random weights", "trained weights")]),
        (
            {"do": Changes()},
            {"do": Changes((MadeChange(Change("zero", 1, 2)), MadeChange(Change("off", 0, None, ("ffn",)))))},
            [Difference("", "no change", "“layer 1, head 2 off” and 1 more")],
        ),
        ({"text": "a\nb"}, {"text": ""}, [Difference("text", "“ab”", "“”")]),
    ],
)
def test_differences_are_those_that_can_be_seen(
    pinned: dict[str, Any], now: dict[str, Any], differences: list[Difference]
) -> None:
    assert list_differences(NOW | pinned, NOW | now) == differences


def test_a_sides_name_has_two_differences_and_says_how_many_more_and_the_page_has_them_all() -> None:
    app = open_page("norms", **SMALL, b_n_layers=4, b_d_ff=64, b_seed=5, b_norm="rms")
    names = {trace.get("name") for trace in charts(app)["norms_by_layer"]}
    assert "dotted: pinned (n_layers 4, d_ff 64 and 2 more)" in names
    told = prose(app).replace("\\", "")
    assert "pinned (n_layers 4, d_ff 64, norm rms, seed 5) and now (n_layers 2, d_ff 32, norm layer, seed 0)." in told


def test_a_pinned_text_acts_as_no_markup() -> None:
    app = open_page("norms", **SMALL, b_text="<b>**x**</b> [y](z)")
    names = [trace.get("name", "") for trace in charts(app)["norms_by_layer"]]
    assert not [name for name in names if "<b>" in name]
    assert [name for name in names if "&lt;b&gt;" in name]
    assert "**x**" not in prose(app) + captions(app)

"""Every chart beside that of the pinned settings: both sides' numbers and their difference, against ones made here."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from playground import ModelConfig, Trace, count_parameters
from playground.accounting import count_flops
from playground.analysis.attention import mean_entropy, rollout
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    component_data,
    open_panels,
    small_trace,
    table,
    without_error,
)  # fmt: skip
from tests.web.pinned_pages import OTHER_TOKENS, TEXT, colour_ends, page


def patterns(trace: Trace, n_layers: int = 2) -> NDArray[np.float32]:
    return np.stack([trace[f"layers.{i}.attn.pattern"][0].numpy() for i in range(n_layers)])


def lengths(trace: Trace, n_layers: int = 2) -> NDArray[np.float32]:
    names = ["embed.out", *(f"layers.{i}.out" for i in range(n_layers))]
    return np.stack([torch.linalg.vector_norm(trace[name][0], dim=-1).numpy() for name in names])


# --- attention


def test_a_querys_weights_stand_in_pairs_and_in_the_table() -> None:
    app = page("attention", attention_view="ranking", b_seed=5)
    now, before = (small_trace(TEXT, seed)["layers.1.attn.pattern"][0, 2, 3].numpy() for seed in (0, 5))
    order = np.argsort(np.maximum(now, before))[::-1]
    bars = charts(app)["attention_ranking"]
    np.testing.assert_allclose(array(bars, 0, "x"), now[order], atol=1e-6)
    np.testing.assert_allclose(array(bars, 1, "x"), before[order], atol=1e-6)
    open_panels(app, "attention_ranking_open")
    rows = table(app, "weight, now − pinned")
    np.testing.assert_allclose(rows["weight, now − pinned"], (now - before)[np.argsort(-now)], atol=1e-6)


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


def test_rollout_is_shown_of_both() -> None:
    app = page("attention", attention_view="rollout", b_seed=5)
    now, before = (rollout(patterns(small_trace(TEXT, seed)))[1] for seed in (0, 5))
    drawn = charts(app)
    np.testing.assert_allclose(array(drawn["attention_rollout_pinned"]), before, atol=1e-5)
    np.testing.assert_allclose(array(drawn["attention_rollout_difference"]), now - before, atol=1e-5)
    assert colour_ends(drawn["attention_rollout"]) == colour_ends(drawn["attention_rollout_pinned"])
    assert drawn["attention_rollout"][0]["zmax"] == pytest.approx(max(now.max(), before.max()))
    assert OTHER_TOKENS in captions(page("attention", attention_view="rollout", b_text="x"))


def test_heads_that_link_have_both_weights_where_both_have_the_head() -> None:
    rows = table(page("attention", attention_view="heads that link", b_n_layers=1, b_seed=5), "weight, pinned")
    before = small_trace(TEXT, 5, n_layers=1)["layers.0.attn.pattern"][0, :, 3, 1].numpy()
    shown = rows.sort_index()
    np.testing.assert_allclose(shown["weight, pinned"], [*before, *[np.nan] * 4], atol=1e-6)
    np.testing.assert_allclose(shown["weight"] - shown["weight, pinned"], shown["weight, now − pinned"], atol=1e-6)


def test_why_is_answered_for_both_in_words() -> None:
    app = page("attention", b_seed=5)
    before = float(small_trace(TEXT, 5)["layers.1.attn.pattern"][0, 2, 3, 1])
    told = next(text for text in captions(app).splitlines() if "layer 1, head 2.** `a`₃" in text)
    assert f"with weight **{before:.2f}**" in told
    hidden = page("attention", b_causal=True, query=1, key=3)
    assert "layer 1, head 2.** This key comes later" in captions(hidden)
    assert "with weight" in captions(page("attention", causal=True, b_causal=False, query=1, key=3))
    assert "these reasons" in captions(page("attention", b_text="x"))


@pytest.mark.parametrize("view", ["what heads are known for", "the query's stream"])
def test_a_view_of_the_present_alone_says_so(view: str) -> None:
    assert "present settings alone" in captions(page("attention", attention_view=view, b_seed=5))
    assert "present settings alone" not in captions(page("attention", attention_view=view))


# --- norms


def test_lengths_by_token_share_their_colours() -> None:
    app = page("norms", b_norm_placement="pre", b_n_layers=1)
    now, before = lengths(small_trace(TEXT)), lengths(small_trace(TEXT, norm_placement="pre", n_layers=1), 1)
    drawn = charts(app)
    np.testing.assert_allclose(array(drawn["norms_by_token_pinned"]), before, rtol=1e-5)
    np.testing.assert_allclose(array(drawn["norms_by_token_difference"]), now[:2] - before, atol=1e-5)
    assert colour_ends(drawn["norms_by_token"]) == colour_ends(drawn["norms_by_token_pinned"])
    assert OTHER_TOKENS in captions(page("norms", b_text="x"))


def test_statistics_of_norms_lie_on_the_same_axes() -> None:
    app = page("norms", norms_view="statistics", b_n_layers=3, b_embedding_norm=False, b_seed=5)
    ghost = next(each for each in charts(app)["norm_statistics"] if each["line"].get("dash") == "dot")
    trace = small_trace(TEXT, 5, n_layers=3, embedding_norm=False)
    points = [f"layers.{i}.norm{j}.in" for i in range(3) for j in (1, 2)]
    assert ghost["x"] == [point.removesuffix(".in") for point in points]
    expected = [trace[point][0].std(dim=-1, correction=0).mean() for point in points]
    np.testing.assert_allclose(array([ghost], name="y"), expected, rtol=1e-4)
    rows = table(open_panels(app, "norm_statistics_open"), "std before, pinned")
    assert set(rows.index) == {"embed.norm", *ghost["x"]}
    assert np.isnan(rows.loc["embed.norm", "std before, now − pinned"])


def test_cosines_have_their_change() -> None:
    app = page("norms", norms_view="cosines", norms_layer=2, b_seed=5, b_n_layers=1)
    unit = torch.nn.functional.normalize
    now, before = (unit(trace[name][0], dim=-1) for trace, name in (
        (small_trace(TEXT), "layers.1.out"), (small_trace(TEXT, 5, n_layers=1), "layers.0.out")))  # fmt: skip
    drawn = charts(app)
    np.testing.assert_allclose(array(drawn["cosines_between_tokens_pinned"]), before @ before.T, atol=1e-5)
    change = (now @ now.T - before @ before.T).numpy()
    np.testing.assert_allclose(array(drawn["cosines_between_tokens_difference"]), change, atol=1e-5)
    assert array(drawn["cosines_between_layers_difference"]).shape == (2, 2)
    assert "it has no depth 2" in captions(app)


def test_one_norm_is_compared_by_its_name() -> None:
    app = page("norms", norms_view="by hand", norms_norm=1, b_seed=5)
    outs = [small_trace(TEXT, seed)["layers.0.norm1.out"][0, 3].numpy() for seed in (5, 0)]
    row = table(app, "now − pinned").loc["L2 norm after the norm"]
    sizes = [float(np.linalg.norm(out)) for out in outs]
    np.testing.assert_allclose(row, [*sizes, sizes[1] - sizes[0]], atol=1e-4)
    assert "it has no `layers.1.norm2`" in captions(page("norms", norms_view="by hand", norms_norm=4, b_n_layers=1))


# --- parameters


def test_what_is_counted_of_the_pinned_text_and_model_stands_in_tables() -> None:
    app = page("parameters", b_n_layers=5, b_text="longer than it was")
    config = replace(ModelConfig(**SMALL_CONFIG | {"max_len": 512}), n_layers=5)
    open_panels(app, "flops_breakdown_open", "named_models_open")
    assert table(app, "total, pinned")["total, pinned"].sum() == count_flops(config, 18).total
    models = table(app, "this one over it")["parameters"]
    assert models["pinned: text “longer than it was”, n_layers 5"] == count_parameters(config).total


def test_a_block_among_the_bars_is_the_layer_that_every_page_looks_at() -> None:
    app = page("parameters", parameters_view="layers", b_n_layers=5)
    frame = component_data(app, "cell_frame")
    assert (frame["selected"], frame["columns"]) == ([0, 2], [1, 2])
    assert not component_data(choose(app, parameters_model="bert-base"), "cell_frame")


# --- nothing pinned, nothing lost


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
    app = page(name, **changes)
    for view in views:
        without_error(choose(app, **{key: view}))

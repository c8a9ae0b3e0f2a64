"""The step-by-step page: each stage's numbers against ones computed here, on odd texts and architectures."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, Trace
from playground.analysis.walkthrough import STAGES
from playground.text import characters
from playground.web.choices.params import DEFAULT_TEXT, write
from playground.web.session import caches
from playground.weights import checkpoint
from tests.web import app_test
from tests.web.app_test import SMALL_CONFIG, array, captions, charts, formulas, open_page, sentences

SMALL = {**app_test.SMALL, "norm_eps": "1e-05", "seed": "3"}
CHARTS = {stage: {f"step_{stage.replace(' ', '_').replace('-', '_')}"} for stage in STAGES} | {
    "dot products": {"step_products", "step_dot_products"},
    "softmax": {"step_softmax", "step_pattern"},
}


def open_step(**query: object) -> AppTest:
    app = open_page("step_by_step", **{key: write(value) for key, value in query.items()})
    assert_well(app)
    return app


def assert_well(app: AppTest) -> None:
    assert not app.exception
    assert not app.error


def largest_difference(app: AppTest) -> float:
    """How far the stage by hand and the model are apart, as the page says it."""
    (number,) = re.findall(r"largest difference from the model is (\d\.\de[+-]\d\d)\.", captions(app))
    return float(number)


def trace_of(text: str, mask: torch.Tensor | None = None, **changes: Any) -> Trace:
    trace = Trace()
    with torch.inference_mode():
        Encoder(ModelConfig(**SMALL_CONFIG | {"norm_eps": 1e-5} | changes), seed=3)(
            characters().encode_batch([text]).ids, mask, trace
        )
    return trace


# --- stages


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_of_the_trained_model(stage: str) -> None:
    app = open_step(step_stage=stage, step_layer=2, step_head=5)
    assert app.subheader[0].value.lower() == stage
    assert set(charts(app)) == CHARTS[stage]
    assert "`it` at position 10" in captions(app)
    assert "`animal` at position 2" in captions(app)
    assert largest_difference(app) < 1e-5


def test_scores_and_weights_are_those_of_the_trace() -> None:
    encoder, tokenizer = checkpoint.load("minilm")
    batch, trace = tokenizer.encode_batch([DEFAULT_TEXT]), Trace()
    with torch.inference_mode():
        encoder(batch.ids, batch.mask, trace)
    scores, pattern = (trace[f"layers.2.attn.{name}"][0, 5].numpy() for name in ("scores", "pattern"))
    q, k = (trace[f"layers.2.attn.{name}"][0, 5].numpy() for name in ("q", "k"))
    where = {"step_layer": 2, "step_head": 5}

    products = charts(open_step(step_stage="dot products", **where))
    np.testing.assert_allclose(array(products["step_dot_products"], name="y"), k @ q[10], atol=1e-4)
    np.testing.assert_allclose(array(products["step_products"])[2], (q[10] * k[2])[:8], atol=1e-5)
    scaled = open_step(step_stage="scale", **where)
    np.testing.assert_allclose(array(charts(scaled)["step_scale"], name="y"), scores[10], atol=1e-5)
    assert f"= {scores[10, 2]:.4g}" in "".join(formulas(scaled))
    assert r"\sqrt{32}" in "".join(formulas(scaled))
    softmax = open_step(step_stage="softmax", **where)
    np.testing.assert_allclose(array(charts(softmax)["step_softmax"], name="y"), pattern[10], atol=1e-5)
    np.testing.assert_allclose(array(charts(softmax)["step_pattern"]), pattern, atol=1e-5)
    assert f"weight {pattern[10].max():.3f}. All its weights add up to 1.0000." in captions(softmax)


def test_the_block_is_followed_to_its_end() -> None:
    trace = trace_of("0123456789")
    where = SMALL | {"text": "0123456789", "step_layer": 1, "step_head": 3, "step_query": 4, "step_key": 1}
    for stage, row, name in (
        ("embedding", -2, "embed.out"),
        ("embedding", -1, "layers.0.out"),
        ("output projection", -1, "layers.1.attn.out"),
        ("first residual", -1, "layers.1.resid_mid"),
        ("first norm", -1, "layers.1.norm1.out"),
        ("feed-forward", -1, "layers.1.ffn.out"),
        ("second residual", -1, "layers.1.resid_post"),
        ("second norm", -1, "layers.1.out"),
    ):
        app = open_step(**where, step_stage=stage)
        (drawn,) = charts(app).values()
        np.testing.assert_allclose(array(drawn)[row], trace[name][0, 4, :8].numpy(), atol=1e-5)
    assert "leaves the last layer" in captions(app)


@pytest.mark.parametrize(
    "changes",
    [
        {"norm_placement": "pre", "final_norm": True, "norm": "scalar", "sentence": 2, "causal": True},
        {"norm": "none", "residual": False, "n_heads": 1, "n_layers": 1, "positions": "none", "n_segments": 0},
        {"norm": "rms", "fused_qkv": True, "head_merge": "reshape", "activation": "relu", "embedding_norm": False},
        {"d_model": 15, "n_heads": 15, "activation": "silu", "positions": "learned", "sentence": 3},
    ],
    ids=str,
)
def test_every_stage_of_any_architecture_on_odd_sentences(changes: dict[str, Any]) -> None:
    text = "one\n<script>$x$ [a](b) `c` € \u202e عربى 🧭</script>\nx"
    app = open_step(**SMALL | changes, text=text, step_dropout=True)
    for stage in STAGES:
        app.session_state["step_stage"] = stage
        app.run()
        assert_well(app)
        assert set(charts(app)) == CHARTS[stage] | {"step_drops"}
        assert largest_difference(app) < 1e-4


@pytest.mark.parametrize(
    ("norm", "output"), [("scalar", "after gain and bias"), ("rms", "after gain"), ("none", "after")]
)
def test_a_norms_output_is_named_by_what_was_learned(norm: str, output: str) -> None:
    app = open_step(**SMALL, norm=norm, step_stage="second norm")
    (drawn,) = charts(app).values()
    assert drawn[0]["y"] == ["before", "normalised", output]


def test_every_stage_where_numbers_overflow() -> None:
    changes = {"norm": "none", "n_layers": "96", "d_model": "64", "embedding_norm": "false"}
    app = open_step(**SMALL | changes, step_layer=95, step_dropout=True)
    for stage in STAGES:
        app.select_slider(key="step_stage").set_value(stage).run()
        assert_well(app)
        assert set(charts(app)) == CHARTS[stage] | {"step_drops"}


# --- captions


def test_the_mask_counts_what_is_hidden() -> None:
    app = open_step(**SMALL, step_stage="mask", text="abc\nabcdefg", causal=True, step_query=1)
    assert re.search("hidden from `b`: 1 later .*, 4 of padding", captions(app))
    scores = array(charts(app)["step_mask"])
    allowed = np.tri(7, dtype=bool) & (np.arange(7) < 3)
    assert np.array_equal(np.isnan(scores), ~allowed)
    masked = open_step(**SMALL, step_stage="softmax", text="abc\nabcdefg", causal=True, step_query=1, step_key=5)
    assert r"e^{-\infty - " in formulas(masked)[-1]
    assert formulas(masked)[-1].endswith("= 0")
    alone = open_step(**SMALL, step_stage="mask", text="abc")
    assert "No key is hidden from `c`." in captions(alone)


def test_the_reshape_merge_is_called_by_its_name() -> None:
    app = open_step(**SMALL, step_stage="merge", text="abcdef", head_merge="reshape", step_query=1)
    assert "**Heads and positions are scrambled**" in captions(app)
    assert "3 of 4 pieces" in captions(app)  # head 0 at 4 and 5, head 1 at 0 and 1
    z = trace_of("abcdef", head_merge="reshape")["layers.0.attn.z"][0].numpy()
    expected = [z[0, 4], z[0, 5], z[1, 0], z[1, 1]]
    np.testing.assert_allclose(array(charts(app)["step_merge"]), expected, atol=1e-5)
    assert "scrambled" not in captions(open_step(**SMALL, step_stage="merge", text="abcdef"))


def test_padding_can_be_asked_but_does_not_ask() -> None:
    app = open_step(**SMALL, text="abc\nabcdefg", step_query=6, step_key=6)
    assert "`c` at position 2" in captions(app)
    assert "`[PAD]` at position 6" in captions(app)
    assert "step_query=6" in sentences(app)


def test_tokens_cannot_act_as_markdown() -> None:
    app = open_step(
        **SMALL | {"tokenizer": "word"}, text="[a](https://example.org) `$x$` *b*", step_query=0, step_key=3
    )
    for line in captions(app).splitlines():
        assert line.count("`") % 2 == 0


# --- the way through the stages


def test_next_and_back_walk_through_the_stages_in_the_blocks_own_order() -> None:
    app = open_step(**SMALL | {"norm_placement": "pre"}, text="abc")
    assert app.button(key="stage_back").disabled
    seen = [app.subheader[0].value]
    while not app.button(key="stage_next").disabled:
        app.button(key="stage_next").click().run()
        assert_well(app)
        seen.append(app.subheader[0].value)
    assert seen[:3] == ["Embedding", "First norm", "Projections"]
    assert (seen[-1], len(seen)) == ("Second residual", len(STAGES))
    app.button(key="stage_back").click().run()
    assert app.subheader[0].value == "Feed-forward"
    assert app.session_state["step_stage"] == "feed-forward"


def test_tutorial_b_is_a_path_of_chapters() -> None:
    app = open_step(**SMALL, text="abc", step_stage="first norm")
    app.segmented_control(key="step_path").set_value("as tutorial B").run()
    assert_well(app)
    assert app.subheader[0].value == "Dot products"
    chapters = []
    while not app.button(key="stage_next").disabled:
        chapters += re.findall(r"Chapter (\d) of 5: (.*?)\.\*\*", "\n".join(line.value for line in app.markdown))
        app.button(key="stage_next").click().run()
    titles = ["Attention", "Self-attention", "Multi-head attention", "Positions", "The block"]
    assert list(dict.fromkeys(chapters)) == [(str(number), title) for number, title in enumerate(titles, start=1)]
    app.segmented_control(key="step_path").set_value("as the data moves").run()
    assert app.subheader[0].value == "Embedding"


def test_another_norm_placement_keeps_the_stage() -> None:
    app = open_step(**SMALL, text="abc", step_stage="softmax")
    app.segmented_control(key="norm_placement").set_value("pre").run()
    assert_well(app)
    assert app.subheader[0].value == "Softmax"


# --- dropout


def test_dropout_shows_the_zeros_and_leaves_the_shared_model_alone() -> None:
    app = open_step(step_stage="softmax", step_layer=1, step_head=4)
    weights = array(charts(app)["step_softmax"], name="y")
    app.toggle(key="step_dropout").set_value(True).run()
    assert_well(app)
    factors = array(charts(app)["step_drops"])
    assert factors.shape == (5, 16)
    seen = np.unique(np.round(factors[np.isfinite(factors)], 4))
    assert seen.tolist() == pytest.approx([0, 1 / 0.9], abs=1e-4)
    assert np.array_equal(array(charts(app)["step_softmax"], name="y"), weights)
    (table,) = (frame.value for frame in app.dataframe)
    assert list(table["tutorial B"]) == ["–"] * 5
    assert list(table["tutorial C"]) == ["–", "–", "✓", "✓", "✓"]
    zeroed, size = table["zeroed here"]["after positions"].split(" of ")
    assert (size, 10 < int(zeroed) < 80) == ("384", True)
    loaded = caches.encoder("minilm", ModelConfig(vocab_size=1), 0)
    assert not any(module.training for module in loaded.modules())


def test_another_seed_drops_other_numbers() -> None:
    one, same, other = (
        array(charts(open_step(text=DEFAULT_TEXT, step_dropout=True, seed=seed))["step_drops"]) for seed in (1, 1, 2)
    )
    assert np.array_equal(one, same, equal_nan=True)
    assert not np.array_equal(one, other, equal_nan=True)


# --- around the stages


def test_tables_and_code_open() -> None:
    app = open_step(step_stage="softmax")
    for table in ("step_softmax", "step_pattern"):
        app.session_state[f"{table}_open"] = True
    app.session_state["step_code"] = True
    app.run()
    assert_well(app)
    first, second = (frame.value for frame in app.dataframe)
    assert (first.shape, second.shape) == ((16, 1), (16, 16))
    assert "def forward" in app.code[0].value


def test_all_numbers_of_a_vector_are_in_the_table() -> None:
    app = open_step(step_stage="feed-forward", step_layer=3)
    app.session_state["step_feed_forward_open"] = True
    app.run()
    (table,) = (frame.value for frame in app.dataframe)
    assert table.shape == (1536, 4)
    assert table["output f"].count() == 384


def test_a_busy_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    open_step(text="busy", **SMALL)
    monkeypatch.setattr(caches.TURNS, "_timeout", 0.01)
    with caches.TURNS.take():
        app = open_page("step_by_step", **SMALL, text="busy", step_layer="1")
    assert not app.exception
    assert sentences(app).startswith("Many people are computing right now.")

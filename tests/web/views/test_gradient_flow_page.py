"""The Gradient flow page, its numbers against ones computed here."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, count_parameters
from playground.model import causal_mask
from playground.presets import PRESETS
from playground.text import characters
from playground.web.choices.params import DEFAULT_TEXT
from playground.web.server.settings import settings
from playground.weights import checkpoint
from tests.web.app_test import SMALL_CONFIG, array, captions, charts, open_page, sentences, words, working

SMALL = {
    "weights": "random", "tokenizer": "char", "d_model": "16", "n_heads": "4", "d_ff": "32", "text": "abcd",
    "gradient_layers": "3",
}  # fmt: skip
CONFIG = {**SMALL_CONFIG, "n_layers": 3, "positions": "learned"}
SIX = [(norm, residual) for residual in (True, False) for norm in ("post", "pre", "none")]
NAMES = [
    {"post": "post-norm", "pre": "pre-norm", "none": "no norm"}[norm] + ("" if residual else ", no residual")
    for norm, residual in SIX
]
PARTS = ["whole layer", "attention", "feed-forward", "norms", "stream"]


def page(**query: str) -> AppTest:
    app = working(open_page("gradient_flow", **query))
    assert not app.error
    return app


def model(place: str, residual: bool, **changes: Any) -> Encoder:
    """One of the six, but for the norm on the embeddings, which they all have: with weights of its own."""
    placed: dict[str, Any] = {"norm": "none"} if place == "none" else {"norm_placement": place}
    return Encoder(ModelConfig(**CONFIG | changes | placed | {"residual": residual}), seed=0)


def embedded(ids: torch.Tensor, **changes: Any) -> torch.Tensor:
    x: torch.Tensor = model("post", True, **changes).embed(ids[None])
    return x.detach().requires_grad_()


def by_layer(encoder: Encoder, x: torch.Tensor, ids: torch.Tensor, causal: bool = False) -> NDArray[np.float64]:
    """Norm of the gradient of all parameters of each layer: one graph, one loss, spelled out."""
    out = encoder.encode(x, causal_mask(len(ids)) if causal else None)[0]
    logits = out @ encoder.embed.tokens.weight.detach().T  # type: ignore[union-attr]
    chances = logits.softmax(-1)[torch.arange(len(ids)), ids.roll(-1)]
    torch.autograd.backward(-chances.log().mean())
    squares = [
        sum(
            float(parameter.grad.double().square().sum())
            for parameter in layer.parameters()
            if parameter.grad is not None
        )
        for layer in encoder.layers
    ]
    return np.sqrt(squares)


def lines(app: AppTest, chart: str = "gradient_by_layer") -> dict[str, NDArray[np.float64]]:
    traces = charts(app)[chart]
    return {trace["name"]: array(traces, i, "y") for i, trace in enumerate(traces) if trace["mode"] == "lines+markers"}


@pytest.mark.parametrize(
    ("query", "changes"),
    [
        ({}, {}),
        ({"causal": "true", "norm": "rms", "final_norm": "true"}, {"norm": "rms", "final_norm": True}),
        ({"norm": "none"}, {"embedding_norm": False}),
        ({"norm_placement": "pre", "residual": "false", "positions": "sinusoidal"}, {"positions": "sinusoidal"}),
    ],
    ids=str,
)
def test_six_gradients_are_drawn_as_they_are(query: dict[str, str], changes: dict[str, Any]) -> None:
    app = page(**SMALL | query)
    ids = characters().encode_batch(["abcd"]).ids[0]
    drawn = lines(app)
    assert list(drawn) == NAMES
    for name, (norm, residual) in zip(NAMES, SIX, strict=True):
        x = embedded(ids, **changes)
        expected = by_layer(model(norm, residual, **changes), x, ids, causal=query.get("causal") == "true")
        np.testing.assert_allclose(drawn[name], expected, rtol=1e-3)
    lengths = lines(app, "gradient_lengths")
    assert {values[0] for values in lengths.values()} == {lengths["post-norm"][0]}
    start = embedded(ids, **changes).detach().norm(dim=-1).mean()
    np.testing.assert_allclose(lengths["post-norm"][0], float(start), rtol=1e-5)
    assert ("as the sidebar's norm is none" in captions(app)) is (query.get("norm") == "none")


def test_the_default_page_tells_what_becomes_of_the_gradient() -> None:
    app = page()
    shape = PRESETS["minilm-l6"].config
    encoder = Encoder(ModelConfig(**vars(shape) | {"n_layers": 12}), seed=0)
    ids = checkpoint.load("minilm")[1].encode_batch([DEFAULT_TEXT]).ids[0]
    x = encoder.embed(ids[None]).detach()
    np.testing.assert_allclose(lines(app)["post-norm"], by_layer(encoder, x, ids), rtol=1e-3)

    ratios = {name: norms[0] / norms[-1] for name, norms in lines(app).items()}
    assert ratios["no norm, no residual"] < 1e-3
    assert ratios["no norm"] > 1e3
    verdicts = [str(badge).split("[")[1].rstrip("]") for badge in app.table[0].value["verdict"]]
    assert verdicts == ["steady", "steady", "exploding", "steady", "steady", "vanishing"]
    assert "reaches layer 0 in 4 of 6 encoders" in words(app)
    assert f"*post-norm* (× {ratios['post-norm']:.2g})" in words(app)
    size = count_parameters(encoder.config).total / 1e6
    assert f"16 tokens · 6 encoders, 12 layers × 12 heads, {size:.3g} M parameters each" in captions(app)
    assert ":orange-badge[random weights], instead" in captions(app)
    assert f"even guess costs ln 30,522 = {np.log(30_522):.3g}" in captions(app)


def test_the_summary_is_the_lines_ends() -> None:
    app = page(**SMALL)
    table = app.table[0].value
    assert list(table.columns) == ["verdict", "first / last", "first", "last", "tables", "loss", "tokens alike"]
    for name, norms in lines(app).items():
        row = table.loc[f"**{name}**"]
        assert row["verdict"] == ":green-badge[steady]"
        for column, number in (("first", norms[0]), ("last", norms[-1]), ("first / last", norms[0] / norms[-1])):
            assert float(str(row[column]).strip("$")) == pytest.approx(number, rel=1e-2)
        assert 0 < float(str(row["tokens alike"])) <= 1


@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_its_gradients(part: str) -> None:
    app = page(**SMALL, gradient_of=part)
    drawn = lines(app)
    assert list(drawn) == [name for name in NAMES if part != "norms" or "no norm" not in name]
    assert {len(norms) for norms in drawn.values()} == {4 if part == "stream" else 3}
    if part in {"attention", "feed-forward", "norms"}:
        whole = lines(page(**SMALL))
        assert all((norms < whole[name]).all() for name, norms in drawn.items())
    assert f"Gradient norms of the {part}." in captions(app)


def test_the_sweep_ends_where_the_page_stands() -> None:
    app = page(**SMALL | {"gradient_layers": "6"}, gradient_view="depth sweep")
    traces = charts(app)["gradient_by_depth"]
    assert list(array(traces, 0, "x")) == [1, 2, 4, 6]
    swept, drawn = lines(app, "gradient_by_depth"), lines(app)
    for name, norms in swept.items():
        assert norms[-1] == drawn[name][0]
        assert f"{name} × {norms[-1] / norms[0]:.2g}" in captions(app)
    shallow = lines(page(**SMALL | {"gradient_layers": "2"}))
    for name, norms in shallow.items():
        np.testing.assert_allclose(swept[name][1], norms[0], rtol=1e-5)


def test_the_chain_rule_multiplies_up() -> None:
    app = page(**SMALL, gradient_of="stream")
    for name, norms in lines(app).items():
        formula, numbers = map(str, app.table[1].value.loc[f"**{name}**"])
        assert "f'" in formula
        factor, ratio = re.fullmatch(r"\$([\d.]+)\^\{3\} = ([\d.]+)\$", numbers).groups()  # type: ignore[union-attr]
        assert float(factor) ** 3 == pytest.approx(float(ratio), rel=2e-2)
        assert float(ratio) == pytest.approx(norms[0] / norms[-1], rel=1e-2)


def test_sliders_and_words_change_the_charts() -> None:
    app = page(**SMALL)
    before = lines(app)["post-norm"]
    app.slider(key="gradient_layers").set_value(5).run()
    assert len(lines(app)["post-norm"]) == 5
    app.select_slider(key="gradient_scale").set_value(2.0).run()
    assert np.abs(lines(app)["post-norm"][:3] / before - 1).max() > 1e-2
    app.segmented_control(key="gradient_view").set_value("depth sweep").run()
    assert not app.exception
    assert "gradient_by_depth" in charts(app)


def test_numbers_beyond_their_range_are_named() -> None:
    app = page(
        **SMALL | {"gradient_layers": "48", "gradient_scale": "4.0", "d_model": "64"}, gradient_view="depth sweep"
    )
    assert ":red-badge[not a number]" in set(app.table[0].value["verdict"])
    crosses = [trace for trace in charts(app)["gradient_by_layer"] if trace["mode"] == "markers+text"]
    assert "no norm" in {trace["name"] for trace in crosses}
    assert {word for trace in crosses for word in trace["customdata"]} <= {"NaN", "∞", "0"}
    faint = page(**SMALL | {"gradient_layers": "48", "gradient_scale": "0.25"})
    assert "**Vanishing**: *no norm, no residual* (× 0)." in words(faint)
    assert ":blue-badge[vanishing]" in set(faint.table[0].value["verdict"])


@pytest.mark.parametrize("part", ["norms", "stream"])
@pytest.mark.parametrize("view", ["chain rule", "depth sweep"])
def test_one_layer_and_one_token_are_enough(part: str, view: str) -> None:
    query = {"text": "a", "gradient_layers": "1", "n_heads": "1", "positions": "none"}
    app = page(**SMALL | query, gradient_of=part, gradient_view=view)
    assert ("first and last at once" in words(app)) is (part != "stream")
    assert bool(app.info) is (view == "depth sweep")
    assert set(app.table[0].value["tokens alike"]) == {"–"}


@pytest.mark.parametrize(
    "changes",
    [
        {
            "text": "one\n<script>€ $x$ \u202e عربى 🧭</script>\nx",
            "sentence": "2",
            "causal": "true",
            "fused_qkv": "true",
        },
        {"norm": "scalar", "head_merge": "reshape", "max_len": "5", "text": "a longer text than five"},
        {"tokenizer": "word", "text": "only these words"},
        {"tokenizer": "bpe", "weights": "mine", "text": "hello world", "scale_embeddings": "true"},
    ],
    ids=str,
)
def test_odd_texts_and_architectures_open(changes: dict[str, str]) -> None:
    app = page(**SMALL | changes)
    assert set(charts(app)) == {"gradient_by_layer", "gradient_lengths"}
    assert len(lines(app)) == 6


def test_padding_takes_no_part() -> None:
    alone, beside = page(**SMALL), page(**SMALL | {"text": "abcd\na much longer sentence"})
    for name, norms in lines(alone).items():
        np.testing.assert_allclose(lines(beside)[name], norms, rtol=1e-5)


def test_a_long_sentence_is_cut() -> None:
    app = page(**SMALL | {"text": "ab" * 50})
    assert "The first 64 tokens of the sentence take part; 36 more are left out." in sentences(app)
    assert "64 tokens · 6 encoders" in captions(app)


def test_encoders_too_large_are_refused_with_the_number_of_layers_that_fits() -> None:
    shape = {"weights": "random", "d_model": "1024", "n_heads": "16", "d_ff": "4096"}
    app = working(open_page("gradient_flow", **shape, gradient_layers="48"))
    assert f"this server runs at most {settings().max_parameters:,}" in sentences(app)
    fits = int(re.search(r": (\d+) layers of this shape would fit", sentences(app)).group(1))  # type: ignore[union-attr]
    vocab_size = checkpoint.load("minilm")[1].vocab_size
    for layers, fit in ((fits, True), (fits + 1, False)):
        config = ModelConfig(**CONFIG | {"vocab_size": vocab_size, "d_model": 1024, "n_heads": 16, "d_ff": 4096})
        total = count_parameters(ModelConfig(**vars(config) | {"n_layers": layers})).total
        assert (total <= settings().max_parameters) is fit
    assert not charts(app)


def test_tables_and_code_open() -> None:
    app = page(**SMALL, gradient_view="depth sweep")
    for table in ("gradient_by_layer", "gradient_lengths", "gradient_by_depth"):
        app.session_state[f"{table}_open"] = True
    app.session_state["gradient_flow_code"] = True
    working(app.run())
    by_layer_table, lengths, by_depth = (frame.value for frame in app.dataframe)
    for name, norms in lines(app).items():
        np.testing.assert_array_equal(by_layer_table[name], norms)
    assert lengths.shape == (4, 6)
    assert list(by_depth.index) == [1, 2, 3]
    assert "def next_token_loss(" in app.code[0].value

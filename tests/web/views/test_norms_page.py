"""The Norms page, its numbers against ones computed here."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, Trace
from playground.text import characters
from playground.web.choices.params import DEFAULT_TEXT
from playground.weights import checkpoint

SMALL = {
    "weights": "random",
    "tokenizer": "char",
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 32,
    "positions": "sinusoidal",
}
CONFIG: dict[str, Any] = {
    "vocab_size": characters().vocab_size,
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 32,
    "norm_eps": 1e-12,
    "activation": "gelu",
    "scale_embeddings": False,
    "embedding_norm": True,
    "n_segments": 2,
}
ROOT = Path(__file__).resolve().parents[3]
PAGE = "../../pages/norms.py"
VIEWS = ["tokens", "statistics", "cosines", "by hand"]


def open_page(**query: object) -> AppTest:
    app = AppTest.from_file(ROOT / "playground" / "web" / "app.py", default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = str(value).lower() if isinstance(value, bool) else str(value)
    app.switch_page(PAGE).run()
    assert not app.exception
    assert not app.error
    return app


def traces(app: AppTest, chart: int = 0) -> list[Any]:
    return list(json.loads(app.get("plotly_chart")[chart].proto.spec)["data"])


def numbers(array: Any) -> NDArray[np.float64]:
    """An array of a chart, which travels as base64."""
    shape = [int(n) for n in str(array.get("shape", "-1")).split(",")]
    return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).astype(np.float64).reshape(shape)


def words_of(app: AppTest) -> str:
    return "\n".join(element.value for element in (*app.caption, *app.markdown))


def stream_lengths(trace: Trace, n_layers: int) -> NDArray[np.float64]:
    """Mean over the tokens of a single sentence without padding, by depth."""
    names = ["embed.out", *(f"layers.{i}.out" for i in range(n_layers))]
    return np.array([float(torch.linalg.vector_norm(trace[name][0], dim=-1).mean()) for name in names])


def test_the_trained_models_stream_is_drawn_and_described() -> None:
    encoder, tokenizer = checkpoint.load("minilm")
    batch, trace = tokenizer.encode_batch([DEFAULT_TEXT]), Trace()
    with torch.inference_mode():
        encoder(batch.ids, batch.mask, trace)
    expected = stream_lengths(trace, 6)

    app = open_page()
    assert app.title[0].value == "How large do the vectors grow?"
    np.testing.assert_allclose(numbers(traces(app)[1]["y"]), expected, rtol=1e-4)
    text = words_of(app)
    assert f"stays between {expected[1:].min():.3g} and {expected[1:].max():.3g}." in text
    assert "√384 = 19.6" in text
    longest = max(float(torch.linalg.vector_norm(trace[f"layers.{i}.ffn.out"], dim=-1).max()) for i in range(6))
    assert f"(at most {longest:.3g})" in text


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm_placement": "pre", "final_norm": True},
        {"norm": "none"},
        {"norm": "rms", "residual": False},
        {"norm": "scalar", "n_layers": 1, "n_heads": 1},
    ],
    ids=str,
)
def test_random_weights_are_drawn_as_they_are(changes: dict[str, Any]) -> None:
    text = "0123456789"
    config = ModelConfig(**CONFIG | changes)
    trace = Trace()
    with torch.inference_mode():
        Encoder(config, seed=3)(characters().encode_batch([text]).ids, None, trace)
    expected = stream_lengths(trace, config.n_layers)

    app = open_page(**SMALL | changes, text=text, seed=3)
    np.testing.assert_allclose(numbers(traces(app)[1]["y"]), expected, rtol=1e-4)
    if config.norm == "none" or config.norm_placement == "pre":
        assert f"from {expected[0]:.3g} to {expected[-1]:.3g}" in words_of(app)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "changes",
    [
        {"causal": True, "sentence": 2},
        {"norm": "none", "n_layers": 1, "n_heads": 1},
        {"norm": "rms", "norm_placement": "pre", "final_norm": True, "sentence": 3},
        {"norm": "scalar", "residual": False},
    ],
    ids=str,
)
def test_every_view_opens_on_several_odd_sentences(view: str, changes: dict[str, Any]) -> None:
    app = open_page(**SMALL | changes, norms_view=view, text="one\n<script>€ \u202e عربى 🧭</script>\nx")
    charts = {"tokens": 2, "statistics": 2, "cosines": 3, "by hand": 1}
    assert len(app.get("plotly_chart")) == charts[view]
    assert ("there is only one." in words_of(app)) is (view == "cosines" and changes.get("sentence") == 3)
    assert bool(app.latex) is (view == "by hand" and changes.get("norm") != "none")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_where_numbers_overflow(view: str) -> None:
    app = open_page(**SMALL | {"d_model": 64, "n_layers": 96, "norm": "none", "residual": True}, norms_view=view)
    assert "**Overflow**" in words_of(app)


def test_padding_is_left_out() -> None:
    alone = open_page(**SMALL, text="abc")
    beside = open_page(**SMALL, text="abc\na much longer sentence")
    assert "3 tokens + 19 padding" in words_of(beside)
    for one, other in zip(traces(alone), traces(beside), strict=True):
        np.testing.assert_allclose(numbers(one["y"]), numbers(other["y"]), rtol=1e-5)
    assert traces(beside, 1)[0]["x"] == ["a₀", "b₁", "c₂"]


@pytest.mark.parametrize(("part", "shape"), [("residual", (3, 3)), ("attention", (2, 3)), ("feed-forward", (2, 3))])
def test_each_parts_lengths_are_shown_by_token(part: str, shape: tuple[int, int]) -> None:
    app = open_page(**SMALL, text="abc", norms_part=part)
    lengths = numbers(traces(app, 1)[0]["z"])
    assert lengths.shape == shape
    assert f"The shortest vector has length {lengths.min():.3g}, the longest {lengths.max():.3g}." in words_of(app)


def test_cosines_are_those_of_the_chosen_depth() -> None:
    at_0, at_2 = (open_page(**SMALL, text="abcab", norms_view="cosines", norms_layer=depth) for depth in (0, 2))
    first, last = (numbers(traces(app, 2)[0]["z"]) for app in (at_0, at_2))
    pairs = ~np.eye(5, dtype=bool)
    assert f"two different ones have a mean cosine of {first[pairs].mean():.2f}" in words_of(at_0)
    assert f"after the last block {last[pairs].mean():.2f}" in words_of(at_0)
    assert f"two different ones have a mean cosine of {last[pairs].mean():.2f}" in words_of(at_2)
    assert np.abs(first - last).max() > 0.01


def test_one_norm_is_worked_out_by_hand() -> None:
    app = open_page(**SMALL, text="abc", norms_view="by hand", norms_norm=4, norms_token=2)
    assert "`layers.1.norm2` of `c` at position 2" in words_of(app)
    assert app.latex[0].value.strip("$\n").startswith(r"\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \epsilon}}")
    trace = Trace()
    with torch.inference_mode():
        Encoder(ModelConfig(**CONFIG), seed=0)(characters().encode_batch(["abc"]).ids, None, trace)
    result = float(trace["layers.1.norm2.normalized"][0, 2, 0])
    assert app.latex[1].value.strip("$\n").endswith(f"= {result:.4g}")
    assert f"make out₀ = {float(trace['layers.1.norm2.out'][0, 2, 0]):.4g} of it" in words_of(app)


def test_the_embeddings_norm_is_the_first() -> None:
    app = open_page(**SMALL, text="abc", norms_view="by hand", norms_token=1)
    assert "`embed.norm` of `b` at position 1" in words_of(app)
    trace = Trace()
    with torch.inference_mode():
        Encoder(ModelConfig(**CONFIG), seed=0)(characters().encode_batch(["abc"]).ids, None, trace)
    assert app.latex[1].value.strip("$\n").endswith(f"= {float(trace['embed.norm.normalized'][0, 1, 0]):.4g}")
    drawn = traces(open_page(**SMALL, text="abc", norms_view="statistics"), 1)[0]
    assert drawn["x"][0] == "embed.norm"
    expected = float(trace["embed.sum"][0].std(dim=-1, correction=0).mean())
    assert numbers(drawn["y"])[0] == pytest.approx(expected, rel=1e-4)


def test_a_depth_that_is_not_there_becomes_the_last() -> None:
    app = open_page(**SMALL, norms_view="cosines", norms_layer=50)
    assert "at depth 2" in words_of(app)
    assert [info.value for info in app.info] == ["The link's norms_layer=50 is moved to the last, 2."]


def test_fewer_layers_move_the_depth_along() -> None:
    app = open_page(**SMALL | {"n_layers": 4}, norms_view="cosines", norms_layer=4)
    assert "at depth 4" in words_of(app)
    app.select_slider(key="n_layers").set_value(3).run()
    assert not app.exception
    assert not app.error
    assert "at depth 3" in words_of(app)


@pytest.mark.parametrize(
    ("view", "tables"),
    [
        ("tokens", ["norms_by_layer", "norms_by_token"]),
        ("statistics", ["norms_by_layer", "norm_statistics"]),
        ("cosines", ["norms_by_layer", "cosines_between_layers", "cosines_between_tokens"]),
        ("by hand", ["norms_by_layer", "norm_by_hand"]),
    ],
)
def test_tables_and_code_open(view: str, tables: list[str]) -> None:
    app = open_page(norms_view=view)  # its sentence has the same word twice
    for table in tables:
        app.session_state[f"{table}_open"] = True
    app.session_state["norms_code"] = True
    app.run()
    assert not app.exception
    assert not app.error
    assert len(app.dataframe) == len(tables)
    assert list(app.dataframe[0].value.index) == list(range(7))
    assert "def lengths(run: Run)" in app.code[0].value

"""The Norms page, its numbers against ones computed here."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, Trace
from playground.text import characters
from playground.web.choices.params import DEFAULT_TEXT, write
from playground.weights import checkpoint
from tests.web import app_test
from tests.web.app_test import SMALL_CONFIG, array, charts, formulas, sentences, words, working

SMALL: dict[str, Any] = dict(app_test.SMALL)
VIEWS = {
    "tokens": ["norms_by_token"],
    "statistics": ["norm_statistics"],
    "cosines": ["cosines_between_layers", "cosines_between_tokens"],
    "by hand": [],
}


def open_page(**query: object) -> AppTest:
    app = app_test.open_page("norms", **{key: write(value) for key, value in query.items()})
    assert not app.exception
    assert not app.error
    return app


def trace_of(text: str, seed: int = 0, **changes: Any) -> Trace:
    """What the model behind SMALL computes from a sentence, without the app."""
    trace = Trace()
    with torch.inference_mode():
        Encoder(ModelConfig(**SMALL_CONFIG | changes), seed=seed)(characters().encode_batch([text]).ids, None, trace)
    return trace


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
    np.testing.assert_allclose(array(charts(app)["norms_by_layer"], 1, "y"), expected, rtol=1e-4)
    longest = max(float(torch.linalg.vector_norm(trace[f"layers.{i}.ffn.out"], dim=-1).max()) for i in range(6))
    for number in (f"{expected[1:].min():.3g}", f"{expected[1:].max():.3g}", "√384 = 19.6", f"(at most {longest:.3g})"):
        assert number in words(app)


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
    expected = stream_lengths(trace_of("0123456789", seed=3, **changes), changes.get("n_layers", 2))
    app = open_page(**SMALL | changes, text="0123456789", seed=3)
    np.testing.assert_allclose(array(charts(app)["norms_by_layer"], 1, "y"), expected, rtol=1e-4)
    if changes.get("norm") == "none" or changes.get("norm_placement") == "pre":
        assert f"from {expected[0]:.3g} to {expected[-1]:.3g}" in words(app)


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
    assert list(charts(app)) == ["norms_by_layer", *VIEWS[view]]
    assert "nan" not in words(app)  # such as the mean over the pairs of the third sentence's one token
    assert bool(app.latex) is (view == "by hand" and changes.get("norm") != "none")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_where_numbers_overflow(view: str) -> None:
    app = open_page(**SMALL | {"d_model": 64, "n_layers": 96, "norm": "none", "residual": True}, norms_view=view)
    assert "**Overflow**" in words(app)


def test_padding_is_left_out() -> None:
    alone, beside = (charts(open_page(**SMALL, text=text)) for text in ("abc", "abc\na much longer sentence"))
    for one, other in zip(alone["norms_by_layer"], beside["norms_by_layer"], strict=True):
        np.testing.assert_allclose(array([one], name="y"), array([other], name="y"), rtol=1e-5)
    assert beside["norms_by_token"][0]["x"] == ["a₀", "b₁", "c₂"]


@pytest.mark.parametrize(("part", "shape"), [("residual", (3, 3)), ("attention", (2, 3)), ("feed-forward", (2, 3))])
def test_each_parts_lengths_are_shown_by_token(part: str, shape: tuple[int, int]) -> None:
    app = open_page(**SMALL, text="abc", norms_part=part)
    lengths = array(charts(app)["norms_by_token"])
    assert lengths.shape == shape
    assert f"{lengths.min():.3g}" in words(app)
    assert f"{lengths.max():.3g}" in words(app)


def test_cosines_are_those_of_the_chosen_depth() -> None:
    pages = [open_page(**SMALL, text="abcab", norms_view="cosines", norms_layer=depth) for depth in (0, 2)]
    first, last = cosines = [array(charts(app)["cosines_between_tokens"]) for app in pages]
    trace = trace_of("abcab")
    for name, found in zip(("embed.out", "layers.1.out"), cosines, strict=True):
        unit = torch.nn.functional.normalize(trace[name][0], dim=-1)
        np.testing.assert_allclose(found, unit @ unit.T, atol=1e-5)
    means = [f"{found[~np.eye(5, dtype=bool)].mean():.2f}" for found in (first, last)]
    for app, here in zip(pages, means, strict=True):
        assert f"is {here}; at the embeddings {means[0]}, after the last block {means[1]}" in words(app)


@pytest.mark.parametrize(
    ("number", "name", "token"), [(0, "embed.norm", 1), (4, "layers.1.norm2", 2)], ids=["first", "last"]
)
def test_one_norm_is_worked_out_by_hand(number: int, name: str, token: int) -> None:
    app = open_page(**SMALL, text="abc", norms_view="by hand", norms_norm=number, norms_token=token)
    assert f"`{name}` of `{'abc'[token]}` at position {token}" in words(app)
    general, worked_out = formulas(app)
    assert general.startswith(r"\hat{x}_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \epsilon}}")
    trace = trace_of("abc")
    assert worked_out.endswith(f"= {float(trace[f'{name}.normalized'][0, token, 0]):.4g}")
    assert f"out₀ = {float(trace[f'{name}.out'][0, token, 0]):.4g}." in words(app)


def test_statistics_begin_with_the_embeddings_norm() -> None:
    drawn = charts(open_page(**SMALL, text="abc", norms_view="statistics"))["norm_statistics"]
    assert drawn[0]["x"][0] == "embed.norm"
    expected = float(trace_of("abc")["embed.sum"][0].std(dim=-1, correction=0).mean())
    assert array(drawn, name="y")[0] == pytest.approx(expected, rel=1e-4)


def test_a_depth_that_is_not_there_becomes_the_last() -> None:
    app = open_page(**SMALL, norms_view="cosines", norms_layer=50)
    assert app.slider(key="norms_layer").value == 2
    assert "norms_layer=50" in sentences(app)


def test_fewer_layers_move_the_depth_along() -> None:
    app = open_page(**SMALL | {"n_layers": 4}, norms_view="cosines", norms_layer=4)
    assert app.slider(key="norms_layer").value == 4
    app.select_slider(key="n_layers").set_value(3).run()
    assert not app.exception
    assert not app.error
    assert app.slider(key="norms_layer").value == 3


@pytest.mark.parametrize("view", VIEWS)
def test_tables_and_code_open(view: str) -> None:
    tables = ["norms_by_layer", *(VIEWS[view] or ["norm_by_hand"])]
    app = open_page(norms_view=view)  # its sentence has the same word twice
    for key in (*(f"{table}_open" for table in tables), "norms_code"):
        app.session_state[key] = True
    working(app.run())
    assert len(app.dataframe) == len(tables)
    assert list(app.dataframe[0].value.index) == list(range(7))
    assert "def lengths(run: Run)" in app.code[0].value

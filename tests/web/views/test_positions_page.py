"""The Positions page, its numbers against ones computed here."""

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig, Trace
from playground.model.positions import sinusoids, wavelengths
from playground.text import characters
from playground.web.choices.params import DEFAULT_TEXT
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL,
    SMALL_CONFIG,
    array,
    captions,
    charts,
    formulas,
    open_page,
    sentences,
    words,
    working,
)  # fmt: skip

CHARTS = {
    "swap two words": {"swap_differences"},
    "this sentence": {"addition_lengths"},
    "curves": {"position_curves"},
    "similarity": {"between_positions", "by_offset"},
    "doubled exponent": {"table_standard", "table_doubled", "wavelengths"},
}


def page(**query: str) -> AppTest:
    app = working(open_page("positions", **query))
    assert not app.error
    return app


def small_encoder(positions: str = "sinusoidal") -> Encoder:
    return Encoder(ModelConfig(**SMALL_CONFIG | {"positions": positions}), seed=0)


def test_the_trained_models_own_table_is_drawn() -> None:
    encoder, _ = checkpoint.load("minilm")
    table = encoder.embed.position_vectors(128).numpy()
    app = page()
    np.testing.assert_array_equal(array(charts(app)["position_table"]), table[:, :256])
    assert "positions 0 to 127 of 512, dimensions 0 to 255 of 384" in captions(app)
    lengths = np.linalg.norm(table, axis=1)
    assert f"position 0, with a length (L2 norm) of {lengths[0]:.3g}" in captions(app)
    assert f"mean length is {lengths.mean():.3g}" in captions(app)
    assert "**This table is learned.**" in words(app)
    assert "random" not in words(app)


@pytest.mark.parametrize(("positions", "d_model"), [("sinusoidal", 15), ("sinusoidal-doubled", 16), ("none", 16)])
def test_sinusoids_are_drawn_at_the_sidebars_width(positions: str, d_model: int) -> None:
    app = page(**SMALL | {"positions": positions, "d_model": str(d_model), "n_heads": "1", "max_len": "32"}, text="abc")
    expected = sinusoids(32, d_model, doubled=positions == "sinusoidal-doubled").numpy()
    np.testing.assert_array_equal(array(charts(app)["position_table"]), expected)
    assert f"positions 0 to 31 of 32, dimensions 0 to {d_model - 1} of {d_model}." in captions(app)
    assert ("**This encoder adds no positions**" in words(app)) is (positions == "none")
    assert (f"about {8**0.5:.3g}." in captions(app)) is (d_model == 16)


def test_a_random_learned_table_is_said_to_be_random() -> None:
    app = page(**SMALL | {"positions": "learned"})
    expected = small_encoder("learned").embed.position_vectors(128).detach().numpy()
    np.testing.assert_array_equal(array(charts(app)["position_table"]), expected)
    assert "random: nothing is trained yet" in words(app)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_two_words_are_swapped_with_positions_and_without(positions: str) -> None:
    ids, order = characters().encode_batch(["abcdef"]).ids, [0, 4, 2, 3, 1, 5]
    encoder = small_encoder(positions)
    if positions == "none":
        weights = encoder.state_dict()
        encoder = small_encoder("sinusoidal")
        encoder.load_state_dict(weights)
    with torch.inference_mode():
        before, after = encoder(ids)[0], encoder(ids[:, order])[0]
    expected = (before - after[order]).abs().amax(dim=-1).numpy()

    app = page(**SMALL | {"positions": positions}, text="abcdef", positions_first="1", positions_second="4")
    bars = charts(app)["swap_differences"]
    np.testing.assert_allclose(array(bars, 0, "y"), expected, atol=2e-6)
    assert array(bars, 1, "y").max() <= 1e-5
    assert list(array(bars, 0, "x")) == ["a₀", "b₁", "c₂", "d₃", "e₄", "f₅"]
    assert "**Without positions the order is lost**" in captions(app)
    assert f"With positions, outputs change by up to {expected.max():.2g}" in captions(app)


def test_the_trained_model_is_equivariant_without_its_table() -> None:
    encoder, tokenizer = checkpoint.load("minilm")
    batch = tokenizer.encode_batch([DEFAULT_TEXT])
    order = list(range(batch.ids.shape[1]))
    order[2], order[8] = 8, 2
    with torch.inference_mode():
        before, after = encoder(batch.ids)[0], encoder(batch.ids[:, order])[0]
    expected = (before - after[order]).abs().amax(dim=-1).numpy()
    bars = charts(page())["swap_differences"]
    np.testing.assert_allclose(array(bars, 0, "y"), expected, atol=1e-5)
    assert array(bars, 1, "y").max() <= 1e-5


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"causal": "true"}, "the causal mask shows"), ({"head_merge": "reshape"}, "the reshape merge mixes")],
)
def test_what_else_tells_the_order_is_named(changes: dict[str, str], reason: str) -> None:
    app = page(**SMALL | changes, text="abcdef")
    assert array(charts(app)["swap_differences"], 1, "y").max() > 1e-3
    assert "**Even without positions, outputs change**" in captions(app)
    assert reason in captions(app)


def test_sliders_choose_the_words_to_swap() -> None:
    app = page(**SMALL, text="abcdef")
    assert (app.slider(key="positions_first").value, app.slider(key="positions_second").value) == (2, 5)
    first = array(charts(app)["swap_differences"], 0, "y")
    app.slider(key="positions_first").set_value(0).run()
    assert not app.exception
    assert np.abs(array(charts(app)["swap_differences"], 0, "y") - first).max() > 1e-3
    app.slider(key="positions_second").set_value(0).run()
    assert "Choose two different positions" in sentences(app)
    assert "swap_differences" not in charts(app)


def test_two_tokens_can_be_swapped_and_one_cannot() -> None:
    app = page(**SMALL, text="ab")
    assert list(array(charts(app)["swap_differences"], 0, "x")) == ["a₀", "b₁"]
    alone = page(**SMALL, text="a")
    assert "only one token" in sentences(alone)
    assert set(charts(alone)) == {"position_table"}


@pytest.mark.parametrize(("scaled", "factor"), [("true", 4), ("false", 1)])
def test_what_is_added_is_measured(scaled: str, factor: int) -> None:
    batch, trace = characters().encode_batch(["abcd"]), Trace()
    with torch.inference_mode():
        small_encoder()(batch.ids, None, trace)
    tokens, rows = trace["embed.tokens"][0].numpy() * factor, sinusoids(4, 16).numpy()
    app = page(**SMALL, scale_embeddings=scaled, text="abcd", positions_view="this sentence")
    bars = charts(app)["addition_lengths"]
    for trace_index, vectors in enumerate((tokens, rows, tokens + rows)):
        np.testing.assert_allclose(array(bars, trace_index, "y"), np.linalg.norm(vectors, axis=1), rtol=1e-5)
    relative = np.linalg.norm(rows, axis=1) / np.linalg.norm(tokens, axis=1)
    assert f"{relative.min():.3g} to {relative.max():.3g} times as long" in captions(app)
    assert ("multiplied by √16 = 4" in captions(app)) is (scaled == "true")
    assert "the vector of segment 0 is added and a norm rescales the sum" in captions(app)
    result = f"{tokens[1, 0]:.4g} + {rows[1, 0]:.4g} = {tokens[1, 0] + rows[1, 0]:.4g}"
    assert formulas(app)[1] == rf"x_{{1,\,0}} = {result}"


def test_chosen_dimensions_are_curves_with_their_wavelengths() -> None:
    app = page(**SMALL, text="abcd", positions_view="curves", positions_curve_1="3", positions_curve_2="8")
    curves = charts(app)["position_curves"]
    table, waves = sinusoids(128, 16).numpy(), wavelengths(16)
    assert [curve["name"] for curve in curves] == ["dimension 3", "dimension 8", "dimension 15"]
    for i, dimension in enumerate((3, 8, 15)):
        np.testing.assert_array_equal(array(curves, i, "y"), table[:, dimension])
    assert f"{waves[1]:.3g} (dimension 3), {waves[4]:,.0f} (dimension 8), {waves[7]:,.0f} (dimension 15)" in captions(
        app
    )
    assert formulas(app)[1].endswith(f"= {table[3, 8]:.4g}")


@pytest.mark.parametrize("measure", ["dot product", "distance"])
def test_positions_are_compared(measure: str) -> None:
    app = page(**SMALL, positions_view="similarity", positions_measure=measure)
    table = sinusoids(128, 16).double()
    expected = table @ table.T if measure == "dot product" else torch.cdist(table, table)
    np.testing.assert_allclose(array(charts(app)["between_positions"]), expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(array(charts(app)["by_offset"], 1, "y"), expected[0].numpy(), atol=1e-4)
    assert len(formulas(app)) == 1


def test_a_learned_tables_likeness_has_no_formula() -> None:
    assert not formulas(page(**SMALL | {"positions": "learned"}, positions_view="similarity"))
    odd = page(**SMALL | {"d_model": "15", "n_heads": "1"}, positions_view="similarity")
    assert "leaves the last sine without its cosine" in captions(odd)


def test_both_exponents_stand_side_by_side() -> None:
    app = page(**SMALL | {"max_len": "64"}, positions_view="doubled exponent")
    tables = [sinusoids(64, 16, doubled=doubled).numpy() for doubled in (False, True)]
    for name, table in zip(("table_standard", "table_doubled"), tables, strict=True):
        np.testing.assert_array_equal(array(charts(app)[name]), table)
    waves = [wavelengths(16, doubled=doubled).numpy() for doubled in (False, True)]
    for i, expected in enumerate(waves):
        np.testing.assert_allclose(array(charts(app)["wavelengths"], i, "y"), expected)
    assert f"from {waves[0][0]:.3g} to {waves[0][-1]:,.0f} (standard) or {waves[1][-1]:,.0f} (doubled" in captions(app)
    turning = [int((lengths <= 64).sum()) for lengths in waves]
    assert f"Of 8 pairs, {turning[0]} complete a turn" in captions(app)
    assert f"with the doubled exponent {turning[1]} do" in captions(app)
    assert f"differ by up to {np.abs(tables[0] - tables[1]).max():.4g}." in captions(app)


@pytest.mark.parametrize(
    "changes",
    [
        {"causal": "true", "sentence": "2", "positions": "learned"},
        {"norm": "none", "n_layers": "1", "n_heads": "1", "positions": "none"},
        {"d_model": "15", "n_heads": "1", "sentence": "3", "positions": "sinusoidal-doubled", "max_len": "5"},
    ],
    ids=str,
)
def test_every_view_opens_on_odd_sentences_and_architectures(changes: dict[str, str]) -> None:
    app = page(**SMALL | changes, text="one\n<script>€ $x$ \u202e عربى 🧭</script>\nx")
    alone: dict[str, set[str]] = {"swap two words": set()} if changes.get("sentence") == "3" else {}
    for view, expected in (CHARTS | alone).items():
        app.segmented_control(key="positions_view").set_value(view).run()
        assert not app.exception
        assert not app.error
        assert set(charts(app)) == {"position_table"} | expected


def test_every_view_opens_where_numbers_overflow() -> None:
    app = page(**SMALL | {"d_model": "64", "n_layers": "96", "norm": "none"})
    for view in CHARTS:
        app.segmented_control(key="positions_view").set_value(view).run()
        assert not app.exception
        assert ("**Overflow**" in captions(app)) is (view == "swap two words")


def test_padding_takes_no_part() -> None:
    alone, beside = page(**SMALL, text="abcd"), page(**SMALL, text="abcd\na much longer sentence")
    for i in (0, 1):
        np.testing.assert_allclose(
            array(charts(alone)["swap_differences"], i, "y"),
            array(charts(beside)["swap_differences"], i, "y"),
            atol=1e-5,
        )


@pytest.mark.parametrize("view", CHARTS)
def test_tables_and_code_open(view: str) -> None:
    app = page(positions_view=view)  # its sentence has the same word twice
    tables = ["position_table", *sorted(CHARTS[view] - {"table_standard", "table_doubled"})]
    for table in tables:
        app.session_state[f"{table}_open"] = True
    app.session_state["positions_code"] = True
    working(app.run())
    assert not app.error
    assert len(app.dataframe) == len(tables)
    assert app.dataframe[0].value.shape == (128, 256)
    assert "def sinusoids(" in app.code[0].value

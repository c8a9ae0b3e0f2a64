"""The view Gradient flow as a function on values: six encoders' numbers, and what a logarithmic axis cannot show."""

import itertools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground import ModelConfig, open_link
from playground.analysis.gradient_reading import CHAIN_FORMULAS, chain_numbers
from playground.analysis.gradient_variants import BY_NAME, VARIANTS, common_config, compare
from playground.charts.chart import Control, Item, Panel, Paragraph, Picture, Table
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.link.params import write
from playground.link.query import values_of_preset
from playground.text import characters
from playground.views.gradient_flow import (
    LAYER,
    SixEncoders,
    draw_by_depth,
    draw_by_layer,
    linked_encoders,
    show_gradient_flow,
)
from tests.views.scenes import SMALL, parts_of, words
from tests.written_numbers import read_number

INF, NAN = np.inf, np.nan
NAMES = [variant.name for variant in VARIANTS]
PARTS = ("whole layer", "attention", "feed-forward", "norms", "stream")


def link(**query: object) -> Scene[SixEncoders]:
    """What a link's page looks at; by itself a small encoder of 3 layers."""
    small = {"weights": "random", "tokenizer": "char", "d_model": 16, "n_heads": 4, "d_ff": 32, "text": "abcd"}
    asked = query if "d_model" in query else small | query
    words = "&".join(f"{key}={write(value)}" for key, value in asked.items())
    return linked_encoders(open_link(f"http://host/gradient-flow?{words}"))


def show(scene: Scene[SixEncoders], part: str = "whole layer", view: str = "chain rule") -> list[Item]:
    options = {"gradient_first": "no norm", "gradient_second": "pre-norm, no residual", "gradient_six": True}
    return parts_of(show_gradient_flow(scene, options | {"gradient_of": part, "gradient_view": view}))


def figure(items: list[Item], key: str, scene: Scene[SixEncoders]) -> Figure:
    drawn: Figure = next(each for each in items if isinstance(each, Picture) and each.key == key).figure(scene.now)
    go.Figure(drawn)  # raises where a name or a value is none of Plotly's
    return drawn


def table(items: list[Item], key: str, scene: Scene[SixEncoders]) -> pd.DataFrame:
    return next(each for each in items if isinstance(each, Table) and each.key == key).frame(scene.now)


def lines(figure: Figure) -> dict[str, Any]:
    return {trace["name"]: trace["y"] for trace in figure["data"] if trace["mode"] == "lines+markers"}


def crosses(figure: Figure) -> list[Any]:
    return [trace for trace in figure["data"] if trace["mode"] == "markers+text"]


def verdicts(scene: Scene[SixEncoders]) -> list[str]:
    return [badge.split("[")[1].rstrip("]") for badge in table(show(scene), "gradient_summary", scene)["verdict"]]


def test_every_part_has_its_gradients_and_the_summary_is_their_ends() -> None:
    scene = link(gradient_layers=3)
    ids = characters().encode_batch(["abcd"]).ids[0]
    config = ModelConfig(**SMALL | {"positions": "learned", "n_segments": 2})
    expected = compare(common_config(config, 3), 0, ids, (3,)).full_depth
    for part in PARTS:
        items = show(scene, part)
        drawn, summary = lines(figure(items, "gradient_six_by_layer", scene)), table(items, "gradient_summary", scene)
        assert list(drawn) == [name for name in NAMES if part != "norms" or "no norm" not in name]
        for variant in VARIANTS:
            if variant.name not in drawn:
                assert summary.loc[f"**{variant.name}**", "verdict"] == "–"
                continue
            norms, row = drawn[variant.name], summary.loc[f"**{variant.name}**"]
            np.testing.assert_allclose(norms, expected[variant].gradients[part], rtol=1e-5)
            for column, length in (("first", norms[0]), ("last", norms[-1]), ("first / last", norms[0] / norms[-1])):
                assert float(str(row[column])) == pytest.approx(length, rel=1e-2)
            assert row["verdict"] == ":green-badge[arrives]"
        assert f"Lengths of the gradient of the {part}." in words(items)
    losses = table(show(scene, view="loss"), "gradient_losses", scene)
    lengths = lines(figure(show(scene), "gradient_lengths", scene))
    factors = table(show(scene), "gradient_chain", scene)
    for variant, flow in expected.items():
        np.testing.assert_allclose(lengths[variant.name], flow.lengths, rtol=1e-5)
        assert float(str(losses.loc[f"**{variant.name}**", "tokens alike"])) == pytest.approx(flow.alike, abs=1e-4)
        formula = f"${CHAIN_FORMULAS[variant.norm, variant.residual]}$"
        assert tuple(factors.loc[f"**{variant.name}**"]) == (formula, chain_numbers(flow))


def show_pair(scene: Scene[SixEncoders], first: str, second: str, part: str) -> tuple[str, list[Item]]:
    options = {"gradient_first": first, "gradient_second": second, "gradient_six": False}
    items = list(show_gradient_flow(scene, options | {"gradient_of": part, "gradient_view": "chain rule"}))
    assert isinstance(items[0], Paragraph)
    assert items[0].kind == "answer"
    return items[0].text, items


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scale", [0.25, 1.0, 4.0])
def test_the_answer_compares_two_encoders_by_how_much_longer_their_gradients_become(scale: float) -> None:
    scene = link(gradient_layers=12, gradient_scale=scale)
    pairs = ((NAMES[2], NAMES[5]), (NAMES[0], NAMES[4]), (NAMES[1], NAMES[1]))
    for part, (first, second) in itertools.product(PARTS, pairs):
        names = list(dict.fromkeys((first, second)))
        answer, items = show_pair(scene, first, second, part)
        drawn = lines(figure(items, "gradient_by_layer", scene))
        assert list(drawn) == [name for name in names if part != "norms" or "no norm" not in name]
        for sentence, name in zip(answer.split("  \n"), names, strict=True):
            check_sentence(sentence, name, scene.now.comparison.full_depth[BY_NAME[name]].gradients.get(part))


def check_sentence(sentence: str, name: str, norms: NDArray[np.float64] | None) -> None:
    """Whether an encoder's sentence says what its gradient norms are."""
    assert sentence.startswith(f"**{name[0].upper()}{name[1:]}**")
    if norms is None:
        assert "has no norms" in sentence
        return
    if not np.isfinite(norms).all() or not norms[0]:
        assert any(word in sentence for word in ("not a number", "infinite", "zero", "**0** long"))
        return
    ratio = float(norms[0] / norms[-1])
    told = re.search(r"\*\*([^*]+) times (as long|shorter)\*\*", sentence)
    if told is None:
        assert "**about as long**" in sentence
        assert ratio == pytest.approx(1, rel=0.16)
        return
    is_shorter = told[2] == "shorter"
    assert is_shorter is (ratio < 0.5)
    assert read_number(told[1]) == pytest.approx(1 / ratio if is_shorter else ratio, rel=0.06)
    assert (": **it arrives" in sentence) is (1e-3 <= ratio <= 1e3)
    assert ("it vanishes" in sentence) is (ratio < 1e-3)


def test_a_panel_that_is_closed_has_its_choices_alone_and_the_two_lines_their_names() -> None:
    scene = link(gradient_layers=2)
    _, items = show_pair(scene, "no norm", "no norm, no residual", "whole layer")
    (panel,) = (each for each in items if isinstance(each, Panel))
    assert {each.key for each in parts_of(panel.items) if isinstance(each, Control)} == {
        "gradient_of", "gradient_scale", "gradient_view",
    }  # fmt: skip
    assert not any(isinstance(each, Picture | Table) for each in parts_of(panel.items))
    shown = [each["name"] for each in figure(items, "gradient_by_layer", scene)["data"] if each.get("showlegend")]
    assert shown == ["no norm", "no norm, no residual"]


def test_an_encoder_looks_the_same_on_every_chart_of_the_page() -> None:
    scene = link(gradient_layers=2)
    items = parts_of(show(scene))
    six_lines, two_lines = (
        {each["name"]: each["line"] for each in figure(items, key, scene)["data"] if each["mode"] == "lines+markers"}
        for key in ("gradient_six_by_layer", "gradient_by_layer")
    )
    assert len(two_lines) == 2
    assert two_lines.items() <= six_lines.items()


@pytest.mark.long
def test_tutorial_ds_exercise_is_answered_by_its_gradients() -> None:
    scene = link(**{"weights": "random"} | values_of_preset("tutorial-d", has_wordpiece=True), gradient_layers=6)
    items = show(scene)
    ratios = {
        name: norms[0] / norms[-1] for name, norms in lines(figure(items, "gradient_six_by_layer", scene)).items()
    }
    assert [name for name, ratio in ratios.items() if ratio < 1e-3] == ["no norm, no residual"]
    assert max(ratios.values()) < 1e3
    assert verdicts(scene)[2:3] + verdicts(scene)[5:] == ["arrives, but huge", "vanishing"]
    assert "10⁶" in str(table(items, "gradient_summary", scene).loc["**no norm**", "first"])
    assert "Does the gradient reach layer 0?** **Yes, in 5 of 6 encoders.**" in words(items)
    assert "The rows are 22.6 long here" in words(show(scene, view="loss"))


def test_a_norm_on_the_embeddings_changes_no_verdict() -> None:
    with_norm, without = (link(embedding_norm=on, gradient_layers=3) for on in (True, False))
    summaries = [table(show(each), "gradient_summary", each) for each in (with_norm, without)]
    pd.testing.assert_frame_equal(summaries[0], summaries[1])


@pytest.mark.long
def test_a_gradient_may_vanish_or_leave_32_bit_floats() -> None:
    faint = link(gradient_layers=24, gradient_scale=0.25)
    assert "vanishing" in verdicts(faint)
    assert "*no norm, no residual* (factor 0)." in words(show(faint))
    beyond = link(gradient_layers=48, gradient_scale=4.0)
    assert "not a number" in verdicts(beyond)
    marks = crosses(figure(show(beyond), "gradient_six_by_layer", beyond))
    assert "no norm" in {mark["name"] for mark in marks}
    assert {word for mark in marks for word in mark["customdata"]} <= {"NaN", "∞", "0"}


def test_the_sweep_ends_where_the_page_stands() -> None:
    scene, shallow = link(gradient_layers=6, gradient_view="depth sweep", gradient_six=True), link(gradient_layers=2)
    items = show(scene, view="depth sweep")
    sweep = figure(items, "gradient_by_depth", scene)
    assert sweep["data"][0]["x"].tolist() == [1, 2, 4, 6]
    caption = next(each.caption for each in items if isinstance(each, Picture) and each.key == "gradient_by_depth")
    at_two = lines(figure(show(shallow), "gradient_six_by_layer", shallow))
    for name, norms in lines(sweep).items():
        assert norms[-1] == lines(figure(items, "gradient_six_by_layer", scene))[name][0]
        np.testing.assert_allclose(norms[1], at_two[name][0], rtol=1e-5)
        assert f"{name} {norms[-1] / norms[0]:.2g}" in caption


def test_one_layer_and_one_token_are_enough() -> None:
    scene = link(text="a", gradient_layers=1, n_heads=1, positions="none", gradient_view="depth sweep")
    for part in ("norms", "stream"):
        for view in ("chain rule", "depth sweep"):
            items = show(scene, part, view)
            assert words(items).count("first and last at once") == 2 * (part != "stream")
            assert any(isinstance(each, Paragraph) and each.kind == "info" for each in items) is (view != "chain rule")
    assert set(table(show(scene, view="loss"), "gradient_losses", scene)["tokens alike"]) == {"–"}


def test_what_the_visitors_own_encoder_is_not_is_said() -> None:
    scene = link(gradient_layers=1)
    other = Scene(replace(scene.now, has_random_weights=False, has_norms=False), scene.focus)
    for sentence in ("instead of the sidebar's", "as the sidebar's norm is none"):
        assert sentence not in words(show(scene, view="loss"))
        assert sentence in words(show(other, view="loss"))


def six(*rows: list[float], plain: tuple[float, ...] = (1.0, 10.0, 100.0)) -> dict[Any, Any]:
    """The six encoders' numbers: the given rows first, then plain ones."""
    values = [*rows, *[plain] * (6 - len(rows))]
    return {variant: np.array(row) for variant, row in zip(VARIANTS, values, strict=True)}


def test_six_lines_look_different_and_the_legend_names_norms_and_the_dash() -> None:
    drawn = draw_by_layer(six([1e-8, 2e-4, 3.0]), "gradient norm", LAYER)
    np.testing.assert_array_equal(lines(drawn)["post-norm"], [1e-8, 2e-4, 3.0])
    looks = [trace["line"] for trace in drawn["data"][:6]]
    assert len({look["color"] for look in looks}) == 6
    assert [look["dash"] for look in looks] == ["solid"] * 3 + ["dash"] * 3
    entries = [trace["name"] for trace in drawn["data"] if trace.get("showlegend") is not False]
    assert entries == ["post-norm", "pre-norm", "no norm", *["no residual"] * 3]
    low, high = drawn["layout"]["yaxis"]["range"]
    assert (low < -8, high > 2, crosses(drawn)) == (True, True, [])


def test_what_the_axis_cannot_show_is_a_cross_beyond_its_end() -> None:
    drawn = draw_by_layer(six([NAN, INF, 1.0], [0.0, 1e-3, 1.0], [0.0, NAN, NAN]), "gradient norm", LAYER)
    assert not any((y <= 0).any() or np.isinf(y).any() for y in lines(drawn).values())
    found = [(mark["name"], list(mark["x"]), list(mark["customdata"]), mark["text"]) for mark in crosses(drawn)]
    assert found == [
        ("post-norm", [0, 1], ["NaN", "∞"], ["", "NaN, ∞"]),
        ("pre-norm", [0], ["0"], ["0"]),
        ("no norm", [1, 2], ["NaN", "NaN"], ["", "NaN"]),
        ("no norm", [0], ["0"], ["0"]),
    ]
    heights = [float(np.log10(mark["y"][0])) for mark in crosses(drawn)]
    low, high = drawn["layout"]["yaxis"]["range"]
    assert low < heights[3] < heights[1] < -3
    assert 2 < heights[0] < heights[2] < high
    assert drawn["layout"]["xaxis"]["range"][1] > 2.5, "room for the names"


@pytest.mark.parametrize("number", [NAN, INF, 0.0, 3.0])
def test_one_number_whatever_it_is_has_its_place_on_an_axis_of_two_decades(number: float) -> None:
    drawn = draw_by_layer({VARIANTS[0]: np.array([number])}, "mean L2 norm", LAYER)
    (mark,) = crosses(drawn) or [drawn["data"][0]]
    low, high = drawn["layout"]["yaxis"]["range"]
    assert low < np.log10(mark["y"][0]) < high
    assert high - low >= 2


def test_depths_stand_where_their_logarithm_is() -> None:
    drawn = draw_by_depth(six(plain=(1.0, 2.0, NAN)), [1, 4, 12], "gradient norm")
    axis = drawn["layout"]["xaxis"]
    assert (axis["type"], axis["tickvals"]) == ("log", [1, 4, 12])
    assert axis["range"][0] < 0 < np.log10(12) < axis["range"][1]
    assert [mark["x"][0] for mark in crosses(drawn)] == [12] * 6
    assert len({float(mark["y"][0]) for mark in crosses(drawn)}) == 6

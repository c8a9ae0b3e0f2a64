"""Each kind of chart: what is drawn of one subject, beside a pinned one, and what is sent is valid for Plotly."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from playground.charts import figure as figures
from playground.charts.chart import Axis, Bars, Chart, Curves, Heatmap, Picture, Vectors, token_axis
from playground.charts.draw import compare_tables, draw_chart
from playground.charts.draw.heatmap import SHOWN
from playground.charts.figure import ROUNDING, Array, Curve
from playground.charts.scene import Scene
from playground.link.opening import Focus

FOCUS = Focus(0, 0, 0, 0)
NOW = np.array([[1.0, 4.0], [2.0, 3.0], [0.5, 0.25]], np.float32)
PINNED = np.array([[8.0, 1.0, 1.0]], np.float32)
NAMES = ["<b>", "it"]

HEATMAP: Heatmap[Array] = Heatmap(
    key="map",
    alt="A map",
    caption="How to read it.",
    reading=lambda values: f"At most {values.max():.3g}.",
    values=lambda values: values,
    rows=Axis("depth", first=1, place="layer"),
    columns=Axis("column"),
    bar="length",
    hover="%{x} %{y}",
    more="longer",
    click="The layer.",
)
CURVES: Curves[Array] = Curves(
    key="lines",
    alt="Lines",
    caption="How to read it.",
    curves=lambda values: [
        Curve("<mean>", np.arange(values.shape[1]), values.mean(axis=0), "#112233", values.min(0), values.max(0))
    ],
    x=Axis("depth", place="layer"),
    y=figures.length_axis("length"),
    table=lambda values: pd.DataFrame({"mean": values.mean(axis=0)}).rename_axis("depth"),
)
BARS: Bars[Array] = Bars(
    key="bars",
    alt="Bars",
    caption="How to read it.",
    bars=lambda values: {"weight": dict(zip(("<a>", "b", "c"), values[0].tolist(), strict=False))},
    labels=Axis("key", place="key"),
    value={"title": "weight"},
    colours={"weight": "#112233"},
    click="The key.",
)
STACK: Bars[Array] = Bars(
    key="stack",
    alt="Stacked bars",
    caption="How to read it.",
    bars=lambda values: {
        "left": {f"row {i}": float(row[0]) for i, row in enumerate(values)},
        "right": {f"row {i}": float(row[1]) for i, row in enumerate(values)},
    },
    labels=Axis("row", place="layer"),
    value={"title": "parameters"},
    colours={"left": "#112233", "right": "#445566"},
    number=",",
    unit="parameters",
    stacked=True,
    notes=lambda values, other: {"row 0": f"{values.sum():g}" + ("" if other is None else f" < {other.sum():g}")},
)
PICTURE: Picture[Array] = Picture(
    key="tree",
    alt="A treemap",
    caption="How to read it.",
    reading=lambda values: f"{values.size} areas.",
    figure=lambda values: figures.style([{"type": "treemap", "labels": ["a"], "parents": [""]}], {}, height=300),
)
VECTORS: Vectors[Array] = Vectors(
    key="vectors",
    alt="Vectors",
    caption="How to read it.",
    rows=lambda values: {"<q>": values[0], "long": np.tile(values[0], 5)},
)


def scene(now: Array = NOW, pinned: Array | None = None, **changes: Any) -> Scene[Array]:
    return Scene(now, FOCUS, pinned, "pinned: <3> layers" if pinned is not None else "", **changes)


UPRIGHT = replace(STACK, key="upright", horizontal=False, click="The layer.")


@pytest.mark.parametrize(
    "chart", [HEATMAP, CURVES, BARS, STACK, UPRIGHT, VECTORS, PICTURE], ids=lambda chart: chart.key
)
@pytest.mark.parametrize("pinned", [None, PINNED], ids=["alone", "beside"])
def test_plotly_takes_what_is_drawn(chart: Chart[Array], pinned: Array | None) -> None:
    drawing = draw_chart(chart, scene(pinned=pinned))
    for drawn in (drawing.now, *drawing.beside):
        go.Figure(drawn.figure)  # raises where a name or a value is none of Plotly's
        assert drawn.key.startswith(chart.key)
        assert drawn.caption
    assert len(drawing.beside) == (0 if pinned is None else {"map": 2, "tree": 1}.get(chart.key, 0))


def test_a_heatmap_stands_beside_the_pinned_one_in_its_colours_and_their_difference() -> None:
    drawing = draw_chart(HEATMAP, scene(pinned=PINNED))
    pinned, difference = drawing.beside
    now_cells, pinned_cells, change = (each.figure["data"][0] for each in (drawing.now, pinned, difference))
    assert (now_cells["zmax"], pinned_cells["zmax"]) == (8, 8)
    np.testing.assert_array_equal(change["z"], NOW[:1, :2] - PINNED[:, :2])
    assert (change["zmin"], change["zmax"]) == (-7, 7)
    assert [each.key for each in drawing.beside] == ["map_pinned", "map_difference"]
    assert pinned.caption == r"**Pinned\: \<3\> layers.** In the same colours. At most 8."
    assert difference.caption.startswith("**Now − pinned.** Violet: longer now.")
    assert drawing.now.table is not None
    pd.testing.assert_frame_equal(
        drawing.now.table(), pd.DataFrame(NOW, pd.Index([1, 2, 3], name="depth"), pd.Index([0, 1], name="column"))
    )


def test_clicks_choose_the_number_that_a_cell_stands_for() -> None:
    drawn = draw_chart(HEATMAP, scene()).now
    assert drawn.cells is not None
    assert drawn.cells.rows == ("layer", {1: 0, 2: 1, 3: 2})
    assert drawn.cells.columns is None
    bars = draw_chart(BARS, scene()).now.cells
    assert bars is not None
    assert bars.rows == ("key", {0: 0, 1: 1})


def test_what_belongs_to_tokens_has_no_difference_beside_other_tokens() -> None:
    by_token = replace(HEATMAP, columns=token_axis(lambda values: NAMES[: values.shape[1]]))
    drawing = draw_chart(by_token, scene(pinned=PINNED[:, :2], same_tokens=False))
    assert [each.key for each in drawing.beside] == ["map_pinned"]
    assert "read different tokens" in drawing.note
    alone = draw_chart(replace(by_token, needs_tokens="these lengths"), scene(pinned=PINNED, same_tokens=False))
    assert not alone.beside
    assert "these lengths are shown for the present settings alone" in alone.note
    assert alone.now.figure["data"][0]["x"] == ["&lt;b&gt;₀", "it₁"], "letter by letter"


def test_pinned_curves_are_dotted_and_pinned_bars_paler() -> None:
    drawn = draw_chart(CURVES, scene(pinned=PINNED)).now
    band, line, ghost, entry = drawn.figure["data"]
    np.testing.assert_allclose(line["y"], NOW.mean(axis=0))
    np.testing.assert_allclose(band["y"], [*NOW.max(0), *NOW.min(0)[::-1]])
    np.testing.assert_allclose(ghost["y"], PINNED[0])
    assert (ghost["line"]["dash"], ghost["line"]["color"]) == ("dot", line["line"]["color"])
    assert entry["name"] == "dotted: pinned: &lt;3&gt; layers"
    assert r"Dotted lines, on the same axes: pinned\: \<3\> layers." in drawn.caption
    assert drawn.table is not None
    assert list(drawn.table()) == ["mean", "mean, pinned", "mean, now − pinned"]
    now, pinned = draw_chart(BARS, scene(pinned=PINNED)).now.figure["data"]
    assert (list(now["x"]), list(pinned["x"])) == ([1, 4], [8, 1, 1])
    assert now["y"] == ["&lt;a&gt;", "b"]
    assert pinned["opacity"] < 1


def test_stacked_rows_have_the_pinned_ones_below_them() -> None:
    drawn = draw_chart(STACK, scene(NOW[:2], PINNED[:, :2])).now
    left, right, pinned_left, _ = drawn.figure["data"]
    rows = drawn.figure["layout"]["yaxis"]["categoryarray"]
    assert rows == ["row 0<br>10 &lt; 9", "row 0, pinned<br>9", "row 1", "row 1, pinned"]
    assert (left["y"], pinned_left["y"]) == (rows[::2], rows[1:2])
    np.testing.assert_allclose([*left["customdata"], *right["customdata"]], np.array([1, 2, 4, 3]) / 10)
    assert (drawn.figure["layout"]["barmode"], pinned_left["opacity"], "text" in pinned_left) == ("stack", 0.5, False)
    upright = draw_chart(UPRIGHT, scene()).now
    assert upright.cells is not None
    assert upright.cells.columns == ("layer", {0: 0, 1: 1, 2: 2})


def test_vectors_stand_between_the_pinned_ones_and_the_differences_of_equally_long_ones() -> None:
    alone = draw_chart(VECTORS, scene()).now
    (cells,) = alone.figure["data"]
    assert (cells["y"], cells["z"].shape, cells["z"].dtype) == (["&lt;q&gt;", "long"], (2, SHOWN), np.float32)
    np.testing.assert_array_equal(cells["z"][0], [*NOW[0], *[np.nan] * 6])
    assert (cells["zmin"], cells["zmax"], cells["text"][0]) == (-4, 4, [*(f"{x:g}" for x in NOW[0]), *[""] * 6])
    assert "first 8 of 10" in alone.figure["layout"]["xaxis"]["title"]["text"]
    assert alone.table is not None
    assert alone.table()["long"].tolist() == [1, 4] * 5
    assert draw_chart(VECTORS, scene(pinned=PINNED)).now.figure["data"][0]["y"] == [
        "&lt;q&gt;, pinned", "&lt;q&gt;, now", "long, pinned", "long, now"
    ]  # fmt: skip
    beside = draw_chart(VECTORS, scene(pinned=NOW + 1)).now
    np.testing.assert_array_equal(beside.figure["data"][0]["z"][:3, :2], [NOW[0] + 1, NOW[0], [-1, -1]])
    assert beside.table is not None
    assert list(beside.table())[2] == "<q>, now − pinned"


def test_tables_keep_rows_that_only_one_side_has() -> None:
    now, pinned = pd.DataFrame({"x": [1.0, 2], "name": ["a", "b"]}), pd.DataFrame({"x": [5.0, 6, 7]})
    both = compare_tables(now, pinned)
    assert list(both) == ["x", "x, pinned", "x, now − pinned", "name"]
    assert len(both) == 3
    assert both["x, now − pinned"].isna().tolist() == [False, False, True]
    assert compare_tables(now, None) is now


def test_differences_of_rounding_alone_are_none() -> None:
    near = np.float32(2) + np.array([[0, ROUNDING / 2]], np.float32)
    assert [each.side for each in draw_chart(HEATMAP, scene(near, near[:, ::-1])).beside] == ["pinned"]


def test_marks_and_frames_stand_at_their_numbers() -> None:
    layout = figures.mark_places({"ten": 10, "<b>": 100})
    assert [each["x0"] for each in layout["shapes"]] == [10, 100]
    assert [(each["x"], each["text"]) for each in layout["annotations"]] == [(1, "ten"), (2, "&lt;b&gt;")]
    framed = replace(HEATMAP, frames=lambda _: [((1, 2), (0, 1), "#112233", 9)])
    (shape,) = draw_chart(framed, scene()).now.figure["layout"]["shapes"]
    assert (shape["x0"], shape["x1"], shape["y0"], shape["y1"]) == (-0.5, 1.5, 0.5, 2.5)

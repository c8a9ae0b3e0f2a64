"""The charts of stages: vectors below one another, a bar a key, an array of the head."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Axis, Bars, Heatmap, Vectors
from playground.charts.figure import PALE
from playground.charts.head_map import CLICK_CELL, head_map
from playground.charts.names import quote_token, token_names
from playground.words import say


def draw_vectors(
    key: str, rows: Mapping[str, Floats], /, *, numbers: str = "number in the vector", **values: Any
) -> Vectors[Walk]:
    """Vectors of the walk below one another, with columns called `numbers`; `values` are those of the caption."""
    return Vectors(
        key=f"step_{key}",
        alt=say("steps", "vectors.alt", names=", ".join(rows)),
        caption=say("steps", f"vectors-{key.replace('_', '-')}", **values),
        rows=lambda _: rows,
        numbers=numbers,
        compares=False,
        table_title="All the numbers",
    )


def draw_bars(
    walk: Walk,
    key: str,
    title: str,
    numbers: Callable[[Walk], Mapping[str, Floats]],
    caption: str,
    *,
    masked: bool = True,
    click: str = "",
    compares: bool = False,
) -> Bars[Walk]:
    """One number a key, as bars, by series; without those of masked keys, unless the mask is still to come."""

    def names(walk: Walk) -> list[str]:
        return token_names(walk.layer.run.tokens)

    def bars(walk: Walk) -> dict[str, dict[str, float]]:
        series = {}
        for name, row in numbers(walk).items():
            drawn = np.isfinite(row) & (walk.allowed | (not masked))
            series[name] = dict(zip(names(walk), np.where(drawn, row, np.nan).tolist(), strict=True))
        return series

    def table(walk: Walk) -> pd.DataFrame:
        columns = {name or title: row for name, row in numbers(walk).items()}
        return pd.DataFrame(columns, names(walk)).rename_axis("key")

    return Bars(
        key=f"step_{key}",
        alt=say("steps", "keys.alt", title=title),
        caption=caption,
        bars=bars,
        labels=Axis("key", place="key", options={"range": [-0.5, len(walk.allowed) - 0.5], "fixedrange": True}),
        value={"title": title, "fixedrange": True},
        colours=_BAR_COLOURS,
        horizontal=False,
        height=320,
        grey=(lambda walk: (~walk.allowed).tolist()) if masked else None,
        table=table,
        click=click,
        compares=compares,
    )


_BAR_COLOURS = {
    "": palette.ATTENTION,
    "changed": palette.ATTENTION,
    "computed": figures.faint(palette.ATTENTION, PALE),
}


def draw_keys(
    walk: Walk, key: str, title: str, numbers: Callable[[Walk], Floats], *, masked: bool = False, **values: Any
) -> Bars[Walk]:
    """One number a key, as bars; a click chooses the key. `values` are those of the caption."""
    query, chosen = quote_tokens(walk)
    told = say("steps", f"keys-{key.replace('_', '-')}", query=query, **values)
    frame = say("steps", "masked-keys", key=chosen) if masked else say("steps", "keys", key=chosen)
    click = say("steps", "keys.click")
    return draw_bars(walk, key, title, lambda walk: {"": numbers(walk)}, f"{told} {frame}", masked=masked, click=click)


def draw_matrix(walk: Walk, key: str, title: str, caption: str, *, signed: bool) -> Heatmap[Walk]:
    """An array of the head with a row a query and a column a key: scores, or weights."""
    name = "attn.scores" if signed else "attn.pattern"
    query, chosen = quote_tokens(walk)
    chart: Heatmap[Walk] = head_map(
        key=f"step_{key}",
        alt=say("steps", "matrix.alt", title=title),
        caption=f"{caption} {say('steps', 'matrix', query=query, key=chosen)}",
        weights=lambda walk: walk.layer.computed(name)[walk.head],
        tokens=lambda walk: walk.layer.run.tokens,
        allowed=lambda walk: walk.layer.run.allowed_in(walk.layer.layer),
        window=lambda walk: walk.config.window_of(walk.layer.layer),
        colours=colour_scales.around_zero if signed else colour_scales.from_zero,
        bar=title,
        click=CLICK_CELL,
        compares=False,
    )
    asking = [None if padding else query for query, padding in enumerate(walk.layer.run.padding)]
    return replace(chart, rows=replace(chart.rows, numbers=lambda _: asking))


def quote_tokens(walk: Walk) -> tuple[str, str]:
    """The query's and the key's token, as code."""
    tokens = walk.layer.run.tokens
    return quote_token(tokens[walk.query]), quote_token(tokens[walk.key])

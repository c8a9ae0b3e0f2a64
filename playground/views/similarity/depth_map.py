"""Where sentences lie on two axes, depth by depth. Legend: N sentences."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.sentences import DepthMap, Pair, Pooling, describe_shares, name_depths
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Control, Item, Options, Paragraph, Picture
from playground.charts.figure import Array, Figure
from playground.charts.names import label
from playground.text.wording import write_decimals
from playground.views.similarity.names import LONGEST_HOVER, name_sentences
from playground.views.similarity.sentences import Sentences

_MIN_ON_MAP = 3
"""Sentences from which on a map says more than one distance does."""


def show_map(subject: Sentences, pooling: Pooling, pair: Pair, options: Options) -> Iterator[Item]:
    """Where the sentences lie at one depth, on axes that all depths share."""
    n, names = len(subject.texts), name_depths(subject.config)
    if n < _MIN_ON_MAP:
        yield Paragraph(f"A map needs at least {_MIN_ON_MAP} sentences: two have one distance, and no map.", "info")
        return
    drawn, last = subject.map_depths(pooling), len(names) - 1
    depth = min(options["similarity_depth"], last)
    yield Control("similarity_depth", "Depth: blocks passed (0 = embeddings)", high=last)
    where = f"of the {names[depth]}" if depth == 0 else names[depth]
    cosine = write_decimals(subject.depths.similarity(pooling, depth)[pair.first, pair.second], 3)
    chosen = (
        f"chosen two are red; at this depth their cosine is {cosine}" if pair.first != pair.second else "chosen is red"
    )
    yield Picture(
        key="similarity_map",
        alt=f"Map of {len(names)} depths: where {n} sentences lie on two axes",
        caption=f"How do the sentences part, block by block? A dot is a sentence's vector {where}, by its number. The "
        f"{chosen}. A grey line is the way through all depths: from the ring, depth 0, along the arrows. "
        "The axes are the two directions in which the sentences differ most, over all depths together (principal "
        "component analysis, fitted once), so they stay while the depth moves. "
        f"{describe_shares(drawn, depth)} Each depth's mean is taken off.",
        figure=lambda shown: draw_depth_map(drawn, depth, shown.texts, (pair.first, pair.second)),
        table=lambda shown: pd.DataFrame(drawn.points[depth], name_sentences(shown.texts), ["axis 1", "axis 2"]),
    )


_MAP_HEIGHT = 410
"""Pixels of the map of depths: about a square on a phone, so that little is blank around it."""


def draw_depth_map(mapped: DepthMap, depth: int, sentences: Sequence[str], pair: tuple[int, int]) -> Figure:
    """Sentences on two axes at one depth; the chosen pair with its way through all depths, whose start has a name.

    Both axes are as long at every depth, and a unit is as long on both.
    """
    points = mapped.points.astype(np.float32)
    reach = 1.12 * colour_scales.largest(np.abs(points))
    chosen = list(dict.fromkeys(pair))
    numbers = [str(number) for number in range(1, len(sentences) + 1)]
    starts, names = points[0, chosen], ["depth 0", ""][: len(chosen)]
    sides = _part_labels(np.concatenate([points[depth], starts]) / reach, [*numbers, *names])
    rings = {
        "type": "scatter",
        "mode": "markers+text",
        "x": starts[:, 0],
        "y": starts[:, 1],
        "marker": {"symbol": "circle-open", "size": 16, "color": palette.RESIDUAL, "line": {"width": 2}},
        "text": names,
        "textposition": sides[len(numbers) :],
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
    dots: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers+text",
        "x": points[depth, :, 0],
        "y": points[depth, :, 1],
        "marker": {
            "color": [palette.FOCUS if i in pair else palette.RESIDUAL for i in range(len(sentences))],
            "size": 10,
        },
        "text": numbers,
        "textposition": sides[: len(numbers)],
        "customdata": [f"{i} · {label(text, LONGEST_HOVER)}" for i, text in enumerate(sentences, start=1)],
        "hovertemplate": "%{customdata}<br>%{x:.3g}, %{y:.3g}<extra></extra>",
        "cliponaxis": False,
    }
    axes = [
        {"title": f"axis {number}: {100 * share:.1f}% of the variance", "range": [-reach, reach], "zeroline": True}
        for number, share in enumerate(mapped.explained, start=1)
    ]
    layout = {
        "xaxis": {**axes[0], "constrain": "domain"},
        "yaxis": {**axes[1], "scaleanchor": "x", "constrain": "domain"},
        "annotations": [
            {
                "text": f"red: the chosen {'two' if len(chosen) > 1 else 'one'}",
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 1,
                "yanchor": "bottom",
                "showarrow": False,
            }
        ],
    }
    return figures.style(
        [*(_draw_way(points[:, i]) for i in chosen), rings, dots], layout, height=_MAP_HEIGHT, margin={"t": 26}
    )


_MOST_ARROWS = 4
"""On one way."""


def _draw_way(points: Array) -> dict[str, Any]:
    """One sentence's way, (S, 2), with arrows from depth to depth."""
    n = len(points)
    apart = -(-n // _MOST_ARROWS)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": points[:, 0],
        "y": points[:, 1],
        "line": {"color": palette.MUTED, "width": 2},
        "marker": {
            "symbol": "arrow",
            "angleref": "previous",
            "size": [0 if (n - 1 - i) % apart else 10 for i in range(n)],
            "color": palette.RESIDUAL,
            "opacity": 1,
        },
        "hoverinfo": "skip",
    }


_MAP_SIDE = 300
"""Pixels from one end of the map's axes to the other on a phone, where labels have the least room."""


_DOT, _LETTER, _LINE = 10, 8, 15
"""Pixels of a dot, and of a letter's width and height."""

_SIDES = (
    ("top", "center", 0, -1),
    ("bottom", "center", 0, 1),
    ("middle", "right", 1, 0),
    ("middle", "left", -1, 0),
    ("top", "right", 1, -1),
    ("top", "left", -1, -1),
    ("bottom", "right", 1, 1),
    ("bottom", "left", -1, 1),
)
"""Where a label may stand beside its dot, the best first: Plotly's words, and how far to the right and down."""


def _part_labels(points: Array, labels: Sequence[str]) -> list[str]:
    """The side of its dot on which each label is written, so that few lie on another or on a dot; (M, 2) in -1 … 1."""
    dots = points * [_MAP_SIDE / 2, -_MAP_SIDE / 2]  # pixels, downwards
    taken, chosen = [(*dot, _DOT, _DOT) for dot in dots], []
    for text, (x, y) in zip(labels, dots, strict=True):
        width = _LETTER * len(text)
        sides = {
            f"{vertical} {horizontal}": (x + right * (_DOT + width) / 2, y + down * (_DOT + _LINE) / 2, width, _LINE)
            for vertical, horizontal, right, down in _SIDES
        }
        covered = {side: sum(_overlap(box, other) for other in taken) for side, box in sides.items()}
        side = min(covered, key=covered.__getitem__)  # the first of equal ones
        taken.append(sides[side])
        chosen.append(side)
    return chosen


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The area that two boxes share; a box is its middle, its width and its height."""
    across, up = (
        min(one[i] + one[i + 2] / 2, other[i] + other[i + 2] / 2)
        - max(one[i] - one[i + 2] / 2, other[i] - other[i + 2] / 2)
        for i in (0, 1)
    )
    return max(across, 0) * max(up, 0)

"""Sentences beside each other as pictures. Legend: N sentences, n and m tokens of two of them."""

import html
from collections.abc import Sequence
from itertools import takewhile

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures import palette
from playground.figures.attribution import MOST_BARS, Bars
from playground.figures.theme import (
    ROOM_ABOVE,
    Array,
    bar_above,
    colour_bar,
    draw_figure,
    heatmap,
    largest,
    shortened,
    signed_colours,
    subscript,
    text_width,
    token_labels,
    token_names,
)

MOST_WRITTEN = 12
"""Sentences up to which every cell of the matrix has its number written in it."""

_SLANT = 55
_MAP_HEIGHT = 410
"""Pixels of the map of depths: about a square on a phone, so that little is blank around it."""

_MAP_SIDE = 300
"""Pixels from one end of the map's axes to the other on a phone, where labels have the least room."""

_DOT, _LETTER, _LINE = 10, 8, 15
"""Pixels of a dot, and of a digit's width and height."""

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

_LONGEST_ROW = 14
_LONGEST_HOVER = 60


def sentence_names(sentences: Sequence[str], longest: int = 18) -> list[str]:
    """Each sentence's number, from 1, and its beginning; of those that begin alike, where they differ. For tables."""
    beginnings = [shortened(sentence, longest) for sentence in sentences]
    names = []
    for number, (sentence, beginning) in enumerate(zip(sentences, beginnings, strict=True), start=1):
        alike = {other for other, shown in zip(sentences, beginnings, strict=True) if shown == beginning}
        names.append(f"{number} · {_after_common_words(sentence, alike, longest) if len(alike) > 1 else beginning}")
    return names


def _after_common_words(sentence: str, alike: set[str], longest: int) -> str:
    """A sentence from the first word on in which these differ."""
    words = zip(*(each.split() for each in alike), strict=False)
    common = list(takewhile(lambda same: len(set(same)) == 1, words))
    return shortened(f"… {' '.join(sentence.split()[len(common) :])}", longest)


def similarity_matrix(similarity: Array, sentences: Sequence[str]) -> go.Figure:
    """Cosines (N, N) between sentences; rows have their beginnings, columns their numbers alone."""
    n = len(sentences)
    rows = [html.escape(name, quote=False) for name in sentence_names(sentences, _LONGEST_ROW)]
    is_written = n <= MOST_WRITTEN
    return heatmap(
        similarity.astype(np.float32),
        "%{y}<br>and sentence %{x}<br>cosine %{z:.3f}",
        height=128 + (30 if is_written else 18) * n,
        margin={"l": text_width(rows), "r": 12, "t": ROOM_ABOVE},
        x=[str(number) for number in range(1, n + 1)],
        y=rows,
        bar=bar_above("cosine", dtick=0.5),
        x_axis={"type": "category", "title": "sentence", "nticks": MOST_WRITTEN + 1},
        y_axis={"type": "category", "nticks": n + 1},
        texttemplate="%{z:.2f}" if is_written else "",
        **signed_colours(1),
    )


def contribution_map(contributions: Array, first: Sequence[str], second: Sequence[str]) -> go.Figure:
    """What each pair of tokens adds to a cosine, (n, m): rows are the first sentence's tokens."""
    rows, columns = token_labels(first), token_labels(second)
    slanted = int(np.ceil(np.sin(np.radians(_SLANT)) * text_width(columns)))
    return heatmap(
        contributions.astype(np.float32),
        "%{y} · %{x}<br>adds %{z:+.4f}",
        height=int(np.clip(150 + 22 * len(rows), 300, 700)),
        margin={"l": text_width(rows) + 35, "r": 84, "t": 17, "b": slanted + 44},
        x=columns,
        y=rows,
        bar=colour_bar("part"),
        x_axis={"type": "category", "title": "second sentence", "tickangle": -_SLANT},
        y_axis={"type": "category", "title": "first sentence"},
        **signed_colours(largest(np.abs(contributions))),
    )


def token_sums(tokens: Sequence[str], sums: Array) -> Bars:
    """What each token of a sentence adds to a cosine, (n,), in their order; the smallest are added up in one bar."""
    shown = strongest_places(sums, MOST_BARS - 1 if len(sums) > MOST_BARS else MOST_BARS)
    names, values = [token_names(tokens)[i] for i in shown], sums[shown].tolist()
    if len(shown) < len(sums):
        names, values = [*names, f"{len(sums) - len(shown)} others"], [*values, float(sums.sum() - sums[shown].sum())]
    return _draw_bars(names, values, "part of the cosine")


def word_names(words: Sequence[str], places: Sequence[int | None]) -> list[str]:
    """Each word with the position of its first token below the line, where it has one, so that no two are the same."""
    names: list[str] = []
    for word, place in zip(words, places, strict=True):
        name = f"{shortened(word)}{'' if place is None else subscript(place)}"
        names.append(name if name not in names else f"{name} (word {len(names) + 1})")
    return names


def word_changes(names: Sequence[str], changes: Array) -> Bars:
    """What leaving each word out does to a cosine, (W,), in their order; the strongest where they are many."""
    shown = strongest_places(changes, MOST_BARS)
    return _draw_bars([names[i] for i in shown], changes[shown].tolist(), "change of the cosine")


def strongest_places(amounts: Array, most: int) -> NDArray[np.intp]:
    """The places of at most so many amounts, those of the largest size, in their own order."""
    return np.sort(np.argsort(-np.abs(amounts), kind="stable")[:most])


def _draw_bars(names: Sequence[str], values: Sequence[float], title: str) -> Bars:
    colours = [palette.FEED_FORWARD if value < 0 else palette.ATTENTION for value in values]
    return Bars(names, values, colours, [f"{value:+.3f}" for value in values], title)


def depth_map(
    points: Array, depth: int, sentences: Sequence[str], pair: tuple[int, int], explained: tuple[float, float]
) -> go.Figure:
    """Sentences on two axes at one depth, of `points` (S, N, 2); the chosen pair with its way through all depths.

    Both axes are as long at every depth, and a unit is as long on both. `explained` names the axes' shares, 0 … 1.
    """
    drawn = points.astype(np.float32)
    reach = 1.12 * largest(np.abs(drawn))
    colours = [palette.FOCUS if i in pair else palette.RESIDUAL for i in range(len(sentences))]
    hover = [
        f"{i} · {html.escape(shortened(text, _LONGEST_HOVER), quote=False)}" for i, text in enumerate(sentences, 1)
    ]
    ways = [
        go.Scatter(
            x=drawn[:, i, 0],
            y=drawn[:, i, 1],
            mode="lines",
            line={"color": palette.MUTED, "width": 2},
            hoverinfo="skip",
        )
        for i in dict.fromkeys(pair)
    ]
    dots = go.Scatter(
        x=drawn[depth, :, 0],
        y=drawn[depth, :, 1],
        mode="markers+text",
        marker={"color": colours, "size": 10},
        text=[str(number) for number in range(1, len(sentences) + 1)],
        textposition=_part_labels(drawn[depth] / reach),
        customdata=hover,
        hovertemplate="%{customdata}<br>%{x:.3g}, %{y:.3g}<extra></extra>",
        cliponaxis=False,
    )
    axes = [
        {"title": f"axis {number}: {100 * share:.0f} % of the variance", "range": [-reach, reach], "zeroline": True}
        for number, share in enumerate(explained, start=1)
    ]
    figure = draw_figure(
        [*ways, dots],
        height=_MAP_HEIGHT,
        margin={"t": 26},
        x_axis={**axes[0], "constrain": "domain"},
        y_axis={**axes[1], "scaleanchor": "x", "constrain": "domain"},
    )
    named = f"red: the chosen {'two' if len(ways) > 1 else 'one'}"
    above = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 1, "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(text=named, **above)
    return figure


def _part_labels(points: Array) -> list[str]:
    """The side of its dot on which each number is written, (N, 2) in -1 … 1, so that few lie on another or on a dot."""
    dots = points * [_MAP_SIDE / 2, -_MAP_SIDE / 2]  # pixels, downwards
    taken, chosen = [(*dot, _DOT, _DOT) for dot in dots], []
    for number, (x, y) in enumerate(dots, start=1):
        width = _LETTER * len(str(number))
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

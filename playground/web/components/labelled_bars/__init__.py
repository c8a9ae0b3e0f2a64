"""Horizontal bars with their names and numbers, drawn at once: a chart of Plotly's takes longer than all around it."""

import math

from playground.figures.attribution import Bars
from playground.web.components.load_component import load_component

_bars = load_component("labelled_bars", draws=True)


def draw_bars(key: str, bars: Bars, *, alt: str) -> None:
    """Draw bars; `alt` names them for whoever cannot see them."""
    data = {
        "labels": list(bars.labels),
        "values": [float(f"{value:.5g}") if math.isfinite(value) else None for value in bars.values],
        "colours": list(bars.colours),
        "texts": list(bars.texts),
        "title": bars.title,
        "alt": f"{alt}. {_describe_longest(bars)}",
    }
    _bars(key=f"{key}_drawing", data=data)


def _describe_longest(bars: Bars) -> str:
    """A sentence on the longest bar, for whoever cannot see it."""
    finite = [place for place, value in enumerate(bars.values) if math.isfinite(value)]
    if not finite:
        return ""
    longest = max(finite, key=lambda place: abs(bars.values[place]))
    return f"The longest bar is {bars.texts[longest]}, at {bars.labels[longest]}."

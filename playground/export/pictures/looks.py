"""How lines and bars of a figure look on paper."""

from typing import Any

import plotly.graph_objects as go

from playground.export.pictures.paper import Colour, read_colour

_DASHES = {"dot": (0, (1, 1.6)), "dash": (0, (4, 2)), "longdash": (0, (7, 2)), "dashdot": (0, (4, 1.6, 1, 1.6))}
_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "x": "X", "x-thin": "x", "triangle-up": "^"}
POINTS = 0.75
"""A point for each of the page's pixels: both are shares of an inch, 1/72 and 1/96."""


def line_look(trace: go.Scatter) -> dict[str, Any]:
    """How a curve looks, as matplotlib takes it."""
    mode, marker = trace.mode or "lines", trace.marker
    own = marker.color if isinstance(marker.color, str) else None
    colour = read_colour(trace.line.color or own)
    colour = (*colour[:3], colour[3] * (1 if trace.opacity is None else trace.opacity))
    has_line, has_markers = "lines" in mode, "markers" in mode
    symbol = str(marker.symbol or "circle")
    filled = not symbol.endswith("-open")
    return {
        "color": colour,
        "linewidth": POINTS * (trace.line.width or 2) if has_line else 0,
        "linestyle": _DASHES.get(trace.line.dash or "", "-") if has_line else "none",
        "marker": _MARKERS.get(symbol.removesuffix("-open"), "o") if has_markers else "",
        "markersize": POINTS * (marker.size if isinstance(marker.size, int | float) else 6),
        "markerfacecolor": colour if filled else "#ffffff",
        "markeredgecolor": colour,
        "markeredgewidth": 0.6 if filled and symbol != "x-thin" else 1.1,
    }


def bar_colours(trace: go.Bar, n: int) -> list[Colour]:
    """The colour of each of a trace's bars."""
    given = trace.marker.color
    colours = [given] * n if given is None or isinstance(given, str) else list(given)
    faint = (1 if trace.opacity is None else trace.opacity) * (
        trace.marker.opacity if isinstance(trace.marker.opacity, int | float) else 1
    )
    return [(*rgba[:3], rgba[3] * faint) for rgba in map(read_colour, colours)]

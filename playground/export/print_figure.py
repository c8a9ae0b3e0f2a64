"""A chart's figure for white paper: as wide as a page, in light colours, without what only a page does with it."""

import re
from typing import Any

import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

PAGE_WIDTH = 170 / 25.4 * 96
"""Pixels of 170 mm, 96 an inch: as wide as the text on a page."""

TEXT = "#17151f"
_GRID = "#e9e7ef"
_FRAME = "#b9b5c4"

SEQUENTIAL = (
    "#faf9fe", "#e4defe", "#cec1fc", "#b3a0f3", "#987ee4", "#7a5bce", "#5e3fb0", "#432a8c", "#2f1e6c", "#1f154f",
)  # fmt: skip
DIVERGING = (
    "#853f03", "#b95c11", "#dc8b4e", "#f0bf94", "#f9eee2", "#f0eefa", "#ccc1f9", "#a690ea", "#7d60cd", "#5031a1",
)  # fmt: skip
"""As in the app's theme file: evenly spaced stops, the lowest number first."""

_FONT = "'DejaVu Sans', Verdana, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
_POINT = 96 / 72

_ON_PAGES_ONLY = ("customdata", "hovertemplate", "hovertext", "hoverinfo", "hoverongaps", "uid", "ids")
"""Properties of a trace that only a pointer asks for."""


def write_print_figure(figure: go.Figure) -> str:
    """The figure as Plotly's JSON, with its width and height in pixels."""
    drawn = figure.to_dict()
    layout = {name: value for name, value in drawn["layout"].items() if name not in ("template", "uirevision")}
    layout |= {"width": layout.get("width") or PAGE_WIDTH, "height": layout.get("height") or 420}
    layout["template"] = _TEMPLATE
    for name, axis in layout.items():
        if name.startswith(("xaxis", "yaxis")) and axis.get("showticklabels") is False:
            layout[name] = axis | {"showline": False, "ticks": ""}
    traces = [
        {name: value for name, value in trace.items() if name not in _ON_PAGES_ONLY or trace["type"] == "treemap"}
        for trace in drawn["data"]
    ]
    text = to_json_plotly({"data": traces, "layout": layout})
    return re.sub('"#0000([12][0-9]|30)"', _light_colour, text)


def _light_colour(found: re.Match[str]) -> str:
    """Streamlit's place holders for the theme's scales: #000011 … #000020 and #000021 … #000030."""
    number = int(found[1]) - 11
    return f'"{(SEQUENTIAL + DIVERGING)[number]}"'


def _scale(colours: tuple[str, ...]) -> list[list[Any]]:
    return [[place / (len(colours) - 1), colour] for place, colour in enumerate(colours)]


_TICKS = {"size": 8 * _POINT, "color": "#55525f"}
_AXIS = {
    "gridcolor": _GRID, "linecolor": _FRAME, "zeroline": False, "showline": True, "automargin": True,
    "ticks": "outside", "tickcolor": _FRAME, "ticklen": 3, "tickfont": _TICKS,
    "title": {"font": {"size": 8.5 * _POINT}},
}  # fmt: skip
_BAR = {"outlinewidth": 0, "tickfont": _TICKS, "title": {"font": {"size": 8.5 * _POINT}}}

_TEMPLATE: dict[str, Any] = {
    "data": {
        "heatmap": [{"colorbar": _BAR, "colorscale": _scale(SEQUENTIAL)}],
        "scatter": [{"marker": {"line": {"width": 0}}}],
    },
    "layout": {
        "font": {"family": _FONT, "size": 8 * _POINT, "color": TEXT},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "colorscale": {
            "sequential": _scale(SEQUENTIAL),
            "sequentialminus": _scale(SEQUENTIAL),
            "diverging": _scale(DIVERGING),
        },
        "legend": {"font": {"size": 8 * _POINT}},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    },
}

"""What is printed of a page: a chart's figure for white paper, its caption in plain letters, every head of a run.

A figure is as wide as a page, in light colours, without what only a page does with it. Legend: L layers, H heads, Tq/Tk
queries/keys.
"""

import html
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.io.json import to_json_plotly

from playground.charts.figure import Array, Figure, colour_bar, style
from playground.charts.names import token_names
from playground.charts.weights import WeightScale

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

_ON_PAGES_ONLY = ("customdata", "meta", "hovertemplate", "hovertext", "hoverinfo", "hoverongaps", "uid", "ids")
"""Properties of a trace that nothing in print shows: what a pointer asks for, and what tables are made of."""


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


MOST_NUMBERS = 250_000
"""Weights in one file of text: about 3 MB."""

_SHADES = 254
"""The number of the darkest shade, from 0; a byte is 1 more, as 0 stands between heads."""

_COLOURS = [
    (0.0, "#ffffff"),
    *(
        ((1 + _SHADES * place / (len(SEQUENTIAL) - 1)) / (1 + _SHADES), colour)
        for place, colour in enumerate(SEQUENTIAL)
    ),
]

_BESIDE, _AROUND = 100, 56
"""Pixels that names and the colour bar take of the width, and of the height."""


def draw_all_heads(patterns: Array, scale: WeightScale) -> Figure:
    """Every head with all its weights, not a thumbnail: rows are layers, columns heads; NaN is white.

    Patterns are (L, H, Tq, Tk). A weight is one of 255 shades, a byte, as a screen tells no more of them apart.
    """
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    apart = max(1, round(0.06 * max(n_queries, n_keys)))
    mosaic = np.zeros((n_layers, n_queries + apart, n_heads, n_keys + apart), np.uint8)
    shades = 1 + np.round(_SHADES * np.clip(scale.places(patterns), 0, 1)).transpose(0, 2, 1, 3)
    mosaic[:, :n_queries, :, :n_keys] = np.where(np.isfinite(shades), shades, 0)
    mosaic = mosaic.reshape(n_layers * (n_queries + apart), n_heads * (n_keys + apart))[:-apart, :-apart]
    cell = min(90.0, (PAGE_WIDTH - _BESIDE) / mosaic.shape[1] * (n_keys + apart)) / (n_keys + apart)
    columns = np.arange(n_heads) * (n_keys + apart) + (n_keys - 1) / 2
    rows = np.arange(n_layers) * (n_queries + apart) + (n_queries - 1) / 2
    ticks = scale.ticks(1)
    ticks["tickvals"] = 1 + _SHADES * np.asarray(ticks["tickvals"])
    cells = {
        "type": "heatmap",
        "z": mosaic,
        "colorscale": _COLOURS,
        "zmin": 0,
        "zmax": 1 + _SHADES,
        "colorbar": colour_bar("weight", **ticks),
    }
    axis = {"showgrid": False, "zeroline": False}
    layout = {
        "xaxis": {**axis, "title": "head", "tickvals": columns, "ticktext": [str(head) for head in range(n_heads)]},
        "yaxis": {
            **axis,
            "title": "layer",
            "autorange": "reversed",
            "tickvals": rows,
            "ticktext": [str(layer) for layer in range(n_layers)],
        },
        "width": min(PAGE_WIDTH, _BESIDE + cell * mosaic.shape[1]),
    }
    return style([cells], layout, height=max(150, round(_AROUND + cell * mosaic.shape[0])))


def all_weights(patterns: Array, queries: Sequence[str], keys: Sequence[str]) -> list[list[Any]]:
    """A row a query of every head, (L · H · Tq), a column a key; a header first."""
    header = ["layer", "head", "query \\ key [weight]", *token_names(keys)]
    names = token_names(queries)
    places = np.ndindex(patterns.shape[:3])
    return [header, *([layer, head, names[query], *patterns[layer, head, query]] for layer, head, query in places)]


_QUOTED = 0xF0000
"""Of a plane that no alphabet uses: stands for the first quoted word while a caption is read."""

_MARKDOWN = re.compile(
    r"`(?P<code>[^`]*)`|\$(?P<formula>[^$]+)\$|\\(?P<escaped>[^\w\s])|:[a-z-]+\[(?P<inside>[^\]]*)\]|\*\*|\*"
)
_ON_A_PAGE = re.compile(r"\b[Cc]lick|thumbnails")

_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_LOWERED = str.maketrans("0123456789il", "₀₁₂₃₄₅₆₇₈₉ᵢₗ")
_TEX_WORDS = {
    "lVert": "‖", "rVert": "‖", "sum": "∑", "partial": "∂", "log": "log", "sqrt": "√", "mathcal": "", "mathrm": "",
    "times": "×", "cdot": "·", "ell": "ℓ", "top": "ᵀ", "max": "max", "lvert": "|", "rvert": "|", "infty": "∞",
    "theta": "θ",
}  # fmt: skip


def plain_label(text: str | None) -> str:
    """A label of a figure as it is read: tags act, entities are letters."""
    text = re.sub(r"<br\s*/?>", "\n", text or "")
    text = re.sub("<sup>(.*?)</sup>", lambda found: raised(found[1]), text)
    return html.unescape(re.sub(r"</?[a-z]+[^<>]*>", "", text))


def raised(number: object) -> str:
    """A number above the line: `10` and this is a power."""
    return str(number).translate(_RAISED)


def plain_caption(markdown: str) -> str:
    """A caption as it is printed: without marks of markdown, and without what can be done on a page only."""
    quoted: list[str] = []  # tokens of the visitor's: nothing in them acts

    def read(found: re.Match[str]) -> str:
        code, formula, escaped, inside = found.group("code", "formula", "escaped", "inside")
        if formula is not None:
            return _plain_formula(formula)
        if code is None and escaped is None:
            return inside or ""
        quoted.append(str(code if escaped is None else escaped))
        return chr(_QUOTED + len(quoted) - 1)

    sentences = re.split(r"(?<=[.?!])\s+", _MARKDOWN.sub(read, markdown.replace(chr(_QUOTED), "")))
    sentences = [re.sub(r"; click\b.*(?=\.$)", "", sentence) for sentence in sentences]
    text = " ".join(sentence for sentence in sentences if not _ON_A_PAGE.search(sentence))
    return html.unescape(text.strip()).translate({_QUOTED + i: word for i, word in enumerate(quoted)})


def _plain_formula(tex: str) -> str:
    """A short formula of a caption in letters: `∑ pᵢ log₂ pᵢ`."""
    tex = re.sub(r"\\sqrt\{(.*)\}", r"√(\1)", tex)
    tex = re.sub(r"\\([A-Za-z]+)", lambda found: _TEX_WORDS.get(found[1], found[1]), tex)
    tex = re.sub(r"_\{?([0-9il])\}?", lambda found: found[1].translate(_LOWERED), tex)
    tex = re.sub(r"\^\{?([0-9])\}?", lambda found: found[1].translate(_RAISED), tex)
    return re.sub(r"\s+", "\N{NO-BREAK SPACE}", re.sub(r"[{}\\]", "", tex).strip())

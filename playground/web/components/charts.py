"""What Streamlit's charts have not: curves that grow, bars drawn at once, a head's lines, a legend, frames, saving.

The drawing shows a figure of lines as it is at the moment, at the same size. At rest, Plotly shows the same figure,
and its values where the pointer is.

The frame also says which cell was clicked, and moves by the arrow keys. Plotly's own selection takes the point that
the pointer hovered over last: a finger hovers over none, so that a tap opened the cell of the tap before; and a
heatmap's cells it cannot select at all.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from playground.charts import palette
from playground.charts.chart import LabelledRows
from playground.charts.draw import chart_label
from playground.charts.figure import Figure
from playground.charts.heads import Lines, thickest_line
from playground.web.components import load_component

_curves = load_component("curves", draws=True)


def draw_curves(key: str, figure: Figure, *, alt: str) -> None:
    """Draw a figure of lines; `alt` names it for whoever cannot see it."""
    _curves(key=f"{key}_drawing", data={**curve_data(figure), "alt": chart_label(alt, figure)})


def curve_data(figure: Figure) -> dict[str, Any]:
    """A figure's lines, axes and titles as the script reads them; numbers have four digits, finer than can be seen."""
    layout, x, y = figure["layout"], figure["layout"]["xaxis"], figure["layout"]["yaxis"]
    return {
        "lines": [_line(trace) for trace in figure["data"]],
        "x": list(x["range"]),
        "y": list(y["range"]) if "range" in y else None,
        "titles": [x["title"]["text"], y["title"]["text"]],
        "log": y.get("type") == "log",
        "percent": "%" in y.get("tickformat", ""),
        "height": layout["height"],
        "legend": layout["showlegend"],
    }


def _line(trace: Mapping[str, Any]) -> dict[str, Any]:
    """One line, without the points that are no finite numbers: the browser's JSON knows none."""
    points = [(_short(x), _short(y)) for x, y in zip(trace["x"], trace["y"], strict=True) if math.isfinite(y)]
    return {
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "name": trace.get("name") if trace.get("showlegend", True) else None,
        "colour": trace["line"]["color"],
        "width": trace["line"]["width"],
        "dash": trace["line"].get("dash") or "solid",
        "dots": "markers" in trace["mode"] and trace.get("marker", {}).get("opacity") != 0,
        "cross": trace.get("marker", {}).get("symbol") == "x",
        "note": trace["text"][-1] if "text" in trace else None,
    }


def _short(value: float) -> float:
    return float(f"{value:.4g}")


_bars = load_component("labelled_bars", draws=True)


def draw_bars(key: str, bars: LabelledRows, *, alt: str) -> None:
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


def _describe_longest(bars: LabelledRows) -> str:
    """A sentence on the longest bar, for whoever cannot see it."""
    finite = [place for place, value in enumerate(bars.values) if math.isfinite(value)]
    if not finite:
        return ""
    longest = max(finite, key=lambda place: abs(bars.values[place]))
    return f"The longest bar is {bars.texts[longest]}, at {bars.labels[longest]}."


_legend = load_component("legend", draws=True)


def draw_legend(key: str, entries: Sequence[Mapping[str, str]]) -> None:
    """Draw the legend, in a container of its key.

    An entry has a `name`, a CSS `colour`, one of Plotly's dashes as its `dash`, and a `state`: `done`, `growing`, or
    still `coming`.
    """
    _legend(key=key, data={"entries": entries})


_frame = load_component("cell_frame", draws=True)


@dataclass(frozen=True)
class CellFrame:
    """A frame over one cell of a chart, and what a click on another cell does."""

    container: str
    """Key of the chart's container."""
    selected: tuple[int, int] | None
    """The (row, column) to frame; None frames none."""
    rows: range | None
    """What the chart's vertical axis calls its cells; None where one cell, 0, is as high as the chart."""
    columns: range | None
    """What the chart's horizontal axis calls its cells; None where one cell, 0, is as wide as the chart."""
    on_click: Callable[[], None]
    """Runs when a cell is clicked, or the frame is moved; it finds the cell by `clicked_cell`."""
    label: str
    """What the arrow keys move, for whoever cannot see the frame."""
    is_mosaic: bool = False
    """Whether cells are equal shares of the picture, counted from its top left corner."""
    opens: str = ""
    """Key of the container that shows what a cell stands for: a press brings it into the window, no arrow key does."""
    least_width: int = 0
    """Pixels of the chart: where a phone's page is narrower, it is scrolled sideways; 0: it is as wide as the page."""

    def draw(self) -> None:
        """Draw the frame on the page; called inside the chart's container."""
        data = {
            "container": self.container,
            "selected": self.selected,
            "rows": self.rows and [self.rows[0], self.rows[-1]],
            "columns": self.columns and [self.columns[0], self.columns[-1]],
            "mosaic": self.is_mosaic,
            "opens": self.opens,
            "leastWidth": self.least_width,
            "label": self.label,
            "colour": palette.FOCUS,
        }
        _frame(key=f"{self.container}_frame", data=data, on_clicked_change=self.on_click)


def clicked_cell(container: str) -> tuple[int | None, int | None]:
    """The row and the column that were clicked; None where the browser sent anything else, or the frame has gone."""
    frame = st.session_state.get(f"{container}_frame")
    match frame and frame.clicked:
        case [int(row), int(column)]:
            return row, column
    return None, None


_head_lines = load_component("head_lines", draws=True)


def draw_head_lines(key: str, lines: Lines, *, alt: str, on_click: Callable[[], None]) -> None:
    """Draw a head's lines; `alt` names them for whoever cannot see them.

    `on_click` runs when a line or a token is clicked; it finds them by `clicked_tokens`.
    """
    label = f"{alt} {thickest_line(lines)}".strip()
    data = {**asdict(lines), "dots": palette.ATTENTION, "alt": label, "colour": palette.FOCUS}
    _head_lines(key=f"{key}_drawing", data=data, on_clicked_change=on_click)


def clicked_tokens(key: str) -> dict[str, Any]:
    """What was clicked, as the browser sent it: the positions of a line's `query` and `key`, or one of the two."""
    drawing = st.session_state.get(f"{key}_drawing")
    clicked = drawing and drawing.clicked
    return {name: clicked[name] for name in ("query", "key") if name in clicked} if isinstance(clicked, dict) else {}


_picture_buttons = load_component("save_picture")


def draw_picture_buttons(key: str, *, chart: str, name: str) -> None:
    """Draw the buttons PNG and SVG for the chart that Plotly draws in the container of key `chart`.

    `name` is the file's, without its ending.
    """
    _picture_buttons(key=key, data={"chart": chart, "name": name}, width="content")

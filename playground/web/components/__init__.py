"""What Streamlit lacks: drawings, and what the browser does on a page's behalf; a folder of files for each."""

import math
import re
import secrets
import time
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import streamlit as st
from plotly.io.json import to_json_plotly
from streamlit.components.v2.bidi_component.state import ComponentResult

from playground.accounting.shapes import Stage
from playground.charts import palette
from playground.charts.chart import LabelledBars, Lines
from playground.charts.draw import chart_label
from playground.charts.figure import Figure
from playground.charts.heads import thickest_line
from playground.limits import MAX_ADDRESS

_FOLDER = Path(__file__).parent

_PROCESS = secrets.token_hex(4)


def load_component(name: str, *, isolated: bool = True) -> Callable[..., ComponentResult]:
    """Declare the component of the files `<name>.js`, `.css` and `.html` in its folder, `elements.js` in front.

    The page's styles reach it unless it is `isolated`.

    Data travels as a list's only item: in a mapping Streamlit would look for data frames, value by value.
    """
    texts = {file.suffix: file.read_text(encoding="utf-8") for file in sorted((_FOLDER / name).glob(f"{name}.*"))}
    js = (_FOLDER / "elements.js").read_text(encoding="utf-8") + texts[".js"]
    files = {"html": texts.get(".html"), "css": texts.get(".css"), "js": js}
    mount = st.components.v2.component(name, **files, isolate_styles=isolated)

    def draw(*, data: Any = None, **options: Any) -> ComponentResult:
        return mount(data=None if data is None else [data], **options)

    return draw


def moment() -> dict[str, str | float]:
    """Return the moment as JSON: `process`, as clocks differ, and its `time`, which only rises."""
    return {"process": _PROCESS, "time": time.monotonic()}


_REQUESTED = "_scroll_requested"
"""Session key of the container that the next page to be drawn scrolls to, and `unless_seen`."""

_guard, _announcement, _again = map(load_component, ("address_guard", "announcement", "ask_again"))
_order, _warning, _scroll = map(load_component, ("menu_order", "reload_warning", "scroll_to"))
_progress, _lesson_keys = map(load_component, ("exercise_progress", "lesson_keys"))

_STYLES = Path(__file__).parent / "page_style"
_SINGLE, _OPEN_GROUP = (Template((_STYLES / f"{name}.css").read_text()) for name in ("single", "open_group"))


def write_address(key: str, data: Mapping[str, Any], on_address_change: Callable[[], None]) -> None:
    """Put texts of `parameters` into the address bar, once a `moment`; a lost `session` gets its address back."""
    _guard(key=key, data=data, on_address_change=on_address_change)


def announce(key: str, sentence: str, *, container: str) -> None:
    """Tell a screen reader a new sentence (markdown); the `container` takes the focus of a button that is gone."""
    _announcement(key=key, data={"sentence": re.sub(r"[*`\\]", "", sentence), "container": container})


def ask_again(key: str) -> None:
    """Have the browser run this fragment once more, as long as somebody looks."""
    _again(key=key, data=moment(), on_again_change=lambda: None)


def step_by_keys(*, is_last: bool, is_presented: bool) -> None:
    """Let the arrow keys press a lesson's buttons; while it `is_presented`, a remote control's page keys too."""
    _lesson_keys(key="lesson_keys", data={"isLast": is_last, "isPresented": is_presented})


def send_text_before_page() -> None:
    """Let a press on the menu wait until the typed text is sent; open pages at their top."""
    _order(key="menu_order")


def ask_before_reload() -> None:
    """Let the browser ask before a reload; drawn only if something gets lost."""
    _warning(key="reload_warning")


def keep_in_browser(key: str, progress: str, session: str, *, is_read: bool, on_read: Callable[[object], None]) -> None:
    """Store a text in the browser once that `is_read`; `on_read` takes what it had, or anything that it sends."""

    def take() -> None:
        sent = getattr(st.session_state[key], "stored", None)
        if sent is not None:
            on_read(sent)

    data = {"progress": progress, "session": session, "isRead": is_read}
    _progress(key=key, data=data, on_stored_change=take)


def scroll_to(key: str, *, unless_seen: bool = False) -> None:
    """Scroll once to a container; with `unless_seen`, only if it doesn't begin in the window's upper part."""
    data = {"target": key, "unlessSeen": unless_seen, "moment": moment()}
    _scroll(key=f"scroll_to_{key}", data=data)


def request_scroll(key: str, *, unless_seen: bool = False) -> None:
    """Have the page that is drawn next scroll, as `scroll_to`; for callbacks."""
    st.session_state[_REQUESTED] = key, unless_seen


def scroll_as_requested() -> None:
    """Scroll to where the run before this one asked to, if it did."""
    if _REQUESTED in st.session_state:
        key, unless_seen = st.session_state.pop(_REQUESTED)
        scroll_to(key, unless_seen=unless_seen)


def apply_page_style(*, is_presented: bool = False) -> None:
    """Send the style sheet to the browser, with a frame's (`?embed=true`) or a projector's (`?present=true`)."""
    sheets = {"page_style": True, "embedded": st.context.is_embedded, "presented": is_presented}
    _style("\n".join((_STYLES / f"{name}.css").read_text("utf-8") for name, is_sent in sheets.items() if is_sent))


def _style(css: str) -> None:
    st.html(f"<style>{css}</style>")


def mark_open_group(place: int) -> None:
    """Mark the fold of the menu at this place, from 1, as open."""
    _style(_OPEN_GROUP.substitute(place=place))


def hide(keys: Collection[str]) -> None:
    """Hide containers, by keys of small letters, digits and underscores, and columns that hold nothing else."""
    alone = "[data-testid='stColumn']:has(> [data-testid='stVerticalBlock'] > :only-child > .st-key-{key})"
    hidden = ", ".join(f".st-key-{key}, {alone.format(key=key)}" for key in keys)
    _style(f"{hidden} {{ display: none !important; }}")


def show_only(keys: Collection[str]) -> None:
    """Hide everything on the page but notices and these containers."""
    _style(_SINGLE.substitute(shown=", ".join([".stAlert", *(f".st-key-{key}" for key in keys)])))


# --- drawings

FOCUS_KEY, CHANGES_KEY, TOKENS_KEY = "focus_line", "change_chips", "token_chips"

_ANSWERED = "_copy_link_answered"
"""Session key of the number of the last click on the link that a run has answered."""

_bars, _legend, _frame = map(load_component, ("labelled_bars", "legend", "cell_frame"))
_head_lines, _picture_buttons, _copy_link = map(load_component, ("head_lines", "save_picture", "copy_link"))
_focus_line, _change_chips, _token_chips = map(load_component, (FOCUS_KEY, CHANGES_KEY, TOKENS_KEY))
_flow = load_component("data_flow")
_plot = load_component("plot", isolated=False)

_PLOTLY = next((Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js")).name
"""Streamlit's own copy of Plotly."""


def draw_plot(key: str, figure: Figure, *, alt: str) -> None:
    """Have Plotly draw a figure; one that stays in its place is changed rather than made anew, as Streamlit would."""
    data = [{name: _pack(value) for name, value in trace.items()} for trace in figure["data"]]
    source = f"/{st.get_option('server.baseUrlPath').strip('/')}/static/js/{_PLOTLY}".replace("//", "/")
    packed, height = to_json_plotly({"data": data, "layout": figure["layout"]}), figure["layout"]["height"]
    label = chart_label(alt, figure)
    _plot(key=f"{key}_chart", data={"figure": packed, "height": height, "alt": label, "source": source})


def _pack(value: Any) -> Any:
    is_table = isinstance(value, np.ndarray) and value.ndim == 2 and value.size
    if not is_table or (kind := value.dtype.str[1:]) not in ("f4", "f8", "u1"):
        return value
    return {"dtype": kind, "bdata": b64encode(value.tobytes()).decode(), "shape": ", ".join(map(str, value.shape))}


def draw_bars(key: str, bars: LabelledBars[Any]) -> None:
    """Draw bars."""
    alt, finite = bars.alt, [place for place, value in enumerate(bars.values) if math.isfinite(value)]
    if finite:
        longest = max(finite, key=lambda place: abs(bars.values[place]))
        alt = f"{alt}. The longest bar is {bars.texts[longest]}, at {bars.labels[longest]}."
    data = {
        "labels": list(bars.labels),
        "values": [float(f"{value:.5g}") if math.isfinite(value) else None for value in bars.values],
        "colours": list(bars.colours),
        "texts": list(bars.texts),
        "title": bars.title,
        "alt": alt,
    }
    _bars(key=f"{key}_drawing", data=data)


def draw_legend(key: str, entries: Sequence[Mapping[str, str]]) -> None:
    """Draw entries: `name`, CSS `colour`, Plotly's `dash`, `state` (`done`, `growing`, `coming`)."""
    _legend(key=key, data={"entries": entries})


@dataclass(frozen=True)
class CellFrame:
    """A frame over one cell of a chart, moved by a click or the arrow keys."""

    container: str
    """Key of the chart's container."""
    selected: tuple[int, int] | None
    """(row, column)"""
    rows: range | None
    """The vertical axis's names of its cells; None: there is one, 0."""
    columns: range | None
    on_click: Callable[[], None]
    """Finds the cell by `clicked_cell`."""
    label: str
    """What the arrow keys move."""
    is_mosaic: bool = False
    """Whether cells are equal shares of the picture, from its top left corner."""
    opens: str = ""
    """Key of the container that a press brings into the window."""
    least_width: int = 0
    """Pixels of the chart below which it is scrolled sideways; 0: none."""

    def draw(self) -> None:
        """Draw the frame, inside the chart's container."""
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
    """Return the clicked row and column, or None."""
    frame = st.session_state.get(f"{container}_frame")
    match frame and frame.clicked:
        case [int(row), int(column)]:
            return row, column
    return None, None


def draw_head_lines(key: str, lines: Lines, *, alt: str, on_click: Callable[[], None]) -> None:
    """Draw a head's lines; `on_click` finds what was clicked by `clicked_tokens`."""
    label = f"{alt} {thickest_line(lines)}".strip()
    data = {**asdict(lines), "dots": palette.ATTENTION, "alt": label, "colour": palette.FOCUS}
    _head_lines(key=f"{key}_drawing", data=data, on_clicked_change=on_click)


def clicked_tokens(key: str) -> dict[str, Any]:
    """Return the clicked `query` and `key`, or one of them."""
    drawing = st.session_state.get(f"{key}_drawing")
    clicked = drawing and drawing.clicked
    return {name: clicked[name] for name in ("query", "key") if name in clicked} if isinstance(clicked, dict) else {}


def draw_picture_buttons(key: str, *, chart: str, name: str) -> None:
    """Draw the buttons PNG and SVG for the chart in the container `chart`; `name` is the file's stem."""
    _picture_buttons(key=key, data={"chart": chart, "name": name}, width="content")


def draw_focus_line(on_move: Callable[[], None], **data: Any) -> None:
    """Draw the focus; a move is in the session as `KEY.moved`."""
    _focus_line(key=FOCUS_KEY, data={**data, "colour": palette.FOCUS}, on_moved_change=on_move)


def draw_chips(
    chips: Sequence[Mapping[str, str | bool]], on_switch: Callable[[], None], on_take_back: Callable[[], None]
) -> None:
    """Draw changes: `text` as in the link, `name`, `is_on`, `reason` why it cannot apply, `note` what it waits for.

    A press is in the session as `KEY.switched`, or as `KEY.taken`.
    """
    data = {"chips": chips, "colour": palette.CHANGE}
    _change_chips(key=CHANGES_KEY, data=data, on_switched_change=on_switch, on_taken_change=on_take_back)


def draw_token_chips(
    chips: Sequence[tuple[str, str, str, str]],
    *,
    query: int | None = None,
    key: int | None = None,
    on_click: Callable[[], None] | None = None,
    name: str = TOKENS_KEY,
) -> None:
    """Draw tokens: (piece, id, kind, explanation), kind being `plain`, `special`, `unknown` or `padding`.

    A press is in the session as `clicked` under `name`.
    """
    data = {
        "chips": [list(chip) for chip in chips],
        "query": query,
        "key": key,
        "colour": palette.FOCUS,
        "opens": on_click is not None,
    }
    _token_chips(key=name, data=data, on_clicked_change=on_click or (lambda: None))


_PAGES = {"embeddings": "parameters", "attention": "attention", "feed_forward": "parameters", "norms": "norms"}


def draw_data_flow(
    stages: Sequence[Stage], n_layers: int, on_open: Callable[[], None] | None = None, *, key: str = "data_flow"
) -> None:
    """Draw the boxes, and residual connections around them; a press is in the session as `<key>.open`, the page."""
    inside = [i for i, stage in enumerate(stages) if stage.in_block]
    first, last = inside[0], inside[-1]
    block = groupby(stages[first : last + 1], key=lambda stage: stage.residual)
    data = {
        "before": [_box(stage) for stage in stages[:first]],
        "block": [{"residual": number > 0, "boxes": [_box(stage) for stage in run]} for number, run in block],
        "after": [_box(stage) for stage in stages[last + 1 :]],
        "times": f"{n_layers} blocks, one after the other" if n_layers > 1 else "1 block",
        "line": palette.RESIDUAL,
        "opens": on_open is not None,
    }
    _flow(key=key, data=data, on_open_change=on_open or (lambda: None))


def _box(stage: Stage) -> dict[str, object]:
    is_sum = stage.in_block and stage.component is None
    page = "norms" if is_sum else "attention" if stage.component is None else _PAGES[stage.component]
    lines = [] if is_sum else [stage.shape]
    if stage.parameters:
        lines.append(f"{stage.parameters:,} params")
    if stage.share:
        lines.append(f"{stage.share:.0%} of the work")
    colour = palette.COMPONENTS[stage.component] if stage.component else palette.RESIDUAL
    return {"title": stage.title, "lines": lines, "colour": colour, "page": page, "sum": is_sum}


def draw_copy_link(key: str, version: str, more: Mapping[str, list[str]], *, is_small: bool = False) -> None:
    """Draw the button in a fragment, whose run comes after those of earlier choices; `more` goes with the link."""
    data = {
        "version": version,
        "more": dict(more),
        "longest": MAX_ADDRESS,
        "answered": st.session_state.get(_ANSWERED),
        "isSmall": is_small,
    }
    _copy_link(key=key, data=data, on_asked_change=partial(_answer, key))


def _answer(key: str) -> None:
    st.session_state[_ANSWERED] = st.session_state[key].asked

"""The drawing of a head's lines on a page, which a click moves the focus in."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import streamlit as st

from playground.charts import palette
from playground.charts.head_lines import Lines, thickest_line
from playground.web.components.load_component import load_component

_lines = load_component("head_lines", draws=True)


def draw_head_lines(key: str, lines: Lines, *, alt: str, on_click: Callable[[], None]) -> None:
    """Draw a head's lines; `alt` names them for whoever cannot see them.

    `on_click` runs when a line or a token is clicked; it finds them by `clicked_tokens`.
    """
    label = f"{alt} {thickest_line(lines)}".strip()
    data = {**asdict(lines), "dots": palette.ATTENTION, "alt": label, "colour": palette.FOCUS}
    _lines(key=f"{key}_drawing", data=data, on_clicked_change=on_click)


def clicked_tokens(key: str) -> dict[str, Any]:
    """What was clicked, as the browser sent it: the positions of a line's `query` and `key`, or one of the two."""
    clicked = st.session_state[f"{key}_drawing"].clicked
    return {name: clicked[name] for name in ("query", "key") if name in clicked} if isinstance(clicked, dict) else {}

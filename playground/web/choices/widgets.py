"""Widgets of the link: each is bound to the query parameter of its key, with that parameter's options and default."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from playground.link.params import PARAMS, write
from playground.web.choices.draw_kinds import draw_kind
from playground.web.choices.setup import current_notices, current_setup, current_value, replace_notices


def draw(
    key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None, **options: Any
) -> Any:
    """Draw the widget that the parameter's kind has, with its other options; returns its value.

    Label and help text come from the parameter unless they are given.
    """
    if "high" in options:
        _move_below(key, options["high"])
    return draw_kind(PARAMS[key], current_value(key), **_common(key, label, help_text, disabled), **options)


choice: Callable[..., str] = draw
several: Callable[..., list[str]] = draw
size: Callable[..., float] = draw
switch: Callable[..., bool] = draw
text: Callable[..., str] = draw
whole: Callable[..., int] = draw
"""`draw` again, by the kind of parameter, for whoever needs the type of its value."""


def menu(key: str, label: str, *, on_change: Callable[[], None] | None = None) -> str:
    """A list that opens, for words that are too many for a row."""
    param: Any = PARAMS[key]
    index = param.options.index(param.default)
    return str(st.selectbox(options=param.options, index=index, on_change=on_change, **_common(key, label)))


def stage(key: str, label: str, order: Sequence[str]) -> str:
    """A slider through a parameter's words, in the order that makes sense now."""
    return str(st.select_slider(options=order, value=PARAMS[key].default, **_common(key, label)))


def number(key: str, *, disabled: bool = False) -> int:
    """A field for a whole number."""
    param: Any = PARAMS[key]
    common = _common(key, disabled=disabled)
    return int(st.number_input(min_value=param.low, max_value=param.high, value=param.default, **common))


def _common(key: str, label: str | None = None, help_text: str | None = None, disabled: bool = False) -> dict[str, Any]:
    """The arguments that every widget of Streamlit has."""
    param = PARAMS[key]
    return {
        "label": label or param.label or key,
        "help": help_text or param.help_text,
        "key": key,
        "disabled": disabled,
        "bind": "query-params",
    }


def _move_below(key: str, high: int) -> None:
    """Move a number that is above `high` down to it, before its widget exists."""
    value = current_value(key)
    if value <= high:
        return
    if key in st.session_state:
        st.session_state[key] = high
    elif key in st.query_params:
        setup = current_setup()
        notices = current_notices(setup)
        others = [notice for notice in notices if not notice.startswith(f"The link's {key}=")]
        written = f"{key}={value}" if others == notices else key  # corrected once, the value is no visitor's any more
        replace_notices(setup, [*others, f"The link's {written} is moved to the last, {high}."])
        st.query_params[key] = write(high)
        st.rerun()

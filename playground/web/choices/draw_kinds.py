"""The widget of each kind of parameter; `widgets` adds what all widgets have."""

from collections.abc import Sequence
from functools import partial, singledispatch
from typing import Any

import streamlit as st

from playground.link.kinds import Choice, Param, Several, Size, Switch, Text, Whole


@singledispatch
def draw_kind(param: Param, _current: Any, **_widget: Any) -> Any:
    """Draw the widget of a parameter, whose value is `_current`; returns its value by now."""
    raise TypeError(f"No widget for {param!r}.")


@draw_kind.register
def _(param: Choice, _current: str, **widget: Any) -> Any:
    """A row of words, one of them chosen."""
    if param.captions:
        index = param.options.index(param.default)
        return st.radio(options=param.options, index=index, captions=param.captions, horizontal=True, **widget)
    return st.segmented_control(options=param.options, default=param.default, required=True, wrap=True, **widget)


@draw_kind.register
def _(param: Several, _current: Sequence[str], **widget: Any) -> Any:
    """Pills, any number of them chosen."""
    return st.pills(options=param.options, selection_mode="multi", default=param.default, wrap=True, **widget)


@draw_kind.register
def _(param: Size, current: float, **widget: Any) -> Any:
    """A slider over the stops, and over the value of an upload, which may lie between them."""
    return st.select_slider(options=sorted({*param.options, current}), value=param.default, **widget)


@draw_kind.register
def _(param: Whole, _current: int, *, high: int | None = None, step: int = 1, **widget: Any) -> Any:
    """A slider up to `high`, the largest number that this run has; nothing where only one number is left."""
    high = param.high if high is None else high
    if high <= param.low:
        return param.low
    return st.slider(min_value=param.low, max_value=high, value=min(param.default, high), step=step, **widget)


@draw_kind.register
def _(param: Switch, _current: bool, **widget: Any) -> Any:
    """A toggle."""
    return st.toggle(value=param.default, **widget)


@draw_kind.register
def _(param: Text, _current: str, *, height: int | None = None, **widget: Any) -> Any:
    """A field of one line, or an area of `height` pixels."""
    field = st.text_input if height is None else partial(st.text_area, height=height)
    return field(value=param.default, max_chars=param.longest, **widget)

"""Widgets of the link: each is bound to the query parameter of its key, with that parameter's options and default."""

from collections.abc import Callable, Sequence

import streamlit as st

from playground.web.choices import state
from playground.web.choices.kinds import Choice, Several, Size, Switch, Text, Whole
from playground.web.choices.params import PARAMS, write


def size(key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None) -> float:
    """A slider over a parameter's stops, and over the value of a visitor's own weights, which may lie between them."""
    param = PARAMS[key]
    if not isinstance(param, Size):
        raise TypeError(f"{key} is not a Size")
    stops = sorted({*param.options, state.value(key)})
    chosen: float = st.select_slider(
        label or key,
        stops,
        param.default,
        key=key,
        disabled=disabled,
        help=help_text,
        bind="query-params",
        format_func=write,
    )
    return chosen


def choice(
    key: str,
    label: str | None = None,
    *,
    disabled: bool = False,
    help_text: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> str:
    """A row of words, one of them chosen."""
    param = PARAMS[key]
    if not isinstance(param, Choice):
        raise TypeError(f"{key} is not a Choice")
    chosen = st.segmented_control(
        label or key,
        param.options,
        default=param.default,
        required=True,
        key=key,
        disabled=disabled,
        help=help_text,
        on_change=on_change or "rerun",
        bind="query-params",
        wrap=True,
    )
    return str(chosen)


def several(key: str, label: str, *, help_text: str | None = None) -> list[str]:
    """Pills, any number of them chosen."""
    param = PARAMS[key]
    if not isinstance(param, Several):
        raise TypeError(f"{key} is not a Several")
    return st.pills(
        label,
        param.options,
        selection_mode="multi",
        default=param.default,
        key=key,
        help=help_text,
        bind="query-params",
        wrap=True,
    )


def menu(key: str, label: str, *, on_change: Callable[[], None] | None = None) -> str:
    """A list that opens, for words that are too many for a row."""
    param = PARAMS[key]
    if not isinstance(param, Choice):
        raise TypeError(f"{key} is not a Choice")
    index = list(param.options).index(param.default)
    return str(st.selectbox(label, param.options, index=index, key=key, on_change=on_change, bind="query-params"))


def stage(key: str, label: str, order: Sequence[str]) -> str:
    """A slider through a parameter's words, in the order that makes sense now."""
    param = PARAMS[key]
    if not isinstance(param, Choice):
        raise TypeError(f"{key} is not a Choice")
    return str(st.select_slider(label, order, param.default, key=key, bind="query-params"))


def switch(key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None) -> bool:
    """A toggle."""
    param = PARAMS[key]
    if not isinstance(param, Switch):
        raise TypeError(f"{key} is not a Switch")
    return st.toggle(label or key, param.default, key=key, disabled=disabled, help=help_text, bind="query-params")


def text(key: str, label: str, *, height: int | None = None, placeholder: str | None = None) -> str:
    """A field for text: an area of `height` pixels, or one line."""
    param = PARAMS[key]
    if not isinstance(param, Text):
        raise TypeError(f"{key} is not a Text")
    if height is None:
        return st.text_input(label, param.default, param.longest, key=key, placeholder=placeholder, bind="query-params")
    return st.text_area(
        label, param.default, height, param.longest, key=key, placeholder=placeholder, bind="query-params"
    )


def whole(key: str, label: str, *, high: int, step: int = 1, help_text: str | None = None) -> int:
    """A slider up to `high`, the largest number that this run has; nothing is drawn where only one number is left."""
    param = PARAMS[key]
    if not isinstance(param, Whole):
        raise TypeError(f"{key} is not a Whole")
    default = state.limit(key, high)
    if high <= param.low:
        return param.low
    return int(st.slider(label, param.low, high, default, step, key=key, help=help_text, bind="query-params"))

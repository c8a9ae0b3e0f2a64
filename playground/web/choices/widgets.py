"""Widgets of the link: each is bound to the query parameter of its key, with that parameter's options and default.

A function draws one kind of parameter and returns its value; `draw` is for any kind. Label and help text come from the
parameter unless they are given.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from playground.web.choices.kinds import Choice, Several, Size, Switch, Text, Whole
from playground.web.choices.notices import current_notices, replace_notices
from playground.web.choices.params import PARAMS, write
from playground.web.choices.setup import current_setup, current_value

Kind = TypeVar("Kind", Choice, Several, Size, Switch, Text, Whole)


def draw(key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None) -> None:
    """The widget of a parameter that is a choice, a size, a switch or a whole number."""
    functions: dict[type[object], Callable[..., object]] = {Choice: choice, Size: size, Switch: switch, Whole: whole}
    functions[type(PARAMS[key])](key, label, disabled=disabled, help_text=help_text)


def size(key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None) -> float:
    """A slider over a parameter's stops, and over the value of an upload, which may lie between them."""
    param = _param(key, Size)
    chosen: float = st.select_slider(
        label or param.label or key,
        sorted({*param.options, current_value(key)}),
        param.default,
        key=key,
        disabled=disabled,
        help=help_text or param.help_text,
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
    param = _param(key, Choice)
    chosen = st.segmented_control(
        label or param.label or key,
        param.options,
        default=param.default,
        required=True,
        key=key,
        disabled=disabled,
        help=help_text or param.help_text,
        on_change=on_change or "rerun",
        bind="query-params",
        wrap=True,
    )
    return str(chosen)


def several(key: str, label: str, *, help_text: str | None = None) -> list[str]:
    """Pills, any number of them chosen."""
    param = _param(key, Several)
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
    param = _param(key, Choice)
    index = list(param.options).index(param.default)
    return str(st.selectbox(label, param.options, index=index, key=key, on_change=on_change, bind="query-params"))


def stage(key: str, label: str, order: Sequence[str]) -> str:
    """A slider through a parameter's words, in the order that makes sense now."""
    return str(st.select_slider(label, order, _param(key, Choice).default, key=key, bind="query-params"))


def switch(key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None) -> bool:
    """A toggle."""
    param = _param(key, Switch)
    return st.toggle(
        label or param.label or key,
        param.default,
        key=key,
        disabled=disabled,
        help=help_text or param.help_text,
        bind="query-params",
    )


def text(key: str, label: str | None = None, *, height: int | None = None, placeholder: str | None = None) -> str:
    """A field for text: an area of `height` pixels, or one line."""
    param, label = _param(key, Text), label or PARAMS[key].label
    if height is None:
        return st.text_input(label, param.default, param.longest, key=key, placeholder=placeholder, bind="query-params")
    return st.text_area(
        label, param.default, height, param.longest, key=key, placeholder=placeholder, bind="query-params"
    )


def number(key: str, *, disabled: bool = False) -> int:
    """A field for a whole number."""
    param = _param(key, Whole)
    return st.number_input(
        param.label,
        param.low,
        param.high,
        param.default,
        key=key,
        disabled=disabled,
        help=param.help_text,
        bind="query-params",
    )


def whole(
    key: str,
    label: str | None = None,
    *,
    high: int | None = None,
    step: int = 1,
    disabled: bool = False,
    help_text: str | None = None,
) -> int:
    """A slider over whole numbers; nothing is drawn where only one number is left.

    Args:
        key: the parameter's.
        label: what the widget is called.
        high: the largest number that this run has, such as the last layer; without it, the parameter's own.
        step: between two numbers.
        disabled: whether it is shown in grey.
        help_text: what a question mark beside the label tells.
    """
    param = _param(key, Whole)
    high = param.high if high is None else high
    _move_below(key, high)
    if high <= param.low:
        return param.low
    return int(
        st.slider(
            label or param.label or key,
            param.low,
            high,
            min(param.default, high),
            step,
            key=key,
            disabled=disabled,
            help=help_text or param.help_text,
            bind="query-params",
        )
    )


def _param(key: str, kind: type[Kind]) -> Kind:
    """The parameter of a key, of the kind that the widget needs."""
    param = PARAMS[key]
    if not isinstance(param, kind):
        raise TypeError(f"{key} is not a {kind.__name__}")
    return param


def _move_below(key: str, high: int) -> None:
    """Move a number that is above `high` down to it, before its widget exists."""
    value = current_value(key)
    if value <= high:
        return
    if key in st.session_state:
        st.session_state[key] = high
    elif key in st.query_params:
        setup, sentence = current_setup(), f"The link's {key}={value} is moved to the last, {high}."
        replace_notices(setup, [*current_notices(setup), sentence])
        st.query_params[key] = write(high)
        st.rerun()

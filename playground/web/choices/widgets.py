"""Widgets of the link: each is bound to the query parameter of its key, with that parameter's options and default.

A function draws one kind of parameter and returns its value; `draw` is for any kind that the architecture has. Label
and help text come from the parameter unless they are given.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from playground.web.choices.kinds import Choice, Several, Size, Switch, Text, Whole
from playground.web.choices.notices import current_notices, replace_notices
from playground.web.choices.params import PARAMS, write
from playground.web.choices.setup import current_setup, current_value

Kind = TypeVar("Kind", Choice, Several, Size, Switch, Text, Whole)


def draw(key: str, *, disabled: bool = False) -> None:
    """The widget of a parameter that is a choice, a size or a switch."""
    functions: dict[type[object], Callable[..., object]] = {Choice: choice, Size: size, Switch: switch}
    functions[type(PARAMS[key])](key, disabled=disabled)


def size(key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None) -> float:
    """A slider over a parameter's stops, and over the value of an upload, which may lie between them."""
    param = _param(key, Size)
    stops = sorted({*param.options, current_value(key)})
    chosen: float = st.select_slider(
        options=stops, value=param.default, format_func=write, **_common(key, label, help_text, disabled)
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
        options=param.options,
        default=param.default,
        required=True,
        on_change=on_change or "rerun",
        wrap=True,
        **_common(key, label, help_text, disabled),
    )
    return str(chosen)


def several(key: str, label: str, *, help_text: str | None = None) -> list[str]:
    """Pills, any number of them chosen."""
    param = _param(key, Several)
    chosen: list[str] = st.pills(
        options=param.options,
        selection_mode="multi",
        default=param.default,
        wrap=True,
        **_common(key, label, help_text),
    )
    return chosen


def menu(key: str, label: str, *, on_change: Callable[[], None] | None = None) -> str:
    """A list that opens, for words that are too many for a row."""
    param = _param(key, Choice)
    index = list(param.options).index(param.default)
    return str(st.selectbox(options=param.options, index=index, on_change=on_change, **_common(key, label)))


def stage(key: str, label: str, order: Sequence[str]) -> str:
    """A slider through a parameter's words, in the order that makes sense now."""
    return str(st.select_slider(options=order, value=_param(key, Choice).default, **_common(key, label)))


def switch(key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None) -> bool:
    """A toggle."""
    return st.toggle(value=_param(key, Switch).default, **_common(key, label, help_text, disabled))


def text(key: str, label: str | None = None, *, height: int | None = None, placeholder: str | None = None) -> str:
    """A field for text: an area of `height` pixels, or one line."""
    param = _param(key, Text)
    options = {"value": param.default, "max_chars": param.longest, "placeholder": placeholder, **_common(key, label)}
    return str(st.text_input(**options) if height is None else st.text_area(height=height, **options))


def number(key: str, *, disabled: bool = False) -> int:
    """A field for a whole number."""
    param = _param(key, Whole)
    return int(
        st.number_input(
            min_value=param.low, max_value=param.high, value=param.default, **_common(key, disabled=disabled)
        )
    )


def whole(key: str, label: str | None = None, *, high: int, step: int = 1, help_text: str | None = None) -> int:
    """A slider up to `high`, the largest number that this run has; nothing is drawn where only one number is left."""
    param = _param(key, Whole)
    _move_below(key, high)
    if high <= param.low:
        return param.low
    default = min(param.default, high)
    common = _common(key, label, help_text)
    return int(st.slider(min_value=param.low, max_value=high, value=default, step=step, **common))


def _param(key: str, kind: type[Kind]) -> Kind:
    """The parameter of a key, of the kind that the widget needs."""
    param = PARAMS[key]
    if not isinstance(param, kind):
        raise TypeError(f"{key} is not a {kind.__name__}")
    return param


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
        setup, sentence = current_setup(), f"The link's {key}={value} is moved to the last, {high}."
        replace_notices(setup, [*current_notices(setup), sentence])
        st.query_params[key] = write(high)
        st.rerun()

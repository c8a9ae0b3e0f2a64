"""Widgets of parameters: each has its parameter's key, and stands at the value that was chosen."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from playground.language.family import STOPS
from playground.link.kinds import Param
from playground.link.params import PARAMS, SHARED
from playground.web.choices.setup import current_value, cut_text, explain_cut_text, session_choices
from playground.web.choices.shortcuts import choose_places

PERSISTS: dict[str, Any] = {"persist_state": "session"}
"""What makes Streamlit keep a widget's value in runs that do not draw it."""


def draw(
    key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None, **options: Any
) -> Any:
    """Draw the widget that the parameter's kind has; returns its value. Label and help text are its own."""
    return _draw(key, _common(key, label, help_text) | {"disabled": disabled}, **options)


choice: Callable[..., str] = draw
several: Callable[..., list[str]] = draw
size: Callable[..., float] = draw
switch: Callable[..., bool] = draw
text: Callable[..., str] = draw
whole: Callable[..., int] = draw
"""`draw`, with the type of the value."""


def _draw(key: str, widget: dict[str, Any], **options: Any) -> Any:
    param = PARAMS[key]
    match param.kind:
        case "whole":
            return _draw_whole(key, param, widget, **options)
        case "size":
            return _draw_size(key, param, widget, **options)
        case "text":
            return _draw_text(key, widget, **options)
    keep_value(key, "word")
    match param.kind:
        case "choice" if param.captions:
            return st.radio(options=param.options, captions=param.captions, horizontal=True, **widget, **options)
        case "choice":
            return st.segmented_control(options=param.options, required=True, wrap=True, **widget, **options)
        case "several":
            return st.pills(options=param.options, selection_mode="multi", wrap=True, **widget, **options)
    return st.toggle(**widget, **options)


def _draw_whole(key: str, param: Param, widget: dict[str, Any], high: int | None = None, **options: Any) -> int:
    low, highest = param.options[0], param.options[-1] if high is None else high
    move_below(key, highest)
    if highest <= low:
        return int(low)
    keep_value(key, highest)
    return int(st.slider(min_value=low, max_value=highest, **widget, **options))


def _draw_size(
    key: str, param: Param, widget: dict[str, Any], fits: Callable[[float], bool] | None = None, **options: Any
) -> Any:
    stops = STOPS[key] if key in STOPS and key in SHARED and current_value("weights") == "english" else param.options
    highest = next(filter(fits, reversed(stops)), stops[0]) if fits else stops[-1]
    keep_value(key, "slider")
    stops = sorted({*(stop for stop in stops if stop <= highest), current_value(key)})
    return st.select_slider(options=stops, **widget, **options)


def _draw_text(
    key: str,
    widget: dict[str, Any],
    height: int | None = None,
    on_change: Callable[[], None] | None = None,
    **options: Any,
) -> str:
    keep_value(key, height)
    field = st.text_input if height is None else partial(st.text_area, height=height)
    typed = field(on_change=_take_text, args=(key, on_change), **widget, **options)
    explain_cut_text(key)
    return str(typed)


def _take_text(key: str, on_change: Callable[[], None] | None) -> None:
    st.session_state[key] = cut_text(key, st.session_state[key])
    if on_change is not None:
        on_change()


def menu(key: str, label: str, help_text: str | None = None, **options: Any) -> str:
    """Draw a list that opens, for words that are too many for a row."""
    keep_value(key, "menu")
    return str(st.selectbox(options=PARAMS[key].options, **_common(key, label, help_text), **options))


def stage(key: str, label: str, stages: Sequence[str]) -> None:
    """Draw a slider through a parameter's words, in the order that makes sense now."""
    keep_value(key, "slider")
    st.select_slider(options=stages, **_common(key, label))


def number(key: str) -> int:
    """Draw a field for a whole number."""
    options = PARAMS[key].options
    keep_value(key, "number")
    return int(st.number_input(min_value=options[0], max_value=options[-1], **_common(key)))


def panel(key: str, title: str, icon: str | None = None) -> Any:
    """Draw an expander that is open or closed as its parameter says."""
    keep_value(key, "panel")
    return st.expander(title, icon=icon, key=key, on_change="rerun")


def keep_value(key: str, drawn: Hashable) -> None:
    """Give a widget the chosen value if Streamlit has forgotten it."""
    last = session_choices().drawn
    if key not in st.session_state or last.get(key) != drawn:
        st.session_state[key] = current_value(key)
        last[key] = drawn


def move_below(key: str, high: int) -> None:
    """Move a number that is above `high` down to it; a link's with a sentence."""
    value = current_value(key)
    if value > high:
        st.session_state[key] = high
        if len(session_choices().moments) == 1 and value != PARAMS[key].default:
            st.info(f"The link's {key}={value} is not there: the last is {high}.")


def offer(key: str, label: str, help_text: str, shown: Any, on_change: Callable[[str, Any], None]) -> None:
    """Draw a control at the value that the weights decide; `on_change` takes the key and the value chosen."""
    param = PARAMS[key]
    widget: dict[str, Any] = {"label": label, "help": help_text, **_stand_in(f"minilm_{key}", key, shown, on_change)}
    if param.kind == "switch":
        st.toggle(**widget)
    elif param.kind == "choice":
        st.selectbox(options=param.options, **widget)
    else:
        stops = sorted({*STOPS[key], shown})
        names = {**{stop: str(stop) for stop in stops}, param.default: f"{param.default} MiniLM"}
        st.select_slider(options=stops, format_func=names.__getitem__, **widget)


def unbound_menu(key: str, menu: str, label: str, options: Sequence[Any], shown: Any, **more: Any) -> None:
    """Draw a list with the key `menu` that chooses a parameter's value, which is `shown` by now."""
    st.selectbox(label, options, **_stand_in(menu, key, shown, _choose_one), **more)


def _choose_one(key: str, value: Any) -> None:
    choose_places(**{key: cut_text(key, value or "") if PARAMS[key].kind == "text" else value})


def _stand_in(own: str, key: str, shown: Any, take: Callable[[str, Any], None]) -> dict[str, Any]:
    st.session_state[own] = shown
    return {"key": own, "on_change": _hand_over, "args": (own, key, take)}


def _hand_over(own: str, key: str, take: Callable[[str, Any], None]) -> None:
    take(key, st.session_state[own])


def _common(key: str, label: str | None = None, help_text: str | None = None) -> dict[str, Any]:
    param = PARAMS[key]
    return {"label": label or param.label or key, "help": help_text or param.help_text, "key": key} | PERSISTS

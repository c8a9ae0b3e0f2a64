"""Widgets of the link: each is bound to the query parameter of its key, with that parameter's options and default."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, singledispatch
from typing import Any

import streamlit as st

from playground.language.family import STOPS
from playground.link.kinds import Choice, Param, Several, Size, Switch, Text, Whole
from playground.link.params import PARAMS, SHARED, write
from playground.web.choices.focus import choose_places
from playground.web.choices.setup import current_notices, current_setup, current_value, default_value, replace_notices


def param_now(key: str) -> Any:
    """The parameter as the chosen weights have it: the small English has its own defaults and stops."""
    param: Any = PARAMS[key]
    if key not in SHARED or current_value("weights") != "english":
        return param
    stops = {"options": STOPS[key]} if isinstance(param, Size) and key in STOPS else {}
    return replace(param, default=default_value(key), **stops)


def draw(
    key: str, label: str | None = None, *, disabled: bool = False, help_text: str | None = None, **options: Any
) -> Any:
    """Draw the widget that the parameter's kind has, with its other options; returns its value.

    Label and help text come from the parameter unless they are given.
    """
    if "high" in options:
        move_below(key, options["high"])
    return draw_kind(param_now(key), **_common(key, label, help_text, disabled), **options)


choice: Callable[..., str] = draw
several: Callable[..., list[str]] = draw
size: Callable[..., float] = draw
switch: Callable[..., bool] = draw
text: Callable[..., str] = draw
whole: Callable[..., int] = draw
"""`draw` again, by the kind of parameter, for whoever needs the type of its value."""


def menu(key: str, label: str, help_text: str | None = None, **options: Any) -> str:
    """A list that opens, for words that are too many for a row."""
    param = param_now(key)
    index = param.options.index(param.default)
    return str(st.selectbox(options=param.options, index=index, **_common(key, label, help_text), **options))


def offer(key: str, label: str, help_text: str, shown: Any, on_change: Callable[[str, Any], None]) -> None:
    """Draw a control at the value that the weights decide, with the small English's stops; bound to nothing.

    It has a key of its own: a browser that presses again before it has heard of the first press would send the weights'
    value back. `on_change` takes the parameter's key and the value that was chosen.
    """
    param, own = PARAMS[key], f"minilm_{key}"
    st.session_state[own] = shown
    widget: dict[str, Any] = {
        "label": label, "help": help_text, "key": own, "args": (key, own, on_change), "on_change": _take_offer,
    }  # fmt: skip
    if isinstance(param, Switch):
        st.toggle(**widget)
    elif isinstance(param, Choice):
        st.selectbox(options=param.options, **widget)
    else:
        stops = sorted({*STOPS[key], shown})
        name = {param.default: f"{param.default} MiniLM"}
        st.select_slider(options=stops, format_func=lambda stop: name.get(stop, str(stop)), **widget)


def _take_offer(key: str, own: str, on_change: Callable[[str, Any], None]) -> None:
    on_change(key, st.session_state[own])


def unbound_menu(key: str, menu: str, label: str, options: Sequence[Any], shown: Any, **more: Any) -> None:
    """Draw a list that opens and chooses a parameter's value, but is not bound to the link.

    Streamlit would write there what an option is called.

    Args:
        key: of the parameter, which a click elsewhere on the page, or a link, chooses too.
        menu: the key of the widget.
        label: of the widget.
        options: values of the parameter.
        shown: the one that is chosen by now; None where none is.
        more: options of `st.selectbox`.
    """
    st.session_state[menu] = shown
    st.selectbox(label, options, key=menu, on_change=_take_choice, args=(key, menu), **more)


def _take_choice(key: str, menu: str) -> None:
    value = st.session_state[menu]
    choose_places(**{key: cut_text(key, value or "") if isinstance(PARAMS[key], Text) else value})


def stage(key: str, label: str, stages: Sequence[str]) -> None:
    """A slider through a parameter's words, in the order that makes sense now."""
    st.select_slider(options=stages, value=PARAMS[key].default, **_common(key, label))


def number(key: str) -> int:
    """A field for a whole number."""
    param: Any = PARAMS[key]
    return int(st.number_input(min_value=param.low, max_value=param.high, value=param.default, **_common(key)))


def keep(key: str) -> None:
    """Keep the value of one of the sidebar's parameters, in session and link, in a run that does not draw its widget.

    Streamlit forgets a widget that is not drawn, and takes it out of the address.
    """
    st.session_state[key] = current_setup().state.asked[key]


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


def move_below(key: str, high: int) -> None:
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


@singledispatch
def draw_kind(param: Param, **_widget: Any) -> Any:
    """Draw the widget of a parameter; returns its value by now."""
    raise TypeError(f"No widget for {param!r}.")


@draw_kind.register
def _(param: Choice, **widget: Any) -> Any:
    """A row of words, one of them chosen."""
    if param.captions:
        index = param.options.index(param.default)
        return st.radio(options=param.options, index=index, captions=param.captions, horizontal=True, **widget)
    return st.segmented_control(options=param.options, default=param.default, required=True, wrap=True, **widget)


@draw_kind.register
def _(param: Several, **widget: Any) -> Any:
    """Pills, any number of them chosen."""
    return st.pills(options=param.options, selection_mode="multi", default=param.default, wrap=True, **widget)


@draw_kind.register
def _(param: Size, *, key: str, fits: Callable[[float], bool] | None = None, **widget: Any) -> Any:
    """A slider over the stops up to the largest that `fits`, the default, and the present value."""
    highest = next(filter(fits, reversed(param.options)), param.options[0]) if fits else param.options[-1]
    stops = sorted({*(stop for stop in param.options if stop <= highest), param.default, current_value(key)})
    return st.select_slider(options=stops, value=param.default, key=key, **widget)


@draw_kind.register
def _(param: Whole, *, high: int | None = None, step: int = 1, **widget: Any) -> Any:
    """A slider up to `high`, the largest number that this run has; nothing where only one number is left."""
    high = param.high if high is None else high
    if high <= param.low:
        return param.low
    return st.slider(min_value=param.low, max_value=high, value=min(param.default, high), step=step, **widget)


@draw_kind.register
def _(param: Switch, **widget: Any) -> Any:
    """A toggle."""
    return st.toggle(value=param.default, **widget)


@draw_kind.register
def _(
    param: Text,
    *,
    key: str,
    height: int | None = None,
    on_change: Callable[[], None] | None = None,
    **widget: Any,
) -> Any:
    """A field of one line, or an area of `height` pixels; below it stands how much of a longer text was left out."""
    field = st.text_input if height is None else partial(st.text_area, height=height)
    text = field(value=param.default, key=key, on_change=_take_text, args=(key, on_change), **widget)
    explain_cut_text(key)
    return text


def cut_text(key: str, text: str) -> str:
    """As much of a text as the parameter of this key may hold; `explain_cut_text` then says what was left out.

    A field of Streamlit's that knows the limit refuses a longer paste without a word, and keeps what it said before.
    """
    param: Any = PARAMS[key]
    kept = text[: param.longest]
    if kept != text:
        st.session_state[f"_{key}_cut"] = (kept, len(text))
    return kept


def explain_cut_text(key: str) -> None:
    """Say below a field how much of its text was left out, if anything was, until it says something else."""
    kept, n_characters = st.session_state.get(f"_{key}_cut", (None, 0))
    if kept is not None and kept == st.session_state[key]:
        st.caption(
            f":material/content_cut: This text had {n_characters:,} characters. Only the first {len(kept):,} fit; the "
            "others are left out."
        )


def _take_text(key: str, on_change: Callable[[], None] | None) -> None:
    st.session_state[key] = cut_text(key, st.session_state[key])
    if on_change is not None:
        on_change()

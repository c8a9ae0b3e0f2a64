"""The forms for answers; each leaves in the session what it says, until Check reads it."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from playground.errors import InputError
from playground.learn.answers import Choose, Click, Given, Number, Settings, parse_number
from playground.learn.exercise import Variant
from playground.link.opening import view_of
from playground.link.params import FOCUS, SHARED, page_parameters
from playground.web.choices import shortcuts
from playground.web.choices.setup import (
    current_setup,
    current_value,
    keep_replaced,
    note_focus_text,
    restore,
    take_moment,
)
from playground.web.session.services import services
from playground.web.shared.navigation import page_named
from playground.web.shared.panels import ASKED
from playground.web.views.exercises.posed import serve_view

_BEFORE = "_exercise_settings_before"
"""Session key of the visitor's settings before an exercise replaced them."""


def settings_of(page: str) -> list[str]:
    """Return the parameters that an exercise of a page asks to be changed: the sidebar's and the page's own."""
    return [*SHARED, *FOCUS, *page_parameters(page)]


def draw_form(variant: Variant, check: Callable[[], None]) -> None:
    """Draw the form with its button, which calls `check`; raises as `Variant.truth` if places are asked for."""
    answer = variant.exercise.answer
    if isinstance(answer, Settings):
        _draw_settings(variant, check)
        return
    with st.form("exercise_form"):
        match answer:
            case Choose(options=options, several=True):
                st.markdown("Choose all that are right.")
                for word, option in options.items():
                    st.checkbox(variant.fill(option.text), key=_key(variant, word))
            case Choose(options=options):
                texts = {word: variant.fill(option.text) for word, option in options.items()}
                st.radio("Your answer", list(texts), index=None, format_func=texts.__getitem__, key=_key(variant))
            case Number(unit=unit):
                label = f"Your answer, in {unit}" if unit else "Your answer, a number"
                st.text_input(label, key=_key(variant), max_chars=40, placeholder="0.25, 1/4 or 25 %", width=320)
            case Click():
                for title, labels in zip(variant.truth.axes, variant.truth.labels, strict=True):
                    st.pills(title, range(len(labels)), format_func=labels.__getitem__, key=_key(variant, title))
        st.form_submit_button("Check", key="exercise_check", type="primary", on_click=check)


def read_form(variant: Variant) -> Any:
    """Read what the visitor has answered, as `read_given` takes it; raises `InputError` if that is nothing."""
    answer: list[Any]
    match variant.exercise.answer:
        case Choose(options=options, several=True):
            answer = [word for word in options if st.session_state.get(_key(variant, word))]
        case Number():
            return parse_number(str(st.session_state.get(_key(variant)) or ""))
        case Click():
            answer = [st.session_state.get(_key(variant, title)) for title in variant.truth.axes]
        case Settings():
            return _read_settings(variant)
        case _:
            answer = [st.session_state.get(_key(variant))]
    if not answer or None in answer:
        raise InputError("Choose an answer, then press Check.")
    return answer


def read_given(variant: Variant, answer: Any) -> Given:
    """Turn an answer of `read_form` into one that `Variant.check` takes; raises as `Variant.read` and `view_of`."""
    if isinstance(variant.exercise.answer, Settings):
        values = {**variant.view.values, **answer}
        largest = services().settings.max_parameters
        return serve_view(view_of(variant.exercise.page, values, max_parameters=largest))
    return variant.read(answer)


def _key(variant: Variant, part: str = "") -> str:
    """Return the key of a widget: each variant has its own."""
    return f"answer_{variant.exercise.key}_{variant.number}_{part}".rstrip("_")


def _draw_settings(variant: Variant, check: Callable[[], None]) -> None:
    page = page_named(variant.exercise.page)
    with st.container(key="exercise_form", border=True):
        st.markdown(
            f"Start with the exercise's settings. Change them in the sidebar or on the page {page.title}, come back, "
            "and press Check. On a phone the button » at the top left opens the sidebar."
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Start with these settings", key="exercise_start", icon=":material/tune:",
                on_click=_use_settings, args=(variant,),
            )  # fmt: skip
            st.button("Check", key="exercise_check", type="primary", on_click=check)
            st.page_link(page, label=f"Open {page.title}", icon=":material/arrow_forward:", width="content")
            draw_way_back()


def draw_way_back() -> None:
    """Draw the button that restores the settings which an exercise has replaced."""
    if _BEFORE in st.session_state:
        st.button(
            "Back to my settings", key="exercise_back_to_settings", icon=":material/undo:", type="tertiary",
            on_click=_restore_settings,
        )  # fmt: skip


def _use_settings(variant: Variant) -> None:
    values = {key: variant.view.values[key] for key in settings_of(variant.exercise.page)}
    st.session_state[ASKED] = (variant.exercise.page, variant.fill(variant.exercise.question))
    keep_replaced()
    st.session_state.setdefault(_BEFORE, take_moment())
    shortcuts.choose_values(values)
    note_focus_text(by_page=not variant.view.names_tokens)


def _restore_settings() -> None:
    st.session_state.pop(ASKED, None)
    restore(st.session_state.pop(_BEFORE))


def _read_settings(variant: Variant) -> Mapping[str, Any]:
    setup = current_setup()
    if setup["weights"] not in ("minilm", "random"):
        raise InputError("Choose the weights minilm or random in the sidebar: this exercise supports no others.")
    return {key: current_value(key) for key in settings_of(variant.exercise.page)} | dict(setup.values)

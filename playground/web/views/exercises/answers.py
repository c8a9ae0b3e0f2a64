"""The forms for answers, one for each kind; each leaves in the session what it says, until Check reads it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import streamlit as st

from playground.errors import InputError
from playground.learn.answers import (
    HANDLES,
    Choose,
    Click,
    Draw,
    Given,
    Number,
    Order,
    Settings,
    handle_places,
    parse_number,
)
from playground.learn.exercise import Variant
from playground.learn.quantities import Numbers
from playground.link.opening import view_of
from playground.link.params import FOCUS, SHARED, page_parameters
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_setup, current_value, note_focus_text
from playground.web.choices.snapshots import restore_snapshot, take_snapshot
from playground.web.components.exercises import draw_answer_curve, draw_answer_grid
from playground.web.session.services import services
from playground.web.shared.attempts import ASKED
from playground.web.shared.navigation import page_named
from playground.web.views.exercises.posed import serve_view

FORM = "exercise_form"
"""Key of the form's container."""

_HAD = "_exercise_settings_before"
"""Session key of the visitor's settings before an exercise took their place."""

_LARGEST = 1e12
"""Of a height that a browser may send."""

Press = Callable[[], None]


@dataclass(frozen=True)
class Form:
    """The form of one kind of answer."""

    draw: Callable[[Variant, Press], None]
    """Draws it with its button, which is given what a press does."""
    read: Callable[[Variant], Any]
    """What the visitor says by now, as `read_given` takes it; raises `InputError` where that is nothing."""
    needs_truth: bool = False
    """Whether it is drawn of the places that the truth has, and has to wait until that is computed."""


def form_of(variant: Variant) -> Form:
    """The form for an exercise's kind of answer."""
    return _FORMS[type(variant.exercise.answer)]


def settings_of(page: str) -> list[str]:
    """The parameters that an exercise of a page, by its path, asks to be changed: the sidebar's and the page's own."""
    return [*SHARED, *FOCUS, *page_parameters(page)]


def read_given(variant: Variant, answer: Any) -> Given:
    """An answer that a form has read, as `Variant.check` takes it; raises as `Variant.read` and `view_of`."""
    if isinstance(variant.exercise.answer, Settings):
        values = {**variant.view.values, **answer}
        largest = services().settings.max_parameters
        return serve_view(view_of(variant.exercise.page, values, max_parameters=largest))
    return variant.read(answer)


def _key(variant: Variant, part: object = "") -> str:
    """Of a widget: each variant has its own."""
    return f"answer_{variant.exercise.key}_{variant.number}_{part}".rstrip("_")


def _check_in_form(check: Press) -> None:
    st.form_submit_button("Check", key="exercise_check", type="primary", on_click=check)


def _check_button(check: Press) -> None:
    st.button("Check", key="exercise_check", type="primary", on_click=check)


def _draw_choose(variant: Variant, check: Press) -> None:
    answer = variant.exercise.answer
    assert isinstance(answer, Choose)  # noqa: S101 - `form_of` has looked it up by its type
    texts = {word: variant.fill(option.text) for word, option in answer.options.items()}
    with st.form(FORM):
        if answer.several:
            st.markdown("Choose all that are right.")
            for word, text in texts.items():
                st.checkbox(text, key=_key(variant, word))
        else:
            st.radio("Your answer", list(texts), index=None, format_func=texts.__getitem__, key=_key(variant))
        _check_in_form(check)


def _read_choose(variant: Variant) -> tuple[str, ...]:
    answer = variant.exercise.answer
    if isinstance(answer, Choose) and answer.several:
        words = tuple(word for word in answer.options if st.session_state.get(_key(variant, word)))
    else:
        word = st.session_state.get(_key(variant))
        words = () if word is None else (word,)
    if not words:
        raise InputError("Choose an answer, then press Check.")
    return words


def _draw_number(variant: Variant, check: Press) -> None:
    unit = getattr(variant.exercise.answer, "unit", "")
    with st.form(FORM):
        label = f"Your answer, in {unit}" if unit else "Your answer, a number"
        st.text_input(label, key=_key(variant), max_chars=40, placeholder="0.25, 1/4 or 25 %", width=320)
        _check_in_form(check)


def _read_number(variant: Variant) -> float:
    return parse_number(str(st.session_state.get(_key(variant)) or ""))


def _draw_click(variant: Variant, check: Press) -> None:
    numbers = variant.truth
    assert isinstance(numbers, Numbers)  # noqa: S101
    axes = numbers.axes
    titles = (numbers.row_title or "row", numbers.column_title or "column")
    sizes, key = [len(names) for names in axes], _key(variant, "place")
    place, n_clicks = _current_place(variant, len(axes)), _n_clicks(variant)

    def choose(chosen: object) -> None:
        if isinstance(chosen, list) and _are_places(chosen, sizes):  # what a browser sends may be anything
            st.session_state[key] = (*chosen, n_clicks + 1)

    with st.container(key=FORM, border=True):
        st.markdown("Choose a cell, or name its row and its column below." if len(axes) > 1 else "Choose a token.")
        chosen_place = [each for each in place if each is not None]
        draw_answer_grid(
            _key(variant, "grid"),
            axes[0],
            axes[1] if len(axes) > 1 else [],
            titles,
            chosen_place if len(chosen_place) == len(axes) else None,
            choose,
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for i, (title, names) in enumerate(zip(titles, axes, strict=False)):
                # Menus of their own after each click on a cell: what a browser still says of the old ones is late.
                menu = _key(variant, f"{i}_{n_clicks}")
                st.selectbox(
                    title,
                    range(len(names)),
                    index=place[i],
                    format_func=names.__getitem__,
                    key=menu,
                    width=180,
                    placeholder="choose",
                    on_change=_take_menu,
                    args=(key, menu, i, (*place, n_clicks)),
                )
            _check_button(check)


def _take_menu(key: str, menu: str, axis: int, drawn: tuple[int | None, ...]) -> None:
    """Take what a menu says of one axis; `drawn` is the place that it was drawn with, and the clicks before."""
    place = list(st.session_state.get(key, drawn))
    place[axis] = st.session_state[menu]
    st.session_state[key] = tuple(place)


def _current_place(variant: Variant, n_axes: int) -> tuple[int | None, ...]:
    """What is chosen along each axis; None where nothing is."""
    *place, _ = st.session_state.get(_key(variant, "place"), (*([None] * n_axes), 0))
    return tuple(place)


def _n_clicks(variant: Variant) -> int:
    """How many cells were clicked so far."""
    return int(st.session_state.get(_key(variant, "place"), (0,))[-1])


def _are_places(chosen: list[Any], sizes: list[int]) -> bool:
    are_whole = all(isinstance(each, int) and not isinstance(each, bool) for each in chosen)
    return are_whole and len(chosen) == len(sizes) and all(0 <= each < n for each, n in zip(chosen, sizes, strict=True))


def _read_click(variant: Variant) -> tuple[int, ...]:
    numbers = variant.truth
    has_columns = isinstance(numbers, Numbers) and bool(numbers.columns)
    place = _current_place(variant, 2 if has_columns else 1)
    if any(each is None for each in place):
        raise InputError(f"Choose a {'cell' if has_columns else 'token'}, then press Check.")
    return tuple(each for each in place if each is not None)


def _current_order(variant: Variant) -> list[str]:
    """The words in the visitor's order; before that, in one that has nothing to do with the truth."""
    answer = variant.exercise.answer
    words = list(answer.items) if isinstance(answer, Order) else []
    by_chance = sorted(words, key=lambda word: sha256(_key(variant, word).encode()).digest())
    order: list[str] = st.session_state.get(_key(variant, "order"), by_chance)
    return order


def _move(key: str, order: list[str], place: int, step: int) -> None:
    moved = list(order)
    moved[place], moved[place + step] = moved[place + step], moved[place]
    st.session_state[key] = moved


def _draw_order(variant: Variant, check: Press) -> None:
    answer = variant.exercise.answer
    assert isinstance(answer, Order)  # noqa: S101
    key, order = _key(variant, "order"), _current_order(variant)
    first, last = ("largest", "smallest") if answer.wanted == "largest first" else ("smallest", "largest")
    with st.container(key=FORM, border=True):
        st.markdown(f"The {first} stands first, the {last} last.")
        for place, word in enumerate(order):
            with st.container(key=f"exercise_item_{place}", horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"{place + 1}. {variant.fill(answer.items[word].text)}", width="stretch")
                with st.container(horizontal=True, width="content", gap="small"):  # side by side on a phone too
                    st.button(
                        "Up", key=_key(variant, f"up_{word}"), icon=":material/arrow_upward:", disabled=place == 0,
                        on_click=_move, args=(key, order, place, -1),
                    )  # fmt: skip
                    st.button(
                        "Down", key=_key(variant, f"down_{word}"), icon=":material/arrow_downward:",
                        disabled=place == len(order) - 1, on_click=_move, args=(key, order, place, 1),
                    )  # fmt: skip
        _check_button(check)


def _draw_curve(variant: Variant, check: Press) -> None:
    answer, numbers = variant.exercise.answer, variant.truth
    assert isinstance(answer, Draw)  # noqa: S101
    assert isinstance(numbers, Numbers)  # noqa: S101
    places = handle_places(len(numbers.rows))
    (names,), key = numbers.axes, _key(variant, "heights")

    def draw(heights: object) -> None:
        if isinstance(heights, list) and _are_heights(heights):  # what a browser sends may be anything
            st.session_state[key] = tuple(map(float, heights))

    with st.container(key=FORM, border=True):
        st.markdown("Move the five handles to where you expect the curve.")
        draw_answer_curve(
            _key(variant, "curve"),
            [names[place] for place in places],
            places,
            (answer.low, answer.high),
            (answer.x_title, answer.y_title),
            _current_heights(variant),
            draw,
        )
        _check_button(check)


def _are_heights(heights: list[Any]) -> bool:
    are_numbers = all(isinstance(each, int | float) and abs(each) < _LARGEST for each in heights)
    return are_numbers and len(heights) == HANDLES


def _current_heights(variant: Variant) -> tuple[float, ...]:
    answer = variant.exercise.answer
    middle = (answer.low + answer.high) / 2 if isinstance(answer, Draw) else 0.0
    heights: tuple[float, ...] = st.session_state.get(_key(variant, "heights"), (middle,) * HANDLES)
    return heights


def _draw_settings(variant: Variant, check: Press) -> None:
    page = page_named(variant.exercise.page)
    with st.container(key=FORM, border=True):
        st.markdown(
            f"Start with the exercise's settings. Change them in the sidebar or on the page {page.title}, come back, "
            "and press Check. On a phone the button » at the top left opens the sidebar."
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Start with these settings", key="exercise_start", icon=":material/tune:",
                on_click=_use_settings, args=(variant,),
            )  # fmt: skip
            _check_button(check)
            st.page_link(page, label=f"Open {page.title}", icon=":material/arrow_forward:", width="content")
            draw_way_back()


def draw_way_back() -> None:
    """The button that brings back the settings which an exercise has replaced."""
    if _HAD in st.session_state:
        st.button(
            "Back to my settings", key="exercise_back_to_settings", icon=":material/undo:", type="tertiary",
            on_click=_bring_back,
        )  # fmt: skip


def _start_values(variant: Variant) -> dict[str, Any]:
    return {key: variant.view.values[key] for key in settings_of(variant.exercise.page)}


def _use_settings(variant: Variant) -> None:
    values = _start_values(variant)
    st.session_state[ASKED] = (variant.exercise.page, variant.fill(variant.exercise.question))
    before = st.session_state.get(_HAD) or take_snapshot(())
    had = {key: current_value(key) for key in values} | dict(before.values)
    st.session_state[_HAD] = replace(before, values=had)
    shortcuts.choose_values(values)
    shortcuts.restore_put_away({})
    note_focus_text(by_page=not variant.view.names_tokens)


def _bring_back() -> None:
    st.session_state.pop(ASKED, None)
    restore_snapshot(st.session_state.pop(_HAD))


def _read_settings(variant: Variant) -> Mapping[str, Any]:
    setup = current_setup()
    if setup["weights"] not in ("minilm", "random"):
        raise InputError("Choose the weights minilm or random in the sidebar: this exercise knows no others.")
    return {key: current_value(key) for key in settings_of(variant.exercise.page)} | dict(setup.values)


_FORMS: Mapping[type, Form] = {
    Choose: Form(_draw_choose, _read_choose),
    Number: Form(_draw_number, _read_number),
    Click: Form(_draw_click, _read_click, needs_truth=True),
    Order: Form(_draw_order, lambda variant: tuple(_current_order(variant))),
    Draw: Form(_draw_curve, _current_heights, needs_truth=True),
    Settings: Form(_draw_settings, _read_settings),
}
"""By the kind of answer."""

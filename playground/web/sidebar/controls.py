"""The sidebar, and what of it stands on the page too, on phones and on the front page."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, get_args

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.config import SETTINGS, SettingGroup
from playground.errors import InputError
from playground.link import params
from playground.link.lab import Lab
from playground.link.params import ARCHITECTURE, PARAMS
from playground.link.query import VERSION, shape_to_train, trains_small
from playground.presets import PRESETS
from playground.web.choices import open_page, shortcuts, widgets
from playground.web.choices.open_page import follow_link, shows_example
from playground.web.choices.setup import (
    current_setup,
    current_value,
    cut_text,
    explain_cut_text,
    is_late,
    keep_replaced,
    pinned_setup,
    recognised_weights,
    trained_network,
)
from playground.web.choices.shortcuts import follow_move, weights_chosen
from playground.web.components import draw_copy_link
from playground.web.shared import saving
from playground.web.shared.navigation import current_page, open_requested_page, request_page
from playground.web.shared.panels import as_one_element, fragment
from playground.web.sidebar import weights_panels
from playground.words import say

GLOSSARY = Path(__file__).with_name("glossary.md").read_text(encoding="utf-8")
"""A paragraph of markdown for each term, in alphabetical order."""

IN_SIGHT = ("n_layers", "n_heads", "d_model", "positions", "norm_placement", "norm", "residual")
"""What of the architecture is set in sight; everything else is for experts."""

_TOKENS = ("tokenizer", "vocab_size", "table_rows", "max_len", "causal", "seed")
"""What experts can set beside the architecture."""

EXPERT = "expert"
"""Key of the experts' expander, whose widgets are drawn only while it is open: two dozen, on every page."""


def draw(export: Callable[[], None]) -> Callable[[], None]:
    """Draw the sidebar; return the function that fills its expanders, after the page."""
    open_requested_page()
    with st.container(key="state_bar", horizontal=True, gap="small"):
        copy_link("copy_link")
        label, help_text, icon = say("sidebar", "undo"), say("sidebar", "undo.help"), ":material/undo:"
        st.button(label, key="undo", icon=icon, on_click=shortcuts.undo, help=help_text)
    is_folded = shows_example()  # the settings change nothing on the open page
    with st.expander(say("sidebar", "folded"), icon=":material/settings:") if is_folded else st.container():
        setup, locked = draw_text_and_weights()
        _draw_presets()
        hidden, defaults = {*ARCHITECTURE, *_TOKENS} - {*IN_SIGHT, *locked}, params.default_values(setup.values)
        st.session_state.setdefault(EXPERT, any(setup[key] != defaults[key] for key in hidden))
        expert = st.expander("Expert", icon=":material/tune:", key=EXPERT, on_change="rerun")
    more = st.expander("More", icon=":material/more_horiz:")
    glossary = st.expander("Glossary", icon=":material/menu_book:", key="glossary", on_change="rerun")
    if glossary.open:
        glossary.markdown(GLOSSARY)
    label, icon = say("sidebar", "reset"), ":material/restart_alt:"
    st.button(label, key="reset", icon=icon, on_click=shortcuts.reset_everything, width="stretch")

    def draw_expanders() -> None:
        if expert.open:
            with expert:
                _draw_expert(setup, locked)
        with more:
            label, help_text = say("sidebar", "present"), say("sidebar", "present.help")
            on: dict[str, Any] = {"on_click": shortcuts.choose_places, "kwargs": {"present": True}, "width": "stretch"}
            st.button(label, key="present_start", icon=":material/slideshow:", help=help_text, **on)
            export_button(export)
            label, help_text = say("sidebar", "saved-link"), say("sidebar", "saved-link.help")
            saving.draw_uploader(label, "saved_link", _open_saved_link, max_upload_size=1, help=help_text)

    return draw_expanders


@fragment
def export_button(export: Callable[[], None]) -> None:
    """Draw the button that opens the dialog of what is taken along."""
    if st.button("Take it with you", key="export", icon=":material/download:", width="stretch"):
        export()


@fragment
def copy_link(key: str, *, is_small: bool = False) -> None:
    """Draw the button that copies a link; its click runs this fragment after earlier choices."""
    setup, pinned = current_setup(), pinned_setup()
    if pinned and setup["weights"] != "trained here":
        setup = pinned
    draw_copy_link(key, VERSION, open_page.parameters_to_copy(setup), is_small=is_small)


@as_one_element
def draw_text_and_weights() -> tuple[Lab, Collection[str]]:
    """Draw text, architecture and weights; return the setup and the locked keys."""
    widgets.text("text", height=80, on_change=_text_typed)
    setup = current_setup()
    if len(setup.text.sentences) > 1:
        st.caption(say("sidebar", "lines"))
        widgets.whole("sentence", high=len(setup.text.sentences))
    weights, recognised = setup["weights"], recognised_weights(setup.values)
    locked = params.LOCKED if weights == "minilm" else recognised.settings if recognised else ()
    _draw_architecture(setup, locked)
    if setup.state.is_english:
        weights_panels.draw_move(setup)
    widgets.choice("weights", on_change=weights_chosen)
    if weights == "minilm":
        st.caption(say("sidebar", f"minilm-{'train' if open_page.is_training_page() else 'moves'}"))
    elif weights == "english":
        weights_panels.draw_english(setup)
    elif weights == "mine":
        weights_panels.draw_upload(setup)
    elif weights == "trained here":
        weights_panels.draw_trained(setup)
    return setup, locked


def _text_typed() -> None:
    typed = current_value("text")
    keep_replaced()
    if current_value("text") == typed:  # else the browser has sent an old text late
        st.session_state["mask"] = params.NO_MASK


def _draw_architecture(setup: Lab, locked: Collection[str]) -> None:
    """Draw what is in sight; a move leads from MiniLM to the small English, on Training to random weights."""
    trains = open_page.is_training_page() or trained_network(setup) is not None
    leave = shortcuts.change_trained_shape if trains else shortcuts.leave_minilm
    decided = _are_decided(setup)
    shape = shape_to_train(setup.values) if trains else setup.values
    with st.container(key="in_sight", horizontal=True, gap="small"):
        for key in IN_SIGHT:
            label, line = say("sidebar", f"label-{key}"), say("sidebar", f"help-{key}")
            if decided:
                widgets.offer(key, label, line, shape[key], leave)
            elif key not in locked:
                draw_widget = widgets.menu if PARAMS[key].kind == "choice" else widgets.draw
                moved: dict[str, Any] = {"on_change": follow_move, "args": (key,)} if setup.state.is_english else {}
                draw_widget(key, label, help_text=line, **moved)


def _are_decided(setup: Lab) -> bool:
    """Return whether weights or page decide what the controls show."""
    is_small = open_page.is_training_page() and trains_small(setup.values)
    return is_small or setup["weights"] == "minilm" or trained_network(setup) is not None


def _draw_presets() -> None:
    words = {"placeholder": say("sidebar", "preset.placeholder"), "help": say("sidebar", "preset.help")}
    options: Any = {"index": None, "format_func": lambda name: PRESETS[name].title, "on_change": _start_from, **words}
    st.selectbox(say("sidebar", "preset"), PRESETS, key="preset", **options)


def _start_from() -> None:
    name = st.session_state["preset"]
    if name is not None:
        shortcuts.apply_preset(name, small=open_page.is_training_page())
        st.session_state["preset"] = None  # a shortcut, not a choice that lasts


def _draw_expert(setup: Lab, locked: Collection[str]) -> None:
    for title, keys in _expert_groups(setup, locked).items():
        if keys:
            st.markdown(f"**{title}**")
        for key in keys:
            if key == "seed":
                widgets.number(key)
            else:
                is_files = key in ("tokenizer", "vocab_size") and bool(setup.state.own_tokenizer)
                options: dict[str, Any] = {"step": 100} if key == "vocab_size" else {}
                widgets.draw(key, disabled=key in locked or is_files, **options)


def _expert_groups(setup: Lab, locked: Collection[str]) -> dict[str, list[str]]:
    """Return the settings that have an effect now, by their groups' titles."""
    elsewhere = {*_TOKENS} | ({*IN_SIGHT} if _are_decided(setup) else {*IN_SIGHT} - {*locked})
    shown = [key for key in ARCHITECTURE if key not in elsewhere and SETTINGS[key].has_effect(setup.values)]
    groups = {name: [key for key in shown if SETTINGS[key].group == name] for name in get_args(SettingGroup)}
    has_tokenizer = trained_network(setup) is None and not setup.state.is_english
    no_effect = {
        "tokenizer": not has_tokenizer,
        "vocab_size": not has_tokenizer or setup["tokenizer"] != "bpe",
        "table_rows": not has_tokenizer or setup.weights != "random" or setup.state.takes_vectors,
        "seed": "seed" in locked,
    }
    tokens = [key for key in _TOKENS if not no_effect.get(key, False)]
    return {name.capitalize(): keys for name, keys in groups.items()} | {say("sidebar", "tokens"): tokens}


def _open_saved_link(file: UploadedFile) -> None:
    link = file.getvalue().decode(errors="replace").strip()
    if re.fullmatch(r"https?://\S+", link) is None:  # any text with a question mark could be a short link
        raise InputError(say("sidebar", "saved-link.wrong"))
    request_page(follow_link(link))


_AREA, _LINE = "phone_text", "front_text"
"""Keys of the second field for the text: an area on phones, and a line on the front page."""

_REPLACED = "_phone_text_replaced"
"""Session key of what the second field said before the sidebar's text took its place: it may be sent late."""


def draw_phone_controls(menu: Mapping[str, Sequence[StreamlitPage]], opened: StreamlitPage) -> None:
    """Draw menu, link and text again, for phones."""
    with st.container(key="phone_controls_menu", horizontal=True, gap="xxsmall"):
        for group, pages in menu.items():
            fold = _menu_fold(group, pages, opened) if group else None
            with fold or nullcontext():
                for page in pages if fold is None or fold.open else ():
                    st.page_link(page, label=f":small[{page.title}]", width="stretch" if group else "content")
    copy_link("phone_copy_link", is_small=True)
    if current_page().path != "overview" and current_page().runs_text and not shows_example():
        _draw_second_field()
        explain_cut_text("text")


def draw_presenter_menu(menu: Mapping[str, Sequence[StreamlitPage]], opened: StreamlitPage) -> None:
    """Draw one icon in the corner, behind which are the way out of presenting and all pages."""
    with st.container(key="presenter"):
        key, icon = f"presenter_menu_{opened.url_path}", ":material/more_vert:"
        fold = st.popover(say("sidebar", "presenter"), key=key, icon=icon, type="tertiary", on_change="rerun")
    if fold.open:
        with fold:
            label, icon = say("sidebar", "present-end"), ":material/close:"
            st.button(label, key="present_end", icon=icon, on_click=shortcuts.choose, args=({"present": False},))
            for page in (page for pages in menu.values() for page in pages):
                st.page_link(page, width="stretch")


def _menu_fold(group: str, pages: Sequence[StreamlitPage], opened: StreamlitPage) -> PopoverContainer:
    label = ": ".join([group, *(page.title for page in pages if page.url_path == opened.url_path)])
    look: dict[str, Any] = {"type": "tertiary", "width": "content", "on_change": "rerun"}
    return st.popover(f":small[{label}]", key=f"menu_{group}_{opened.url_path}", **look)


@as_one_element
def draw_front_field() -> None:
    """Draw the text on the front page."""
    with st.container(key="front_field", horizontal=True, vertical_alignment="bottom", gap="small"):
        _draw_second_field(is_line=len(current_setup().text.sentences) <= 1)
        # Who presses it takes the cursor from the field, which sends the text.
        label, icon, opens = say("sidebar", "front.show"), ":material/search:", partial(request_page, "attention")
        st.button(label, key="front_look", icon=icon, type="primary", on_click=opens)
    explain_cut_text("text")


def _draw_second_field(*, is_line: bool = False) -> None:
    text, key = current_setup()["text"], _LINE if is_line else _AREA
    # Written only if the sidebar's field says something else: a rerun must not undo what is being typed.
    replaced = st.session_state.get(key)
    if replaced != text:
        st.session_state[_REPLACED], st.session_state[key] = replaced, text
    else:
        st.session_state.pop(_REPLACED, None)
    if is_line:
        st.text_input(say("sidebar", "front"), key=key, on_change=_use_text, args=(key,))
    else:
        st.text_area(PARAMS["text"].label, key=key, height=68, on_change=_use_text, args=(key,))


def _use_text(key: str) -> None:
    keep_replaced()
    typed = st.session_state[key]
    if is_late("text", typed, in_second_field=True) or typed == st.session_state.get(_REPLACED):
        st.session_state[key] = st.session_state["text"]
    else:
        shortcuts.replace_text(cut_text("text", typed), by_second_field=True)

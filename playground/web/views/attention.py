"""The live parts of the page Attention: buttons that change the head, menus, and the trained network's reading."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.comparison import sentence_change
from playground.analysis.streams import logit_lens
from playground.charts.names import escape_markdown, quote_place
from playground.language.family import STOPS
from playground.model.changes import Change
from playground.training.network import Tagger
from playground.views.attention.why import judge_ten
from playground.views.change_names import name_change
from playground.web.choices import widgets
from playground.web.choices.english import choose_english
from playground.web.choices.focus import choose_places, current_focus, move_focus
from playground.web.choices.setup import current_setup, current_value
from playground.web.components import rows
from playground.web.components.without_picture import scroll_to
from playground.web.session import trained_slot
from playground.web.session.services import services
from playground.web.shared import panels, renderer
from playground.web.shared.change_chips import draw_change_button, draw_followed_button, explain_refusal
from playground.words import say

LIKELIEST = 3
"""Answers that are named at each depth."""

_ARRIVING = "_why_arriving"
"""Session key that is there until the answer is drawn, for a visitor who comes from elsewhere to see it."""

_SEARCHING = "_all_heads_asked_for"
"""Session key that is there until the table of all heads is drawn, for a visitor who has asked for it."""


def show_on_arrival() -> None:
    """Have the page Attention open at its answer; for callbacks, also on other pages."""
    st.session_state[_ARRIVING] = True
    if current_value("attention_show") != "one head":
        st.session_state["attention_show"] = "one head"


def arrive_at_why() -> None:
    """Scroll to the answer, once, if the visitor came for it."""
    if st.session_state.pop(_ARRIVING, False):
        scroll_to("why")


def draw_linking_heads(**row: Any) -> None:
    """Draw the row of heads, of which a press opens one; and all of them, in a table far below."""
    rows.draw_linking_heads(**row, on_open=_open_linking_head, on_all=_open_all_heads)
    if st.session_state.pop(_SEARCHING, False):
        scroll_to("heads_that_link")


def _open_linking_head() -> None:
    opened = st.session_state[rows.LINKING_KEY].opened
    if isinstance(opened, list) and len(opened) == 2:
        move_focus(layer=opened[0], head=opened[1])
        if current_value("attention_show") == "average of heads":
            choose_places(attention_show="one head")


def _open_all_heads() -> None:
    st.session_state[_SEARCHING] = True
    choose_places(attention_view="heads that link", attention_closer=True)


def draw_open_head(key: str) -> None:
    """Draw a button below a table of heads that says which one is open, far above it, and scrolls there."""
    focus = current_focus(panels.shown_run())
    if current_value("attention_show") == "one head":
        label = say("attention", "open-head", layer=focus.layer, head=focus.head)
        st.button(label, key=f"{key}_up", icon=":material/arrow_upward:", type="tertiary", on_click=show_on_arrival)


def draw_rival(names: Mapping[str, str]) -> None:
    """Draw the list to choose from whom the key is compared with; `names` by their words in the link."""
    chosen = current_value("attention_rival")
    widgets.unbound_menu(
        "attention_rival",
        "why_rival_choice",
        say("attention", "rival"),
        list(names) if chosen in names else [*names, chosen],
        chosen,
        format_func=lambda word: names.get(word, f"position {word}, which cannot be the rival here"),
        help=say("attention", "rival.help"),
    )


def draw_word(words: Sequence[str]) -> None:
    """Draw the word to put in the key's place: one of these, or what the visitor types."""
    chosen = current_value("attention_word")
    widgets.unbound_menu(
        "attention_word",
        "why_word_choice",
        say("attention", "word"),
        list(dict.fromkeys([*words, chosen])) if chosen else list(words),
        chosen or None,
        index=None,
        placeholder=words[0] if words else "",
        accept_new_options=True,
    )


def draw_ten_sentences(layer: int, head: int) -> None:
    """Draw the button that tests a head in ten other sentences, and the counts once it is pressed."""
    lab = current_setup()
    asked = lab.untouched_key, layer, head
    if st.button(say("attention", "ten"), key="ten_sentences", help=say("attention", "ten.help")):
        st.session_state["_ten_sentences"] = asked
    if st.session_state.get("_ten_sentences") == asked:
        with panels.explain_errors():
            counts = judge_ten(lab, layer, head)
        numbers = {verdict: counts[verdict] for verdict in ("word", "place", "close")}
        st.markdown(say("attention", "ten.counts", n=counts.total(), **numbers))


def draw_open_trained() -> None:
    """Draw the button that opens the encoder of the small English that is nearest to the shown shape."""
    setup = current_setup()
    settings = {key: setup[key] for key, stops in STOPS.items() if setup[key] in stops}
    opens, label = partial(choose_english, **settings), say("attention", "open-trained")
    if st.button(label, key="open_trained", icon=":material/school:", on_click=opens):
        st.rerun()


def draw_quick_changes() -> None:
    """Draw the buttons; a change that is made can be undone, and one that cannot be made is grey and says why.

    Below them stands what a head that is off, or a link that is removed, has moved.
    """
    run, setup = panels.shown_run(), current_setup()
    focus = current_focus(run)
    applied = setup.fitted_changes.applied
    cell = (focus.query, focus.key, 0.0)
    wanted = {"off": Change("zero", focus.layer, focus.head), "cut": Change("weight", focus.layer, focus.head, cell)}
    reasons = {kind: "" if change in applied else explain_refusal(setup, [change]) for kind, change in wanted.items()}
    with st.container(key="quick_changes", horizontal=True, gap="small"):
        for kind, change in wanted.items():
            draw_change_button(
                say("attention", f"try-{kind}"),
                say("attention", f"try-{kind}.made"),
                [change],
                is_made=change in applied,
                reason=reasons[kind],
                key=f"quick_{kind}",
                icon=":material/question_exchange:",
                help_text=reasons[kind] or name_change(change, run.tokens),
            )
    for reason in filter(None, dict.fromkeys(reasons.values())):
        st.caption(escape_markdown(reason))
    made = next((kind for kind, change in wanted.items() if change in applied), None)
    if made is not None:
        with panels.explain_errors():
            moved = float(sentence_change(setup.without_changes.run, run).relative)
        place: dict[str, Any] = {"layer": focus.layer, "head": focus.head, "moved": moved}
        names = {"query": quote_place(run.tokens, focus.query), "key": quote_place(run.tokens, focus.key)}
        with st.container(key="quick_effect"):
            st.markdown(say("attention", f"head-{made}", **place, **(names if made == "cut" else {})))
    if applied and not st.context.is_embedded:
        draw_followed_button("quick_followed")


def draw_stream_reading(token: int) -> None:
    """Draw the likeliest answers of the trained network's own head at every depth, or why there are none."""
    run, weights = panels.shown_run(), current_setup().weights
    st.markdown(say("attention", "lens", token=quote_place(run.tokens, token)))
    with panels.explain_errors():
        network = trained_slot.network_on_device(weights) if trained_slot.is_trained_network(weights) else None
        if not isinstance(network, Tagger):
            st.markdown(say("attention", "lens.none"))
            return
        with services().turns.take():
            probabilities = logit_lens(run, token, network.encoder, network.head)
        labels = trained_slot.find_network(weights).labels
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :LIKELIEST]
    columns = {
        f"choice {place + 1}": [
            f"{labels[answer]}  {probabilities[depth, answer]:.0%}" for depth, answer in enumerate(order[:, place])
        ]
        for place in range(order.shape[1])
    }
    with st.container(key="stream_reading"):
        table = pd.DataFrame({"depth": range(len(order)), **columns})
        panels.show_table("stream_reading_table", table, hide_index=True)
        st.caption(say("attention", "lens.caption"))


renderer.WIDGETS |= {
    "why_arrival": arrive_at_why,
    "linking_heads": draw_linking_heads,
    "why_word": draw_word,
    "why_rival": draw_rival,
    "ten_sentences": draw_ten_sentences,
    "quick_changes": draw_quick_changes,
    "open_head": draw_open_head,
    "open_trained": draw_open_trained,
    "stream_reading": draw_stream_reading,
}

"""The live parts of the page Similarity: the field of its list, and what keeps the chosen pair in another list."""

from collections.abc import Mapping

import streamlit as st

from playground.analysis.sentences import rank_pairs
from playground.limits import MAX_LISTED
from playground.link.params import SENTENCE_PAIR
from playground.views.similarity.page import show_details, show_list, show_pairs
from playground.views.similarity.sentences import EXAMPLE, Sentences, sentences_scene
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.choices.shortcuts import CHOSEN_PAIR
from playground.web.session import own_models
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, fragment, keep_answer_place
from playground.web.shared.renderer import WIDGETS, read_options, render, session_view
from playground.words import say


@fragment
def explore_similarity() -> None:
    """The list, what was run, and what the view shows of it."""
    try:
        with panels.explain_errors():
            scene = sentences_scene(session_view("similarity"))
    except PageEndError:
        _draw_field()
        raise
    keep_pair(scene.now)
    options = read_options("similarity")
    keep_answer_place()
    picture, field = st.columns((2, 1), gap="small") if len(scene.now.texts) > 1 else [st.container()] * 2
    with field:
        _draw_field()
        if scene.now.is_example:
            st.button(say("similarity", "fill"), key="similarity_fill", icon=":material/edit:", on_click=_fill_in)
        render(show_list(scene), scene)
        st.caption(own_models.describe_weights(scene.now.lab.weights))
    with panels.explain_errors():
        with picture, st.container(key="similarity_picture"):
            render(show_pairs(scene, options), scene)
        with st.container(key="similarity_details"):
            render(show_details(scene, options), scene)


def keep_pair(subject: Sentences) -> None:
    """Keep the chosen pair the same two sentences of another list; the closest pair if one of them is gone.

    In a list of the same length, sentences that were edited keep their numbers.
    """
    texts, chosen = subject.texts, tuple(int(current_value(place)) for place in SENTENCE_PAIR)
    pair = tuple(min(number, len(texts)) for number in chosen)
    before, old = st.session_state.get(CHOSEN_PAIR, (None, ()))
    if before == chosen and old != texts and len(texts) > 1:
        were = [old[number - 1] for number in chosen]
        if set(were) <= set(texts):
            pair = tuple(texts.index(text) + 1 for text in were)
        elif len(old) != len(texts):
            closest = rank_pairs(subject.depths.similarity(current_value("similarity_pooling")))[0]
            pair = closest.first + 1, closest.second + 1
    if len(texts) > 1:
        if pair != chosen:
            st.session_state.update(zip(SENTENCE_PAIR, pair, strict=True))
        st.session_state[CHOSEN_PAIR] = pair, texts


def draw_sentence_list(place: str, label: str, names: Mapping[int, str], number: int) -> None:
    """A list of the sentences, by their numbers, that chooses the pair's first or second."""
    widgets.move_below(place, len(names))
    st.session_state[place] = number
    widgets.unbound_menu(
        place,
        f"{place}_choice",
        label,
        list(names),
        number,
        format_func=names.__getitem__,
        filter_mode=None,  # a finger opens the list, and not the keyboard
    )


WIDGETS["sentence_list"] = draw_sentence_list


def _draw_field() -> None:
    help_text = say("similarity", "list.help", most=MAX_LISTED)
    widgets.text("similarity_list", say("similarity", "list"), height=96, help_text=help_text)
    # Who presses it takes the cursor from the field, which sends the text: a phone has no Ctrl+Enter.
    st.button(say("similarity", "compare"), key="similarity_compare", icon=":material/join_inner:")


def _fill_in() -> None:
    if not current_value("similarity_list").strip():  # a press right after typing comes with what was typed
        st.session_state["similarity_list"] = "\n".join(EXAMPLE)

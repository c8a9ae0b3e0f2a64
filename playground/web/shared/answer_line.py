"""The line on every page of the small English that says what the encoder fills in for the hidden word."""

from contextlib import suppress

import numpy as np
import pandas as pd
import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.language.text import IDS, VOCABULARY
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices.setup import Setup, current_setup, pinned_setup
from playground.web.components.drawings import draw_token_chips
from playground.web.session.caches import fill_in, head_costs, hidden_word
from playground.web.shared.page_end import as_one_element

KEY = "answer_line"
LIKELIEST, LEAST = 5, 0.005
"""Words that are named, and the probability that is worth it."""
_CHIPS = "mask_chips"


@as_one_element
def draw_answer_line(run: Run) -> None:
    """Draw the answer, and in a fold the words to hide and the answer by layer; nothing but for the small English."""
    setup = current_setup()
    if not setup.state.is_english:
        return
    hidden = hidden_word(setup)
    with st.container(key=KEY, horizontal=True, vertical_alignment="center", gap="small"):
        if hidden is not None:
            st.markdown(_describe(setup, *hidden), width="content")
        title = "Hide a word" if hidden is None else "Hide another word"
        with st.popover(title, icon=":material/visibility_off:"):
            st.caption("Press a word: the encoder fills in what it thinks stood there.")
            _draw_words(run, None if hidden is None else hidden[0])
            if hidden is not None:
                st.markdown("**The answer by layer**, read by the same output head:")
                st.dataframe(_by_depth(fill_in(setup)), key=f"{KEY}_by_depth", width="stretch")


def _describe(setup: Setup, place: int, hidden: str) -> str:
    """The likeliest words, the right one bold; before the changes; and without the head that is worth most."""
    untouched = setup.without_changes
    now, before = fill_in(setup)[-1], fill_in(untouched)[-1]
    told = f":material/edit: [?] = {_list_likeliest(now, hidden)}{_describe_pinned(place, hidden)}"
    if not hidden:
        return told
    word = escape_markdown(hidden)
    if setup.run_key != setup.untouched_key:
        told += f"  \nWithout your changes: *{word}* {before[IDS[hidden]]:.2f}"
    costs = head_costs(untouched, hidden)
    layer, head = np.unravel_index(int(costs.argmax()), costs.shape)
    without = before[IDS[hidden]] - costs[layer, head]
    return f"{told}  \nWithout layer {layer}, head {head}: *{word}* {without:.2f}"


def _describe_pinned(place: int, hidden: str) -> str:
    """What the pinned encoder fills in for the same word; empty where there is none."""
    pinned = pinned_setup()
    with suppress(PlaygroundError):  # the page says why there is no pinned run
        if pinned is not None and pinned.text.sentences and hidden_word(pinned) == (place, hidden):
            return f"  \nPinned: {_list_likeliest(fill_in(pinned)[-1], hidden)}"
    return ""


def _list_likeliest(probabilities: Array, right: str) -> str:
    best = np.argsort(-probabilities, kind="stable")[:LIKELIEST]
    best = best[probabilities[best] >= LEAST]
    words = [(VOCABULARY[i], f"{escape_markdown(VOCABULARY[i])} {probabilities[i]:.2f}") for i in best]
    return " · ".join(f"**{told}**" if word == right else told for word, told in words)


def _by_depth(probabilities: Array) -> pd.DataFrame:
    """The likeliest words at every depth, as the head reads them there: (L + 1) rows."""
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :3]
    rows = [[f"{VOCABULARY[i]} {row[i]:.2f}" for i in chosen] for row, chosen in zip(probabilities, best, strict=True)]
    index = pd.Index(["embeddings", *(f"layer {i}" for i in range(len(rows) - 1))], name="after")
    return pd.DataFrame(rows, index, ["likeliest", "second", "third"])


def _draw_words(run: Run, hidden: int | None) -> None:
    """Draw the sentence's words; a press hides one."""
    chips = [
        (token, "", "special" if special else "plain", "hidden" if hidden == place else "hide this")
        for place, (token, special) in enumerate(zip(run.real_tokens, run.special, strict=False))
    ]
    draw_token_chips(chips, query=hidden, on_click=_hide, name=_CHIPS)


def _hide() -> None:
    place = st.session_state[_CHIPS].clicked
    setup = current_setup()
    special = setup.batch.special[setup.sentence]
    if isinstance(place, int) and 0 <= place < len(special) and not special[place]:
        st.session_state["mask"] = place

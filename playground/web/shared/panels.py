"""What stands around every page: heading, pinned settings, the run with its answer line, tables, code."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from playground.charts.names import escape_markdown
from playground.errors import PlaygroundError
from playground.language.text import IDS, VOCABULARY
from playground.link.lab import Lab
from playground.link.params import write_changed
from playground.link.query import explain_cut
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text.sentences import foreign_script
from playground.text.wording import count_heads, count_noun, name_device
from playground.views.change_names import count_changes
from playground.views.scenes import list_differences, name_sides
from playground.web.choices import shortcuts
from playground.web.choices.setup import (
    current_notices,
    current_setup,
    current_value,
    keep_replaced,
    pin,
    pinned_setup,
    settle_tokens,
    trained_network,
)
from playground.web.components.drawings import draw_token_chips
from playground.web.session import caches, own_models
from playground.web.session.caches import fill_in, head_costs, hidden_word
from playground.web.shared.change_chips import draw_change_chips
from playground.web.shared.navigation import current_page, page_named
from playground.web.shared.page_end import PageEndError, as_one_element
from playground.web.shared.saving import draw_table_button
from playground.words import say

ASKED = "_exercise_asked"
"""Session key of the page whose settings an exercise asks to change, and of its question."""

Source = FunctionType | type | ModuleType | Callable[..., Any]


@as_one_element
def draw_heading(question: str) -> None:
    """Draw the page's question, notices, and the changes of the computation."""
    st.title(question)
    if sentences := current_notices():
        listed = "\n".join(f"- {sentence}" for sentence in sentences) if len(sentences) > 1 else sentences[0]
        st.container(key="notices").info(listed)
    page, asked = st.session_state.get(ASKED, (None, ""))
    if page == current_page().path:
        with st.container(key="exercise_asked", horizontal=True, vertical_alignment="center"):
            st.info(f"**Exercise:** {asked}")
            st.page_link(page_named("exercises"), label="Back to the exercise", width="content")
    draw_change_chips()


def start_comparison(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Pin `before`, and set the sidebar to `after`; for callbacks."""
    keep_replaced()
    pin(before)
    shortcuts.choose_values(after)


@as_one_element
def draw_pin_line() -> None:
    """Draw the button that pins; with something pinned, what differs, and why it cannot be run."""
    pinned, page = pinned_setup(), current_page()
    with st.container(key="pin_line", horizontal=True, vertical_alignment="center", gap="small"):
        if pinned is None:
            _draw_button("pin", ":material/push_pin:", _pin)
            return
        differences = list_differences(pinned.values, current_setup().values)
        before, now = map(escape_markdown, name_sides(differences))
        told = say("frame", "compared", before=before, now=now) if differences else say("frame", "pinned")
        st.markdown(f":material/push_pin: {told}", width="content")
        _draw_button("pin_swap", ":material/swap_horiz:", shortcuts.swap_pinned, disabled=not differences)
        _draw_button("pin", ":material/push_pin:", _pin, disabled=not differences)
        _draw_button("unpin", ":material/close:", pin)
        if page.path != "compare":
            st.page_link(page_named("compare"), label="Compare in full", icon=":material/compare_arrows:")
    if page.runs_text and (why := _explain_failure(pinned)):
        st.info(say("frame", "pinned-fails", why=why))


def _explain_failure(pinned: Lab) -> str:
    if not pinned.text.sentences:
        return say("frame", "pinned-fails.text")
    try:
        caches.run_sentence(pinned.run_key)
    except PlaygroundError as error:
        return escape_markdown(error)
    return ""


def _draw_button(key: str, icon: str, on_click: Callable[[], None], *, disabled: bool = False) -> None:
    label, help_text = say("frame", f"do-{key}"), say("frame", f"help-{key}")
    st.button(label, key=key, icon=icon, type="tertiary", on_click=on_click, help=help_text, disabled=disabled)


def _pin() -> None:
    keep_replaced()
    pin(current_setup().state.asked)


def shown_run(*, changed: bool = True) -> Run:
    """Return the run of the visitor's sentence; an error ends the page."""
    with explain_errors():
        setup = current_setup()
        return caches.run_sentence(setup.run_key if changed else setup.untouched_key)


@contextmanager
def explain_errors() -> Iterator[None]:
    """Show an expected error as one sentence, and end the page or the fragment."""
    try:
        yield
    except PlaygroundError as error:
        st.error(escape_markdown(error))
        raise PageEndError from None


def require_text(setup: Lab, invitation: str) -> None:
    """Show what had to be cut from the text; without a sentence, end the page with the invitation."""
    for note in setup.text.notes:
        st.info(note, icon=":material/content_cut:")
    if not setup.text.sentences:
        st.info(invitation)
        raise PageEndError


@as_one_element
def draw_run_line(*, changed: bool = True) -> Run:
    """Draw what is odd about the run, its size, and its answer line; return the run."""
    setup = current_setup()
    require_text(setup, say("frame", "no-text"))
    run = shown_run(changed=changed)
    settle_tokens(run)
    if odd := list(_list_oddities(setup, run)):
        st.info(" ".join(odd), icon=":material/help:")
    n_sentences, n = len(setup.text.sentences), count_changes(run)
    parts = [
        f"sentence {setup.sentence + 1} of {n_sentences}" if n_sentences > 1 else "",
        count_noun(run.n_real, "token") + (f" + {run.padding.size - run.n_real} padding" if run.padding.any() else ""),
        count_heads(run.config.n_layers, run.config.n_heads),
        f"{1000 * run.seconds:.0f} ms on {name_device(run.device)}",
        own_models.describe_weights(setup.weights),
        "" if run.config.vocab_size else say("frame", "vectors"),
        f":violet-badge[{count_noun(n, 'change')}]" if n else "",
    ]
    st.caption(" · ".join(filter(None, parts)))
    if setup.state.is_english:
        _draw_answer_line(setup, run)
    return run


def _list_oddities(setup: Lab, run: Run) -> Iterator[str]:
    if trained_network(setup) and all(setup.batch.unknown[setup.sentence]):
        yield say("frame", "odd-unknown")
    if setup.weights == "minilm" and (script := foreign_script(setup.batch.sentences[setup.sentence])):
        yield say("frame", "odd-language", script=script)
    if not np.isfinite(run.arrays["final"]).all():
        yield say("frame", "odd-overflow")
    if n_cut := setup.batch.truncated[setup.sentence]:
        yield say("frame", "odd-cut", kept=str(run.n_real), cut=str(n_cut), why=explain_cut(setup.values))


_ANSWER, _CHIPS = "answer_line", "mask_chips"
LIKELIEST, LEAST = 5, 0.005
"""How many words are named, and the least probability."""


def _draw_answer_line(setup: Lab, run: Run) -> None:
    """What the small English fills in for the hidden word, and in a fold the words to hide."""
    hidden = hidden_word(setup)
    place = hidden[0] if hidden else None
    with st.container(key=_ANSWER, horizontal=True, vertical_alignment="center", gap="small"):
        if hidden is not None:
            st.markdown("  \n".join(_describe_answer(setup, *hidden)), width="content")
        with st.popover(say("frame", "hide"), icon=":material/visibility_off:"):
            st.caption(say("frame", "hide.how"))
            chips = [
                (token, "", "special" if special else "plain", "hidden" if place == i else "hide")
                for i, (token, special) in enumerate(zip(run.real_tokens, run.special, strict=False))
            ]
            draw_token_chips(chips, query=place, on_click=_hide, name=_CHIPS)
            if hidden is not None:
                st.markdown(say("frame", "answer-depth"))
                st.dataframe(_by_depth(fill_in(setup)), key=f"{_ANSWER}_by_depth", width="stretch")


def _describe_answer(setup: Lab, place: int, right: str) -> Iterator[str]:
    """The likeliest words, pinned ones too; the right one without the changes, and without the best head."""
    untouched, pinned = setup.without_changes, pinned_setup()
    yield f":material/edit: [?] = {_list_likeliest(fill_in(setup)[-1], right)}"
    with suppress(PlaygroundError):  # the page says why there is no pinned run
        if pinned is not None and pinned.text.sentences and hidden_word(pinned) == (place, right):
            yield f"Pinned: {_list_likeliest(fill_in(pinned)[-1], right)}"
    if not right:
        return
    word, before = escape_markdown(right), float(fill_in(untouched)[-1][IDS[right]])
    if setup.run_key != setup.untouched_key:
        yield f"Without your changes: *{word}* {before:.2f}"
    costs = head_costs(untouched, right)
    layer, head = np.unravel_index(int(costs.argmax()), costs.shape)
    yield f"Without layer {layer}, head {head}: *{word}* {before - costs[layer, head]:.2f}"


def _list_likeliest(probabilities: Array, right: str) -> str:
    best = [i for i in np.argsort(-probabilities, kind="stable")[:LIKELIEST] if probabilities[i] >= LEAST]
    words = [(VOCABULARY[i], f"{escape_markdown(VOCABULARY[i])} {probabilities[i]:.2f}") for i in best]
    return " · ".join(f"**{told}**" if word == right else told for word, told in words)


def _by_depth(probabilities: Array) -> pd.DataFrame:
    """The likeliest words at every depth: (L + 1) rows."""
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :3]
    rows = [[f"{VOCABULARY[i]} {row[i]:.2f}" for i in chosen] for row, chosen in zip(probabilities, best, strict=True)]
    index = pd.Index(["embeddings", *(f"layer {i}" for i in range(len(rows) - 1))], name="after")
    return pd.DataFrame(rows, index, ["likeliest", "second", "third"])


def _hide() -> None:
    place, setup = st.session_state[_CHIPS].clicked, current_setup()
    special = setup.batch.special[setup.sentence]
    if isinstance(place, int) and 0 <= place < len(special) and not special[place]:
        st.session_state["mask"] = place


def draw_numbers(
    key: str, table: Callable[[], pd.DataFrame], label: str, *, on_row: Callable[[int], None] | None = None
) -> None:
    """Show a table in an expander, made when that is opened; `on_row` as of `show_table`."""
    with st.container(key=f"{key}_numbers"):
        panel = st.expander(label, icon=":material/table:", key=f"{key}_open", on_change="rerun")
        if panel.open:
            with panel:
                made = table()
                st.dataframe(made, key=f"{key}_table", **_row_clicks(f"{key}_table", on_row))
                draw_table_button(key, made)


def show_table(key: str, table: pd.DataFrame, *, on_row: Callable[[int], None] | None = None, **options: Any) -> None:
    """Show a table with options of `st.dataframe` and a button that saves it; `on_row` takes a clicked row's number."""
    st.dataframe(table, key=key, **_row_clicks(key, on_row), **options)
    draw_table_button(key, table)


def _row_clicks(key: str, on_row: Callable[[int], None] | None) -> dict[str, Any]:
    def take() -> None:
        cells = st.session_state[key]["selection"]["cells"]  # none after a second click on the same cell
        if cells and on_row is not None:
            on_row(int(cells[0][0]))

    return {} if on_row is None else {"on_select": take, "selection_mode": "single-cell"}


def fold_settings(key: str, title: str, names: Iterable[str]) -> ExpanderContainer:
    """Return an expander for widgets of these parameters, open if a link has set one."""
    if key not in st.session_state:  # once a session: else it would open or close under the visitor's hands
        st.session_state[key] = bool(write_changed({name: current_value(name) for name in names}))
    return st.expander(title, key=key, on_change="rerun")


def code_behind(key: str, *sources: Source) -> None:
    """Show the source of what computed a page in an expander."""
    panel = st.expander("The code behind this", icon=":material/code:", key=f"{key}_code", on_change="rerun")
    if panel.open:
        with panel:
            st.caption(say("frame", "code"))
            for source in sources:
                st.caption(f"`{inspect.getmodule(source).__name__}`")  # type: ignore[union-attr]
                st.code(inspect.getsource(source), language="python")

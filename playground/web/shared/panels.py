"""What every page shares: its heading, the run it shows, numbers and code."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.link.params import write_changed
from playground.link.query import explain_cut
from playground.runs.encoder_run import Run
from playground.text.sentences import foreign_script
from playground.text.wording import count_heads, count_noun, name_device
from playground.views.change_names import count_changes
from playground.web.choices.focus import settle_tokens
from playground.web.choices.setup import (
    OPEN_PAGE,
    Setup,
    current_notices,
    current_setup,
    current_value,
    trained_network,
)
from playground.web.session import caches, trained_slot
from playground.web.session.services import services
from playground.web.shared.answer_line import draw_answer_line
from playground.web.shared.attempts import ASKED
from playground.web.shared.change_chips import draw_change_chips
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import PageEndError, as_one_element
from playground.web.shared.saving import draw_table_button


@as_one_element
def draw_heading(question: str) -> None:
    """Show the page's one question, notices on what had to be changed in the visitor's choices, and the changes."""
    st.title(question)
    setup = current_setup()
    sentences = current_notices(setup)
    if sentences:
        listed = "\n".join(f"- {sentence}" for sentence in sentences) if len(sentences) > 1 else sentences[0]
        st.container(key="notices").info(listed)
    page, asked = st.session_state.get(ASKED, (None, ""))
    if page == st.session_state[OPEN_PAGE]:
        with st.container(key="exercise_asked", horizontal=True, vertical_alignment="center"):
            st.info(f"**Exercise:** {asked}")
            st.page_link(page_named("exercises"), label="Back to the exercise", width="content")
    draw_change_chips()


def shown_run(*, changed: bool = True) -> Run:
    """The run of the visitor's sentence, without their changes on request; where there is none, the page ends, and why.

    A fragment calls this anew rather than taking a run as an argument, which its session would keep in memory.
    """
    with explain_errors():
        setup = current_setup()
        return caches.run_sentence(setup.run_key if changed else setup.untouched_key)


@contextmanager
def explain_errors() -> Iterator[None]:
    """Show an expected error as one sentence, and end the page or the fragment there."""
    try:
        yield
    except PlaygroundError as error:
        services().meters.count_refusal(error)
        st.error(escape_markdown(error))
        raise PageEndError from None


@as_one_element
def draw_run_line(*, changed: bool = True) -> Run:
    """The run of `shown_run`; the page also describes it: its size, what was cut, what is unknown."""
    setup = current_setup()
    require_text(setup, "Type a sentence into “Your text”, and this page shows what the encoder does with it.")
    run = shown_run(changed=changed)
    settle_tokens(run)
    if trained_network(setup) and all(setup.batch.unknown[setup.sentence]):
        st.info(
            "The network that was trained here knows no token of this sentence: it reads [UNK] throughout. The "
            "sidebar has a sentence that it knows.",
            icon=":material/help:",
        )
    if setup.weights == "minilm":
        _explain_language(setup)
    if not np.isfinite(run.arrays["final"]).all():
        st.info("**Overflow**: numbers have left the range of 32-bit floats on the way; they stand as NaN or ∞.")
    n_cut, tokens = setup.batch.truncated[setup.sentence], run.n_real
    if n_cut:
        st.info(
            f"The sentence is cut after {tokens} tokens; {n_cut} more are left out. {explain_cut(setup.values)}",
            icon=":material/content_cut:",
        )
    padding = f" + {run.padding.size - tokens} padding" if run.padding.any() else ""
    vectors = "" if run.config.vocab_size else " · words are vectors drawn from the seed, not learned"
    n_sentences = len(setup.text.sentences)
    which = f"sentence {setup.sentence + 1} of {n_sentences} · " if n_sentences > 1 else ""
    n = count_changes(run)
    changes = f" · :violet-badge[{count_noun(n, 'change')}]" if n else ""
    st.caption(
        f"{which}{count_noun(tokens, 'token')}{padding} · {count_heads(run.config.n_layers, run.config.n_heads)} · "
        f"{1000 * run.seconds:.0f} ms on {name_device(run.device)} · {trained_slot.describe_weights(setup.weights)}"
        f"{vectors}{changes}"
    )
    draw_answer_line(run)
    return run


def _explain_language(setup: Setup) -> None:
    """What became of a sentence that the trained model, which learnt from English, cannot read."""
    batch, row = setup.batch, setup.sentence
    script, icon = foreign_script(batch.sentences[row]), ":material/translate:"
    if script is None:
        return
    own = [not special for special in batch.special[row]]
    n_unknown = sum(batch.unknown[row])
    n_single = sum(
        is_own and not unknown and end - start == 1
        for is_own, unknown, (start, end) in zip(own, batch.unknown[row], batch.offsets[row], strict=True)
    )
    st.info(
        f"**English only:** the trained model learnt from English, and this sentence is mostly {script}. Of its "
        f"{sum(own)} tokens, {n_unknown} are [UNK], pieces that the vocabulary lacks, and {n_single} are single "
        "characters. What it computes for them means little.",
        icon=icon,
    )


def require_text(setup: Setup, invitation: str) -> None:
    """Show what had to be cut from the text; without any sentence, show the invitation and end the page."""
    for note in setup.text.notes:
        st.info(note, icon=":material/content_cut:")
    if not setup.text.sentences:
        st.info(invitation)
        raise PageEndError


def draw_numbers(
    key: str,
    table: Callable[[], pd.DataFrame],
    label: str = "The numbers",
    *,
    on_row: Callable[[int], None] | None = None,
) -> None:
    """Show a table to read and copy in an expander; it is made when that is opened.

    `on_row` takes the number of a row, from the table's first, when a cell of it is clicked.
    """
    with st.container(key=f"{key}_numbers"):
        panel = st.expander(label, icon=":material/table:", key=f"{key}_open", on_change="rerun")
        if panel.open:
            with panel:
                made = table()
                st.dataframe(made, key=f"{key}_table", **_row_clicks(f"{key}_table", on_row))
                draw_table_button(key, made)


def show_table(key: str, table: pd.DataFrame, *, on_row: Callable[[int], None] | None = None, **options: Any) -> None:
    """Show a table under this key, with a menu that copies it.

    `on_row` as of `draw_numbers`, options of `st.dataframe`.
    """
    st.dataframe(table, key=key, **_row_clicks(key, on_row), **options)
    draw_table_button(key, table)


def _row_clicks(key: str, on_row: Callable[[int], None] | None) -> dict[str, Any]:
    """A table's options to hand over a clicked cell's row; a second click on the cell only takes the mark from it."""

    def take() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells and on_row is not None:
            on_row(int(cells[0][0]))

    return {} if on_row is None else {"on_select": take, "selection_mode": "single-cell"}


def fold_settings(key: str, title: str, names: Iterable[str]) -> ExpanderContainer:
    """An expander for widgets of these parameters; it begins open where a link has set one of them."""
    # Once a session: an expander that is told something else later opens or closes under the visitor's hands.
    begins_open = f"_{key}_at_first"
    if begins_open not in st.session_state:
        st.session_state[begins_open] = bool(write_changed({name: current_value(name) for name in names}))
    return st.expander(title, expanded=st.session_state[begins_open], key=key, on_change="rerun")


def code_behind(key: str, *sources: FunctionType | type | ModuleType | Callable[..., Any]) -> None:
    """Show the running source of what computed a page in an expander; it is read when that is opened."""
    panel = st.expander("The code behind this", icon=":material/code:", key=f"{key}_code", on_change="rerun")
    if panel.open:
        with panel:
            st.caption("To run it on your own computer, press **Take it with you** in the sidebar.")
            for source in sources:
                st.caption(f"`{inspect.getmodule(source).__name__}`")  # type: ignore[union-attr]
                st.code(inspect.getsource(source), language="python")

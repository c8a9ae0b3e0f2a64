"""What every page shares: its heading, the run it shows, charts with their caption, numbers and code."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from playground.errors import PlaygroundError
from playground.runs.encoder_run import Run
from playground.web.choices import state
from playground.web.session import caches, trained_slot
from playground.web.shared.markdown import escaped
from playground.web.shared.page_end import EndedError


def heading(question: str) -> None:
    """The page's one question, and what had to be changed in the visitor's choices."""
    st.title(question)
    sentences = state.notices()
    if sentences:
        st.info("\n".join(f"- {sentence}" for sentence in sentences) if len(sentences) > 1 else sentences[0])


def shown_run() -> Run:
    """The run of the visitor's sentence; where it cannot be, say why in one sentence and end the page there.

    A fragment asks for it anew: whatever a fragment is handed, its session keeps for as long as it lives.
    """
    with plainly():
        return caches.run_sentence(*state.current().run_key)


@contextmanager
def plainly() -> Iterator[None]:
    """Where something cannot be computed, say why in one sentence, and end the page or the fragment there."""
    try:
        yield
    except PlaygroundError as error:
        st.error(escaped(error))
        raise EndedError from None


def current_run() -> Run:
    """The run of the visitor's sentence, with a sentence on everything that had to be cut or is missing."""
    setup = state.current()
    require_text(setup, "Type a sentence in the sidebar, and this page shows what the encoder does with it.")
    run = shown_run()
    if setup.trained and all(setup.batch.unknown[setup.sentence]):
        st.info(
            "What was trained here knows no token of this sentence, and reads [UNK] throughout; the sidebar has a "
            "sentence that it knows.",
            icon=":material/help:",
        )
    cut = setup.batch.truncated[setup.sentence]
    if cut:
        kept = int((~run.padding).sum())
        st.info(f"The sentence is cut after {kept} tokens; {cut} more are left out.", icon=":material/content_cut:")
    return run


def require_text(setup: state.Setup, invitation: str) -> None:
    """Say what had to be cut from the text; where there is no sentence, invite to type one and end the page there."""
    for note in setup.text.notes:
        st.info(note, icon=":material/content_cut:")
    if not setup.text.sentences:
        st.info(invitation)
        raise EndedError


def run_line(run: Run) -> None:
    """How much was computed, where, how fast, and whether the weights were learned."""
    tokens = int((~run.padding).sum())
    padding = f" + {run.padding.size - tokens} padding" if run.padding.any() else ""
    where = "a GPU" if run.device == "cuda" else "CPU"
    names = {"minilm": "trained weights", "random": ":orange-badge[random weights]"}
    weights = state.current().weights
    learned = names.get(weights) or trained_slot.weights_label(weights) or "your own weights"
    st.caption(
        f"{tokens} tokens{padding} · {run.config.n_layers} layers × {run.config.n_heads} heads · "
        f"{1000 * run.seconds:.0f} ms on {where} · {learned}"
    )


def chart(
    key: str, figure: go.Figure, *, caption: str, alt: str, overlay: Callable[[], None] | None = None, **options: Any
) -> None:
    """Show a chart in a container of its name, with one caption on how to read it; options as in `st.plotly_chart`."""
    with st.container(key=key):
        st.plotly_chart(figure, key=f"{key}_chart", alt=alt, config={"displayModeBar": False}, **options)
        st.caption(caption)
        if overlay is not None:
            overlay()


def numbers(key: str, table: Callable[[], pd.DataFrame], label: str = "The numbers") -> None:
    """A table to read and copy, made only when it is opened."""
    with st.container(key=f"{key}_numbers"):
        panel = st.expander(label, icon=":material/table:", key=f"{key}_open", on_change="rerun")
        if panel.open:
            with panel:
                st.dataframe(table(), key=f"{key}_table")


def code_behind(key: str, *sources: FunctionType | type | ModuleType | Callable[..., Any]) -> None:
    """The running source of what computed a page, read when it is opened."""
    panel = st.expander("The code behind this", icon=":material/code:", key=f"{key}_code", on_change="rerun")
    if panel.open:
        with panel:
            for source in sources:
                st.caption(f"`{inspect.getmodule(source).__name__}`")  # type: ignore[union-attr]
                st.code(inspect.getsource(source), language="python")

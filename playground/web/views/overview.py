"""The overview's parts: the sentence as chips, the doors of its boxes, and the shape of every intermediate."""

import math

import pandas as pd
import streamlit as st

from playground.accounting.shapes import shapes, symbolic_shapes
from playground.config import ModelConfig
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup

TUTORIAL_C_BATCH = (30, 200)


def every_shape(config: ModelConfig) -> None:
    """Every intermediate's shape in order, as tutorial C prints it, made only when it is opened."""
    panel = st.expander(
        "Every shape, in order", icon=":material/data_array:", key="overview_shapes", bind="query-params"
    )
    if panel.open:
        with panel:
            _shapes(config)


def _shapes(config: ModelConfig) -> None:
    setup = current_setup()
    n_sentences, n_tokens = setup.batch.ids.shape
    if widgets.choice("overview_batch", "Batch") != "this text":
        n_sentences, n_tokens = TUTORIAL_C_BATCH
    if config.positions != "none" and n_tokens > config.max_len:
        st.caption(f"{n_tokens} tokens are cut to the {config.max_len} rows of the position table, max_len.")
        n_tokens = config.max_len
    causal = setup["causal"]
    steps = shapes(config, n_sentences, n_tokens, causal)
    letters = [symbols for _, symbols in symbolic_shapes(config, causal)]
    counts = [math.prod(shape) for _, shape in steps]
    st.dataframe(
        pd.DataFrame(
            {
                "intermediate": [name for name, _ in steps],
                "shape": [_written(shape) for _, shape in steps],
                "in letters": [_written(symbols) for symbols in letters],
                "numbers": counts,
            }
        ),
        key="overview_shapes_table",
        hide_index=True,
        column_config={"numbers": st.column_config.NumberColumn(format="localized")},
    )
    st.caption(
        f"B = {n_sentences} sentences, T = {n_tokens} tokens, H = {config.n_heads} heads: {len(steps)} steps, "
        f"{sum(counts):,} numbers in all. The same as text, to copy:"
    )
    width = max(len(name) for name, _ in steps)
    st.code("\n".join(f"{name:{width}}  {_written(shape)}" for name, shape in steps), language=None, height=160)


def _written(shape: tuple[object, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def chips(run: Run) -> list[tuple[str, str, str, str]]:
    """The sentence's tokens, and the batch's padding, with what there is to know of each."""
    setup = current_setup()
    batch, row = setup.batch, setup.sentence
    sentence = batch.sentences[row]
    result = []
    for i, piece in enumerate(batch.tokens[row]):
        start, end = batch.offsets[row][i]
        kind, why = "plain", f"characters {start} to {end}: “{sentence[start:end]}”"
        if batch.special[row][i]:
            kind, why = "special", "added by the tokenizer"
        elif batch.unknown[row][i]:
            kind, why = "unknown", f"not in the vocabulary: “{sentence[start:end]}”"
        result.append((piece, str(int(batch.ids[row, i])), kind, f"position {i}, id {int(batch.ids[row, i])}, {why}"))
    n_padding = int(run.padding.sum())
    return result + [("[PAD]", str(int(batch.ids[row, -1])), "padding", "padding, masked")] * n_padding


def open_stage() -> None:
    """A box was pressed: remember its page, to go there in this run."""
    st.session_state["_door"] = st.session_state["data_flow"].open

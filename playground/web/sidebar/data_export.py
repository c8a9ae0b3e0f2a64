"""The whole run as a file: the visitor chooses arrays, sees how large they are, and gets `.npz` or JSON."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from playground.accounting.readable import in_units
from playground.export import data
from playground.link.changes import write_changes
from playground.runs.encoder_run import Run
from playground.text.wording import join_words
from playground.web.choices.focus import current_layer
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches
from playground.web.session.downloads import in_turn
from playground.web.shared import panels
from playground.web.shared.saving.current_link import current_link
from playground.web.shared.saving.save_menu import file_name

AXES = {"T": "token", "H": "head", "D": "feature", "d_head": "feature of the head", "d_ff": "hidden feature"}
"""What the axes of arrays count."""

USUAL = ("layers.{i}.attn.pattern", "final")
"""Chosen at first: every head's weights, and what leaves the encoder."""

_NUMBERS_A_SECOND = 10_000_000
"""What a file takes in a second, about."""

_FORMATS: tuple[tuple[str, str, Callable[[Mapping[str, Any], Mapping[str, Any]], bytes], int], ...] = (
    ("npz", "application/octet-stream", data.write_npz, data.MOST_NUMBERS),
    ("json", "application/json", data.write_json, data.MOST_AS_TEXT),
)


def draw_data_export() -> None:
    """Draw the choice of arrays, their sizes, the files, and the lines that read them."""
    setup = current_setup()
    if not setup.text.sentences:
        st.info("Type a sentence into “Your text”, and its run can be saved here.")
        return
    run = panels.shown_run()
    st.caption(
        "One sentence's run, array by array. A file also says what it is of: link, configuration, seed, weights, "
        "changes (`do`), tokens and versions."
    )
    sizes = _choose_arrays(run)
    if not sizes:
        st.info("Choose at least one array.")
        return
    _show_sizes(sizes)
    _draw_files(setup, run, sizes)
    name = f"{_name(setup)}.npz"
    st.caption("Three lines that read it:")
    st.code(data.lines_to_read(name, sizes[0].name), language="python")


def _choose_arrays(run: Run) -> list[data.PointSize]:
    """The arrays that the visitor asks for, in the order of the forward pass."""
    points, n_layers = list(data.list_points(run.config)), run.config.n_layers
    chosen = st.multiselect(
        "Arrays",
        points,
        default=[point for point in USUAL if point in points],
        key="data_points",
        help="Named as in the model's trace; {i} is the layer. scores: before the softmax. pattern: after it. "
        "resid_mid: the stream between attention and feed-forward.",
    )
    every, layer = f"all {n_layers}", current_layer(n_layers)
    layers = st.segmented_control(
        "Layers", [every, f"layer {layer} alone"], default=every, required=True, key=f"data_layers_{n_layers}_{layer}"
    )
    wanted = range(n_layers) if layers == every else [layer]
    ordered = [point for point in points if point in chosen]
    return data.list_sizes(run.config, len(run.tokens), ordered, wanted)


def _show_sizes(sizes: Sequence[data.PointSize]) -> None:
    total = sum(size.n_numbers for size in sizes)
    table = pd.DataFrame(
        {
            "array": [size.name for size in sizes],
            "axes": [_name_axes(size.axes) for size in sizes],
            "shape": [" × ".join(map(str, size.shape)) for size in sizes],
            "size": [in_units(4 * size.n_numbers, "B") for size in sizes],
        }
    )
    st.dataframe(table, key="data_sizes", hide_index=True, height=min(38 + 35 * len(sizes), 250))
    arrays = "1 array" if len(sizes) == 1 else f"{len(sizes)} arrays"
    st.caption(
        f"{arrays}, {total:,} numbers of 32 bits: **{in_units(4 * total, 'B')}** before compression. At most "
        f"{data.MOST_NUMBERS:,} numbers fit into .npz, {data.MOST_AS_TEXT:,} into .json."
    )


def _name_axes(axes: Sequence[str]) -> str:
    """What an array's axes count; of two that count tokens, the first are queries and the second keys."""
    if axes.count("T") == 2:
        return "head × query × key"
    return " × ".join(AXES[axis] for axis in axes)


def _draw_files(setup: Setup, run: Run, sizes: Sequence[data.PointSize]) -> None:
    """A button for each kind of file that the arrays fit into, and a sentence for the others."""
    names = [size.name for size in sizes]
    total = sum(size.n_numbers for size in sizes)
    about = data.describe_run(
        run,
        seed=setup["seed"],
        causal=setup["causal"],
        sentence=setup.text.sentences[setup.sentence],
        weights=setup.weights,
        link=current_link(),
        do=write_changes(run.interventions),
    )
    with panels.explain_errors():
        compute = caches.prepare_run(setup.run_key, frozenset(names).__contains__)
    with st.container(horizontal=True):
        for ending, mime, write, most in _FORMATS:
            st.download_button(
                f".{ending}",
                in_turn(partial(_write, write, about, compute, names), total / _NUMBERS_A_SECOND),
                f"{_name(setup)}.{ending}",
                mime,
                key=f"data_{ending}",
                icon=":material/download:",
                on_click="ignore",
                disabled=total > most,
            )
    full = [f".{ending}" for ending, _, _, most in _FORMATS if total > most]
    if full:
        st.caption(f"Too many for {join_words(full)}: choose fewer arrays, or one layer.")


def _write(
    write: Callable[[Mapping[str, Any], Mapping[str, Any]], bytes],
    about: Mapping[str, Any],
    compute: Callable[[], Run],
    names: Sequence[str],
) -> bytes:
    arrays = compute().arrays
    return write(about, {name: arrays[name] for name in names})


def _name(setup: Setup) -> str:
    """The file's name without its ending: what the weights are, and the seed."""
    return f"run_{file_name(setup['weights'])}_seed{setup['seed']}"

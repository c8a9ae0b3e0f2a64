"""The sidebar's button "Take it with you", and the dialog behind it: code, the run's data, and how it was made."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from playground.accounting.readable import in_units
from playground.config import ModelConfig
from playground.export import data
from playground.export.code.export import FILE_NAME, Export
from playground.export.data import choose_references, cite_app, references, versions, weights_sha256
from playground.link.changes import write_changes
from playground.link.query import VERSION
from playground.pages import page_at
from playground.runs.encoder_run import Run
from playground.text.wording import count_noun, join_words
from playground.web.choices.focus import current_layer
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup
from playground.web.session import caches, trained_slot
from playground.web.session.downloads import in_turn
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, draw_in_turn, fragment
from playground.web.shared.saving import current_link, file_name
from playground.weights.checkpoint import MINILM_SHA256, WEIGHTS

_LINES = """from playground import open_link

view = open_link("{link}")
print(view.run.tokens, view.run.pattern(view.focus.layer)[view.focus.head])"""


def draw_how_made() -> None:
    """Draw what repeats this view: a table of what it was made with, the link, lines that open it, and BibTeX."""
    setup = current_setup()
    if not setup.text.sentences:
        st.info("Type a sentence into “Your text”, and this says how its numbers were made.")
        return
    run, link = panels.shown_run(), current_link()
    made = _describe(setup, run)
    st.dataframe(pd.DataFrame(made.items(), columns=["what", "value"]), key="how_made", hide_index=True)
    st.caption(
        "The same link gives the same numbers up to rounding, about six digits: another processor or version of torch "
        "may add them up in another order."
    )
    st.markdown("**The view**")
    st.code(link, language=None, wrap_lines=True)
    if setup["weights"] in ("minilm", "english", "random"):
        st.caption("In Python, with the playground's package:")
        st.code(_LINES.format(link=link), language="python")
    else:
        st.caption("Its weights are yours alone: the link opens random weights of the same shape for anyone else.")
    st.markdown("**To cite**")
    page, tokenizer = st.session_state[OPEN_PAGE], caches.tokenizer(setup.text_key).name
    keys = choose_references(run.config, weights=setup.weights, tokenizer=tokenizer, page=page)
    entries = [cite_app(link), *(references()[key] for key in keys)]
    st.code("\n\n".join(entries), language="bibtex", height=300)


def _describe(setup: Setup, run: Run) -> dict[str, str]:
    names = {"minilm": "all-MiniLM-L6-v2, trained", "random": f"random, drawn from seed {setup['seed']}"}
    if setup.is_english:
        names[setup.weights] = f"{setup.weights}, seed {setup['seed']}"
    weights = names.get(setup.weights) or trained_slot.weights_label(setup.weights) or "your own file"
    return versions() | {
        "format of the link": f"v={VERSION}",
        "device": "GPU (CUDA)" if run.device == "cuda" else "CPU",
        "precision": "fp32",
        "weights": weights,
        "SHA-256 of the weights": _sha256(setup.weights, run.config, setup["seed"]),
        "tokenizer": caches.tokenizer(setup.text_key).name,
        "tokens": str(run.n_real),
        "changes of the computation": write_changes(run.interventions) or "none",
    }


def _sha256(weights: str, config: ModelConfig, seed: int) -> str:
    """Of the published file, for the trained encoder; of the numbers themselves, for others."""
    if weights == "minilm":
        return f"{MINILM_SHA256[WEIGHTS]} ({WEIGHTS})"
    with services().turns.take():
        return f"{weights_sha256(caches.encoder(weights, config, seed))} (of all parameters)"


BUTTON = "export"
"""Key of the button; those of the downloads are it and the kind."""

Variants = Mapping[str, Callable[[], Export]]
"""What can be taken along, by what it is called: each function makes it of what is on the screen."""


@fragment
def export_button(variants: Variants) -> None:
    """The button. Its click runs this fragment alone, and the page stays as it is."""
    label, icon = "Take it with you", ":material/download:"
    if st.button(label, key=BUTTON, icon=icon, width="stretch"):
        show_export(variants)


@st.dialog("Take it with you", width="large")
def show_export(variants: Variants) -> None:
    """The dialog."""
    draw_in_turn("export", partial(_draw_tabs, variants))


def _draw_tabs(variants: Variants) -> None:
    tabs = st.tabs(list(TABS), key="export_tabs", on_change="rerun")
    for tab, draw in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab, suppress(PageEndError):
                draw(variants)


def draw_python(variants: Variants) -> None:
    """Draw the Python file and its download."""
    export = chosen_export(variants)
    code = export.python()
    about = (
        "A short script that runs the playground's package: `pip install .` in the folder of its code installs it. "
        if export.needs_playground
        else "One file for what is on the screen, with the branches of this setup alone. It needs no playground. "
    )
    st.markdown(f"{about}It ends by comparing its numbers with those that were computed here.")
    _offer(f"{export.name}.py", code, "text/x-python")
    _offer_weights(export)
    st.code(code, language="python", height=440)


def draw_notebook(variants: Variants) -> None:
    """Draw the notebook's code and its download."""
    export = chosen_export(variants)
    more = "Put it into the folder of the playground's code, which it installs, too. " * export.needs_playground
    st.markdown(
        "The same as a Jupyter notebook: one concept a cell, with an explanation above it. Its first cell installs "
        f"what is missing. {more}It opens in Jupyter, Colab and VS Code."
    )
    _offer(f"{export.name}.ipynb", export.notebook(), "application/x-ipynb+json")
    _offer_weights(export)
    with st.container(height=440):
        for section in [*export.sections, *export.appendix]:
            st.markdown(f"##### {section.title}\n\n{section.explanation}")
            st.code(section.code, language="python")


TABS: dict[str, Callable[[Variants], None]] = {
    "Python": draw_python,
    "Notebook": draw_notebook,
    "Data": lambda _: draw_data_export(),
    "How this was made": lambda _: draw_how_made(),
}
"""What each tab of the dialog draws; a new one is a line."""


def chosen_export(variants: Variants) -> Export:
    """Draw the choice of what to take along; returns it, or ends the tab where it can't be written down."""
    page = st.session_state[OPEN_PAGE]
    usual = page_at(page).exports
    key = f"{BUTTON}_variant_{page}"
    chosen = st.segmented_control(
        "What", list(variants), default=usual, required=True, key=key, label_visibility="collapsed"
    )
    if (chosen or usual) == next(iter(variants)) and current_setup().switched_on:
        st.caption(
            "The changes of What if are not in this code: its numbers are those of the model without them. "
            "`open_link` of the copied link has them, and so has the tab Data."
        )
    with panels.explain_errors():
        return variants[chosen or usual]()


def _offer_weights(export: Export) -> None:
    """Draw the button for the file of weights that the code reads, if there is one."""
    if export.weights is not None:
        st.caption(f"These weights are in no package. Put their file into the same folder: `{FILE_NAME}`.")
        _offer(FILE_NAME, export.weights.data, "application/octet-stream")


def _offer(name: str, text: str | bytes, kind: str) -> None:
    """Draw the button that downloads a file."""
    st.download_button(
        f"Download {name}",
        text,
        file_name=name,
        mime=kind,
        key=f"{BUTTON}_{name.rpartition('.')[2]}",
        icon=":material/download:",
        on_click="ignore",
    )


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
    st.caption(
        f"{count_noun(len(sizes), 'array')}, {total:,} numbers of 32 bits: **{in_units(4 * total, 'B')}** before "
        f"compression. At most {data.MOST_NUMBERS:,} numbers fit into .npz, {data.MOST_AS_TEXT:,} into .json."
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

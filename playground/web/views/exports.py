"""The dialog “Take it with you”: code, and the run's data."""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from playground.accounting.readable import in_units
from playground.config import ModelConfig
from playground.export import data
from playground.export.code import export_lab, export_pair, export_training
from playground.export.written import FILE_NAME, Export, save_weights
from playground.link.kinds import write_changes
from playground.link.lab import Lab, find_pair, run_pair
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.training.recipe import Recipe
from playground.web.choices.setup import current_focus, current_setup, current_value
from playground.web.session import caches
from playground.web.session.experiments import training_data
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.navigation import current_page
from playground.web.shared.panels import PageEndError, draw_in_turn
from playground.web.shared.renderer import session_view
from playground.web.shared.saving import current_link, file_name
from playground.web.views.training import make_plan
from playground.words import say

_READ = """import json, numpy as np
run = np.load("{file}", allow_pickle=False)
about, array = json.loads(str(run["about"])), run["{name}"]"""


# --- the code of what is on the screen


def _export_encoder() -> Export:
    setup = current_setup()
    panels.require_text(setup, say("sidebar", "data.no-text"))
    return export_lab(setup, current_focus(setup.without_changes.run))


def _export_pair() -> Export:
    is_example = current_value("encdec_source") == "trained example"
    if not is_example:
        panels.require_text(current_setup(), say("sidebar", "data.no-text"))
    pair = find_pair(current_setup(), session_view("encoder-decoder").values)
    widgets = "encdec_example" if is_example else "encdec"
    trained = caches.APP.trained_pair(pair.weights)
    own = None if trained is None else save_weights(trained)
    focus = Focus(current_value(f"{widgets}_layer"), current_value(f"{widgets}_head"), 0, 0)
    n_words = caches.tokenizer(pair.target).vocab_size
    return export_pair(run_pair(caches.APP, pair), n_words, seed=pair.seed, focus=focus, own_weights=own)


@st.cache_resource(max_entries=8, show_spinner=False)
def _export_training(config: ModelConfig, recipe: Recipe) -> Export:
    with services().turns.take():
        return export_training(config, recipe, training_data(recipe))


EXPORTS: dict[str, Callable[[], Export]] = {
    "encoder": _export_encoder,
    "encoder–decoder": _export_pair,
    "training run": lambda: _export_training(*make_plan()),
}
"""What pages export; each raises PlaygroundError if it can't be written down."""


# --- the dialog


@st.dialog("Take it with you", width="large")
def show_export() -> None:
    """Open the dialog."""
    draw_in_turn("export", _draw_tabs)


def _draw_tabs() -> None:
    tabs = st.tabs(list(TABS), key="export_tabs", on_change="rerun")
    for tab, draw in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab, suppress(PageEndError):
                draw()


def draw_code() -> None:
    """Draw the code and its downloads."""
    kind = current_page().exports
    if kind == "encoder" and current_setup().switched_on:
        st.caption(say("sidebar", "code.changes"))
    with panels.explain_errors():
        export = EXPORTS[kind]()
    st.markdown(say("sidebar", "code"))
    if export.needs_playground:
        st.markdown(say("sidebar", "code.package"))
    with st.container(horizontal=True):
        code = export.python()
        _offer(f"{export.name}.py", code, "text/x-python")
        _offer(f"{export.name}.ipynb", export.notebook(), "application/x-ipynb+json")
        if export.weights is not None:
            _offer(FILE_NAME, export.weights)
    if export.weights is not None:
        st.caption(say("sidebar", "code.weights", file=FILE_NAME))
    st.code(code, language="python", height=440)


def _offer(
    name: str, content: str | bytes | Callable[[], bytes], kind: str = "application/octet-stream", *, fits: bool = True
) -> None:
    key, icon = f"export_{name.rpartition('.')[2]}", ":material/download:"
    st.download_button(
        f"Download {name}", content, name, kind, key=key, icon=icon, on_click="ignore", disabled=not fits
    )


USUAL = ("layers.{i}.attn.pattern", "final")
"""Chosen at first: every head's weights, and what leaves the encoder."""


def draw_data() -> None:
    """Draw the choice of arrays, their file, and the lines that read it."""
    setup = current_setup()
    panels.require_text(setup, say("sidebar", "data.no-text"))
    run = panels.shown_run()
    options, help_text = list(data.list_points(run.config)), say("sidebar", "data.help")
    points = st.multiselect(say("sidebar", "data"), options, default=USUAL, key="data_points", help=help_text)
    total = data.count_numbers(run.config, len(run.tokens), points)
    most = f"{data.MOST_NUMBERS:,}"
    st.caption(say("sidebar", "data.size", n=f"{total:,}", size=in_units(4 * total, "B"), most=most))
    names = data.name_arrays(run.config, points)
    with panels.explain_errors():
        write = _prepare_file(setup, run, names)
    name = f"run_{file_name(setup['weights'])}_seed{setup['seed']}.npz"
    _offer(name, services().turns.defer(write, is_long=total > 10_000_000), fits=total <= data.MOST_NUMBERS)
    st.code(_READ.format(file=name, name=(names or ["final"])[-1]), language="python")


def _prepare_file(setup: Lab, run: Run, names: list[str]) -> Callable[[], bytes]:
    about = data.describe_run(
        run,
        seed=setup["seed"],
        causal=setup["causal"],
        sentence=setup.text.sentences[setup.sentence],
        weights=setup.weights,
        link=current_link(),
        do=write_changes(run.interventions),
    )
    compute = caches.prepare_run(setup.run_key, frozenset(names).__contains__)
    encoder = caches.encoder(setup.weights, run.config, setup["seed"])
    return lambda: data.write_npz(about | {"sha256": data.weights_sha256(encoder)}, compute().arrays)


TABS: dict[str, Callable[[], None]] = {"Code": draw_code, "Data": draw_data}
"""What each tab of the dialog draws."""

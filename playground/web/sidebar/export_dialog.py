"""The sidebar's button “Take it with you”, and its dialog: code, the run's data, and how it was made."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from playground.accounting.readable import in_units
from playground.export import data
from playground.export.written import FILE_NAME, Export
from playground.link.kinds import write_changes
from playground.link.lab import Lab
from playground.runs.encoder_run import Run
from playground.web.choices.setup import current_setup
from playground.web.session import caches, own_models
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.navigation import current_page
from playground.web.shared.page_end import PageEndError, draw_in_turn, fragment
from playground.web.shared.saving import current_link, file_name
from playground.words import say

_READ = """import json, numpy as np
run = np.load("{file}", allow_pickle=False)
about, array = json.loads(str(run["about"])), run["{name}"]"""

_OPEN = """from playground import open_link

view = open_link("{link}")
print(view.run.tokens, view.run.pattern(view.focus.layer)[view.focus.head])"""

BUTTON = "export"
"""Key of the button; those of the downloads are it and the kind."""

Variants = Mapping[str, Callable[[], Export]]
"""What can be taken along, by title: each function makes it of what is on the screen."""


@fragment
def export_button(variants: Variants) -> None:
    """Draw the button, whose click leaves the page as it is."""
    if st.button("Take it with you", key=BUTTON, icon=":material/download:", width="stretch"):
        show_export(variants)


@st.dialog("Take it with you", width="large")
def show_export(variants: Variants) -> None:
    """Open the dialog."""
    draw_in_turn("export", partial(_draw_tabs, variants))


def _draw_tabs(variants: Variants) -> None:
    tabs = st.tabs(list(TABS), key="export_tabs", on_change="rerun")
    for tab, draw in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab, suppress(PageEndError):
                draw(variants)


def draw_code(variants: Variants) -> None:
    """Draw the code of what is chosen, and its downloads."""
    page = current_page()
    key, options = f"{BUTTON}_variant_{page.path}", list(variants)
    hidden: Any = {"required": True, "label_visibility": "collapsed"}
    chosen = st.segmented_control("What", options, default=page.exports, key=key, **hidden) or page.exports
    if chosen == options[0] and current_setup().switched_on:
        st.caption(say("sidebar", "code.changes"))
    with panels.explain_errors():
        export = variants[chosen]()
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
    key, icon = f"{BUTTON}_{name.rpartition('.')[2]}", ":material/download:"
    st.download_button(
        f"Download {name}", content, name, kind, key=key, icon=icon, on_click="ignore", disabled=not fits
    )


USUAL = ("layers.{i}.attn.pattern", "final")
"""Chosen at first: every head's weights, and what leaves the encoder."""

_MANY_NUMBERS = 10_000_000
"""From here on a file takes a second, about."""


def draw_data() -> None:
    """Draw the choice of a run's arrays, their file, and the lines that read it."""
    setup = current_setup()
    panels.require_text(setup, say("sidebar", "data.no-text"))
    run = panels.shown_run()
    options, help_text = list(data.list_points(run.config)), say("sidebar", "data.help")
    points = st.multiselect(say("sidebar", "data"), options, default=USUAL, key="data_points", help=help_text)
    total = data.count_numbers(run.config, len(run.tokens), points)
    size = in_units(4 * total, "B")
    st.caption(say("sidebar", "data.size", n=f"{total:,}", size=size, most=f"{data.MOST_NUMBERS:,}"))
    names = data.name_arrays(run.config, points)
    with panels.explain_errors():
        write = _prepare_file(setup, run, names)
    name = f"run_{file_name(setup['weights'])}_seed{setup['seed']}.npz"
    _offer(name, services().turns.defer(write, is_long=total > _MANY_NUMBERS), fits=total <= data.MOST_NUMBERS)
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
    return lambda: data.write_npz(about, compute().arrays)


def draw_how_made() -> None:
    """Draw what repeats this view: versions, hash, link, and lines that open it."""
    setup = current_setup()
    panels.require_text(setup, say("sidebar", "made.no-text"))
    run, link = panels.shown_run(), current_link()
    with services().turns.take():
        sha256 = data.weights_sha256(caches.encoder(setup.weights, run.config, setup["seed"]))
    made = data.versions() | {
        "weights": own_models.weights_label(setup.weights) or str(setup["weights"]),
        "seed": str(setup["seed"]),
        "SHA-256 of all parameters": sha256,
        "tokens": str(run.n_real),
        "changes of the computation": write_changes(run.interventions) or "none",
    }
    st.dataframe(pd.DataFrame(made.items(), columns=["what", "value"]), key="how_made", hide_index=True)
    st.caption(say("sidebar", "made"))
    st.code(link, language=None, wrap_lines=True)
    if setup["weights"] in ("minilm", "english", "random"):
        st.code(_OPEN.format(link=link), language="python")
    else:
        st.caption(say("sidebar", "made.own"))


TABS: dict[str, Callable[[Variants], None]] = {
    "Code": draw_code,
    "Data": lambda _: draw_data(),
    "How this was made": lambda _: draw_how_made(),
}
"""What each tab of the dialog draws."""

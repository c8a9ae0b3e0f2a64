"""The sidebar's button "Take it with you", and the dialog behind it: code, the run's data, and how it was made."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import pandas as pd
import streamlit as st

from playground.accounting.readable import in_units
from playground.export import data
from playground.export.data import versions, weights_sha256
from playground.export.written import FILE_NAME, Export
from playground.link.changes import write_changes
from playground.pages import page_at
from playground.runs.encoder_run import Run
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup
from playground.web.session import caches, trained_slot
from playground.web.session.downloads import in_turn
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, draw_in_turn, fragment
from playground.web.shared.saving import current_link, file_name

_LINES = """from playground import open_link

view = open_link("{link}")
print(view.run.tokens, view.run.pattern(view.focus.layer)[view.focus.head])"""

BUTTON = "export"
"""Key of the button; those of the downloads are it and the kind."""

Variants = Mapping[str, Callable[[], Export]]
"""What can be taken along, by title: each function makes it of what is on the screen."""


@fragment
def export_button(variants: Variants) -> None:
    """Draw the button. Its click runs this fragment alone, and the page stays as it is."""
    label, icon = "Take it with you", ":material/download:"
    if st.button(label, key=BUTTON, icon=icon, width="stretch"):
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
    """Draw the code of what is chosen, and its downloads as a Python file and as a notebook."""
    page = st.session_state[OPEN_PAGE]
    usual = page_at(page).exports
    key = f"{BUTTON}_variant_{page}"
    chosen = st.segmented_control(
        "What", list(variants), default=usual, required=True, key=key, label_visibility="collapsed"
    )
    if (chosen or usual) == next(iter(variants)) and current_setup().switched_on:
        st.caption("The changes of What if are not in this code; the copied link and the tab Data have them.")
    with panels.explain_errors():
        export = variants[chosen or usual]()
    needs = "It needs no playground."
    if export.needs_playground:
        needs = "It needs the playground's package: `pip install .` in the folder of its code."
    st.markdown(f"Code for what is on the screen, which ends by comparing its numbers with those here. {needs}")
    with st.container(horizontal=True):
        code = export.python()
        _offer(f"{export.name}.py", code, "text/x-python")
        _offer(f"{export.name}.ipynb", export.notebook(), "application/x-ipynb+json")
        if export.weights is not None:
            _offer(FILE_NAME, export.weights.data, "application/octet-stream")
    if export.weights is not None:
        st.caption(f"Its weights are in no package: put `{FILE_NAME}` into the same folder.")
    st.code(code, language="python", height=440)


def _offer(name: str, content: str | bytes | Callable[[], bytes], kind: str, *, disabled: bool = False) -> None:
    """Draw the button that downloads a file."""
    st.download_button(
        f"Download {name}",
        content,
        name,
        kind,
        key=f"{BUTTON}_{name.rpartition('.')[2]}",
        icon=":material/download:",
        on_click="ignore",
        disabled=disabled,
    )


USUAL = ("layers.{i}.attn.pattern", "final")
"""Chosen at first: every head's weights, and what leaves the encoder."""

_MANY_NUMBERS = 10_000_000
"""From here on a file takes a second, about."""


def draw_data() -> None:
    """Draw the choice of a run's arrays, their size, the file, and the lines that read it."""
    setup = current_setup()
    if not setup.text.sentences:
        st.info("Type a sentence into “Your text”, and its run can be saved here.")
        return
    run = panels.shown_run()
    points = st.multiselect(
        "Arrays of this sentence's run",
        list(data.list_points(run.config)),
        default=USUAL,
        key="data_points",
        help="Named as in the model's trace; {i} is the layer. scores: before the softmax. pattern: after it. "
        "resid_mid: the stream between attention and feed-forward.",
    )
    total = data.count_numbers(run.config, len(run.tokens), points)
    st.caption(
        f"{total:,} numbers, **{in_units(4 * total, 'B')}** before compression; at most {data.MOST_NUMBERS:,} fit. "
        "The file also says what it is of: link, configuration, seed, weights, changes (`do`), tokens and versions."
    )
    names = data.name_arrays(run.config, points)
    with panels.explain_errors():
        write = _prepare_file(setup, run, names)
    name = f"run_{file_name(setup['weights'])}_seed{setup['seed']}.npz"
    _offer(
        name,
        in_turn(write, is_long=total > _MANY_NUMBERS),
        "application/octet-stream",
        disabled=total > data.MOST_NUMBERS,
    )
    st.code(
        f'import json, numpy as np\nrun = np.load("{name}", allow_pickle=False)\n'
        'about, array = json.loads(str(run["about"])), run["' + (names or ["final"])[-1] + '"]',
        language="python",
    )


def _prepare_file(setup: Setup, run: Run, names: list[str]) -> Callable[[], bytes]:
    """Return a function that writes the file, in any thread."""
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
    """Draw what repeats this view: a table of what it was made with, the link, and lines that open it."""
    setup = current_setup()
    if not setup.text.sentences:
        st.info("Type a sentence into “Your text”, and this says how its numbers were made.")
        return
    run, link = panels.shown_run(), current_link()
    with services().turns.take():
        sha256 = weights_sha256(caches.encoder(setup.weights, run.config, setup["seed"]))
    made = versions() | {
        "weights": trained_slot.weights_label(setup.weights) or str(setup["weights"]),
        "seed": str(setup["seed"]),
        "SHA-256 of all parameters": sha256,
        "tokens": str(run.n_real),
        "changes of the computation": write_changes(run.interventions) or "none",
    }
    st.dataframe(pd.DataFrame(made.items(), columns=["what", "value"]), key="how_made", hide_index=True)
    st.caption("The same link gives the same numbers up to rounding, about six digits.")
    st.code(link, language=None, wrap_lines=True)
    if setup["weights"] in ("minilm", "english", "random"):
        st.code(_LINES.format(link=link), language="python")
    else:
        st.caption("Its weights are yours alone: the link opens random weights of the same shape for anyone else.")


TABS: dict[str, Callable[[Variants], None]] = {
    "Code": draw_code,
    "Data": lambda _: draw_data(),
    "How this was made": lambda _: draw_how_made(),
}
"""What each tab of the dialog draws."""

"""How what is on the screen was made: versions, device, weights, link, and what to cite."""

import pandas as pd
import streamlit as st

from playground.config import ModelConfig
from playground.export.citations import choose_references, cite_app, references
from playground.export.data import versions
from playground.export.fingerprint import weights_sha256
from playground.link.interventions import Change, write_changes
from playground.link.link_values import VERSION
from playground.runs.encoder_run import Run
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup
from playground.web.session import caches, trained_slot
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.saving.current_link import current_link
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
    if setup.weights in ("minilm", "random"):
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
    weights = names.get(setup.weights) or trained_slot.weights_label(setup.weights) or "your own file"
    return versions() | {
        "format of the link": f"v={VERSION}",
        "device": "GPU (CUDA)" if run.device == "cuda" else "CPU",
        "precision": "fp32",
        "weights": weights,
        "SHA-256 of the weights": _sha256(setup.weights, run.config, setup["seed"]),
        "tokenizer": caches.tokenizer(setup.text_key).name,
        "tokens": str(int((~run.padding).sum())),
        "changes of the computation": write_changes(Change(each) for each in run.interventions) or "none",
    }


def _sha256(weights: str, config: ModelConfig, seed: int) -> str:
    """Of the published file, for the trained encoder; of the numbers themselves, for others."""
    if weights == "minilm":
        return f"{MINILM_SHA256[WEIGHTS]} ({WEIGHTS})"
    with services().turns.take():
        return f"{weights_sha256(caches.encoder(weights, config, seed))} (of all parameters)"

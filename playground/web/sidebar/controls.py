"""The sidebar, the same on every page: text, weights, architecture, tokens, seed and link."""

from collections.abc import Callable, Collection

import streamlit as st

from playground.presets import PRESETS, differences
from playground.text.builders import MAX_BPE_VOCABULARY
from playground.web.choices import params, recipe_link, shortcuts, widgets
from playground.web.choices.address import correct_address
from playground.web.choices.link import VERSION
from playground.web.choices.setup import Setup, current_setup
from playground.web.components.copy_link import draw_copy_link
from playground.web.sidebar import trained_panel, upload_panel

_AMONG_TOKENS = "max_len"
"""The field of the architecture that is drawn beside the tokenizer."""


def draw() -> Callable[[], None]:
    """Draw the shared widgets outside the two expanders; returns the function that draws those inside.

    The page comes in between, so that two dozen widgets don't keep the browser from its charts.
    """
    widgets.text("text", height=110)
    setup = current_setup()
    if len(setup.text.sentences) > 1:
        widgets.whole("sentence", high=len(setup.text.sentences))
    widgets.choice("weights", on_change=shortcuts.save_or_restore_unlocked)
    is_checkpoint = setup["weights"] == "minilm"
    if is_checkpoint:
        st.caption("**MiniLM-L6**, trained on pairs of sentences; its shape is fixed.")
        st.button(
            "Unlock: same shape, random weights",
            key="unlock",
            icon=":material/lock_open:",
            on_click=_unlock,
            width="stretch",
        )
    elif setup["weights"] == "mine":
        upload_panel.draw()
    elif setup["weights"] == "trained here":
        trained_panel.draw(setup)
    else:
        st.caption(":orange-badge[random weights] Nothing here was learned.")
    st.selectbox(
        "Start from",
        PRESETS,
        index=None,
        key="preset",
        format_func=lambda name: PRESETS[name].title,
        placeholder="a named architecture …",
        on_change=_start_from,
        help="Sets the sliders below to a tutorial's or a paper's architecture; tutorial A brings its text too.",
    )
    st.caption(_nearest_preset(setup))
    locked = _locked_parameters(setup)
    architecture = st.expander("Architecture", expanded=not is_checkpoint and setup.trained_network is None)
    tokens = st.expander("Tokens and masks")
    widgets.number("seed", disabled="seed" in locked)
    draw_copy_link(VERSION, recipe_link.parameters_to_copy(setup))
    st.button("Reset everything", key="reset", icon=":material/restart_alt:", on_click=_reset, width="stretch")

    def draw_expanders() -> None:
        with architecture:
            _architecture(locked)
        with tokens:
            _tokens(setup, locked)
            correct_address("shared", params.SHARED)

    return draw_expanders


def _locked_parameters(setup: Setup) -> Collection[str]:
    """The parameters that the weights decide."""
    if setup["weights"] == "minilm":
        return params.LOCKED
    return setup.recognised.settings.keys() if setup.recognised else ()


def _architecture(locked: Collection[str]) -> None:
    for key in params.ARCHITECTURE:
        if key != _AMONG_TOKENS:
            widgets.draw(key, disabled=key in locked)


def _tokens(setup: Setup, locked: Collection[str]) -> None:
    if setup.trained_network is None:
        widgets.choice("tokenizer", disabled="tokenizer" in locked)
    if setup.trained_network is None and setup["tokenizer"] == "bpe":
        widgets.whole("vocab_size", high=MAX_BPE_VOCABULARY, step=100)
    widgets.size(_AMONG_TOKENS, disabled=_AMONG_TOKENS in locked)
    widgets.switch("causal", disabled="causal" in locked)


def _nearest_preset(setup: Setup) -> str:
    """Which preset the sliders match, or come nearest to and how they differ."""
    sliders = {key: setup[key] for key in params.ARCHITECTURE}
    distances = {name: differences(sliders, preset.config) for name, preset in PRESETS.items()}
    same = [PRESETS[name].title for name, different in distances.items() if not different]
    if same:
        return f"matches: {' · '.join(same)}"
    name, different = min(distances.items(), key=lambda item: len(item[1]))
    listed = ", ".join(f"{key} {sliders[key]} instead of {theirs}" for key, theirs in different.items())
    return f"nearest: {PRESETS[name].title}, but {listed}"


def _unlock() -> None:
    shortcuts.discard_unlocked()
    shortcuts.set_widgets({"weights": "random"})


def _start_from() -> None:
    name = st.session_state["preset"]
    if name is not None:
        shortcuts.discard_unlocked()
        shortcuts.apply_preset(name)
        st.session_state["preset"] = None  # a shortcut, not a choice that lasts


def _reset() -> None:
    upload_panel.close()
    shortcuts.discard_unlocked()
    shortcuts.set_widgets({key: param.default for key, param in params.PARAMS.items() if key in st.session_state})

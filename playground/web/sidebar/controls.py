"""The sidebar, the same on every page: text, weights, architecture, tokens, seed and link."""

from collections.abc import Callable, Collection

import streamlit as st

from playground.presets import PRESETS, differences
from playground.text.builders import MAX_BPE_VOCABULARY
from playground.web.choices import params, recipe_link, shortcuts, state, widgets
from playground.web.choices.address import correct_address
from playground.web.choices.link import VERSION
from playground.web.choices.shortcuts import apply_preset
from playground.web.components.copy_link import draw_copy_link
from playground.web.sidebar import trained_panel, upload_panel

HELP = {
    "d_model": "Width of the residual stream: how many numbers stand for one token.",
    "n_heads": "Attention heads. Each works on d_model / n_heads features, so n_heads must divide d_model.",
    "n_layers": "Encoder blocks, one after the other.",
    "d_ff": "Hidden width of the feed-forward network; usually 4 × d_model.",
    "max_len": "Longest sentence in tokens: the number of rows in the position table.",
    "norm_placement": "post: norm(x + f(x)), as in the paper. pre: x + f(norm(x)), easier to train when deep.",
    "norm": "layer: gain and bias per feature. scalar: one of each for all (tutorial A). rms: no mean, no bias.",
    "norm_eps": "Added before dividing, so that nothing is divided by zero.",
    "final_norm": "One more norm after the last block.",
    "activation": "Between the feed-forward network's two linear maps.",
    "positions": "How a token's place is told. sinusoidal-doubled is tutorial B's table, whose exponent counts twice.",
    "scale_embeddings": "Multiply token embeddings by √d_model, as in the paper.",
    "embedding_norm": "A norm on the summed embeddings, as in BERT.",
    "n_segments": "Rows of the segment table, as in BERT; 0 is none.",
    "fused_qkv": "One projection for Q, K and V, laid out head by head (tutorial C).",
    "head_merge": "reshape forgets to move the head axis back: tutorial C's mistake, it mixes positions.",
    "residual": "Add each sublayer's input to its output.",
    "dropout": "The share of numbers that a model zeroes while it learns. No page runs with it: step by step shows "
    "where it would act, and what trains here has rates of its own, among its regularisers.",
    "weights": "minilm: a trained encoder. random: drawn from the seed, in whatever shape you like. "
    "mine: a file that you have saved, of a tutorial's model or another encoder. "
    "trained here: what you have trained on the Training page.",
    "tokenizer": "How text is cut into tokens. wordpiece: the trained model's own. word: your text's own words. "
    "char: one a character. bpe: byte-level byte-pair encoding, trained on Python's help texts.",
    "causal": "No token may look at later ones, as in a decoder.",
    "seed": "Random weights are drawn from this number: the same seed gives the same weights everywhere. What was "
    "trained here keeps the one that it began with.",
}

ARCHITECTURE_ORDER = (
    "d_model",
    "n_heads",
    "n_layers",
    "d_ff",
    "norm_placement",
    "norm",
    "norm_eps",
    "final_norm",
    "residual",
    "activation",
    "positions",
    "scale_embeddings",
    "embedding_norm",
    "n_segments",
    "fused_qkv",
    "head_merge",
    "dropout",
)


def draw() -> Callable[[], None]:
    """Draw the shared widgets, but for what is in the two expanders; returns what fills these.

    The page comes in between, so that two dozen widgets don't keep the browser from its charts.
    """
    widgets.text("text", "Your text, one sentence a line", height=110)
    setup = state.current()
    if len(setup.text.sentences) > 1:
        widgets.whole("sentence", "Sentence to look at", high=len(setup.text.sentences))
    widgets.choice("weights", "Weights", help_text=HELP["weights"], on_change=shortcuts.remember)
    trained = setup["weights"] == "minilm"
    if trained:
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
    st.caption(_resemblance(setup))
    locked = _locked(setup)
    architecture = st.expander("Architecture", expanded=not trained and setup.trained is None)
    tokens = st.expander("Tokens and masks")
    low, high, default = params.SEED.low, params.SEED.high, params.SEED.default
    st.number_input(
        "Seed", low, high, default, key="seed", disabled="seed" in locked, help=HELP["seed"], bind="query-params"
    )
    draw_copy_link(VERSION, recipe_link.to_carry(setup))
    st.button("Reset everything", key="reset", icon=":material/restart_alt:", on_click=_reset, width="stretch")

    def fill() -> None:
        with architecture:
            _architecture(locked)
        with tokens:
            _tokens(setup, locked)
            correct_address("shared", params.SHARED)

    return fill


def _locked(setup: state.Setup) -> Collection[str]:
    """What the weights decide."""
    if setup["weights"] == "minilm":
        return params.LOCKED
    return setup.decided.known.keys() if setup.decided else ()


def _architecture(locked: Collection[str]) -> None:
    for key in ARCHITECTURE_ORDER:
        if key in params.SIZES:
            widgets.size(key, disabled=key in locked, help_text=HELP[key])
        elif key in params.WORDS:
            widgets.choice(key, disabled=key in locked, help_text=HELP[key])
        else:
            widgets.switch(key, disabled=key in locked, help_text=HELP[key])


def _tokens(setup: state.Setup, locked: Collection[str]) -> None:
    if setup.trained is None:
        widgets.choice("tokenizer", disabled="tokenizer" in locked, help_text=HELP["tokenizer"])
    if setup.trained is None and setup["tokenizer"] == "bpe":
        widgets.whole("vocab_size", "vocab_size", high=MAX_BPE_VOCABULARY, step=100)
    widgets.size("max_len", disabled="max_len" in locked, help_text=HELP["max_len"])
    widgets.switch("causal", disabled="causal" in locked, help_text=HELP["causal"])


def _resemblance(setup: state.Setup) -> str:
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
    shortcuts.forget()
    shortcuts.put({"weights": "random"})


def _start_from() -> None:
    name = st.session_state["preset"]
    if name is not None:
        shortcuts.forget()
        apply_preset(name)
        st.session_state["preset"] = None  # a shortcut, not a choice that lasts


def _reset() -> None:
    upload_panel.close()
    shortcuts.forget()
    shortcuts.put({key: param.default for key, param in params.PARAMS.items() if key in st.session_state})

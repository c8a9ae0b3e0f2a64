"""Which pair the page shows: the trained example's, or the visitor's own; and one line on its run."""

import streamlit as st

from playground.link.params import page_parameters
from playground.runs.pair_run import Side
from playground.web.choices import shortcuts, widgets
from playground.web.choices.setup import current_setup
from playground.web.session import trained_slot
from playground.web.session.caches import PairKey, translator
from playground.web.shared.page_end import as_one_element
from playground.web.views.encoder_decoder.example_pair import choose_example
from playground.web.views.encoder_decoder.own_pair import choose_own_pair
from playground.web.views.encoder_decoder.pair_key import label_weights, load_run


def show_introduction() -> None:
    """What an encoder and a decoder do, in five sentences."""
    st.markdown(
        "The *encoder* reads the source sentence once. The *decoder* reads the target so far and scores what comes "
        "next. Each of its layers attends twice. *Self-attention* looks at the target so far, and never ahead. "
        "*Cross-attention* looks at the encoder's output for the source."
    )


@as_one_element
def choose_pair() -> PairKey:
    """The pair that the visitor chooses; ends the page where there is none."""
    if translator() is None:
        st.caption("The trained example is not on this server: its file is missing or damaged.")
        return choose_own_pair()
    source = widgets.choice("encdec_source", "What to look at", on_change=_swap_hidden)
    if source == "your text":
        return choose_own_pair()
    trained = current_setup().trained_network
    if trained is not None and trained.task.has_decoder:
        st.caption("The decoder that you trained is one switch away: *your text*.")
    return choose_example()


@as_one_element
def show_run_line(pair: PairKey) -> None:
    """How much was computed, where, how fast, and whether anything of it was learned."""
    run, setup = load_run(pair), current_setup()
    where = "a GPU" if run.device == "cuda" else "CPU"
    st.caption(
        f"{_count_tokens(run.source, 'source')} · {_count_tokens(run.target, 'target')} · {run.config.n_layers} layers "
        f"× {run.config.n_heads} heads in each half · {1000 * run.seconds:.0f} ms on {where} · {label_weights(pair)}"
    )
    if pair.is_example:
        return
    if trained_slot.weights_label(pair.weights) is None and setup.weights != "random":
        st.caption(
            f"The sidebar's weights have no decoder: both halves are random, drawn from its seed {setup['seed']}."
        )
    if setup.takes_vectors:
        st.caption(
            "The sidebar's tokenizer is vectors, and the decoder needs words to name: each half gets a token table, as "
            "with the tokenizer word."
        )
    elif setup["table_rows"]:
        st.caption("The sidebar's table_rows changes nothing here: a table has one row for each of its tokens.")
    if setup["causal"]:
        st.caption("The sidebar's causal switch changes nothing here: this encoder sees its whole source.")


def _swap_hidden() -> None:
    """Each of the two sources keeps what its own widgets stood at while the other one is shown."""
    keys = {key for key in page_parameters("encoder-decoder") if key != "encdec_source"}
    example = {key for key in keys if key.startswith("encdec_example")}
    shown = example if st.session_state["encdec_source"] == "trained example" else keys - example
    shortcuts.swap_hidden(hidden=keys - shown, shown=shown)


def _count_tokens(side: Side, name: str) -> str:
    n_padding = side.padding.size - side.n_real
    return f"{side.n_real} {name} tokens{f' + {n_padding} padding' if n_padding else ''}"

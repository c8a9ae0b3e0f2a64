"""The pair of sentences: the sidebar's source and a line of the target, or why there is no pair."""

from dataclasses import replace

import streamlit as st

from playground.config import ModelConfig
from playground.limits import MAX_TOKENS
from playground.runs.pair_run import PairRun, Side
from playground.text import split_sentences
from playground.training.tasks.examples import BOS
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches, pair_cache, trained_slot
from playground.web.session.caches import TextKey
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, as_one_element

PairKey = tuple[TextKey, int, TextKey, int, str, ModelConfig, int]
"""The arguments of `pair_cache.run`. A fragment is handed these, and never the run itself."""


def show_introduction() -> None:
    """What an encoder and a decoder do, in five sentences."""
    st.markdown(
        "The *encoder* reads the source sentence once. The *decoder* reads the target so far and scores what comes "
        "next. Each of its layers attends twice. *Self-attention* looks at the target so far, and never ahead. "
        "*Cross-attention* looks at the encoder's output for the source."
    )


@as_one_element
def choose_pair() -> PairKey:
    """The visitor's sentence and its target line; ends the page where one is missing or cannot be run."""
    setup = current_setup()
    typed = split_sentences(widgets.text("encdec_target", "Target text, a line for each of your sentences", height=90))
    for note in typed.notes:
        st.info(f"Target: {note}", icon=":material/content_cut:")
    lines = typed.sentences
    panels.require_text(setup, "Type a sentence in the sidebar: it is the source that the encoder reads.")
    if not lines:
        st.info("Type a target: the decoder needs at least one token to go on from.")
        raise PageEndError
    weights = setup.weights if setup.trained_network and setup.trained_network.task.has_decoder else "random"
    if weights != "random":
        lines = _fit_to_trained_decoder(setup, weights, lines)
    sentence, line = setup.sentence, min(setup.sentence, len(lines) - 1)
    _explain_line_match(len(setup.text.sentences), sentence, len(lines))
    target = replace(setup.text_key, sentences=lines)
    with panels.explain_errors():
        config = replace(setup.config, vocab_size=caches.tokenizer(setup.text_key).vocab_size)
        pair = (setup.text_key, sentence, target, line, weights, config, setup["seed"])
        run = pair_cache.run(*pair)
        cut = setup.batch.truncated[sentence], caches.tokenize(target).truncated[line]
    for name, n_cut, side in zip(("source", "target"), cut, (run.source, run.target), strict=True):
        _explain_cut(name, n_cut, side.n_real, setup["max_len"])
    return pair


def load_run(pair: PairKey) -> PairRun:
    """The run of a pair, from the cache where it is there; ends the page where it cannot be computed."""
    with panels.explain_errors():
        return pair_cache.run(*pair)


@as_one_element
def show_run_line(pair: PairKey) -> None:
    """How much was computed, where, how fast, and whether anything of it was learned."""
    run, setup = load_run(pair), current_setup()
    where = "a GPU" if run.device == "cuda" else "CPU"
    st.caption(
        f"{_count_tokens(run.source, 'source')} · {_count_tokens(run.target, 'target')} · {run.config.n_layers} layers "
        f"× {run.config.n_heads} heads in each half · {1000 * run.seconds:.0f} ms on {where} · {label_weights(pair)}"
    )
    if trained_slot.weights_label(pair[4]) is None and setup.weights != "random":
        st.caption(
            "There is no trained decoder for the sidebar's weights. Both halves have random weights in the sidebar's "
            f"shape, drawn from its seed {setup['seed']}."
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


def label_weights(pair: PairKey) -> str:
    """What the pair's weights are called on the page."""
    return trained_slot.weights_label(pair[4]) or ":orange-badge[untrained: random weights]"


def _count_tokens(side: Side, name: str) -> str:
    n_padding = side.padding.size - side.n_real
    return f"{side.n_real} {name} tokens{f' + {n_padding} padding' if n_padding else ''}"


def _fit_to_trained_decoder(setup: Setup, weights: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    """The target after [BOS], as the trained decoder reads it; where it knows no token of it, its own output."""
    with panels.explain_errors():
        if all(all(row) for row in caches.tokenize(replace(setup.text_key, sentences=lines)).unknown):
            lines = pair_cache.generate_lines(setup.text_key, weights, setup["max_len"])
            st.info(
                "This decoder knows no token of your target. It writes its own target instead, with the likeliest "
                f"token at every step: `{lines[setup.sentence]}`. Type a target in its tokens to see how likely "
                "it finds that one.",
                icon=":material/robot_2:",
            )
    return tuple(line if line.split()[:1] == [BOS] else f"{BOS} {line}" for line in lines)


def _explain_line_match(n_sentences: int, sentence: int, n_lines: int) -> None:
    """What happens where source and target have different numbers of lines."""
    if sentence >= n_lines:
        st.caption(
            f"Sentence {sentence + 1} has no target line of its own. The last line, {n_lines}, stands in for it."
        )
    elif n_lines > n_sentences:
        st.caption(
            f"Your text has {n_sentences} sentence{'s' * (n_sentences > 1)}, the target {n_lines} lines. A line "
            "without a sentence counts only for the length to which the others are padded."
        )


def _explain_cut(name: str, n_cut: int, n_kept: int, max_len: int) -> None:
    if n_cut:
        limit = f"max_len = {max_len}" if max_len <= MAX_TOKENS else f"the {MAX_TOKENS} that this server takes"
        st.info(
            f"The {name} has {n_kept + n_cut} tokens, more than {limit}: it is cut after {n_kept}.",
            icon=":material/content_cut:",
        )

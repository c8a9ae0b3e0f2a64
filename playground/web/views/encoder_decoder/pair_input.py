"""The encoder–decoder page's pair of sentences: the sidebar's and a line of the target, or why there is none."""

from dataclasses import replace
from typing import NoReturn

import streamlit as st

from playground.config import ModelConfig
from playground.limits import MAX_TOKENS
from playground.text import split_sentences
from playground.training.tasks.examples import BOS
from playground.web.choices import widgets
from playground.web.choices.setup import Setup
from playground.web.session import caches, pair_cache
from playground.web.session.caches import TextKey
from playground.web.shared import panels
from playground.web.shared.page_end import EndedError

PairKey = tuple[TextKey, int, TextKey, int, str, ModelConfig, int]
"""What the run of a pair depends on, as `seq2seq_cache.run` takes it."""


def current_pair(setup: Setup) -> PairKey:
    """Run the visitor's sentence and its target line; where that cannot be, say why and end the page there.

    Returns:
        What the run depends on; the run itself is in the cache, and no fragment has to hold on to it.
    """
    lines = _typed_target()
    panels.require_text(setup, "Type a sentence in the sidebar: it is the source that the encoder reads.")
    if not lines:
        _stop("Type a target: the decoder needs at least one token to go on from.")
    weights = setup.weights if setup.trained_network and setup.trained_network.task.has_decoder else "random"
    if weights != "random":
        lines = _readable(setup, weights, lines)
    sentence, line = setup.sentence, min(setup.sentence, len(lines) - 1)
    _tell_how_lines_match(len(setup.text.sentences), sentence, len(lines))
    key = replace(setup.text_key, sentences=lines)
    with panels.explain_errors():
        source, target = setup.batch, caches.tokenize(key)
        config = replace(setup.config, vocab_size=caches.tokenizer(setup.text_key).vocab_size)
        pair = (setup.text_key, sentence, key, line, weights, config, setup["seed"])
        run = pair_cache.run(*pair)
    _tell_what_is_cut("source", source.truncated[sentence], run.source.n_real, setup["max_len"])
    _tell_what_is_cut("target", target.truncated[line], run.target.n_real, setup["max_len"])
    return pair


def _readable(setup: Setup, weights: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    """The target as the trained decoder reads it: after [BOS]; and where it knows none of it, what it says itself."""
    with panels.explain_errors():
        if all(all(row) for row in caches.tokenize(replace(setup.text_key, sentences=lines)).unknown):
            lines = pair_cache.generate_lines(setup.text_key, weights, setup["max_len"])
            st.info(
                "None of your target is among the tokens that this decoder knows, so it says its own, the likeliest "
                f"token at every step: `{lines[setup.sentence]}`. Type a target in its tokens to see how likely "
                "it finds that one.",
                icon=":material/robot_2:",
            )
    return tuple(line if line.split()[:1] == [BOS] else f"{BOS} {line}" for line in lines)


def _typed_target() -> tuple[str, ...]:
    """The target's lines, asked for in a text area of their own."""
    target = split_sentences(widgets.text("encdec_target", "Target text, a line for each of your sentences", height=90))
    for note in target.notes:
        st.info(f"Target: {note}", icon=":material/content_cut:")
    return target.sentences


def _tell_how_lines_match(n_sentences: int, sentence: int, n_lines: int) -> None:
    """One sentence where source and target have not a line each."""
    if sentence >= n_lines:
        st.caption(
            f"Sentence {sentence + 1} has no target line of its own: line {n_lines}, the last, stands in for it."
        )
    elif n_lines > n_sentences:
        st.caption(
            f"Your text has {n_sentences} sentence{'s' * (n_sentences > 1)}, the target {n_lines} lines: a line "
            f"without a sentence only counts for the length to which the others are padded."
        )


def _tell_what_is_cut(name: str, n_cut: int, n_kept: int, max_len: int) -> None:
    if n_cut:
        limit = f"max_len = {max_len}" if max_len <= MAX_TOKENS else f"the {MAX_TOKENS} that this server takes"
        st.info(
            f"The {name} has {n_kept + n_cut} tokens, more than {limit}: it is cut after {n_kept}.",
            icon=":material/content_cut:",
        )


def _stop(sentence: str) -> NoReturn:
    st.info(sentence)
    raise EndedError

"""The visitor's own pair: the sidebar's source and a line of the target, or why there is no pair."""

from dataclasses import replace

import streamlit as st

from playground.errors import InputError
from playground.limits import MAX_TOKENS
from playground.text import split_sentences
from playground.training.tasks.task import BOS
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup, current_value
from playground.web.session import caches
from playground.web.session.caches import PairKey
from playground.web.session.weights_cache import RANDOM, WeightsId
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError


def choose_own_pair() -> PairKey:
    """The visitor's sentence and its target line; ends the page where one is missing or cannot be run."""
    setup = current_setup()
    typed = split_sentences(widgets.text("encdec_target", "Target text, a line for each of your sentences", height=90))
    for note in typed.notes:
        st.info(f"Target: {note}", icon=":material/content_cut:")
    lines = typed.sentences
    panels.require_text(setup, "Type a sentence into “Your text”: it is the source that the encoder reads.")
    if not lines:
        st.info("Type a target: the decoder needs at least one token to go on from.")
        raise PageEndError
    with panels.explain_errors():
        pair, wrote_own = _pair_of_lines(setup, lines)
        if wrote_own:
            st.info(
                "This decoder knows no token of your target. It writes its own target instead, with the likeliest "
                f"token at every step: `{pair.target.sentences[setup.sentence].removeprefix(f'{BOS} ')}`. Type a "
                "target in its tokens to see how likely it finds that one.",
                icon=":material/robot_2:",
            )
        _explain_line_match(len(setup.text.sentences), pair.sentence, len(pair.target.sentences))
        run = caches.run_pair(pair)
        cut = setup.batch.truncated[pair.sentence], caches.tokenize(pair.target).truncated[pair.line]
    for name, n_cut, side in zip(("source", "target"), cut, (run.source, run.target), strict=True):
        _explain_cut(name, n_cut, side.n_real, setup["max_len"])
    return pair


def find_own_pair(setup: Setup) -> PairKey:
    """The pair that `choose_own_pair` draws, without drawing it; raises InputError where there is no target."""
    lines = split_sentences(current_value("encdec_target")).sentences
    if not lines:
        raise InputError("The Decoder page has no target text: the decoder needs at least one token.")
    return _pair_of_lines(setup, lines)[0]


def _pair_of_lines(setup: Setup, lines: tuple[str, ...]) -> tuple[PairKey, bool]:
    """The pair of the sidebar's sentence and its target line, and whether the decoder wrote the target itself."""
    weights, wrote_own = RANDOM, False
    if setup.trained_network and setup.trained_network.task.has_decoder:
        weights = setup.weights
        lines, wrote_own = _fit_to_trained_decoder(setup, weights, lines)
    target = replace(setup.text_key, sentences=lines)
    config = replace(setup.config, vocab_size=caches.tokenizer(setup.text_key).vocab_size)
    line = min(setup.sentence, len(lines) - 1)
    return PairKey(setup.text_key, setup.sentence, target, line, weights, config, setup["seed"]), wrote_own


def _fit_to_trained_decoder(setup: Setup, weights: WeightsId, lines: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The target after [BOS], as the trained decoder reads it; where it knows no token of it, its own output."""
    knows_none = all(all(row) for row in caches.tokenize(replace(setup.text_key, sentences=lines)).unknown)
    if knows_none:
        lines = caches.generate_lines(weights, setup.text_key, setup["max_len"])
    return tuple(line if line.split()[:1] == [BOS] else f"{BOS} {line}" for line in lines), knows_none


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

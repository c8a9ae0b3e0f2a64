"""The sidebar's part for the small English: what the last move cost, and what the shown encoder is."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean

import numpy as np
import streamlit as st

from playground.accounting import count_parameters
from playground.accounting.readable import duration
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.language.answers import nearest_sentences
from playground.language.capabilities import CAPABILITIES
from playground.language.family import shares_of
from playground.language.learner import Learning
from playground.language.network import Spec
from playground.language.text import IDS, SPECIALS, VOCABULARY, join_words
from playground.link import english
from playground.views.parts import LEAST_CHANGE, name_spec
from playground.web.choices import widgets
from playground.web.choices.english import back_to_minilm, moved_from, seconds_since_move, use_sentence
from playground.web.choices.setup import Setup, current_setup, current_value
from playground.web.choices.shortcuts import replace_text
from playground.web.choices.widgets import cut_text
from playground.web.session.answers import fill_in, hidden_word
from playground.web.session.experiments import LEARNING, join_learning, learning_seconds, session_experiments
from playground.web.session.services import services
from playground.web.shared.experiment_buttons import pending_sentence
from playground.web.shared.navigation import request_page
from playground.web.shared.page_end import fragment
from playground.web.shared.pinning import start_comparison

STAYS, LEAVES = 1.5, 30.0
"""Seconds after a move: from when the visitor stays there, and from when a training no longer begins by itself."""


def draw_move(setup: Setup) -> None:
    """Draw what the shown encoder costs beside the base, and the answer beside the one before the last move."""
    if setup.state.chosen is not None:
        st.caption(
            ":orange-badge[nobody has trained this one yet] The page shows the nearest that is there: "
            f"**{name_spec(english.spec_of(setup.values))}**."
        )
    if setup["untrained"] or setup.state.chosen is not None:
        return
    spec, lines = english.spec_of(setup.values), []
    answer = _describe_answer(setup)
    if answer:
        lines.append(answer)
    lines += [_describe_capabilities(spec), _describe_parameters(spec)]
    with st.container(key="move_cost"):
        st.markdown("  \n".join(filter(None, lines)))


def draw(setup: Setup) -> None:
    """Draw the switch between before and after training, and the way back to MiniLM; a move ends another's training."""
    running = session_experiments().get(LEARNING)
    if running is not None and running.active and running.inputs != english.spec_of(setup.state.asked):
        session_experiments().discard(LEARNING)
    if setup.state.chosen is not None:
        _draw_missing(setup)
    if setup.text.sentences:
        _draw_unknown(setup)
    widgets.switch("untrained")
    with st.container(horizontal=True, gap="small"):
        st.button("Back to MiniLM", key="back_to_minilm", icon=":material/undo:", on_click=back_to_minilm)
        st.button("Compare both", key="compare_training", on_click=partial(_compare_training, setup),
                  type="tertiary", help="Before and after training, side by side.")  # fmt: skip


def _compare_training(setup: Setup) -> None:
    start_comparison({**setup.values, "untrained": True}, {**setup.values, "untrained": False})
    request_page("compare")


def _draw_unknown(setup: Setup) -> None:
    """Draw which words of the sentence are new to the encoder, and sentences that it knows."""
    tokens, unknown = setup.batch.tokens[setup.sentence], setup.batch.unknown[setup.sentence]
    if not any(unknown):
        return
    new = setup.batch.sentences[setup.sentence]
    listed = [new[start:end] for (start, end), is_new in zip(setup.batch.offsets[setup.sentence], unknown, strict=True)
              if is_new]  # fmt: skip
    st.caption(
        f":orange-badge[{sum(unknown)} of {len(tokens)} tokens are new to it]"
        f" {escape_markdown(', '.join(dict.fromkeys(listed)))}. Sentences that it knows:"
    )
    for i, example in enumerate(nearest_sentences(new)):
        text = join_words(example.words)
        st.button(
            text, key=f"known_sentence_{i}", on_click=use_sentence, args=(text, example.place + 1), type="tertiary"
        )
    st.selectbox(
        "Find a word that it knows", VOCABULARY[len(SPECIALS) :], index=None, key="known_word", on_change=_append_word,
        placeholder=f"its {len(VOCABULARY) - len(SPECIALS)} words",
    )  # fmt: skip


def _append_word() -> None:
    word = st.session_state["known_word"]
    if word is not None:
        replace_text(cut_text("text", f"{current_value('text').rstrip()} {word}"))
        st.session_state["known_word"] = None


def _draw_missing(setup: Setup) -> None:
    """Draw what becomes of an encoder that nobody has trained: it is trained if its visitor has moved there."""
    seconds, longest = (
        learning_seconds(english.spec_of(setup.state.asked)),
        2 * services().settings.max_training_seconds,
    )
    if seconds > longest:
        st.caption(
            f"Training would take about {duration(seconds)}; this server trains for {duration(longest)} at most."
        )
        return
    running = session_experiments().get(LEARNING)
    changes = seconds_since_move() < LEAVES if running is None else running.in_progress
    fragment(follow_learning, run_every=1.0 if changes else None)()


def follow_learning() -> None:
    """Start the training once the visitor stays, draw how far it is, and show the encoder at its end."""
    setup, experiments = current_setup(), session_experiments()
    spec = english.spec_of(setup.state.asked)
    if setup.state.chosen is None or services().networks.find(spec) is not None:
        st.rerun()
    running = experiments.get(LEARNING)
    if running is not None and running.inputs != spec:
        running = None
    if running is None and experiments.active_page() is None and STAYS < seconds_since_move() < LEAVES:
        experiments.start(LEARNING, partial(join_learning, spec))
    elif running is not None and running.active:
        progress = running.job.progress
        st.progress(progress, pending_sentence(running) or f"Training: {progress:.0%}")
        st.button("Stop", key="stop_english", on_click=running.job.stop, icon=":material/stop:")
        if running.state is not None and running.state.patterns:
            _draw_patterns(running.state)
    else:
        if running is not None:
            st.caption(running.job.error or "Stopped.")
        label, is_busy = f"Train it, about {duration(learning_seconds(spec))}", experiments.active_page() is not None
        icon = ":material/play_arrow:"
        st.button(label, key="train_english", on_click=_start, args=(spec,), disabled=is_busy, icon=icon)


def _draw_patterns(state: Learning) -> None:
    """Draw all heads' attention as it is by now: a row a layer, a column a head."""
    step, patterns = list(state.patterns.items())[-1]
    rows = [np.concatenate([np.pad(head, 1) for head in layer], axis=1) for layer in patterns]
    picture = (255 * (1 - np.sqrt(np.concatenate(rows)))).astype(np.uint8)
    told = f"Attention after {step:,} steps: a row a layer, a column a head"
    st.image(np.kron(picture, np.ones((4, 4), np.uint8)), told, width="stretch")


def _start(spec: Spec) -> None:
    session_experiments().discard(LEARNING)
    session_experiments().start(LEARNING, partial(join_learning, spec))


def _describe_answer(setup: Setup) -> str:
    """The hidden word's probability, before the last move and now."""
    try:
        hidden = hidden_word(setup.run_key) if setup.text.sentences else None
        if hidden is None or not hidden.word:
            return ""
        now = float(fill_in(setup.run_key)[-1, IDS[hidden.word]])
        before = moved_from()
        told = f"**{now:.2f}**"
        if before is not None and before.state.is_english and before.text_key == setup.text_key:
            told = f"{float(fill_in(before.run_key)[-1, IDS[hidden.word]]):.2f} → {told}"
    except PlaygroundError:  # the page says why there is no run
        return ""
    return f"*{escape_markdown(hidden.word)}*: {told}"


def _describe_capabilities(spec: Spec) -> str:
    """The two capabilities that lie furthest from the base, with the range of the seeds that were measured."""
    shares, base = _shares(spec), _shares(Spec())
    if not shares or not base or spec == Spec():
        return ""
    moved = {name: fmean(shares[name]) - fmean(base[name]) for name in CAPABILITIES}
    furthest = sorted(moved, key=lambda name: -abs(moved[name]))[:2]
    told = [
        f"*{CAPABILITIES[name].title}* {fmean(base[name]):.2f} → **{fmean(shares[name]):.2f}**{_range(shares[name])}"
        for name in furthest
        if abs(moved[name]) > LEAST_CHANGE
    ]
    return " · ".join(told) or f"All capabilities are within {LEAST_CHANGE} of the base's."


def _shares(spec: Spec) -> Mapping[str, Sequence[float]]:
    """By capability the share right: of every seed that was measured, or of the one network that there is."""
    measured = shares_of(spec)
    found = None if measured else services().networks.find(spec)
    return {name: [share] for name, share in found.shares.items()} if found else measured


def _range(shares: Sequence[float]) -> str:
    """The range over several seeds."""
    return f" ({min(shares):.2f}–{max(shares):.2f})" if len(shares) > 1 else ""


def _describe_parameters(spec: Spec) -> str:
    """The parameters, of the base and now."""
    n, base = (count_parameters(each.config).total for each in (spec, Spec()))
    return f"{n:,} parameters" if n == base else f"**{n:,}** parameters (base: {base:,})"

"""The live parts of the page Encoder-decoder: the choice of the pair and its texts, and what its widgets redraw."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import streamlit as st
import torch

from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.errors import InputError
from playground.limits import MAX_TOKENS
from playground.link.params import DEFAULT_TARGET, DEFAULT_TEXT, PARAMS, page_parameters
from playground.link.state import RANDOM, TextKey, WeightsId, is_random
from playground.text import split_sentences
from playground.training.tasks.symbol_tasks import split_words
from playground.training.tasks.task import BOS
from playground.training.tasks.translation import ENGLISH, WORDS
from playground.views import encoder_decoder as views
from playground.views.encoder_decoder import TRANSLATE, Pair, name_example
from playground.views.parameters import count_built_parameters
from playground.web.choices import shortcuts, widgets
from playground.web.choices.open_page import is_fragment_rerun
from playground.web.choices.setup import Setup, current_setup, current_value, trained_network
from playground.web.choices.shortcuts import STEP_PAIRS
from playground.web.session import caches, trained_slot
from playground.web.session.caches import PairKey, find_translator, translator
from playground.web.session.weights_cache import TRANSLATOR, cache_for_everybody
from playground.web.shared import panels
from playground.web.shared.focus_line import keep_answer_place
from playground.web.shared.page_end import PageEndError, as_one_element, fragment
from playground.web.shared.renderer import read_options, render

_count_built = cache_for_everybody(max_entries=20)(count_built_parameters)


@fragment
def explore_pair() -> None:
    """The page below its heading."""
    if st.session_state.pop(_SWITCHED, False) and is_fragment_rerun():
        st.rerun()  # the sidebar is outside of this fragment, and folds its settings beside the example
    render([Paragraph(views.INTRODUCTION, "caption")])
    keep_answer_place()
    pair = choose_pair()
    explain_settings(pair)
    with _begin_at_first_step(pair):
        scene, options = pair_scene(pair), read_options("encdec")
        render([Paragraph(views.answer_what_comes_next(scene.now, options), "answer")], scene)
        render(views.show_reading(scene, options), scene)


@contextmanager
def _begin_at_first_step(pair: PairKey) -> Iterator[None]:
    """Draw the pair at its first step where the present step was chosen in other sentences."""
    key = "encdec_example_position" if pair.is_example else "encdec_position"
    sentences = pair.source.sentences[pair.sentence], pair.target.sentences[pair.line]
    pairs = st.session_state.setdefault(STEP_PAIRS, {})
    is_other = pairs.get(key, sentences) != sentences
    if is_other:
        st.session_state[key] = PARAMS[key].default
    yield
    if is_other and st.session_state[key] != PARAMS[key].default:
        st.rerun()  # a slider with other bounds has taken the step that the address still names
    pairs[key] = sentences


def pair_scene(pair: PairKey) -> Scene[Pair]:
    """The run of a pair, from the cache where it is there; ends the page where it cannot be computed."""
    with panels.explain_errors():
        run, vocabulary = caches.run_pair(pair), caches.tokenizer(pair.target)
    n_built = _count_built(run.config, vocabulary.vocab_size)
    if pair.is_example:
        example, words = find_translator(), tuple(pair.source.sentences[0].split())
        shown = Pair(run, vocabulary, n_built, name_example(example), False, example, words)
    else:
        name = trained_slot.weights_label(pair.weights) or ":orange-badge[untrained: random weights]"
        shown = Pair(run, vocabulary, n_built, name, is_random(pair.weights))
    return Scene(shown)


@as_one_element
def choose_pair() -> PairKey:
    """The pair that the visitor chooses; ends the page where there is none."""
    if translator() is None:
        st.caption("The trained example is not on this server: its file is missing or damaged.")
        return _choose_own_pair()
    source = widgets.choice("encdec_source", "What to look at", on_change=_swap_hidden)
    if source == "your text":
        return _choose_own_pair()
    trained = trained_network(current_setup())
    if trained is not None and trained.task.has_decoder:
        st.caption("The decoder that you trained is one switch away: *your text*.")
    return _choose_example()


_OF_BOTH = ("encdec_source", "encdec_show_training", "encdec_show_masks", "encdec_show_costs")
"""The parameters that neither source has for itself."""


_SWITCHED = "_encdec_switched"
"""Session key of whether the source has just been switched."""


def _swap_hidden() -> None:
    """Each of the two sources keeps what its own widgets stood at while the other one is shown."""
    keys = {key for key in page_parameters("encoder-decoder") if key not in _OF_BOTH}
    example = {key for key in keys if key.startswith("encdec_example")}
    shown = example if st.session_state["encdec_source"] == "trained example" else keys - example
    shortcuts.swap_hidden(hidden=keys - shown, shown=shown)
    text, trained = current_value("text"), trained_network(current_setup())
    has_own = current_value("encdec_target") != DEFAULT_TARGET or text == DEFAULT_TEXT
    if shown != example and not has_own and not (trained and trained.task.has_decoder):
        # The link's default translates the default text alone.
        st.session_state["encdec_target"] = widgets.cut_text("encdec_target", text)
    st.session_state[_SWITCHED] = True


@as_one_element
def explain_settings(pair: PairKey) -> None:
    """Which of the sidebar's settings change nothing in the run."""
    setup = current_setup()
    if pair.is_example:
        return
    if trained_slot.weights_label(pair.weights) is None and setup.weights != "random":
        st.caption(
            f"The sidebar's weights have no decoder: both halves are random, drawn from its seed {setup['seed']}."
        )
    if setup.state.takes_vectors:
        st.caption(
            "The sidebar's tokenizer is vectors, and the decoder needs words to name: each half gets a token table, as "
            "with the tokenizer word."
        )
    elif setup["table_rows"]:
        st.caption("The sidebar's table_rows changes nothing here: a table has one row for each of its tokens.")
    if setup["causal"]:
        st.caption("The sidebar's causal switch changes nothing here: this encoder sees its whole source.")


# --- the trained example


def _choose_example() -> PairKey:
    """The visitor's English sentence and its translation; ends the page where there is no sentence."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        typed = widgets.text("encdec_example", "English sentence for the encoder")
    with right, st.container(horizontal=True):
        icon = ":material/casino:"
        st.button("Another", key="encdec_another", icon=icon, on_click=_draw_sentence, width="stretch")
        _list_words()
    if not split_words(typed):
        st.info("Type an English sentence: the encoder needs at least one word.")
        raise PageEndError
    with panels.explain_errors():
        pair = find_example_pair()
    scene = pair_scene(pair)
    render(views.show_translation(scene.now), scene)
    return pair


def find_example_pair() -> PairKey:
    """The example's English sentence and what the translator writes; raises InputError where there is no sentence."""
    words, config = split_words(current_value("encdec_example")), find_translator().config
    if not words:
        raise InputError("The page Encoder-decoder has no English sentence: the encoder needs at least one word.")
    source = TextKey(TRANSLATOR, 0, config.max_len - 1, (" ".join(words),))
    (line,) = caches.generate_lines(TRANSLATOR, source, config.max_len)
    target = replace(source, max_tokens=config.max_len, sentences=(f"{BOS} {line}",))
    return PairKey(source, 0, target, 0, TRANSLATOR, config, find_translator().recipe.seed)


def _draw_sentence() -> None:
    """Put a sentence of the grammar into the field."""
    random = torch.Generator()
    random.seed()
    (ids,) = TRANSLATE.draw(find_translator().recipe, 1, random).tolist()
    st.session_state["encdec_example"] = " ".join(ENGLISH[i - TRANSLATE.first_id] for i in ids if i)


def _list_words() -> None:
    """Every word that the translator has learnt to read, and how they make a sentence."""
    with st.popover(f"Its {len(ENGLISH)} words", icon=":material/dictionary:", width="stretch"):
        lines = (f"**{kind}**: {' · '.join(word for word, _, _ in forms)}" for kind, forms in WORDS.items())
        st.markdown("  \n".join(lines))
        st.caption(
            "A phrase is *article (adjective) (colour) noun*. A sentence is a phrase, or two with a verb between them; "
            "behind those, a preposition adds one more."
        )


# --- the visitor's own text


def _choose_own_pair() -> PairKey:
    """The visitor's sentence and its target line; ends the page where one is missing or cannot be run."""
    setup = current_setup()
    if setup.text.sentences:
        source = setup.text.sentences[setup.sentence].strip()
        st.markdown(f"The encoder reads this source: **{escape_markdown(source)}**")
        st.caption("Type another one into “Your text”: in the sidebar, or on a phone above this page's heading.")
    typed = split_sentences(
        widgets.text("encdec_target", "Target text for the decoder, a line for each of your sentences", height=90)
    )
    if current_value("encdec_target") == DEFAULT_TARGET:
        st.caption("This target is Dutch for “The animal didn't cross the street …”. Any other text will do.")
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
    """The pair of the visitor's text, without drawing anything; raises InputError where there is no target."""
    lines = split_sentences(current_value("encdec_target")).sentences
    if not lines:
        raise InputError("The page Encoder-decoder has no target text: the decoder needs at least one token.")
    return _pair_of_lines(setup, lines)[0]


def _pair_of_lines(setup: Setup, lines: tuple[str, ...]) -> tuple[PairKey, bool]:
    """The pair of the sidebar's sentence and its target line, and whether the decoder wrote the target itself."""
    weights, wrote_own = RANDOM, False
    trained = trained_network(setup)
    if trained and trained.task.has_decoder:
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

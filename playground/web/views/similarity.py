"""The page Similarity: the list of its sentences, the caches of what compares them, and the view of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from playground.analysis import sentences
from playground.analysis.sentences import DepthMap, LeftOutWords, Pooling, SentenceDepths, is_for_any_text, map_depths
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.limits import MAX_LISTED, MAX_LISTED_TOKENS
from playground.link.changes import FittedChanges, fit_changes
from playground.link.params import SENTENCE_PAIR
from playground.model.change_texts import name_change
from playground.model.changes import Change
from playground.runs.variant_runs import count_affordable
from playground.text import Batch, split_sentences
from playground.text.sentences import is_english
from playground.text.wording import count_heads
from playground.views.similarity.page import show_details, show_pairs
from playground.views.similarity.sentences import EXAMPLE, Sentences
from playground.web.choices import widgets
from playground.web.choices.focus import choose_places
from playground.web.choices.setup import Setup, current_setup, current_value, is_random
from playground.web.choices.shortcuts import CHOSEN_PAIR
from playground.web.session import caches, trained_slot
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights
from playground.web.shared import panels
from playground.web.shared.focus_line import keep_answer_place
from playground.web.shared.page_end import PageEndError, as_one_element, fragment
from playground.web.shared.renderer import WIDGETS, read_options, render

KNOWN_FROM = 0.75
"""Share of its tokens that a tokenizer has to know to be offered the example."""


@dataclass(frozen=True)
class SentenceList:
    """The sentences on the screen, and how they are run."""

    setup: Setup
    """Of the whole list."""
    key: RunKey
    """What the runs of all of them depend on."""
    n_typed: int
    """How many are the sidebar's; they come first."""
    is_example: bool
    """Whether the others are the example."""
    notes: tuple[str, ...] = ()
    """On everything that had to be left out."""
    fitted: tuple[FittedChanges, ...] = ()
    """What of the visitor's changes each sentence's run can have; empty where there is no change."""

    @property
    def changes(self) -> tuple[tuple[Change, ...], ...]:
        """The changes of each sentence's run; empty where there are none."""
        return tuple(each.applied for each in self.fitted)

    @property
    def batch(self) -> Batch:
        """The tokens, from the cache that all sessions share."""
        return caches.tokenize(self.key.text)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences, without those that were left out."""
        return self.key.text.sentences


@fragment
def explore_similarity() -> None:
    """The list, what was run, and what the view shows of it."""
    try:
        with panels.explain_errors():
            listed = find_sentences()
            depths = read_depths(listed.key, listed.changes)
    except PageEndError:
        _draw_field()
        raise
    keep_pair(listed.sentences, depths)
    scene, options = Scene(_compare(listed, depths)), read_options("similarity")
    keep_answer_place()
    picture, field = st.columns((2, 1), gap="small") if len(listed.sentences) > 1 else [st.container()] * 2
    with field:
        draw_list(listed)
        describe_run(listed, depths)
    with panels.explain_errors():
        with picture, st.container(key="similarity_picture"):
            render(show_pairs(scene, options), scene)
        with st.container(key="similarity_details"):
            render(show_details(scene, options), scene)


def keep_pair(listed: tuple[str, ...], depths: SentenceDepths) -> None:
    """Keep the chosen pair the same two sentences of another list, also edited ones; else choose the closest pair.

    A pair that has been chosen since, or by a link, stays: two sentences, also where both are behind the last one.
    """
    n, chosen = len(listed), tuple(int(current_value(place)) for place in SENTENCE_PAIR)
    if n < 2 or not depths.is_finite:
        return
    before, old = st.session_state.get(CHOSEN_PAIR, (None, ()))
    pair = _find_again(chosen, old, listed) if before == chosen else chosen
    if pair is None:
        closest = sentences.rank_pairs(depths.similarity(current_value("similarity_pooling")))[0]
        pair = closest.first + 1, closest.second + 1
    first, second = pair
    if first != second and min(first, n) == min(second, n):
        pair = (first, n - 1) if first < second else (n - 1, second)
    if pair != chosen:
        st.session_state.update(zip(SENTENCE_PAIR, pair, strict=True))
    st.session_state[CHOSEN_PAIR] = pair, listed


def _find_again(pair: tuple[int, ...], old: tuple[str, ...], listed: tuple[str, ...]) -> tuple[int, ...] | None:
    """The numbers of an old list's pair in another list; None where a sentence of it is gone.

    An edited one keeps its number: the lists are as long, a new sentence is there, and some beside the pair stayed.
    """
    numbers = [min(number, len(old)) for number in pair]
    others = {text for number, text in enumerate(old, start=1) if number not in numbers}
    is_edit = len(listed) == len(old) and not (others and others.isdisjoint(listed))
    found = []
    for number in numbers:
        text, there = old[number - 1], listed[number - 1 : number]
        if there != (text,) and text in listed:
            found.append(listed.index(text) + 1)
        elif there == (text,) or (is_edit and there[0] not in old):
            found.append(number)
    return tuple(found) if len(set(found)) == len(set(pair)) else None


def draw_sentence_list(place: str, label: str, names: Mapping[int, str], number: int, whole: str) -> None:
    """A list of the sentences, by their numbers, that chooses the pair's first or second.

    `whole` is the chosen one in markdown where its name is cut, for a tooltip.
    """
    widgets.move_below(place, len(names))
    st.session_state[place] = number
    widgets.unbound_menu(
        place,
        f"{place}_choice",
        label,
        list(names),
        number,
        format_func=names.__getitem__,
        help=whole or None,
        filter_mode=None,  # a finger opens the list, and not the keyboard
    )


def draw_closest_pair(chosen: Mapping[str, int]) -> None:
    """A button that chooses the closest pair."""
    st.button(
        "Choose the closest pair",
        key="similarity_closest",
        icon=":material/join_inner:",
        type="tertiary",
        on_click=choose_places,
        kwargs=dict(chosen),
    )


WIDGETS |= {"sentence_list": draw_sentence_list, "closest_pair": draw_closest_pair}


def _compare(listed: SentenceList, depths: SentenceDepths) -> Sentences:
    """What the view shows, and what it may ask for."""
    setup, key, changes = listed.setup, listed.key, listed.changes
    for_any_text = tuple(tuple(filter(is_for_any_text, each)) for each in changes)
    trained = setup.trained_network
    return Sentences(
        listed.sentences,
        listed.batch,
        depths,
        key.config,
        "random" if is_random(setup.weights) else setup.weights,
        map_depths=partial(map_sentences, key, changes),
        leave_words_out=lambda side, other, pooling: leave_words_out(
            key._replace(sentence=side), for_any_text, other, pooling
        ),
        task=trained.task.title if trained is not None else "",
        causal=key.causal,
        is_changed=any(changes),
        for_any_text=None if for_any_text == changes else partial(read_depths, key, for_any_text),
    )


def _draw_field() -> None:
    widgets.text(
        "similarity_list",
        "More sentences to compare, one a line",
        height=96,
        help_text=f"They join the sidebar's. At most {MAX_LISTED} sentences are compared, each of at most "
        f"{MAX_LISTED_TOKENS} tokens.",
    )
    # Who presses it takes the cursor from the field, which sends the text: a phone has no Ctrl+Enter.
    st.button("Compare", key="similarity_compare", icon=":material/join_inner:")


@as_one_element
def draw_list(listed: SentenceList) -> None:
    """Draw the field for the list, what it holds while it is empty, and what had to be left out."""
    _draw_field()
    if listed.is_example:
        with st.container(key="similarity_example", gap="xsmall"):
            st.caption(
                f"Sentences {listed.n_typed + 1} to {len(listed.sentences)} are an example: some mean the same in "
                "other words, some mean the opposite in nearly the same words."
            )
            label, icon = "Put the example into the field, to change it", ":material/edit:"
            st.button(label, key="similarity_fill", icon=icon, type="tertiary", on_click=_fill_in)
    for note in listed.notes:
        st.info(note, icon=":material/content_cut:")
    n_foreign = sum(not is_english(sentence) for sentence in listed.sentences)
    if n_foreign and listed.key.weights == "minilm":
        which = "one of these sentences looks" if n_foreign == 1 else f"{n_foreign} of these sentences look"
        st.info(
            f"**English only:** the trained model learnt from English, and {which} like another language. What it "
            "computes there means little.",
            icon=":material/translate:",
        )


def find_sentences() -> SentenceList:
    """The sentences of the sidebar and of the list; the example where there is no list and at most one sentence.

    Raises:
        PlaygroundError: the tokenizer cannot read them, or the model is over this server's limits.
    """
    setup = current_setup()
    typed = setup.text.sentences
    pasted = split_sentences(current_value("similarity_list"), max(MAX_LISTED - len(typed), 1), "list")
    if not pasted.sentences and len(typed) < 2:
        example = _try_example(setup, typed)
        if example is not None:
            return example
    every, notes = (*typed, *pasted.sentences), [*setup.text.notes, *pasted.notes]
    if len(every) > MAX_LISTED:
        notes.append(f"There are {len(every)} sentences; only the first {MAX_LISTED} are compared.")
    if not every:
        return _ask_for_sentences()
    listed = _list_sentences(setup, every[:MAX_LISTED], min(len(typed), MAX_LISTED))
    return replace(listed, notes=tuple(dict.fromkeys([*notes, *listed.notes])))


def _try_example(setup: Setup, typed: tuple[str, ...]) -> SentenceList | None:
    """The example beside the text; None where the tokenizer knows too little of it."""
    try:
        listed = replace(_list_sentences(setup, (*typed, *EXAMPLE), len(typed)), is_example=True)
        unknown = [flag for row in listed.batch.unknown[len(typed) :] for flag in row]
    except PlaygroundError:
        return None
    is_whole = listed.sentences == (*typed, *EXAMPLE)
    return listed if is_whole and sum(unknown) <= (1 - KNOWN_FROM) * len(unknown) else None


def _list_sentences(setup: Setup, sentences: tuple[str, ...], n_typed: int) -> SentenceList:
    """As many of these sentences as can be run together, the first ones, with notes on the others."""
    listed = _read_all(setup, sentences, n_typed)
    batch, notes = listed.batch, []
    lengths = [len(tokens) for tokens in batch.tokens]
    empty = [number for number, length in enumerate(lengths, start=1) if not length]
    if empty:
        which = f"Sentence {empty[0]} has" if len(empty) == 1 else f"{len(empty)} sentences have"
        notes.append(f"{which} no token that this tokenizer makes, and cannot be compared.")
        kept = tuple(sentence for sentence, length in zip(sentences, lengths, strict=True) if length)
        if not kept:
            return _ask_for_sentences()
        listed = _read_all(setup, kept, n_typed - sum(number <= n_typed for number in empty))
        lengths = [length for length in lengths if length]
    n = count_affordable(listed.key.config, lengths)
    if n < len(lengths):
        notes.append(
            f"Together, {len(lengths)} sentences of up to {max(lengths)} tokens are too much for this server in this "
            f"shape of model; the first {n} are compared. Shorter sentences or fewer layers would fit."
        )
        listed = _read_all(setup, listed.sentences[:n], min(listed.n_typed, n))
    cut = [number for number, n_cut in enumerate(listed.batch.truncated, start=1) if n_cut]
    if cut:
        longest = listed.key.text.max_tokens
        which = f"Sentence {cut[0]} is" if len(cut) == 1 else f"{len(cut)} sentences are"
        why = f" No more than {MAX_LISTED_TOKENS} tokens of a sentence are compared." * (longest == MAX_LISTED_TOKENS)
        notes.append(f"{which} cut after {longest} tokens; the rest is not compared.{why}")
    return replace(listed, notes=tuple(notes), fitted=_fit_changes(listed, setup))


def _fit_changes(listed: SentenceList, setup: Setup) -> tuple[FittedChanges, ...]:
    """The changes of every sentence; what names a token is made in the sidebar's chosen sentence alone."""
    if not setup.switched_on:
        return ()
    key, batch, chosen = listed.key, listed.batch, setup.text.sentences[setup.sentence : setup.sentence + 1]
    return tuple(
        fit_changes(
            [each for each in setup.changes if chosen == (sentence,) or each.change.names_no_token],
            key.config,
            batch,
            i,
            causal=setup["causal"],
        )
        for i, sentence in enumerate(listed.sentences)
    )


def _read_all(setup: Setup, sentences: tuple[str, ...], n_typed: int) -> SentenceList:
    whole = replace(setup, listed=sentences, values={**setup.values, "sentence": 1})
    key = whole.untouched_key
    text = replace(key.text, max_tokens=min(key.text.max_tokens, MAX_LISTED_TOKENS))
    return SentenceList(whole, key._replace(text=text), n_typed, is_example=False)


def _ask_for_sentences() -> SentenceList:
    st.info("Type a sentence into “Your text”, or some more into the field below, and this page compares them.")
    raise PageEndError


def _fill_in() -> None:
    if not current_value("similarity_list").strip():  # a press right after typing comes with what was typed
        st.session_state["similarity_list"] = "\n".join(EXAMPLE)


def describe_run(listed: SentenceList, depths: SentenceDepths) -> None:
    """Draw one line on what was computed, with which weights, and what is changed in it."""
    config, weights = listed.key.config, listed.setup.weights
    n, lengths = len(depths.tokens), depths.n_tokens
    sizes = f"{lengths[0]} tokens" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)} tokens"
    st.caption(
        f"{n} sentence{'s' if n > 1 else ''} of {sizes} · {count_heads(config.n_layers, config.n_heads)} · "
        f"{trained_slot.describe_weights(weights)}"
    )
    unknown = [number for number, row in enumerate(listed.batch.unknown, start=1) if all(row)]
    if unknown:
        st.caption(
            f"The tokenizer knows no token of {len(unknown)} of these sentences, such as sentence {unknown[0]}: it "
            "reads [UNK] throughout, and sentences of as many [UNK] are equal."
        )
    for sentence in describe_changes(listed):
        st.caption(sentence)


def describe_changes(listed: SentenceList) -> list[str]:
    """In which sentences each of the visitor's changes is made, and why not in the others."""
    n, said = len(listed.fitted), []
    for change, is_on in listed.setup.changes:
        name = escape_markdown(name_change(change))
        n_made = sum(change in fitted.applied for fitted in listed.fitted)
        if not is_on:
            continue
        if n_made == n:
            said.append(f"Your change is made in every sentence: *{name}*.")
            continue
        reasons = [(i, fitted.reasons[change]) for i, fitted in enumerate(listed.fitted) if change in fitted.reasons]
        if not reasons:
            said.append(f"Your change is made in your text's chosen sentence alone: *{name}*.")
            continue
        which, reason = reasons[0]
        said.append(
            f"Your change is made in {n_made} of {n} sentences: *{name}*. It cannot be made "
            f"in sentence {which + 1}: {escape_markdown(reason)}"
        )
    return said


Changes = tuple[tuple[Change, ...], ...]
"""What changes in each sentence's run, all of which it can have; empty where nothing changes."""


@cache_by_weights
def read_depths(key: RunKey, changes: Changes) -> SentenceDepths:
    """Run every sentence of the key's text; raises as `caches.run_sentence`."""
    with caches.turn_on_text(key) as (model, batch):
        return sentences.read_depths(model, batch, seed=key.seed, causal=key.causal, interventions=changes)


@cache_by_weights
def map_sentences(key: RunKey, changes: Changes, pooling: Pooling) -> DepthMap:
    """The sentences on two axes at every depth; raises as `caches.run_sentence`."""
    pooled = read_depths(key, changes).pooled[pooling]
    with services().turns.take():
        return map_depths(pooled)


@cache_by_weights
def leave_words_out(key: RunKey, changes: Changes, other: int, pooling: Pooling) -> LeftOutWords:
    """The key's sentence without each of its words, beside the `other` one; raises as `caches.run_sentence`.

    Every change is one for any text.
    """
    vector = read_depths(key._replace(sentence=0), changes).pooled[pooling][-1, other]
    with caches.turn_on_text(key) as (model, batch):
        return sentences.leave_words_out(
            model,
            caches.tokenizer(key.text),
            batch,
            key.sentence,
            vector,
            pooling,
            seed=key.seed,
            causal=key.causal,
            interventions=changes[key.sentence] if changes else (),
        )

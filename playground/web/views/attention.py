"""The live parts of the page Attention: caches, two buttons that change the head, and the trained network's reading."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import attribution, counterfactuals, stream_sources
from playground.analysis.attention import PROBES, Habits, check_probes, measure_habits
from playground.analysis.attribution import HeadMaps, destination
from playground.analysis.changes import sentence_change, stream_change
from playground.analysis.comparison import moved_weight
from playground.analysis.counterfactuals import TEN_SENTENCES, ReadText, read_texts
from playground.analysis.stream_sources import StreamSplit, logit_lens
from playground.analysis.walkthrough import Walk
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import InputError, PlaygroundError
from playground.language.family import STOPS
from playground.limits import MAX_CHARACTERS, MAX_TOKENS
from playground.link.changes import MadeChange, fit_changes
from playground.link.opening import Focus
from playground.link.query import write_query
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.text import Batch, words
from playground.training.network import Tagger
from playground.views.attention.counterfactuals import SentenceOfRun
from playground.views.attention.explanation import HeadsRun
from playground.views.change_names import count_changes, explain_change
from playground.web.choices import widgets
from playground.web.choices.english import choose_english
from playground.web.choices.focus import choose_places, current_focus, move_focus
from playground.web.choices.setup import Setup, current_setup, current_value, is_random
from playground.web.components import rows
from playground.web.components.without_picture import scroll_to
from playground.web.session import caches, trained_slot
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import WeightsId, cache_by_weights
from playground.web.shared import panels, renderer
from playground.web.shared.change_chips import draw_change_button, draw_followed_button, explain_refusal
from playground.web.shared.pinning import pinned_side

T = TypeVar("T")

LEAST_MOVED = 5e-4
"""The smallest share of weight, or of a length, that a percentage with one decimal does not round to 0."""

LIKELIEST = 3
"""Answers that are named at each depth."""

_ARRIVING = "_why_arriving"
"""Session key that is there until the answer is drawn, for a visitor who comes from elsewhere to see it."""

_SEARCHING = "_all_heads_asked_for"
"""Session key that is there until the table of all heads is drawn, for a visitor who has asked for it."""


def heads_scene() -> Scene[HeadsRun]:
    """The run and the pinned one, each with what explains its heads in the app's caches."""
    scene, side = renderer.draw_focus_and_scene(), pinned_side()
    now = explain_heads(scene.now, current_setup())
    pinned = None
    if scene.pinned is not None and side is not None:
        pinned = explain_heads(scene.pinned, side.setup)
    return scene.with_subjects(now, pinned)


def explain_heads(run: Run, setup: Setup) -> HeadsRun:
    """A run of a setup, with what explains its heads in the app's caches."""
    key = setup.run_key
    return HeadsRun(
        run,
        partial(caches.trace_layer, key),
        partial(split_stream, key),
        partial(find_maps, key),
        lambda source: habits_in_probes(key) if source == "fixed sentences" else habits_in_text(key),
        lambda hide: _or_explain(lambda: caches.thumbnails(key, hide_special=hide)),
        SentenceOfRun(
            setup.batch,
            setup.sentence,
            lambda layer, texts: read_other_texts(setup.untouched_key, layer, tuple(texts), setup.changes),
            partial(_link_text, setup),
        ),
        is_random=is_random(setup.weights),
    )


@cache_by_weights
def read_other_texts(
    key: RunKey, layer: int, texts: tuple[str, ...], changes: tuple[MadeChange, ...]
) -> list[ReadText | str]:
    """What a layer makes of other sentences, with the changes that each can have; raises as `caches.run_sentence`."""
    with caches.turn_on_text(key) as (model, batch):
        # Words that are vectors need no table: each has the one that its letters and the seed give it.
        tokenizer = caches.tokenizer(key.text) if key.config.vocab_size else words([*batch.sentences, *texts])

        def fit(together: Batch, row: int) -> tuple[Change, ...]:
            return fit_changes(changes, key.config, together, row, causal=key.causal).applied

        return read_texts(
            model,
            tokenizer,
            batch,
            texts,
            layer,
            max_tokens=min(key.text.max_tokens, MAX_TOKENS),
            seed=key.seed,
            causal=key.causal,
            fit=fit if any(change.is_on for change in changes) else None,
        )


def _link_text(setup: Setup, sentence: str, places: Mapping[str, Any]) -> str:
    """A link to another sentence, pinned against the present; empty where it would show other weights.

    A link carries no weights. The tokenizer word numbers words as they come, so another text has another table.
    """
    if setup["weights"] not in ("minilm", "random") or (setup["tokenizer"] == "word" and setup.config.vocab_size):
        return ""
    sentences = list(setup.text.sentences)
    sentences[setup.sentence] = sentence
    text, focus = "\n".join(sentences), current_focus(panels.shown_run())
    if len(text) > MAX_CHARACTERS:
        return ""
    values = {**setup.values, "text": text, "layer": focus.layer, "head": focus.head, **places}
    texts = parse_qs(write_query(values, setup.values), keep_blank_values=True)
    texts |= {place: [str(places[place])] for place in ("query", "key")}
    return f"attention?{urlencode(texts, doseq=True)}"


def _or_explain(compute: Callable[[], T]) -> T:
    """What is computed; an expected error is shown as one sentence, and ends the page."""
    with panels.explain_errors():
        return compute()


@cache_by_weights
def split_stream(key: RunKey, layer: int) -> StreamSplit:
    """What each source adds to the vectors that a layer's attention reads; raises as `caches.run_sentence`."""
    run = caches.run_sentence(key)
    with services().turns.take():
        return stream_sources.split_stream(run, caches.encoder(key.weights, key.config, key.seed), layer)


def find_maps(key: RunKey, walk: Walk) -> HeadMaps:
    """The learned maps of a walk's head; raises as `caches.run_sentence`."""
    _, piece = destination(walk)
    return _cut_maps(key.weights, key.config, key.seed, walk.layer.layer, walk.head, piece)


@cache_by_weights
def habits_in_text(key: RunKey) -> Habits:
    """What heads do in one sentence; raises as `caches.run_sentence`."""
    return measure_habits([caches.run_sentence(key)])


@cache_by_weights
def habits_in_probes(key: RunKey) -> Habits:
    """What heads do in the fixed sentences, read as the key's text is.

    Raises:
        InputError: the encoder cannot read them; and as `caches.run_sentence`.
    """
    if key.text.tokenizer == "word" and key.config.vocab_size:
        raise InputError("The tokenizer word knows the words of your own text alone, and not the fixed sentences.")
    probes = key._replace(text=replace(key.text, sentences=PROBES), sentence=0, interventions=())
    check_probes(caches.tokenize(probes.text).unknown)
    return measure_habits([caches.compute_run(probes._replace(sentence=i)) for i in range(len(PROBES))])


@cache_by_weights
def _cut_maps(weights: WeightsId, config: ModelConfig, seed: int, layer: int, head: int, piece: int) -> HeadMaps:
    with services().turns.take():
        return attribution.head_maps(caches.encoder(weights, config, seed), layer, head, piece)


def show_on_arrival() -> None:
    """Have the page Attention open at its answer; for callbacks, also on other pages."""
    st.session_state[_ARRIVING] = True
    _leave_difference()


def _leave_difference() -> None:
    if current_value("attention_show") != "one head":
        st.session_state["attention_show"] = "one head"


def arrive_at_why() -> None:
    """Scroll to the answer, once, where the visitor came for it."""
    if st.session_state.pop(_ARRIVING, False):
        scroll_to("why")


def draw_linking_heads(**row: Any) -> None:
    """The row of heads, of which a press opens one; and all of them, in a table far below."""
    rows.draw_linking_heads(**row, on_open=_open_linking_head, on_all=_open_all_heads)
    if st.session_state.pop(_SEARCHING, False):
        scroll_to("heads_that_link")


def _open_linking_head() -> None:
    opened = st.session_state[rows.LINKING_KEY].opened
    if isinstance(opened, list) and len(opened) == 2:
        move_focus(layer=opened[0], head=opened[1])
        if current_value("attention_show") == "average of heads":
            choose_places(attention_show="one head")


def _open_all_heads() -> None:
    st.session_state[_SEARCHING] = True
    choose_places(attention_view="heads that link", attention_closer=True)


def draw_open_head(key: str) -> None:
    """A button below a table of heads that says which one is open, far above it, and scrolls there."""
    focus = current_focus(panels.shown_run())
    if current_value("attention_show") == "one head":
        st.button(
            f"Layer {focus.layer}, head {focus.head} is open above",
            key=f"{key}_up",
            icon=":material/arrow_upward:",
            type="tertiary",
            on_click=show_on_arrival,
            help="Scrolls to the answer on this head.",
        )


def draw_rival(names: Mapping[str, str]) -> None:
    """The list to choose from whom the key is compared with; `names` by their words in the link."""
    chosen = current_value("attention_rival")
    widgets.unbound_menu(
        "attention_rival",
        "why_rival_choice",
        "Compare it with a rival",
        list(names) if chosen in names else [*names, chosen],
        chosen,
        format_func=lambda word: names.get(word, f"position {word}, which cannot be the rival here"),
        help="The bars and the sentence say what this key has ahead of the rival, or the rival ahead of it. By "
        "default, the rival is the strongest other word.",
    )


def draw_word(words: Sequence[str]) -> None:
    """The word to put in the key's place: one of these, or what the visitor types."""
    chosen = current_value("attention_word")
    widgets.unbound_menu(
        "attention_word",
        "why_word_choice",
        "Another word in the key's place: choose one, or type your own",
        list(dict.fromkeys([*words, chosen])) if chosen else list(words),
        chosen or None,
        index=None,
        placeholder=words[0] if words else "",
        accept_new_options=True,
    )


@cache_by_weights
def _judge_ten(key: RunKey, layer: int, head: int, asked: tuple[int, ...]) -> Counter[counterfactuals.Verdict]:
    runs = ([caches.compute_run(key._replace(sentence=n)) for n in (2 * i, 2 * i + 1)] for i in asked)
    pairs = zip(asked, runs, strict=True)
    return Counter(counterfactuals.judge_nouns(TEN_SENTENCES[i][1:], pair, layer, head) for i, pair in pairs)


def draw_ten_sentences(layer: int, head: int) -> None:
    """Draw the button that tests a head in ten other sentences, and the counts once it is pressed."""
    texts = tuple(text.format(*nouns) for text, a, b, _ in TEN_SENTENCES for nouns in ((a, b), (b, a)))
    key = current_setup().untouched_key
    key = key._replace(text=replace(key.text, sentences=texts), sentence=0)
    try:
        tokens = caches.tokenize(key.text).tokens
    except PlaygroundError:
        return
    known = [{token.strip("␣") for token in each} for each in tokens]
    asked = tuple(i for i, each in enumerate(TEN_SENTENCES) if {*each[1:]} <= known[2 * i] & known[2 * i + 1])
    if not asked or (key.text.tokenizer == "word" and key.config.vocab_size):  # which knows the visitor's words alone
        return
    note = "In each, a pronoun follows two nouns. The nouns are then exchanged."
    if st.button("Test it in ten other sentences", key="ten_sentences", help=note):
        st.session_state["_ten_sentences"] = key, layer, head
    if st.session_state.get("_ten_sentences") == (key, layer, head):
        with panels.explain_errors():
            counts = _judge_ten(key, layer, head, asked)
        n = "ten" if len(asked) == len(TEN_SENTENCES) else f"{len(asked)} of ten"
        told = f"the word {counts['word']}, the place {counts['place']}, neither or too close {counts['close']}"
        st.markdown(f"In {n} other sentences: follows {told}.")


def draw_open_trained() -> None:
    """The button that opens the encoder of the small English that is nearest to the shown shape."""
    setup = current_setup()
    settings = {key: setup[key] for key, stops in STOPS.items() if setup[key] in stops}
    opens = partial(choose_english, **settings)
    if st.button("Open a trained encoder of this shape", key="open_trained", icon=":material/school:", on_click=opens):
        st.rerun()


def draw_quick_changes() -> None:
    """The buttons; one whose change is made takes it back, and one whose change cannot be made is grey and says why.

    Where the head is off, what that leaves as it was and what it moved stands below them; likewise of a cut cell.
    """
    run, setup = panels.shown_run(), current_setup()
    focus = current_focus(run)
    applied = setup.fitted_changes.applied
    asked: dict[str, tuple[str, str, Change]] = {
        "off": ("What if this head were off?", "Made: this head is off. Undo", Change("zero", focus.layer, focus.head)),
        "cut": (
            "What if it could not look there?",
            "Made: it cannot look there. Undo",
            Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0)),
        ),
    }
    refused = []
    with st.container(key="quick_changes", horizontal=True, gap="small"):
        for key, (question, answer, wanted) in asked.items():
            is_made = wanted in applied
            reason = "" if is_made else explain_refusal(setup, [wanted])
            if reason:
                refused.append(reason)
            draw_change_button(
                question,
                answer,
                [wanted],
                is_made=is_made,
                reason=reason,
                key=f"quick_{key}",
                icon=":material/question_exchange:",
                help_text=reason or explain_change(wanted, run.tokens),
            )
    for reason in dict.fromkeys(refused):
        st.caption(escape_markdown(reason))
    if any(_drops_head(each, focus) for each in applied):
        with st.container(key="head_is_off"):
            st.markdown(_describe_off(run, focus))
    elif asked["cut"][2] in applied:
        with st.container(key="cell_is_cut"):
            st.markdown(_describe_cut(run, focus))
    if applied and not st.context.is_embedded:
        draw_followed_button("quick_followed")


def _drops_head(change: Change, focus: Focus) -> bool:
    """Whether a change drops what the head in focus gathers, in part or in whole."""
    drops = change.kind == "zero" or change["sublayer"] == "attn"
    return drops and change.layer == focus.layer and change.head in (None, focus.head) and change.strength > 0


def _describe_off(run: Run, focus: Focus) -> str:
    """That a head that is off still attends, and what the changes have moved, in markdown."""
    share = max(each.strength for each in run.interventions if _drops_head(each, focus))
    off, dropped = ("off", "is dropped") if share == 1 else ("partly off", f"is dropped by {share:.0%}")
    return (
        f"**Layer {focus.layer}, head {focus.head} is {off}, and still attends:** its pattern stays, and what it "
        f"gathers {dropped} before it is added to the tokens' vectors. {_describe_moved(run)}"
    )


def _describe_cut(run: Run, focus: Focus) -> str:
    """That a query no longer looks at a key in one head, and what the changes have moved, in markdown."""
    query, key = (quote_place(run.tokens, place) for place in (focus.query, focus.key))
    return (
        f"**In layer {focus.layer}, head {focus.head}, {query} no longer looks at {key}:** its other keys share that "
        f"weight, each in proportion to its own. {_describe_moved(run)}"
    )


def _describe_moved(run: Run) -> str:
    """What the changes have moved: the sentence's vector, a token's, and a head's pattern."""
    with panels.explain_errors():
        untouched = caches.run_sentence(current_setup().untouched_key)
    moved = float(sentence_change(untouched, run).relative)
    if not np.isfinite(moved):
        return "What moved is beyond the range of 32-bit floats."
    whose = "That" if count_changes(run) == 1 else "All your changes together"
    told = f"{whose} moved the sentence's vector by **{moved:.1%}** of its length"
    by_token = stream_change(untouched, run).relative[-1]
    if np.isfinite(by_token).all() and by_token.max() >= LEAST_MOVED:
        token = int(by_token.argmax())
        told += (
            f"; of its tokens' vectors, that of {quote_place(run.tokens, token)} moved most, by {by_token[token]:.1%}"
        )
    weights = moved_weight(untouched, run)
    if not np.nan_to_num(weights).max() >= LEAST_MOVED:
        return f"{told}. No head's pattern changed by as much as {LEAST_MOVED:.2%} of its weight."
    layer, head = np.unravel_index(int(np.nanargmax(weights)), weights.shape)
    return f"{told}. The pattern of layer {layer}, head {head} changed most: {weights[layer, head]:.1%} of its weight."


def draw_stream_reading(token: int) -> None:
    """The likeliest answers of the trained network's own head at every depth, or why there are none."""
    run, setup = panels.shown_run(), current_setup()
    name = quote_place(run.tokens, token)
    st.markdown(f"**What would {name} be read as on its way?**")
    with panels.explain_errors():
        network = _find_tagger(setup.weights)
        if network is None:
            st.markdown(_why_unread(setup))
            return
        with services().turns.take():
            probabilities = logit_lens(run, token, network.encoder, network.head)
        labels = trained_slot.find_network(setup.weights).labels
    if not np.isfinite(probabilities).all():
        st.markdown("The head's scores are no finite numbers here: the network's numbers have left fp32's range.")
        return
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :LIKELIEST]
    likeliest = labels[order[-1, 0]]
    settled = next(depth for depth in range(len(order)) if (order[depth:, 0] == order[-1, 0]).all())
    st.markdown(
        f"At the end the network answers {quote_token(likeliest)} ({probabilities[-1, order[-1, 0]]:.0%}). From depth "
        f"{settled} on, this is the head's first choice."
    )
    columns = {
        f"choice {place + 1}": [
            f"{labels[answer]}  {probabilities[depth, answer]:.0%}" for depth, answer in enumerate(order[:, place])
        ]
        for place in range(order.shape[1])
    }
    entropies = [-sum(p * math.log2(p) for p in row if p > 0) for row in probabilities.tolist()]
    with st.container(key="stream_reading"):
        panels.show_table(
            "stream_reading_table",
            pd.DataFrame({"depth": range(len(order)), **columns, "entropy, bits": entropies}),
            hide_index=True,
        )
        learnt = (
            "Neither encoder nor head has learnt anything yet"
            if is_random(setup.weights)
            else "It has learnt to read the last depth alone: early rows say what it would make of them, and not all "
            "that they hold (Belrose et al. 2023)"
        )
        st.caption(
            f"**The network's own output head, at every depth of {name}** (the *logit lens*, nostalgebraist 2020). A "
            f"depth counts the blocks passed: 0 is the embeddings. {learnt}."
        )


def _find_tagger(weights: str) -> Tagger | None:
    """The network trained in this session, after training or before, if it is an encoder with an output head."""
    network = trained_slot.network_on_device(weights) if trained_slot.is_trained_network(weights) else None
    return network if isinstance(network, Tagger) else None


def _why_unread(setup: Setup) -> str:
    """Why no output head can read this encoder's vectors."""
    here = "A network that you train on the Training page has one, and is read here at every depth."
    if trained_slot.is_trained_network(setup.weights):
        title = escape_markdown(trained_slot.find_network(setup.weights).task.title)
        return (
            f"The network that learnt “{title}” writes with its decoder. Its encoder has no output head: none of its "
            "vectors was ever turned into an answer."
        )
    if setup.weights == "minilm":
        return (
            "As no word. This encoder was trained to make one vector of a whole sentence, and to place sentences that "
            "mean the same near each other. It has no output head that turns a token's vector into words. The nearest "
            f"rows of its token table would be a guess, as no training asked for them. {here}"
        )
    if setup.weights == "random":
        return f"As nothing yet: random weights have learnt no words, and there is no output head. {here}"
    return f"As no word: your file's encoder has no output head here, which would turn its vectors into words. {here}"


renderer.WIDGETS |= {
    "why_arrival": arrive_at_why,
    "linking_heads": draw_linking_heads,
    "why_word": draw_word,
    "why_rival": draw_rival,
    "ten_sentences": draw_ten_sentences,
    "quick_changes": draw_quick_changes,
    "open_head": draw_open_head,
    "open_trained": draw_open_trained,
    "stream_reading": draw_stream_reading,
}

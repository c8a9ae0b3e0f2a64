"""What the page says of its numbers: of the weights, of the pooling, and of what a similarity does not prove."""

import streamlit as st

from playground.analysis.sentences import SentenceDepths, spread_of_pairs
from playground.analysis.vector_changes import Pooling
from playground.charts.markdown import escape_markdown, quote_token
from playground.model.change_texts import name_change
from playground.runs.arrays import Array
from playground.text.wording import join_words
from playground.web.choices.setup import is_random
from playground.web.session import trained_slot
from playground.web.views.similarity.sentence_list import OPPOSITE, SWAPPED, SentenceList

POOLING_HELP = (
    "mean: over the sentence's own tokens, special ones included. first token: its vector alone, which is that of "
    "[CLS] where the tokenizer adds one. mean with padding: a mistake, the mean over [PAD] tokens too."
)


def describe_weights(listed: SentenceList, depths: SentenceDepths) -> str:
    """What these weights have learnt of similarity."""
    setup = listed.setup
    drawn = " Words are vectors drawn from the seed: only equal words are alike." if setup.takes_vectors else ""
    if is_random(setup.weights):
        spread = ""
        if len(depths.tokens) > 1 and depths.is_finite:
            low, high = spread_of_pairs(depths.similarity("mean"))
            spread = f" Mean vectors of different sentences are at {low:.2f} to {high:.2f}, whatever they mean."
        return (
            "**These weights are random**: nothing was learned, so no number here is about meaning. A cosine shows "
            f"which tokens two sentences share, where these stand, and chance.{spread}{drawn}"
        )
    trained = setup.trained_network
    if trained is not None:
        return (
            f"**Trained here**: this network has learnt the task {trained.task.title}, and never to compare sentences. "
            "Its similarity shows what that task needs."
        )
    if setup.weights == "minilm":
        return (
            "**The trained model was made for this.** It read pairs of texts that belong together, such as a question "
            "and its answer. Their mean vectors were moved together, those of other pairs apart."
        )
    return (
        "**Your own weights**: what they were trained for decides what is alike here. Without training on pairs of "
        f"sentences, a high cosine need not mean the same meaning.{drawn}"
    )


def describe_pooling(listed: SentenceList, depths: SentenceDepths, pooling: Pooling, pair: tuple[int, int]) -> str:
    """What the chosen pooling is, and what it does to the numbers on the screen."""
    if pooling == "mean":
        made = "as the trained model was trained" if listed.setup.weights == "minilm" else "as is usual"
        return f"A sentence's vector is the mean over its tokens' vectors, {made} (Reimers & Gurevych 2019, section 3)."
    if pooling == "first token":
        return f"{_describe_first_token(listed)} {_compare_spreads(depths, pooling)}"
    return _describe_padding(depths, pair)


def _describe_first_token(listed: SentenceList) -> str:
    batch = listed.batch
    if all(special[0] for special in batch.special):
        token = quote_token(batch.tokens[0][0])
        sentence = f"A sentence's vector is that of its first token, {token}, which the tokenizer adds."
    else:
        sentence = (
            "A sentence's vector is that of its first token: this tokenizer adds no [CLS] that could stand for all."
        )
    if any(listed.changes):
        return sentence
    if listed.setup["causal"]:
        is_alone = listed.key.config.head_merge == "transpose"  # the reshape merge mixes tokens, masked or not
        alone = " Under the causal mask it sees no other token, so sentences with the same first token are equal."
        return f"{sentence}{alone if is_alone else ''}"
    if listed.setup.weights == "minilm":
        return f"{sentence} It has read all others, but was trained only as one of those in the mean."
    return sentence


def _compare_spreads(depths: SentenceDepths, pooling: Pooling) -> str:
    if len(depths.tokens) < 2:
        return ""
    (low, high), (mean_low, mean_high) = (spread_of_pairs(depths.similarity(each)) for each in (pooling, "mean"))
    return (
        f"Cosines between different sentences lie from {low:.2f} to {high:.2f}; with the mean they lie from "
        f"{mean_low:.2f} to {mean_high:.2f}."
    )


def _describe_padding(depths: SentenceDepths, pair: tuple[int, int]) -> str:
    width, lengths = depths.padding.shape[1], depths.n_tokens
    added = [width - lengths[sentence] for sentence in dict.fromkeys(pair)]
    here, right = (float(depths.similarity(pooling)[pair]) for pooling in ("mean with padding", "mean"))
    sentence = (
        f"Every sentence is padded to the longest, {width} tokens, and here the vectors of [PAD] count as well: a "
        "mistake that raises no error."
    )
    if not any(added):
        return f"{sentence} The two chosen sentences have no padding, so their cosine is that of the mean: {right:.3f}."
    padded = [
        f"sentence {side + 1} has {count}" for side, count in zip(dict.fromkeys(pair), added, strict=True) if count
    ]
    return (
        f"{sentence} Of the chosen two, {join_words(padded)} of them. Their cosine is {here:.3f} instead of "
        f"{right:.3f}, and depends on how long the longest sentence of the list is."
    )


def how_to_read(listed: SentenceList, similarity: Array) -> str:
    """What a similarity is, and what it does not prove, with pairs that show it where they are on the screen."""
    shown = " ".join(filter(None, [_show_opposite(listed, similarity), _show_swap(listed, similarity)]))
    return (
        "**How to read this, and what it does not prove.** A cosine compares directions: 1 is the same, 0 a right "
        "angle. Training on pairs brings together what is about the same thing (Reimers & Gurevych 2019). A shared "
        "topic and shared words raise the cosine, even where the meaning turns around: a negation is one small word, "
        f"and another order changes no word at all.{' ' * bool(shown)}{shown} So no cosine proves by itself that two "
        "sentences mean the same. Read it beside the other pairs, and beside the tokens that they have in common."
    )


def _show_opposite(listed: SentenceList, similarity: Array) -> str:
    found = _find_cosines(listed, similarity, OPPOSITE)
    if not found:
        return ""
    opposite, same = found
    return (
        f"Here, *{OPPOSITE[0]}* is at {opposite:.2f} to *{OPPOSITE[1]}*, which says the opposite, and at {same:.2f} to "
        f"*{OPPOSITE[2]}*"
    )


def _show_swap(listed: SentenceList, similarity: Array) -> str:
    found = _find_cosines(listed, similarity, SWAPPED)
    return f"*{SWAPPED[0]}* is at {found[0]:.2f} to *{SWAPPED[1]}*" if found else ""


def _find_cosines(listed: SentenceList, similarity: Array, sentences: tuple[str, ...]) -> list[float]:
    """The cosines of the first of these sentences with each of the others; none where one is not on the screen."""
    if not set(sentences) <= set(listed.sentences):
        return []
    first, *others = (listed.sentences.index(sentence) for sentence in sentences)
    return [float(similarity[first, other]) for other in others]


def describe_computation(listed: SentenceList, depths: SentenceDepths) -> None:
    """Draw one line on what was computed, with which weights, and what these have learnt of similarity."""
    config, weights = listed.key.config, listed.setup.weights
    names = {"minilm": "trained weights", "random": ":orange-badge[random weights]"}
    origin = names.get(weights) or trained_slot.weights_label(weights) or "your own weights"
    n, lengths = len(depths.tokens), depths.n_tokens
    sizes = f"{lengths[0]} tokens" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)} tokens"
    st.caption(
        f"{n} sentence{'s' if n > 1 else ''} of {sizes} · {config.n_layers} layers × {config.n_heads} heads · {origin}"
    )
    unknown = [number for number, row in enumerate(listed.batch.unknown, start=1) if all(row)]
    if unknown:
        st.caption(
            f"The tokenizer knows no token of {len(unknown)} of these sentences, such as sentence {unknown[0]}: it "
            "reads [UNK] throughout, and sentences of as many [UNK] are equal."
        )
    for sentence in describe_changes(listed):
        st.caption(sentence)
    st.markdown(describe_weights(listed, depths))


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

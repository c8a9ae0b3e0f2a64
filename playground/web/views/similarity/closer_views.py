"""A closer look at two sentences: token by token, without each word, and the way of all of them through the layers."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.sentences import (
    Array64,
    LeftOutWords,
    Pair,
    SentenceDepths,
    describe_shares,
    is_for_any_text,
    name_depths,
    token_contributions,
    token_weights,
)
from playground.analysis.vector_changes import Pooling
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.figures import similarity as figures
from playground.figures.attribution import MOST_BARS
from playground.figures.theme import subscript, token_names, token_table
from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.views.similarity.sentence_list import SentenceList
from playground.web.views.similarity.similarity_cache import leave_words_out, map_sentences, read_depths

_VIEW_HELP = (
    "token by token: what each pair of tokens adds to the cosine. leave a word out: the text without one word, run "
    "again. map by depth: where all sentences lie, block by block."
)
_MIN_ON_MAP = 3
"""Sentences from which on a map says more than one distance does."""


def draw_closer_look(listed: SentenceList, depths: SentenceDepths, pooling: Pooling, pair: Pair) -> None:
    """The chosen pair in full, and the view that the visitor chooses."""
    n = len(depths.tokens)
    st.header("Look closer at two sentences")
    with st.container(horizontal=True):
        widgets.whole("similarity_first", "First sentence", high=n)
        widgets.whole("similarity_second", "Second sentence", high=n)
    for number in dict.fromkeys((pair.first, pair.second)):
        st.markdown(f"**{number + 1}** · {escape_markdown(listed.sentences[number])}")
    if pair.first == pair.second:
        st.markdown(
            f"Both are sentence {pair.first + 1}: it is compared with itself, and the cosine is {pair.cosine:.3f}."
        )
    else:
        st.markdown(f"Their cosine: **{pair.cosine:.3f}**")
    view = widgets.choice("similarity_view", "View", help_text=_VIEW_HELP)
    if view == "token by token":
        _draw_contributions(depths, pooling, pair)
    elif view == "leave a word out":
        _draw_left_out(listed, pooling, pair)
    else:
        _draw_map(listed, depths, pooling, pair)


def _draw_contributions(depths: SentenceDepths, pooling: Pooling, pair: Pair) -> None:
    """The cosine as a sum over pairs of tokens, and each token's part of it."""
    sides = pair.first, pair.second
    vectors = [(depths.final[side], depths.padding[side]) for side in sides]
    parts = token_contributions(vectors[0], vectors[1], pooling)
    counted = [token_weights(depths.padding[side], pooling) > 0 for side in sides]
    parts = parts[np.ix_(*counted)]
    tokens = [[depths.tokens[side][i] for i in np.flatnonzero(kept)] for side, kept in zip(sides, counted, strict=True)]
    st.latex(
        r"\cos(\bar x, \bar y) = \sum_{i,j} a_i\, b_j\, "
        r"\frac{x_i \cdot y_j}{\lVert \bar x \rVert\, \lVert \bar y \rVert}"
    )
    st.caption(_explain_weights(pooling, parts.shape))
    strongest = np.unravel_index(np.abs(parts).argmax(), parts.shape)
    row, column = int(strongest[0]), int(strongest[1])
    panels.chart(
        "similarity_tokens",
        figures.contribution_map(parts, *tokens),
        caption="Which tokens make the cosine? A row is a token of the first sentence, a column one of the second. A "
        f"cell is what the two add; all cells add up to {parts.sum():.3f}, the cosine. The strongest is "
        f"{quote_place(tokens[0], row)} with {quote_place(tokens[1], column)}: {parts[row, column]:+.3f}. A token's "
        "vector can also hold what attention brought from others, so it may stand for more than its own piece.",
        alt="Heatmap of what each pair of tokens adds to the cosine of two sentences",
        table=lambda: token_table(parts, *tokens),
    )
    for place, (side, column_box) in enumerate(zip(sides, st.columns(2), strict=True)):
        with column_box:
            _draw_token_sums(place, side, tokens[place], parts.sum(axis=1 - place))


def _explain_weights(pooling: Pooling, shape: tuple[int, ...]) -> str:
    if pooling == "first token":
        return "$a$ and $b$ are 1 for the first token and 0 for all others, so one pair of tokens is the whole cosine."
    padding = ", [PAD] too" if pooling == "mean with padding" else ""
    return (
        rf"$x_i$ and $y_j$ are the tokens' vectors as they leave the encoder, $\bar x$ and $\bar y$ their means. "
        f"$a_i = 1/{shape[0]}$ and $b_j = 1/{shape[1]}$: every token of a sentence weighs the same{padding}."
    )


def _draw_token_sums(place: int, side: int, tokens: list[str], sums: Array64) -> None:
    which = ("first", "second")[place]
    largest = int(sums.argmax())
    panels.bars(
        f"similarity_tokens_{which}",
        figures.token_sums(tokens, sums),
        caption=f"Sentence {side + 1}, the {which}: what each token adds, to all tokens of the other together. The "
        f"most is {quote_place(tokens, largest)} with {sums[largest]:+.3f}; the bars add up to {sums.sum():.3f}.",
        alt=f"Bars: what each token of the {which} sentence adds to the cosine",
        table=lambda: pd.DataFrame({"adds": sums}, token_names(tokens)),
    )


def _draw_left_out(listed: SentenceList, pooling: Pooling, pair: Pair) -> None:
    """What becomes of the cosine without each word of either sentence."""
    st.caption(
        "One word at a time is taken out of the text, with all its tokens, and the shorter text is run again. A word "
        "is what stands between blanks; each punctuation mark at its start or end is its own word. Its number "
        "is that of its first token. The other sentence stays whole."
    )
    changes = tuple(tuple(filter(is_for_any_text, each)) for each in listed.changes)
    cosine = pair.cosine
    if changes != listed.changes:
        with panels.explain_errors():
            cosine = float(read_depths(listed.key, changes).similarity(pooling)[pair.first, pair.second])
        st.caption(
            "Changes that name a token, a position or a sentence are not made here: a shorter text has other tokens "
            f"there. Without them, the cosine is {cosine:.3f}."
        )
    for place, box in enumerate(st.columns(2)):
        side, other = (pair.first, pair.second) if place == 0 else (pair.second, pair.first)
        with box:
            with panels.explain_errors():
                left_out = leave_words_out(listed.key._replace(sentence=side), changes, other, pooling)
            _draw_changes(("first", "second")[place], side, left_out, cosine)


def _draw_changes(which: str, side: int, left_out: LeftOutWords, cosine: float) -> None:
    if not left_out.words:
        st.info(f"Sentence {side + 1} has only one word: without it, nothing would be left to run.")
        return
    changes = np.array(left_out.similarities) - cosine
    lowest, highest = int(changes.argmin()), int(changes.argmax())
    names, notes = figures.word_names(left_out.words, left_out.places), ""
    if left_out.n_skipped:
        notes += f" The last {left_out.n_skipped} words are not tried: the runs would be too many."
    if len(changes) > MOST_BARS:
        notes += f" The {MOST_BARS} strongest of {len(changes)} words are drawn; the table has all."
    panels.bars(
        f"similarity_left_out_{which}",
        figures.word_changes(names, changes),
        caption=f"Sentence {side + 1}, the {which}, without each of its words: the change of the cosine from "
        f"{cosine:.3f}. {_name_extremes(left_out, changes, lowest, highest)} Without a word, the others may stand "
        f"elsewhere, and have less to read.{notes}",
        alt=f"Bars: the change of the cosine without each word of the {which} sentence",
        table=lambda: pd.DataFrame(
            {"cosine without it": left_out.similarities, "change": changes},
            names,
        ),
    )


def _name_extremes(left_out: LeftOutWords, changes: Array64, lowest: int, highest: int) -> str:
    """The words without which the cosine falls and rises the most, where it does."""
    falls = f"It falls the most without {_quote_word(left_out, lowest)}, by {-changes[lowest]:.3f}."
    rises = f"It rises the most without {_quote_word(left_out, highest)}, by {changes[highest]:.3f}."
    said = [falls] * bool(changes[lowest] <= -0.0005) + [rises] * bool(changes[highest] >= 0.0005)
    return " ".join(said) or "No word changes it by as much as 0.001."


def _quote_word(left_out: LeftOutWords, number: int) -> str:
    """A word as code, with the position of its first token below the line."""
    place = left_out.places[number]
    return f"{quote_token(left_out.words[number])}{'' if place is None else subscript(place)}"


def _draw_map(listed: SentenceList, depths: SentenceDepths, pooling: Pooling, pair: Pair) -> None:
    """Where the sentences lie at one depth, on axes that all depths share."""
    if len(depths.tokens) < _MIN_ON_MAP:
        st.info(f"A map needs at least {_MIN_ON_MAP} sentences: two have one distance, and no map.")
        return
    with panels.explain_errors():
        drawn = map_sentences(listed.key, listed.changes, pooling)
    names = name_depths(listed.key.config)
    depth = widgets.whole("similarity_depth", "Depth: blocks passed (0 = embeddings)", high=len(names) - 1)
    where = f"of the {names[depth]}" if depth == 0 else names[depth]
    panels.chart(
        "similarity_map",
        figures.depth_map(drawn.points, depth, listed.sentences, (pair.first, pair.second), drawn.explained),
        caption=f"How do the sentences part, block by block? A dot is a sentence's vector {where}, by its number. The "
        "chosen two are red, and grey lines are their way through all depths. The axes are the two directions in which "
        "the sentences differ most, over all depths together (principal component analysis, fitted once), so they stay "
        f"while the depth moves. {describe_shares(drawn, depth)} Each depth's mean is taken off.",
        alt=f"Map of {len(names)} depths: where {len(depths.tokens)} sentences lie on two axes",
        table=lambda: pd.DataFrame(drawn.points[depth], figures.sentence_names(listed.sentences), ["axis 1", "axis 2"]),
    )

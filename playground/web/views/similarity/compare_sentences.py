"""The page's one fragment: the sentences, their matrix and its pairs, and a closer look at one pair."""

from typing import cast

import pandas as pd
import streamlit as st

from playground.analysis.sentences import Pair, common_tokens, rank_pairs
from playground.analysis.vector_changes import Pooling
from playground.figures import similarity as figures
from playground.link import query
from playground.runs.arrays import Array
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.components.charts import CellFrame, clicked_cell
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError, fragment
from playground.web.views.similarity import closer_views, meaning
from playground.web.views.similarity.sentence_list import SentenceList, choose_sentences
from playground.web.views.similarity.similarity_cache import read_depths

_CHART = "similarity_matrix"
_PAIRS = "similarity_pairs"
_MOST_ROWS = 6
"""Pairs that are seen at once; the others are scrolled to."""

_ROW = 76
"""Pixels of a table's row: four lines of a sentence, which wrap."""

_HEADER = 38
"""Pixels of a table's header with the border."""


@fragment
def explore_similarity() -> None:
    """The sentences, which are alike, and a closer look at two of them."""
    listed = choose_sentences()
    with panels.explain_errors():
        depths = read_depths(listed.key, listed.changes)
    meaning.describe_computation(listed, depths)
    if not depths.is_finite:
        st.info(
            "**Overflow**: numbers on the way have become too large for 32-bit floats, so no similarity can be "
            "computed. Norms are there to prevent this."
        )
        raise PageEndError
    pooling = cast(
        Pooling,
        widgets.choice(
            "similarity_pooling", "How a sentence's tokens become one vector (pooling)", help_text=meaning.POOLING_HELP
        ),
    )
    similarity = depths.similarity(pooling)
    pair = _find_pair(similarity)
    st.markdown(meaning.describe_pooling(listed, depths, pooling, (pair.first, pair.second)))
    if len(similarity) > 1:
        _draw_matrix_and_pairs(listed, similarity, pair)
    st.markdown(meaning.how_to_read(listed, similarity))
    closer_views.draw_closer_look(listed, depths, pooling, pair)


def _find_pair(similarity: Array) -> Pair:
    """The pair that the visitor has chosen, or the nearest that there is."""
    last = len(similarity)
    first, second = (min(int(current_value(key)), last) - 1 for key in ("similarity_first", "similarity_second"))
    return Pair(first, second, float(similarity[first, second]))


def _draw_matrix_and_pairs(listed: SentenceList, similarity: Array, pair: Pair) -> None:
    """Every cosine as a map in which a click chooses a pair, and beside it the pairs from the most similar down."""
    left, right = st.columns([3, 2])
    pairs, n = rank_pairs(similarity), len(similarity)
    nearest, farthest = pairs[0], pairs[-1]
    found = (
        f"Sentences {nearest.first + 1} and {nearest.second + 1} are at {nearest.cosine:.2f}"
        if len(pairs) == 1
        else f"The most similar are sentences {nearest.first + 1} and {nearest.second + 1} ({nearest.cosine:.2f}), the "
        f"least similar {farthest.first + 1} and {farthest.second + 1} ({farthest.cosine:.2f})"
    )
    with left:
        panels.chart(
            _CHART,
            figures.similarity_matrix(similarity, listed.sentences),
            caption="Which sentences point the same way? A row and a column are a sentence each, a cell is the cosine "
            f"of their vectors; the diagonal compares each with itself. {found}. The frame marks the chosen pair; "
            "click a cell to choose another.",
            alt=f"Heatmap of the cosine between each two of {n} sentences",
            overlay=CellFrame(
                _CHART,
                (pair.first, pair.second),
                range(n),
                range(n),
                _take_click,
                label="The chosen pair: its first sentence, in its row, and the second, in its column. Arrow keys move "
                f"them. Now: sentences {pair.first + 1} and {pair.second + 1}.",
            ),
            table=lambda: pd.DataFrame(similarity, figures.sentence_names(listed.sentences), range(1, n + 1)),
        )
    with right:
        _draw_pairs(listed, pairs)


def _draw_pairs(listed: SentenceList, pairs: list[Pair]) -> None:
    """Every pair with its cosine and the tokens that it has in common; a click on a row chooses it."""
    shared, names = common_tokens(listed.batch), [f"{i} · {text}" for i, text in enumerate(listed.sentences, start=1)]
    table = pd.DataFrame(
        {
            "cosine": [pair.cosine for pair in pairs],
            "in common": [100 * shared[pair.first, pair.second] for pair in pairs],
            "first": [names[pair.first] for pair in pairs],
            "second": [names[pair.second] for pair in pairs],
        }
    )
    st.markdown("**Nearest pairs first**")
    panels.show_table(
        _PAIRS,
        table,
        on_row=lambda row: _choose_pair(pairs[row]),
        hide_index=True,
        height=_HEADER + _ROW * min(len(pairs), _MOST_ROWS),
        row_height=_ROW,
        column_config={
            "cosine": st.column_config.NumberColumn(format="%.3f", width=60),
            "in common": st.column_config.NumberColumn(format="%.0f %%", width=78),
            **{name: st.column_config.TextColumn(width=94) for name in ("first", "second")},
        },
    )
    st.caption(
        "*In common*: of all different tokens of the two, how many are in both; special tokens and punctuation are "
        "left out. Click a row to choose its pair."
    )


def _take_click() -> None:
    first, second = clicked_cell(_CHART)
    if first is not None and second is not None:
        _choose_pair(Pair(first, second, 0.0))


def _choose_pair(pair: Pair) -> None:
    """Choose a pair, as far as its numbers can be sentences: what the browser sends is as little trusted as a link."""
    for key, number in (("similarity_first", pair.first), ("similarity_second", pair.second)):
        value, complaint = query.read(key, [str(number + 1)])
        if complaint is None:
            st.session_state[key] = value

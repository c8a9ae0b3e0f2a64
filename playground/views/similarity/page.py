"""Which of many sentences are alike: the chosen pair, the cosine of each two, every pair, and a closer look."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from playground.analysis.sentences import Pair, Pooling, common_tokens, rank_pairs
from playground.charts import colour_scales
from playground.charts.chart import Axis, Columns, Control, Heatmap, Item, Options, Paragraph, Table, Widget, fill_panel
from playground.charts.markdown import escape_markdown
from playground.charts.names import shortened
from playground.charts.scene import Scene
from playground.link.params import SENTENCE_PAIR
from playground.text.wording import write_decimals
from playground.views.similarity.depth_map import show_map
from playground.views.similarity.left_out import show_left_out
from playground.views.similarity.names import LONGEST_HOVER, LONGEST_ROW, name_sentences, write_two_lines
from playground.views.similarity.pooling import describe_pooling, describe_weights, how_to_read
from playground.views.similarity.sentences import Sentences
from playground.views.similarity.tokens import explain_parts, show_contributions

_LONGEST_CHOICE = 46
"""Letters of a sentence in the list that a pair is chosen of."""

_LONGEST_RANKED = 40
"""Letters of a sentence in the ranking, which fit in three lines on a phone."""

HELP = {
    "pooling": "mean: over the sentence's own tokens, special ones included. first token: its vector alone, which is "
    "that of [CLS] where the tokenizer adds one. mean with padding: a mistake, the mean over [PAD] tokens too.",
    "view": "token by token: what each pair of tokens adds to the cosine. leave a word out: the text without one word, "
    "run again. map by depth: where all sentences lie, block by block.",
}

MOST_WRITTEN = 12
"""Sentences up to which every cell of the matrix has its number written in it."""

_EQUAL = 1e-6
"""Cosines that are no farther apart differ by rounding."""

_ALL_CLOSE = 0.7
"""The lowest cosine from which on all sentences are called close."""


def show_similarity(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """The page without its list: which sentences are alike, and why two of them are."""
    yield from show_pairs(scene, options)
    yield from show_details(scene, options)


def show_pairs(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """The chosen pair beside the closest one, what makes vectors of sentences, and the cosine of each two."""
    subject, pooling = scene.now, options["similarity_pooling"]
    if not subject.depths.is_finite:
        yield Paragraph(
            "**Overflow**: numbers on the way have become too large for 32-bit floats, so no similarity can be "
            "computed. Norms are there to prevent this.",
            "info",
        )
        return
    pairs = rank_pairs(subject.depths.similarity(pooling))
    yield Paragraph(answer_pairs(subject, pooling, pairs, _chosen_pair(subject, options)), "answer")
    yield Control("similarity_pooling", "How a sentence's tokens become one vector (pooling)", HELP["pooling"])
    if pairs:
        yield _matrix(subject, pooling, _chosen_pair(subject, options))


def answer_pairs(subject: Sentences, pooling: Pooling, pairs: Sequence[Pair], chosen: Pair) -> str:
    """The closest of these pairs, the closest first, beside the chosen one, and whether that means anything."""
    if not pairs:
        return "There is only one sentence here: type a second one, and this page says how alike they are."
    nearest, cosines = pairs[0], [pair.cosine for pair in pairs]
    n_equal = sum(each > nearest.cosine - _EQUAL for each in cosines)
    is_nearest = chosen.first != chosen.second and chosen.cosine > nearest.cosine - _EQUAL
    closest = chosen if is_nearest else nearest
    names = [f"*{escape_markdown(shortened(text, LONGEST_HOVER))}* ({i})" for i, text in enumerate(subject.texts, 1)]
    measured = {
        "mean": "their cosine",
        "first token": "the cosine of their first tokens",
        "mean with padding": "their cosine, with padding counted,",
    }[pooling]
    pair = f"{names[closest.first]} and {names[closest.second]}"
    cosine = f"{measured} is **{write_decimals(closest.cosine, 2)}**, where 1 is the same direction"
    if len(pairs) == 1:
        found = f"{pair}: {cosine} and 0 a right angle."
    else:
        which = "the closest pair" if n_equal == 1 else f"one of {n_equal} equally close pairs"
        median = f"the median of all {len(pairs)} pairs is **{write_decimals(float(np.median(cosines)), 2)}**"
        found = f"{pair} are {which}: {cosine}; {median}."
    if subject.weights != "random" and not subject.task:
        one, other = ([token for token in subject.batch.tokens[i] if token.isalnum()] for i in closest[:2])
        if one != other and sorted(one) == sorted(other):
            found += " They have the same words in another order: a high cosine does not say that they mean the same."
    if chosen.first == chosen.second:
        found += f" In the red frame, {names[chosen.first]} is compared with itself: 1."
    elif not is_nearest:
        framed = f"{names[chosen.first]} and {names[chosen.second]}"
        found += f" In the red frame are {framed}: **{write_decimals(chosen.cosine, 2)}**."
    if subject.task:
        return f"{found} This network never learnt to compare sentences."
    if subject.weights != "random":
        return found
    if len(pairs) > 1 and cosines[-1] >= _ALL_CLOSE:
        return f"{found} All are close, and it means nothing: these weights are **random**."
    return f"{found} It means nothing: these weights are **random**."


def _chosen_pair(subject: Sentences, options: Options) -> Pair:
    similarity = subject.depths.similarity(options["similarity_pooling"])
    first, second = (min(int(options[place]), len(similarity)) - 1 for place in SENTENCE_PAIR)
    return Pair(first, second, float(similarity[first, second]))


def show_details(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """What makes the chosen two alike, or unlike; panels: every pair in a list, and what the numbers are."""
    subject, pooling = scene.now, options["similarity_pooling"]
    if not subject.depths.is_finite:
        return
    pair, similarity = _chosen_pair(subject, options), subject.depths.similarity(pooling)
    pairs = rank_pairs(similarity)
    yield from _look_closer(subject, pooling, pair, pairs, options)
    if pairs:
        title = "Every pair, the closest first"
        icon = ":material/format_list_numbered:"
        yield fill_panel(options, "similarity_ranking", title, lambda: _list_pairs(pairs), icon)

    def explain() -> Iterator[Item]:
        yield Paragraph(describe_pooling(subject, pooling, pair))
        yield Paragraph(describe_weights(subject))
        yield Paragraph(how_to_read(subject.texts, similarity))
        yield from explain_parts(subject, pooling, pair)

    title = "What these numbers are, and what they do not prove"
    yield fill_panel(options, "similarity_how", title, explain, ":material/help:")


def _matrix(subject: Sentences, pooling: Pooling, pair: Pair) -> Heatmap[Sentences]:
    """The cosine of each two sentences; rows have their beginnings, columns their numbers alone."""
    n = len(subject.texts)
    numbers, names = range(1, n + 1), name_sentences(subject.texts, LONGEST_ROW)
    return Heatmap(
        key="similarity_matrix",
        alt=f"Heatmap of the cosine between each two of {n} sentences",
        caption="A row and a column are a sentence each. A cell is their *cosine*: 1 where their vectors point the "
        f"same way, 0 at a right angle. The red frame is the chosen pair, {pair.first + 1} and {pair.second + 1}. "
        "Click a cell to choose another.",
        values=lambda shown: shown.depths.similarity(pooling).astype(np.float32),
        rows=Axis(
            "",
            lambda _: names,
            place=SENTENCE_PAIR[0],
            numbers=lambda _: numbers,
            options={"tickvals": list(range(n)), "ticktext": write_two_lines(subject.texts)}
            if n <= MOST_WRITTEN
            else {"nticks": n + 1},
        ),
        columns=Axis(
            "",
            lambda _: [str(number) for number in numbers],
            place=SENTENCE_PAIR[1],
            numbers=lambda _: numbers,
            options={"nticks": MOST_WRITTEN + 1, "tickangle": 0},
        ),
        bar="cosine",
        hover="%{y}<br>and sentence %{x}<br>cosine",
        more="a larger cosine",
        number=".3f",
        written=".2f" if n <= MOST_WRITTEN else "",
        colours=colour_scales.within(1),
        flat_bar=True,
        height=128 + (34 if n <= MOST_WRITTEN else 18) * n,
        click="The chosen pair: its first sentence, in its row, and the second, in its column. Arrow keys move them.",
        chosen=_choose(pair),
    )


def _choose(pair: Pair) -> dict[str, int]:
    """The parameters' values that choose a pair."""
    return dict(zip(SENTENCE_PAIR, (pair.first + 1, pair.second + 1), strict=True))


def _list_pairs(pairs: Sequence[Pair]) -> Iterator[Item]:
    """Every pair with its cosine and the tokens that it has in common; a click on a row chooses it."""

    def rank(shown: Sentences) -> pd.DataFrame:
        shared, names = common_tokens(shown.batch), name_sentences(shown.texts, _LONGEST_RANKED)
        return pd.DataFrame(
            {
                "cosine": [pair.cosine for pair in pairs],
                "first": [names[pair.first] for pair in pairs],
                "second": [names[pair.second] for pair in pairs],
                "in common": [100 * shared[pair.first, pair.second] for pair in pairs],
            }
        )

    yield Table(
        key="similarity_pairs",
        frame=rank,
        formats={"cosine": "%.3f", "in common": "%.0f%%"},
        widths={"cosine": 58, "first": 131, "second": 131},  # together as wide as a phone
        shows_index=False,
        row_height=66,  # three lines of a sentence: Streamlit wraps words in rows of more than 64 pixels
        most_rows=7,
        on_row=lambda row: _choose(pairs[row]),
    )
    yield Paragraph(
        "*In common*: of all different tokens of the two, how many are in both; special tokens and punctuation are "
        "left out. Click a row to choose its pair.",
        "caption",
    )


def _look_closer(
    subject: Sentences, pooling: Pooling, pair: Pair, pairs: Sequence[Pair], options: Options
) -> Iterator[Item]:
    """The chosen pair beside the closest one, and the view that the visitor chooses."""
    first, second = pair.first + 1, pair.second + 1
    yield Paragraph(
        f"What makes sentences {first} and {second} alike, or unlike?"
        if first != second
        else f"Sentence {first} beside itself",
        "header",
    )
    names = dict(enumerate(name_sentences(subject.texts, _LONGEST_CHOICE), start=1))
    chosen = zip(SENTENCE_PAIR, ("First sentence", "Second sentence"), (first, second), strict=True)
    if len(names) > 1:
        lists = [
            {"place": place, "label": label, "names": names, "number": number, "whole": _whole_if_cut(subject, number)}
            for place, label, number in chosen
        ]
        yield Columns(tuple((Widget("sentence_list", each),) for each in lists))
    yield from _compare_with_closest(pair, pairs)
    yield Control("similarity_view", "View", HELP["view"])
    yield from VIEWS[options["similarity_view"]](subject, pooling, pair, options)


def _whole_if_cut(subject: Sentences, number: int) -> str:
    """A sentence, by its number from 1, in markdown where its name in the lists is cut; else nothing."""
    text = subject.texts[number - 1]
    return escape_markdown(text) if len(text) > _LONGEST_CHOICE else ""


def _compare_with_closest(pair: Pair, pairs: Sequence[Pair]) -> Iterator[Item]:
    """The chosen pair's cosine, beside that of the closest of all pairs, which a button chooses."""
    if pair.first == pair.second:
        yield Paragraph(
            f"Both are sentence {pair.first + 1}: it is compared with itself, and the cosine is "
            f"{write_decimals(pair.cosine, 3)}."
        )
        return
    cosine = f"Their cosine: **{write_decimals(pair.cosine, 3)}**"
    closest, *others = pairs
    if pair.cosine > closest.cosine - _EQUAL:
        yield Paragraph(f"{cosine}. No other pair is closer." if others else cosine)
        return
    yield Paragraph(f"{cosine}. The closest pair, {closest.first + 1} and {closest.second + 1}, "
                    f"has **{write_decimals(closest.cosine, 3)}**.")  # fmt: skip
    yield Widget("closest_pair", {"chosen": _choose(closest)})


CloserView: TypeAlias = Callable[[Sentences, Pooling, Pair, Options], Iterator[Item]]

VIEWS: Mapping[str, CloserView] = {
    "token by token": show_contributions,
    "leave a word out": show_left_out,
    "map by depth": show_map,
}
"""By the value of `similarity_view`."""

"""Which of many sentences are alike, by which tokens and words, and from which layer on.

Legend: S depths, N sentences, n and m tokens of two of them.
"""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from textwrap import wrap
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from playground.analysis.sentences import (
    DepthMap,
    LeftOutWords,
    Pair,
    Pooling,
    SentenceDepths,
    common_tokens,
    describe_shares,
    name_depths,
    rank_pairs,
    spread_of_pairs,
    token_contributions,
    token_weights,
)
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.bars import MOST_BARS, LabelledRows, add_up_smallest, keep_largest
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Formula,
    Heatmap,
    Item,
    LabelledBars,
    Options,
    Paragraph,
    Picture,
    Table,
    Widget,
    fill_panel,
    token_axis,
)
from playground.charts.figure import Array, Figure
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.charts.names import label, shortened, subscript, token_names
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.text import Batch
from playground.text.wording import join_words, upper_first, write_decimals

EXAMPLE = (
    "The animal crossed the street because it was not tired.",
    "The tired animal stayed on its side of the road.",
    "The film was good.",
    "The film was not good.",
    "I enjoyed the movie.",
    "The dog bit the man.",
    "The man bit the dog.",
    "Interest rates rose last week.",
    "The bank raised its rates.",
)
"""Sentences that mean the same in other words, the opposite in nearly the same words, and something else."""

OPPOSITE = (EXAMPLE[2], EXAMPLE[3], EXAMPLE[4])
"""A sentence, its negation, and the first one in other words."""

SWAPPED = (EXAMPLE[5], EXAMPLE[6])
"""The same words in another order, who does what to whom."""

MOST_WRITTEN = 12
"""Sentences up to which every cell of the matrix has its number written in it."""

PLACES = ("similarity_first", "similarity_second")
"""The parameters that choose a pair; they count sentences from 1."""

HELP = {
    "pooling": "mean: over the sentence's own tokens, special ones included. first token: its vector alone, which is "
    "that of [CLS] where the tokenizer adds one. mean with padding: a mistake, the mean over [PAD] tokens too.",
    "view": "token by token: what each pair of tokens adds to the cosine. leave a word out: the text without one word, "
    "run again. map by depth: where all sentences lie, block by block.",
}

_MIN_ON_MAP = 3
"""Sentences from which on a map says more than one distance does."""

_LONGEST_ROW, _LONGEST_CHOICE, _LONGEST_HOVER = 14, 46, 60
"""Letters of a sentence beside the matrix, in the list that a pair is chosen of, and where there is room."""

_EQUAL = 1e-6
"""Cosines that are no farther apart differ by rounding."""

_ALL_CLOSE = 0.7
"""The lowest cosine from which on all sentences are called close."""


@dataclass(frozen=True)
class Sentences:
    """Sentences, what an encoder makes of them, and what else can be computed of them."""

    texts: tuple[str, ...]
    batch: Batch
    """Their tokens."""
    depths: SentenceDepths
    config: ModelConfig
    weights: str
    """Whose they are: `minilm`, `random`, or another word for those of the visitor's own."""
    map_depths: Callable[[Pooling], DepthMap]
    """Places the sentences on two axes; raises as their run."""
    leave_words_out: Callable[[int, int, Pooling], LeftOutWords]
    """Runs a sentence without each of its words, beside another one; raises as their run."""
    task: str = ""
    """What the network was trained for, where that was on this server."""
    causal: bool = False
    is_changed: bool = False
    """Whether the visitor has changed any sentence's run."""
    for_any_text: Callable[[], SentenceDepths] | None = None
    """Runs the sentences with the changes that any text can have; None where all changes are such ones."""


def show_similarity(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """The page without its list: which sentences are alike, and why two of them are."""
    yield from show_pairs(scene, options)
    yield from show_details(scene, options)


def show_pairs(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """The chosen pair beside the closest one, and the cosine of each two sentences."""
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
    if pairs:
        yield _matrix(subject, pooling, _chosen_pair(subject, options))


def answer_pairs(subject: Sentences, pooling: Pooling, pairs: Sequence[Pair], chosen: Pair) -> str:
    """The chosen pair's cosine, beside the closest of these pairs, the closest first, and whether that means anything.

    The pair that is told first is the one in the map's frame.
    """
    if not pairs:
        return "There is only one sentence here: type a second one, and this page says how alike they are."
    nearest, cosines = pairs[0], [pair.cosine for pair in pairs]
    n_equal = sum(each > nearest.cosine - _EQUAL for each in cosines)
    one, other = (f"*{escape_markdown(shortened(subject.texts[i], _LONGEST_HOVER))}* ({i + 1})" for i in chosen[:2])
    pooled = {"mean": "", "first token": " of their first tokens", "mean with padding": ", with padding counted,"}
    cosine = f"cosine{pooled[pooling]} is **{chosen.cosine:.2f}**"
    is_nearest = chosen.first != chosen.second and chosen.cosine > nearest.cosine - _EQUAL
    median = f"the median of all {len(pairs)} pairs is **{np.median(cosines):.2f}**"
    if chosen.first == chosen.second:
        found = f"{one}, in the red frame, is compared with itself: the cosine{pooled[pooling]} is 1."
    elif len(pairs) == 1:
        found = f"{one} and {other}: their {cosine}, where 1 is the same direction and 0 a right angle."
    elif is_nearest:
        which = "the closest pair" if n_equal == 1 else f"one of {n_equal} equally close pairs"
        found = f"{one} and {other} are {which}: their {cosine}, where 1 is the same direction; {median}."
    else:
        found = f"{one} and {other}, in the red frame: their {cosine}, where 1 is the same direction."
        found += f" {upper_first(median)}."
    if len(pairs) > 1 and not is_nearest:
        which = "The closest pair is" if n_equal == 1 else f"{n_equal} pairs are equally close, such as"
        found += f" {which} {nearest.first + 1} and {nearest.second + 1}: **{nearest.cosine:.2f}**."
    if subject.task:
        return f"{found} This network never learnt to compare sentences."
    if subject.weights != "random":
        last = chosen if is_nearest else nearest
        tokens = [sorted(token for token in subject.batch.tokens[i] if token.isalnum()) for i in last[:2]]
        same = " They have the same words in another order: close is not the same meaning."
        is_reordered = subject.texts[last.first] != subject.texts[last.second] and tokens[0] == tokens[1]
        return f"{found}{same * is_reordered}"
    if len(pairs) > 1 and cosines[-1] >= _ALL_CLOSE:
        return f"{found} All are close, and it means nothing: these weights are **random**."
    return f"{found} It means nothing: these weights are **random**."


def _chosen_pair(subject: Sentences, options: Options) -> Pair:
    similarity = subject.depths.similarity(options["similarity_pooling"])
    first, second = (min(int(options[place]), len(similarity)) - 1 for place in PLACES)
    return Pair(first, second, float(similarity[first, second]))


def show_details(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """Which words bring the chosen two together; panels: every pair in a list, and what the numbers are."""
    subject, pooling = scene.now, options["similarity_pooling"]
    if not subject.depths.is_finite:
        return
    pair, similarity = _chosen_pair(subject, options), subject.depths.similarity(pooling)
    pairs = rank_pairs(similarity)
    yield from _look_closer(subject, pooling, pair, pairs, options)
    if pairs:
        title = "Every pair, the closest first"
        icon = ":material/format_list_numbered:"
        yield fill_panel(options, "similarity_ranking", title, lambda: _list_pairs(subject, pairs), icon)
    choice = Control("similarity_pooling", "How a sentence's tokens become one vector (pooling)", HELP["pooling"])

    def explain() -> Iterator[Item]:
        yield choice
        yield Paragraph(describe_pooling(subject, pooling, pair))
        yield Paragraph(describe_weights(subject))
        yield Paragraph(how_to_read(subject.texts, similarity))
        yield from _explain_parts(subject, pooling, pair)

    title = "What these numbers are, and what they do not prove"
    yield fill_panel(options, "similarity_how", title, explain, ":material/help:", closed=(choice,))


def _matrix(subject: Sentences, pooling: Pooling, pair: Pair) -> Heatmap[Sentences]:
    """The cosine of each two sentences; rows have their beginnings, columns their numbers alone."""
    n = len(subject.texts)
    numbers, names = range(1, n + 1), name_sentences(subject.texts, _LONGEST_ROW)
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
            place=PLACES[0],
            numbers=lambda _: numbers,
            options={"tickvals": list(range(n)), "ticktext": _two_lines(subject.texts)}
            if n <= MOST_WRITTEN
            else {"nticks": n + 1},
        ),
        columns=Axis(
            "",
            lambda _: [str(number) for number in numbers],
            place=PLACES[1],
            numbers=lambda _: numbers,
            options={"nticks": MOST_WRITTEN + 1, "tickangle": 0},
        ),
        bar="cosine",
        hover="%{y}<br>and sentence %{x}<br>cosine",
        more="a larger cosine",
        number=".3f",
        written=".2f" if n <= MOST_WRITTEN else "",
        colours=colour_scales.within(1),
        bar_above=True,
        height=128 + (34 if n <= MOST_WRITTEN else 18) * n,
        click="The chosen pair: its first sentence, in its row, and the second, in its column. Arrow keys move them.",
        chosen=_choose(pair),
    )


def _choose(pair: Pair) -> dict[str, int]:
    """The parameters' values that choose a pair."""
    return dict(zip(PLACES, (pair.first + 1, pair.second + 1), strict=True))


def _list_pairs(subject: Sentences, pairs: Sequence[Pair]) -> Iterator[Item]:
    """Every pair with its cosine and the tokens that it has in common; a click on a row chooses it."""

    def rank(shown: Sentences) -> pd.DataFrame:
        shared, names = common_tokens(shown.batch), [f"{i} · {text}" for i, text in enumerate(shown.texts, start=1)]
        return pd.DataFrame(
            {
                "cosine": [pair.cosine for pair in pairs],
                "in common": [100 * shared[pair.first, pair.second] for pair in pairs],
                "first": [names[pair.first] for pair in pairs],
                "second": [names[pair.second] for pair in pairs],
            }
        )

    yield Table(
        key="similarity_pairs",
        frame=rank,
        formats={"cosine": "%.3f", "in common": "%.0f%%"},
        widths={"cosine": 60, "in common": 78},
        shows_index=False,
        row_height=54,  # two lines of a sentence, which wrap
        most_rows=8,
        on_row=lambda row: _choose(pairs[row]),
    )
    yield Paragraph(
        "*In common*: of all different tokens of the two, how many are in both; special tokens and punctuation are "
        "left out. Click a row to choose its pair.",
        "caption",
    )


def name_sentences(sentences: Sequence[str], longest: int = 18) -> list[str]:
    """Each sentence's number, from 1, and its beginning; of those that begin alike, where they differ."""
    beginnings = [shortened(sentence, longest) for sentence in sentences]
    names = []
    for number, (sentence, beginning) in enumerate(zip(sentences, beginnings, strict=True), start=1):
        alike = {other for other, shown in zip(sentences, beginnings, strict=True) if shown == beginning}
        names.append(f"{number} · {_after_common_words(sentence, alike, longest) if len(alike) > 1 else beginning}")
    return names


def _two_lines(sentences: Sequence[str]) -> list[str]:
    """As `name_sentences`, as long as fits into two lines, as Plotly shows them."""
    names = name_sentences(sentences, 2 * _LONGEST_ROW + 4)
    lines = (wrap(name, _LONGEST_ROW + 5, max_lines=2, placeholder=" …") for name in names)
    return ["<br>".join(html.escape(line, quote=False) for line in each) for each in lines]


def _after_common_words(sentence: str, alike: set[str], longest: int) -> str:
    """A sentence from the first word on in which these differ."""
    words = zip(*(each.split() for each in alike), strict=False)
    common = list(takewhile(lambda same: len(set(same)) == 1, words))
    return shortened(f"… {' '.join(sentence.split()[len(common) :])}", longest)


def describe_weights(subject: Sentences) -> str:
    """What these weights have learnt of similarity."""
    depths, drawn = subject.depths, ""
    if subject.config.vocab_size == 0:
        drawn = " Words are vectors drawn from the seed: only equal words are alike."
    if subject.weights == "random":
        spread = ""
        if len(depths.tokens) > 1 and depths.is_finite:
            low, high = spread_of_pairs(depths.similarity("mean"))
            ends = f"{write_decimals(low, 2)} to {write_decimals(high, 2)}"
            spread = f" Mean vectors of different sentences are at {ends}, whatever they mean."
        return (
            "**These weights are random**: nothing was learned, so no number here is about meaning. A cosine shows "
            f"which tokens two sentences share, where these stand, and chance.{spread}{drawn}"
        )
    if subject.task:
        return (
            f"**Trained here**: this network has learnt the task {subject.task}, and never to compare sentences. "
            "Its similarity shows what that task needs."
        )
    if subject.weights == "minilm":
        return (
            "**The trained model was made for this.** It read pairs of texts that belong together, such as a question "
            "and its answer. Their mean vectors were moved together, those of other pairs apart."
        )
    return (
        "**Your own weights**: what they were trained for decides what is alike here. Without training on pairs of "
        f"sentences, a high cosine need not mean the same meaning.{drawn}"
    )


def describe_pooling(subject: Sentences, pooling: Pooling, pair: Pair) -> str:
    """What the chosen pooling is, and what it does to the numbers on the screen."""
    if pooling == "mean":
        made = "as the trained model was trained" if subject.weights == "minilm" else "as is usual"
        return f"A sentence's vector is the mean over its tokens' vectors, {made} (Reimers & Gurevych 2019, section 3)."
    if pooling == "first token":
        return f"{_describe_first_token(subject)} {_compare_spreads(subject.depths)}"
    return _describe_padding(subject.depths, pair)


def _describe_first_token(subject: Sentences) -> str:
    batch = subject.batch
    if all(special[0] for special in batch.special):
        token = quote_token(batch.tokens[0][0])
        sentence = f"A sentence's vector is that of its first token, {token}, which the tokenizer adds."
    else:
        sentence = (
            "A sentence's vector is that of its first token: this tokenizer adds no [CLS] that could stand for all."
        )
    if subject.is_changed:
        return sentence
    if subject.causal:
        is_alone = subject.config.head_merge == "transpose"  # the reshape merge mixes tokens, masked or not
        alone = " Under the causal mask it sees no other token, so sentences with the same first token are equal."
        return f"{sentence}{alone if is_alone else ''}"
    if subject.weights == "minilm":
        return f"{sentence} It has read all others, but was trained only as one of those in the mean."
    return sentence


def _compare_spreads(depths: SentenceDepths) -> str:
    if len(depths.tokens) < 2:
        return ""
    low, high = spread_of_pairs(depths.similarity("first token"))
    mean_low, mean_high = spread_of_pairs(depths.similarity("mean"))
    return (
        f"Cosines between different sentences lie from {write_decimals(low, 2)} to {write_decimals(high, 2)}; "
        f"with the mean they lie from {write_decimals(mean_low, 2)} to {write_decimals(mean_high, 2)}."
    )


def _describe_padding(depths: SentenceDepths, pair: Pair) -> str:
    width, lengths = depths.padding.shape[1], depths.n_tokens
    sides = list(dict.fromkeys((pair.first, pair.second)))
    here, right = (float(depths.similarity(way)[pair.first, pair.second]) for way in ("mean with padding", "mean"))
    sentence = (
        f"Every sentence is padded to the longest, {width} tokens, and here the vectors of [PAD] count as well: a "
        "mistake that raises no error."
    )
    padded = [f"sentence {side + 1} has {width - lengths[side]}" for side in sides if lengths[side] < width]
    if not padded:
        mean = write_decimals(right, 3)
        return f"{sentence} The two chosen sentences have no padding, so their cosine is that of the mean: {mean}."
    return (
        f"{sentence} Of the chosen two, {join_words(padded)} of them. Their cosine is {write_decimals(here, 3)} "
        f"instead of {write_decimals(right, 3)}, and depends on how long the longest sentence of the list is."
    )


def how_to_read(texts: Sequence[str], similarity: Array) -> str:
    """What a similarity is, and what it does not prove, with pairs that show it where they are on the screen."""
    shown = ""
    if found := _find_cosines(texts, similarity, OPPOSITE):
        shown += (
            f" Here, *{OPPOSITE[0]}* is at {write_decimals(found[0], 2)} to *{OPPOSITE[1]}*, which says the "
            f"opposite, and at {write_decimals(found[1], 2)} to *{OPPOSITE[2]}*"
        )
    if found := _find_cosines(texts, similarity, SWAPPED):
        shown += f" *{SWAPPED[0]}* is at {write_decimals(found[0], 2)} to *{SWAPPED[1]}*"
    return (
        "**How to read this, and what it does not prove.** A cosine compares directions: 1 is the same, 0 a right "
        "angle. Training on pairs brings together what is about the same thing (Reimers & Gurevych 2019). A shared "
        "topic and shared words raise the cosine, even where the meaning turns around: a negation is one small word, "
        f"and another order changes no word at all.{shown} So no cosine proves by itself that two "
        "sentences mean the same. Read it beside the other pairs, and beside the tokens that they have in common."
    )


def _find_cosines(texts: Sequence[str], similarity: Array, sentences: tuple[str, ...]) -> list[float]:
    """The cosines of the first of these sentences with each of the others; none where one is not on the screen."""
    if not set(sentences) <= set(texts):
        return []
    first, *others = (texts.index(sentence) for sentence in sentences)
    return [float(similarity[first, other]) for other in others]


def _look_closer(
    subject: Sentences, pooling: Pooling, pair: Pair, pairs: Sequence[Pair], options: Options
) -> Iterator[Item]:
    """The chosen pair beside the closest one, and the view that the visitor chooses."""
    first, second = pair.first + 1, pair.second + 1
    yield Paragraph(
        f"Which words bring sentences {first} and {second} together?"
        if first != second
        else f"Sentence {first} beside itself",
        "header",
    )
    names = dict(enumerate(name_sentences(subject.texts, _LONGEST_CHOICE), start=1))
    chosen = zip(PLACES, ("First sentence", "Second sentence"), (first, second), strict=True)
    if len(names) > 1:
        lists = tuple((Widget("sentence_list", {"place": place, "label": label, "names": names, "number": number}),)
                      for place, label, number in chosen)  # fmt: skip
        yield Columns(lists)
    for number in dict.fromkeys((pair.first, pair.second)):
        if len(subject.texts[number]) > _LONGEST_CHOICE:
            yield Paragraph(f"**{number + 1}** · {escape_markdown(subject.texts[number])}")
    yield from _compare_with_closest(pair, pairs)
    yield Control("similarity_view", "View", HELP["view"])
    yield from VIEWS[options["similarity_view"]](subject, pooling, pair, options)


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


def show_contributions(subject: Sentences, pooling: Pooling, pair: Pair, _options: Options) -> Iterator[Item]:
    """The cosine as a sum over pairs of tokens, and each token's part of it."""
    depths, sides = subject.depths, (pair.first, pair.second)
    one, other = ((depths.final[side], depths.padding[side]) for side in sides)
    counted = [token_weights(depths.padding[side], pooling) > 0 for side in sides]
    parts = token_contributions(one, other, pooling)[np.ix_(*counted)]
    tokens = [[depths.tokens[side][i] for i in np.flatnonzero(kept)] for side, kept in zip(sides, counted, strict=True)]
    row, column = (int(place) for place in np.unravel_index(np.abs(parts).argmax(), parts.shape))
    yield Columns(tuple((_token_sums(place, sides[place], tokens[place], parts),) for place in range(2)))
    yield Heatmap(
        key="similarity_tokens",
        alt="Heatmap of what each pair of tokens adds to the cosine of two sentences",
        caption="A row is a token of the first sentence, a column one of the second. A cell is what the two add; all "
        f"cells add up to {write_decimals(parts.sum(), 3)}, the cosine. The strongest is "
        f"{quote_place(tokens[0], row)} with {quote_place(tokens[1], column)}: "
        f"{write_decimals(parts[row, column], 3, '+')}. A token's vector also holds what attention "
        "brought from others.",
        values=lambda _: parts.astype(np.float32),
        rows=token_axis(lambda _: tokens[0], "", "first sentence"),
        columns=token_axis(lambda _: tokens[1], "", "second sentence"),
        bar="part",
        hover="%{y} · %{x}<br>adds",
        more="a larger part",
        number="+.4f",
        colours=colour_scales.around_zero,
        height=int(np.clip(150 + 22 * len(parts), 300, 700)),
    )


def _explain_parts(subject: Sentences, pooling: Pooling, pair: Pair) -> Iterator[Item]:
    """How a cosine is a sum over pairs of tokens."""
    yield Formula(
        r"\cos(\bar x, \bar y) = \sum_{i,j} a_i\, b_j\, "
        r"\frac{x_i \cdot y_j}{\lVert \bar x \rVert\, \lVert \bar y \rVert}"
    )
    sizes = [int((token_weights(subject.depths.padding[side], pooling) > 0).sum()) for side in pair[:2]]
    yield Paragraph(_explain_weights(pooling, sizes), "caption")


def _explain_weights(pooling: Pooling, shape: Sequence[int]) -> str:
    if pooling == "first token":
        return "$a$ and $b$ are 1 for the first token and 0 for all others, so one pair of tokens is the whole cosine."
    padding = ", [PAD] too" if pooling == "mean with padding" else ""
    return (
        rf"$x_i$ and $y_j$ are the tokens' vectors as they leave the encoder, $\bar x$ and $\bar y$ their means. "
        f"$a_i = 1/{shape[0]}$ and $b_j = 1/{shape[1]}$: every token of a sentence weighs the same{padding}."
    )


def _token_sums(place: int, side: int, tokens: Sequence[str], parts: Array) -> LabelledBars[Sentences]:
    """What each token of one of the two sentences adds; the smallest are added up in one bar."""
    which, sums = ("first", "second")[place], parts.sum(axis=1 - place)
    names, largest, smallest = token_names(tokens), int(sums.argmax()), int(sums.argmin())
    least = ""
    if round(float(sums[smallest]), 3) < 0:
        least = f", the least {quote_place(tokens, smallest)} with {write_decimals(sums[smallest], 3, '+')}"
    return LabelledBars(
        key=f"similarity_tokens_{which}",
        alt=f"Bars: what each token of the {which} sentence adds to the cosine",
        caption=f"Sentence {side + 1}, the {which}: what each token adds to the cosine. The most is "
        f"{quote_place(tokens, largest)} with {write_decimals(sums[largest], 3, '+')}{least}; the bars add up to "
        f"{write_decimals(sums.sum(), 3)}.",
        bars=lambda _: draw_token_sums(names, sums),
        table=lambda _: pd.DataFrame({"adds": sums}, names),
    )


def draw_token_sums(names: Sequence[str], sums: Array) -> LabelledRows:
    """What each token of a sentence adds to a cosine, (n,), in their order; the smallest are added up in one bar."""
    _, labels, values = add_up_smallest(names, sums)
    return _signed_bars(labels, values, "part of the cosine")


def draw_word_changes(names: Sequence[str], changes: Array) -> LabelledRows:
    """What leaving each word out does to a cosine, (W,), in their order; the strongest where they are many."""
    shown = keep_largest(changes)
    return _signed_bars([names[i] for i in shown], changes[shown].tolist(), "change of the cosine")


def _signed_bars(names: Sequence[str], values: Sequence[float], title: str) -> LabelledRows:
    rounded = [round(value, 3) for value in values]
    colours = [
        palette.ATTENTION if value > 0 else palette.FEED_FORWARD if value < 0 else palette.RESIDUAL for value in rounded
    ]
    return LabelledRows(names, values, colours, [write_decimals(value, 3, "+") for value in values], title)


def show_left_out(subject: Sentences, pooling: Pooling, pair: Pair, _options: Options) -> Iterator[Item]:
    """What becomes of the cosine without each word of either sentence."""
    yield Paragraph(
        "One word at a time is taken out of the text, with all its tokens, and the shorter text is run again. A word "
        "is what stands between blanks; each punctuation mark at its start or end is its own word. Its number "
        "is that of its first token. The other sentence stays whole.",
        "caption",
    )
    cosine = pair.cosine
    if subject.for_any_text is not None:
        cosine = float(subject.for_any_text().similarity(pooling)[pair.first, pair.second])
        yield Paragraph(
            "Changes that name a token, a position or a sentence are not made here: a shorter text has other tokens "
            f"there. Without them, the cosine is {write_decimals(cosine, 3)}.",
            "caption",
        )
    sides = (("first", pair.first, pair.second), ("second", pair.second, pair.first))
    yield Columns(
        tuple(
            (_word_changes(which, side, subject.leave_words_out(side, other, pooling), cosine),)
            for which, side, other in sides
        )
    )


def _word_changes(which: str, side: int, left_out: LeftOutWords, cosine: float) -> Item:
    if not left_out.words:
        return Paragraph(f"Sentence {side + 1} has only one word: without it, nothing would be left to run.", "info")
    changes = np.array(left_out.similarities) - cosine
    names, notes = name_words(left_out), ""
    if left_out.n_skipped:
        notes += f" The last {left_out.n_skipped} words are not tried: the runs would be too many."
    if len(changes) > MOST_BARS:
        notes += f" The {MOST_BARS} strongest of {len(changes)} words are drawn; the table has all."
    return LabelledBars(
        key=f"similarity_left_out_{which}",
        alt=f"Bars: the change of the cosine without each word of the {which} sentence",
        caption=f"Sentence {side + 1}, the {which}, without each of its words: the change of the cosine from "
        f"{write_decimals(cosine, 3)}. {_name_extremes(left_out, changes)} Without a word, the others may stand "
        f"elsewhere, and have less to read.{notes}",
        bars=lambda _: draw_word_changes(names, changes),
        table=lambda _: pd.DataFrame({"cosine without it": left_out.similarities, "change": changes}, names),
    )


def name_words(left_out: LeftOutWords) -> list[str]:
    """Each word with the position of its first token below the line, where it has one, so that no two are the same."""
    names: list[str] = []
    for word, place in zip(left_out.words, left_out.places, strict=True):
        name = f"{shortened(word)}{'' if place is None else subscript(place)}"
        names.append(name if name not in names else f"{name} (word {len(names) + 1})")
    return names


def _name_extremes(left_out: LeftOutWords, changes: Array) -> str:
    """The words without which the cosine falls and rises the most, where it does."""

    def quote(number: int) -> str:
        place = left_out.places[number]
        return f"{quote_token(left_out.words[number])}{'' if place is None else subscript(place)}"

    lowest, highest = int(changes.argmin()), int(changes.argmax())
    falls = f"It falls the most without {quote(lowest)}, by {-changes[lowest]:.3f}."
    rises = f"It rises the most without {quote(highest)}, by {changes[highest]:.3f}."
    named = [falls] * bool(changes[lowest] <= -0.0005) + [rises] * bool(changes[highest] >= 0.0005)
    return " ".join(named) or "No word changes it by as much as 0.001."


def show_map(subject: Sentences, pooling: Pooling, pair: Pair, options: Options) -> Iterator[Item]:
    """Where the sentences lie at one depth, on axes that all depths share."""
    n, names = len(subject.texts), name_depths(subject.config)
    if n < _MIN_ON_MAP:
        yield Paragraph(f"A map needs at least {_MIN_ON_MAP} sentences: two have one distance, and no map.", "info")
        return
    drawn, last = subject.map_depths(pooling), len(names) - 1
    depth = min(options["similarity_depth"], last)
    yield Control("similarity_depth", "Depth: blocks passed (0 = embeddings)", high=last)
    where = f"of the {names[depth]}" if depth == 0 else names[depth]
    yield Picture(
        key="similarity_map",
        alt=f"Map of {len(names)} depths: where {n} sentences lie on two axes",
        caption=f"How do the sentences part, block by block? A dot is a sentence's vector {where}, by its number. The "
        "chosen two are red, and grey lines are their way through all depths. The axes are the two directions in which "
        "the sentences differ most, over all depths together (principal component analysis, fitted once), so they stay "
        f"while the depth moves. {describe_shares(drawn, depth)} Each depth's mean is taken off.",
        figure=lambda shown: draw_depth_map(drawn, depth, shown.texts, (pair.first, pair.second)),
        table=lambda shown: pd.DataFrame(drawn.points[depth], name_sentences(shown.texts), ["axis 1", "axis 2"]),
    )


_MAP_HEIGHT = 410
"""Pixels of the map of depths: about a square on a phone, so that little is blank around it."""


def draw_depth_map(mapped: DepthMap, depth: int, sentences: Sequence[str], pair: tuple[int, int]) -> Figure:
    """Sentences on two axes at one depth; the chosen pair with its way through all depths.

    Both axes are as long at every depth, and a unit is as long on both.
    """
    points = mapped.points.astype(np.float32)
    reach = 1.12 * colour_scales.largest(np.abs(points))
    chosen = list(dict.fromkeys(pair))
    line = {"type": "scatter", "mode": "lines", "line": {"color": palette.MUTED, "width": 2}, "hoverinfo": "skip"}
    dots: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers+text",
        "x": points[depth, :, 0],
        "y": points[depth, :, 1],
        "marker": {
            "color": [palette.FOCUS if i in pair else palette.RESIDUAL for i in range(len(sentences))],
            "size": 10,
        },
        "text": [str(number) for number in range(1, len(sentences) + 1)],
        "textposition": _part_labels(points[depth] / reach),
        "customdata": [f"{i} · {label(text, _LONGEST_HOVER)}" for i, text in enumerate(sentences, start=1)],
        "hovertemplate": "%{customdata}<br>%{x:.3g}, %{y:.3g}<extra></extra>",
        "cliponaxis": False,
    }
    axes = [
        {"title": f"axis {number}: {100 * share:.0f}% of the variance", "range": [-reach, reach], "zeroline": True}
        for number, share in enumerate(mapped.explained, start=1)
    ]
    layout = {
        "xaxis": {**axes[0], "constrain": "domain"},
        "yaxis": {**axes[1], "scaleanchor": "x", "constrain": "domain"},
        "annotations": [
            {
                "text": f"red: the chosen {'two' if len(chosen) > 1 else 'one'}",
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 1,
                "yanchor": "bottom",
                "showarrow": False,
            }
        ],
    }
    ways = [{**line, "x": points[:, i, 0], "y": points[:, i, 1]} for i in chosen]
    return figures.style([*ways, dots], layout, height=_MAP_HEIGHT, margin={"t": 26})


_MAP_SIDE = 300
"""Pixels from one end of the map's axes to the other on a phone, where labels have the least room."""

_DOT, _LETTER, _LINE = 10, 8, 15
"""Pixels of a dot, and of a digit's width and height."""

_SIDES = (
    ("top", "center", 0, -1),
    ("bottom", "center", 0, 1),
    ("middle", "right", 1, 0),
    ("middle", "left", -1, 0),
    ("top", "right", 1, -1),
    ("top", "left", -1, -1),
    ("bottom", "right", 1, 1),
    ("bottom", "left", -1, 1),
)
"""Where a label may stand beside its dot, the best first: Plotly's words, and how far to the right and down."""


def _part_labels(points: Array) -> list[str]:
    """The side of its dot on which each number is written, (N, 2) in -1 … 1, so that few lie on another or on a dot."""
    dots = points * [_MAP_SIDE / 2, -_MAP_SIDE / 2]  # pixels, downwards
    taken, chosen = [(*dot, _DOT, _DOT) for dot in dots], []
    for number, (x, y) in enumerate(dots, start=1):
        width = _LETTER * len(str(number))
        sides = {
            f"{vertical} {horizontal}": (x + right * (_DOT + width) / 2, y + down * (_DOT + _LINE) / 2, width, _LINE)
            for vertical, horizontal, right, down in _SIDES
        }
        covered = {side: sum(_overlap(box, other) for other in taken) for side, box in sides.items()}
        side = min(covered, key=covered.__getitem__)  # the first of equal ones
        taken.append(sides[side])
        chosen.append(side)
    return chosen


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The area that two boxes share; a box is its middle, its width and its height."""
    across, up = (
        min(one[i] + one[i + 2] / 2, other[i] + other[i + 2] / 2)
        - max(one[i] - one[i + 2] / 2, other[i] - other[i + 2] / 2)
        for i in (0, 1)
    )
    return max(across, 0) * max(up, 0)


CloserView: TypeAlias = Callable[[Sentences, Pooling, Pair, Options], Iterator[Item]]

VIEWS: Mapping[str, CloserView] = {
    "token by token": show_contributions,
    "leave a word out": show_left_out,
    "map by depth": show_map,
}
"""By the value of `similarity_view`."""

"""A cosine as a sum over pairs of tokens. Legend: n, m tokens of the two sentences."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from playground.analysis.sentences import Pair, Pooling, token_contributions, token_weights
from playground.charts import colour_scales, palette
from playground.charts.bars import LabelledRows, add_up_smallest
from playground.charts.chart import Columns, Formula, Heatmap, Item, LabelledBars, Options, Paragraph, token_axis
from playground.charts.figure import Array
from playground.charts.markdown import quote_place
from playground.charts.names import token_names
from playground.text.wording import write_decimals
from playground.views.similarity.sentences import Sentences


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


def explain_parts(subject: Sentences, pooling: Pooling, pair: Pair) -> Iterator[Item]:
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
    names, strongest = token_names(tokens), int(np.abs(sums).argmax())
    n_others = len(sums) - len(add_up_smallest(names, sums)[0])
    together = f" The last bar is the sum of the {n_others} weakest." if n_others else ""
    return LabelledBars(
        key=f"similarity_tokens_{which}",
        alt=f"Bars: what each token of the {which} sentence adds to the cosine",
        caption=f"Sentence {side + 1}, the {which}: what each token adds to the cosine. The strongest is "
        f"{quote_place(tokens, strongest)} with {write_decimals(sums[strongest], 3, '+')}.{together} All bars add up "
        f"to {write_decimals(sums.sum(), 3)}.",
        bars=lambda _: draw_token_sums(names, sums),
        table=lambda _: pd.DataFrame({"adds": sums}, names),
    )


def draw_token_sums(names: Sequence[str], sums: Array) -> LabelledRows:
    """What each token of a sentence adds to a cosine, (n,), in their order; the smallest are added up in one bar."""
    _, labels, values = add_up_smallest(names, sums)
    return signed_bars(labels, values, "part of the cosine")


def signed_bars(names: Sequence[str], values: Sequence[float], title: str) -> LabelledRows:
    """Bars with three decimals and a sign, coloured by it."""
    rounded = [round(value, 3) for value in values]
    colours = [
        palette.ATTENTION if value > 0 else palette.FEED_FORWARD if value < 0 else palette.RESIDUAL for value in rounded
    ]
    return LabelledRows(names, values, colours, [write_decimals(value, 3, "+") for value in values], title)

"""Which of many sentences are alike: the chosen pair, the cosine of each two, every pair, and why two are alike."""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from textwrap import wrap
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from playground.analysis.sentences import (
    DepthMap,
    LeftOutWords,
    Pair,
    Pooling,
    common_tokens,
    list_depths,
    rank_pairs,
    spread_of_pairs,
    token_contributions,
    token_weights,
)
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Formula,
    Heatmap,
    Item,
    LabelledBars,
    LabelledRows,
    Options,
    Paragraph,
    Picture,
    Table,
    Widget,
    fill_panel,
    token_axis,
)
from playground.charts.draw.bars import add_up_smallest, keep_largest
from playground.charts.figure import Array, Figure
from playground.charts.names import escape_markdown, label, name_place, quote_place, quote_token, shortened, token_names
from playground.charts.scene import Scene
from playground.link.params import SENTENCE_PAIR
from playground.link.state import is_random
from playground.model.change_texts import name_change
from playground.text.sentences import foreign_script
from playground.text.wording import write_decimals
from playground.views.similarity.sentences import EXAMPLE, Sentences, leave_words_out, map_depths, read_depths
from playground.words import say

LONGEST_ROW, LONGEST_CHOICE, LONGEST_RANKED, LONGEST_HOVER = 14, 46, 40, 60
"""Letters of a sentence beside the matrix, in the list that a pair is chosen of, in the ranking, and on a chart."""

MOST_WRITTEN = 12
"""Sentences up to which every cell of the matrix has its number written in it."""

EQUAL = 1e-6
"""Cosines that are no farther apart differ by rounding."""

SIDES = ("top center", "bottom center", "middle right", "middle left")
"""Where the map's numbers stand beside their dots, in turn: neighbours in a list often lie together."""


def show_similarity(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """The page: which sentences are alike, what was run, and why two of them are alike."""
    yield from show_pairs(scene, options)
    yield from show_list(scene)
    yield from show_details(scene, options)


def show_pairs(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """The closest pair beside the chosen one, what makes vectors of sentences, and the cosine of each two."""
    subject, pooling = scene.now, options["similarity_pooling"]
    pair = _chosen_pair(subject, options)
    yield Paragraph(answer_pairs(subject, pooling, pair), "answer")
    yield Control("similarity_pooling", say("similarity", "pooling"), say("similarity", "pooling.help"))
    if len(subject.texts) > 1:
        yield _matrix(subject, pooling, pair)


def show_list(scene: Scene[Sentences]) -> Iterator[Item]:
    """What was run: how many sentences, what was left out of the list, and where changes are made."""
    subject = scene.now
    n, lengths = len(subject.texts), subject.depths.n_tokens
    if subject.is_example:
        yield Paragraph(say("similarity", "example", first=n - len(EXAMPLE) + 1, last=n), "caption")
    for note in subject.notes:
        yield Paragraph(note, "info")
    yield Paragraph(say("similarity", "run", sentences=n, shortest=min(lengths), longest=max(lengths)), "caption")
    foreign = sum(foreign_script(text) is not None for text in subject.texts)
    if foreign and subject.lab.weights == "minilm":
        yield Paragraph(say("similarity", "english-only", n=foreign), "info")
    for change, is_on in subject.lab.changes:
        if is_on:
            made = sum(change in each for each in subject.changes)
            told = say("similarity", "change", name=escape_markdown(name_change(change)), made=made, all=n)
            yield Paragraph(told, "caption")


def show_details(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """Panels: why the chosen two are alike, every pair in a list, and what the numbers are."""
    subject, pooling = scene.now, options["similarity_pooling"]
    pair, pairs = _chosen_pair(subject, options), rank_pairs(subject.depths.similarity(pooling))
    if not pairs:
        return
    title = say("similarity", "closer")
    closer = partial(look_closer, subject, pooling, pair, options)
    yield fill_panel(options, "similarity_closer", title, closer, ":material/search:")
    title, icon = say("similarity", "ranking"), ":material/format_list_numbered:"
    yield fill_panel(options, "similarity_ranking", title, lambda: _list_pairs(pairs), icon)
    title = say("similarity", "how")
    yield fill_panel(options, "similarity_how", title, lambda: explain(subject, pooling, pair), ":material/help:")


def look_closer(subject: Sentences, pooling: Pooling, pair: Pair, options: Options) -> Iterator[Item]:
    """Two lists that choose the pair, and the view that `similarity_view` names."""
    yield _choose_sentences(subject, pair)
    yield Control("similarity_view", say("similarity", "view"), say("similarity", "view.help"))
    yield from VIEWS[options["similarity_view"]](subject, pooling, pair, options)


def _chosen_pair(subject: Sentences, options: Options) -> Pair:
    return subject.pair(options["similarity_pooling"], [int(options[place]) for place in SENTENCE_PAIR])


def answer_pairs(subject: Sentences, pooling: Pooling, chosen: Pair) -> str:
    """The closest pair, the chosen one if it is another, and whether that means anything."""
    case, numbers = find_closest(subject.depths.similarity(pooling), chosen)
    if case == "one":
        return say("similarity", "answer-one")
    names = [f"*{escape_markdown(shortened(text, LONGEST_HOVER))}* ({i})" for i, text in enumerate(subject.texts, 1)]
    closest, framed = numbers["closest"], numbers["framed"]
    told = [
        say(
            "similarity",
            f"answer-{case}",
            one=names[closest.first],
            other=names[closest.second],
            cosine=closest.cosine,
            pairs=numbers["pairs"],
            median=numbers["median"],
        )
    ]
    one, other = ([token for token in subject.lab.batch.tokens[i] if token.isalnum()] for i in closest[:2])
    if one != other and sorted(one) == sorted(other) and not is_random(subject.lab.weights):
        told.append(say("similarity", "answer-swapped"))
    if framed is not closest:
        first, second = names[framed.first], names[framed.second]
        told.append(say("similarity", "answer-framed", first=first, second=second, framed=framed.cosine))
    if is_random(subject.lab.weights):
        told.append(say("similarity", "answer-random"))
    return " ".join(told)


def find_closest(similarity: Array, chosen: Pair) -> tuple[str, dict[str, Any]]:
    """The closest pair of a matrix (N, N), the chosen one if it is as close: of `one` sentence, one `pair`, or more."""
    pairs = rank_pairs(similarity)
    if not pairs:
        return "one", {}
    is_closest = chosen.first != chosen.second and chosen.cosine > pairs[0].cosine - EQUAL
    median = float(np.median([pair.cosine for pair in pairs]))
    closest = chosen if is_closest else pairs[0]
    numbers = {"closest": closest, "framed": chosen, "pairs": len(pairs), "median": median}
    return "pair" if len(pairs) == 1 else "closest", numbers


def _matrix(subject: Sentences, pooling: Pooling, pair: Pair) -> Heatmap[Sentences]:
    """The cosine of each two sentences; rows have their beginnings, columns their numbers alone."""
    n = len(subject.texts)
    numbers, is_written = range(1, n + 1), n <= MOST_WRITTEN
    two_lines = {"tickvals": list(range(n)), "ticktext": _write_two_lines(subject.texts)}
    names = name_sentences(subject.texts, LONGEST_ROW)
    return Heatmap(
        key="similarity_matrix",
        alt=say("similarity", "matrix.alt", n=n),
        caption=say("similarity", "matrix.caption"),
        values=lambda shown: shown.depths.similarity(pooling).astype(np.float32),
        rows=Axis(
            "",
            lambda _: names,
            place=SENTENCE_PAIR[0],
            numbers=lambda _: numbers,
            options=two_lines if is_written else {"nticks": n + 1},
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
        written=".2f" if is_written else "",
        colours=colour_scales.within(1),
        flat_bar=True,
        height=128 + (34 if is_written else 18) * n,
        click=say("similarity", "matrix.click"),
        chosen=_choose(pair),
    )


def name_sentences(texts: Sequence[str], longest: int) -> list[str]:
    """Each sentence's number, from 1, and its beginning."""
    return [f"{number} · {shortened(text, longest)}" for number, text in enumerate(texts, start=1)]


def _write_two_lines(texts: Sequence[str]) -> list[str]:
    """Each sentence's number and its beginning, cut to two lines, in the HTML that Plotly shows."""
    names = name_sentences(texts, 2 * LONGEST_ROW + 4)
    lines = (wrap(name, LONGEST_ROW + 5, max_lines=2, placeholder=" …") for name in names)
    return ["<br>".join(html.escape(line, quote=False) for line in each) for each in lines]


def _choose(pair: Pair) -> dict[str, int]:
    """The parameters' values that choose a pair."""
    return dict(zip(SENTENCE_PAIR, (pair.first + 1, pair.second + 1), strict=True))


def _choose_sentences(subject: Sentences, pair: Pair) -> Columns:
    """Two lists that choose the pair."""
    names = dict(enumerate(name_sentences(subject.texts, LONGEST_CHOICE), start=1))
    labels = (say("similarity", "first"), say("similarity", "second"))
    lists = [
        Widget("sentence_list", {"place": place, "label": title, "names": names, "number": side + 1})
        for place, title, side in zip(SENTENCE_PAIR, labels, pair[:2], strict=True)
    ]
    return Columns(tuple((each,) for each in lists))


def _list_pairs(pairs: Sequence[Pair]) -> Iterator[Item]:
    """Every pair with its cosine and the tokens that it has in common; a click on a row chooses it."""

    def rank(shown: Sentences) -> pd.DataFrame:
        shared, names = common_tokens(shown.lab.batch), name_sentences(shown.texts, LONGEST_RANKED)
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
    yield Paragraph(say("similarity", "ranking.caption"), "caption")


def show_contributions(subject: Sentences, pooling: Pooling, pair: Pair, _options: Options) -> Iterator[Item]:
    """The cosine as a sum over pairs of tokens, and each token's part of it."""
    depths, sides = subject.depths, (pair.first, pair.second)
    one, other = ((depths.final[side], depths.padding[side]) for side in sides)
    counted = [token_weights(depths.padding[side], pooling) > 0 for side in sides]
    parts = token_contributions(one, other, pooling)[np.ix_(*counted)]
    tokens = [[depths.tokens[side][i] for i in np.flatnonzero(kept)] for side, kept in zip(sides, counted, strict=True)]
    row, column = (int(place) for place in np.unravel_index(np.abs(parts).argmax(), parts.shape))
    first, second = quote_place(tokens[0], row), quote_place(tokens[1], column)
    sums = [_token_sums(place, sides[place], tokens[place], parts.sum(axis=1 - place)) for place in range(2)]
    yield Columns(tuple((each,) for each in sums))
    yield Heatmap(
        key="similarity_tokens",
        alt=say("similarity", "tokens.alt"),
        caption=say("similarity", "tokens.caption"),
        reading=lambda _: say(
            "similarity", "tokens.reading", sum=parts.sum(), row=first, column=second, strongest=parts[row, column]
        ),
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


def _token_sums(place: int, side: int, tokens: Sequence[str], sums: Array) -> LabelledBars[Sentences]:
    """What each token of one of the two sentences adds; the smallest are added up in one bar."""
    which, names, strongest = ("first", "second")[place], token_names(tokens), int(np.abs(sums).argmax())
    token = quote_place(tokens, strongest)

    def bars(_: Sentences) -> LabelledRows:
        labels, values = add_up_smallest(names, sums)[1:]
        return signed_bars(labels, values, say("similarity", "tokens.axis"))

    return LabelledBars(
        key=f"similarity_tokens_{which}",
        alt=say("similarity", "sums.alt", which=which),
        caption=say("similarity", "sums.caption", number=side + 1),
        reading=lambda _: say("similarity", "sums.reading", token=token, strongest=sums[strongest], sum=sums.sum()),
        bars=bars,
        table=lambda _: pd.DataFrame({"adds": sums}, names),
    )


def signed_bars(names: Sequence[str], values: Sequence[float], title: str) -> LabelledRows:
    """Bars with three decimals and a sign, coloured by it."""
    by_sign = {1: palette.ATTENTION, 0: palette.RESIDUAL, -1: palette.FEED_FORWARD}
    colours = [by_sign[int(np.sign(round(value, 3)))] for value in values]
    return LabelledRows(names, values, colours, [write_decimals(value, 3, "+") for value in values], title)


def show_left_out(subject: Sentences, pooling: Pooling, pair: Pair, _options: Options) -> Iterator[Item]:
    """What becomes of the cosine without each word of either sentence."""
    yield Paragraph(say("similarity", "left-out"), "caption")
    changes, cosine = subject.changes_for_any_text, pair.cosine
    if changes != subject.changes:
        depths = read_depths(subject.lab, changes)
        cosine = float(depths.similarity(pooling)[pair.first, pair.second])
        yield Paragraph(say("similarity", "left-out.changes", cosine=cosine), "caption")
    sides = {"first": (pair.first, pair.second), "second": (pair.second, pair.first)}
    left_out = {which: leave_words_out(subject.lab, changes, *side, pooling) for which, side in sides.items()}
    yield Columns(
        tuple((_word_changes(which, side[0], left_out[which], cosine),) for which, side in sides.items()),
    )


def _word_changes(which: str, side: int, left_out: LeftOutWords, cosine: float) -> Item:
    if not left_out.words:
        return Paragraph(say("similarity", "left-out.one", number=side + 1), "info")
    after = np.array(left_out.similarities)
    changes = after - cosine
    shown, largest = keep_largest(changes), int(np.abs(changes).argmax())
    names = [_name_word(shortened(word), place) for word, place in zip(left_out.words, left_out.places, strict=True)]
    word = _name_word(quote_token(left_out.words[largest]), left_out.places[largest])
    axis = say("similarity", "left-out.axis")
    return LabelledBars(
        key=f"similarity_left_out_{which}",
        alt=say("similarity", "left-out.alt", which=which),
        caption=say("similarity", "left-out.caption", number=side + 1),
        reading=lambda _: say("similarity", "left-out.reading", word=word, before=cosine, after=after[largest]),
        bars=lambda _: signed_bars([names[i] for i in shown], changes[shown].tolist(), axis),
        table=lambda _: pd.DataFrame({"cosine without it": after, "change": changes}, names),
    )


def _name_word(word: str, place: int | None) -> str:
    """A word with the position of its first token below the line, if it has one."""
    return word if place is None else name_place(word, place)


def show_map(subject: Sentences, pooling: Pooling, pair: Pair, options: Options) -> Iterator[Item]:
    """Where the sentences lie at one depth, on axes that all depths share."""
    n, last = len(subject.texts), len(list_depths(subject.lab.config)) - 1
    if n < 3:
        yield Paragraph(say("similarity", "map.few"), "info")
        return
    drawn = map_depths(subject.lab, subject.changes, pooling)
    depth = min(options["similarity_depth"], last)
    cosine = subject.depths.similarity(pooling, depth)[pair.first, pair.second]
    shares = {"all": sum(drawn.explained), "here": drawn.explained_at[depth].sum()}
    yield Control("similarity_depth", say("similarity", "map.depth"), high=last)
    yield Picture(
        key="similarity_map",
        alt=say("similarity", "map.alt", depths=last + 1, n=n),
        caption=say("similarity", "map.caption"),
        reading=lambda _: say("similarity", "map.reading", depth=depth, cosine=cosine, **shares),
        figure=lambda shown: draw_depth_map(drawn, depth, shown.texts, (pair.first, pair.second)),
        table=lambda shown: pd.DataFrame(
            drawn.points[depth], name_sentences(shown.texts, LONGEST_ROW), ["axis 1", "axis 2"]
        ),
    )


def draw_depth_map(mapped: DepthMap, depth: int, texts: Sequence[str], pair: tuple[int, int]) -> Figure:
    """Sentences on two axes at one depth, which are as long at every depth; the chosen pair with its paths."""
    points, chosen = mapped.points.astype(np.float32), list(dict.fromkeys(pair))
    reach = 1.12 * colour_scales.largest(np.abs(points))
    numbers = [str(number) for number in range(1, len(texts) + 1)]
    scatter = {"type": "scatter", "cliponaxis": False}
    rings = {
        **scatter,
        "mode": "markers",
        "x": points[0, chosen, 0],
        "y": points[0, chosen, 1],
        "marker": {"symbol": "circle-open", "size": 16, "color": palette.RESIDUAL, "line": {"width": 2}},
        "hoverinfo": "skip",
    }
    colours = [palette.FOCUS if i in pair else palette.RESIDUAL for i in range(len(texts))]
    dots = {
        **scatter,
        "mode": "markers+text",
        "x": points[depth, :, 0],
        "y": points[depth, :, 1],
        "marker": {"color": colours, "size": 10},
        "text": numbers,
        "textposition": [SIDES[i % len(SIDES)] for i in range(len(texts))],
        "customdata": [f"{i} · {label(text, LONGEST_HOVER)}" for i, text in enumerate(texts, start=1)],
        "hovertemplate": "%{customdata}<br>%{x:.3g}, %{y:.3g}<extra></extra>",
    }
    axes = [
        {"title": f"axis {number}: {100 * share:.1f}% of the variance", "range": [-reach, reach], "zeroline": True}
        for number, share in enumerate(mapped.explained, start=1)
    ]
    across, up = ({**axis, "constrain": "domain"} for axis in axes)
    paths = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": points[:, i, 0],
            "y": points[:, i, 1],
            "line": {"color": palette.MUTED, "width": 2},
            "marker": {"symbol": "arrow", "angleref": "previous", "size": 8, "color": palette.RESIDUAL},
            "hoverinfo": "skip",
        }
        for i in chosen
    ]
    return figures.style([*paths, rings, dots], {"xaxis": across, "yaxis": {**up, "scaleanchor": "x"}}, height=410)


def explain(subject: Sentences, pooling: Pooling, pair: Pair) -> Iterator[Item]:
    """What a sentence's vector is, what the weights have learnt, how to read a cosine, and the sum that it is."""
    case, numbers = find_pooling(subject, pooling, pair)
    yield Paragraph(say("similarity", f"pooling-{case}", **numbers))
    weights = subject.lab.weights
    trained = "random" if is_random(weights) else "minilm" if weights == "minilm" else "other"
    yield Paragraph(say("similarity", f"weights-{trained}"))
    yield Paragraph(say("similarity", "reading"))
    if set(EXAMPLE) <= set(subject.texts):
        similarity, place = subject.depths.similarity(pooling), subject.texts.index
        pairs = {"negation": (2, 3), "other": (2, 4), "swapped": (5, 6)}
        cosines = {name: similarity[place(EXAMPLE[i]), place(EXAMPLE[j])] for name, (i, j) in pairs.items()}
        yield Paragraph(say("similarity", "reading.example", **cosines))
    yield Formula(
        r"\cos(\bar x, \bar y) = \sum_{i,j} a_i\, b_j\, "
        r"\frac{x_i \cdot y_j}{\lVert \bar x \rVert\, \lVert \bar y \rVert}"
    )
    n, m = (int((token_weights(subject.depths.padding[side], pooling) > 0).sum()) for side in pair[:2])
    is_first = pooling == "first token"
    yield Paragraph(say("similarity", "parts-first") if is_first else say("similarity", "parts-mean", n=n, m=m))


def find_pooling(subject: Sentences, pooling: Pooling, pair: Pair) -> tuple[str, dict[str, Any]]:
    """What a pooling does to the numbers on the screen: `mean`, `first`, `padding`."""
    mean, shown = (subject.depths.similarity(way) for way in ("mean", pooling))
    if pooling == "mean with padding":
        cosines = {"cosine": shown[pair.first, pair.second], "mean": mean[pair.first, pair.second]}
        return "padding", {"width": subject.depths.padding.shape[1], **cosines}
    if pooling == "mean":
        return "mean", {}
    (low, high), (mean_low, mean_high) = spread_of_pairs(shown), spread_of_pairs(mean)
    token = quote_token(subject.depths.tokens[0][0])
    return "first", {"token": token, "low": low, "high": high, "mean_low": mean_low, "mean_high": mean_high}


CloserView: TypeAlias = Callable[[Sentences, Pooling, Pair, Options], Iterator[Item]]

VIEWS: Mapping[str, CloserView] = {
    "token by token": show_contributions,
    "leave a word out": show_left_out,
    "map by depth": show_map,
}
"""By the value of `similarity_view`."""

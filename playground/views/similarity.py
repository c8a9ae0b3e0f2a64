"""Which of many sentences are alike: the chosen pair, the cosine of each two, every pair, and why two are alike."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis import sentences
from playground.analysis.sentences import (
    Pair,
    Pooling,
    SentenceDepths,
    common_tokens,
    find_repeated_words,
    is_for_any_text,
    rank_pairs,
    token_contributions,
    token_weights,
)
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Curves,
    Group,
    Heatmap,
    Item,
    LabelledBars,
    Menu,
    Options,
    Paragraph,
    Table,
    Widget,
    fill_panel,
    token_axis,
)
from playground.charts.draw.bars import add_up_smallest, keep_largest
from playground.charts.figure import Array, Curve
from playground.charts.names import escape_markdown, name_place, quote_place, quote_token, shortened, token_names
from playground.charts.scene import Scene
from playground.errors import InputError
from playground.language.capabilities import FUNCTION_WORDS
from playground.limits import MAX_LISTED
from playground.link.lab import Lab, once, turn_on_text
from playground.link.opening import LinkedView
from playground.link.params import SENTENCE_PAIR
from playground.link.state import is_random
from playground.model.changes import Change
from playground.runs.variant_runs import count_affordable
from playground.text import split_sentences
from playground.text.wording import write_decimals
from playground.words import say

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

LONGEST_ROW, LONGEST_NAME = 14, 46
"""Characters of a sentence beside the matrix, and elsewhere."""

MOST_WRITTEN = 12
"""Sentences up to which every cell of the matrix has its number written in it."""

Changes = tuple[tuple[Change, ...], ...]
"""The changes of each sentence's run."""


@dataclass(frozen=True)
class Sentences:
    """Sentences, and what an encoder makes of them."""

    lab: Lab
    depths: SentenceDepths
    changes: Changes
    is_example: bool = False
    """Whether the example stands behind the text."""
    notes: tuple[str, ...] = ()
    """What was left out, in sentences."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The sentences."""
        return self.lab.text.sentences

    def pair(self, pooling: Pooling, numbers: Sequence[int]) -> Pair:
        """Return the sentences of these numbers, from 1, with their cosine."""
        first, second = (min(number, len(self.texts)) - 1 for number in numbers)
        return Pair(first, second, float(self.depths.similarity(pooling)[first, second]))


def sentences_scene(view: LinkedView) -> Scene[Sentences]:
    """Return the view's sentences and its list's; raises as `list_sentences`."""
    return Scene(list_sentences(view.lab, view.values["similarity_list"]))


def list_sentences(lab: Lab, listed: str = "") -> Sentences:
    """Return the lab's and listed sentences, or an example; raises PlaygroundError if none can be read or run."""
    typed = lab.text.sentences
    pasted = split_sentences(listed, max(MAX_LISTED - len(typed), 1), "list")
    is_example = not pasted.sentences and len(typed) < 2 and lab["weights"] in ("minilm", "random")
    texts = (*typed, *(EXAMPLE if is_example else pasted.sentences))[:MAX_LISTED]
    if not texts:
        raise InputError(say("similarity", "nothing"))
    whole, notes = _with_sentences(lab, texts), [*pasted.notes]
    lengths = [len(tokens) for tokens in whole.batch.tokens]
    readable = tuple(text for text, length in zip(texts, lengths, strict=True) if length)
    kept = readable[: count_affordable(whole.config, [*filter(None, lengths)] or [1])]
    if not kept:
        raise InputError(say("similarity", "nothing"))
    if kept != texts:
        notes.append(say("similarity", "bounded", kept=len(kept), all=len(texts)))
        whole = _with_sentences(lab, kept)
    if n_cut := sum(map(bool, whole.batch.truncated)):
        notes.append(say("similarity", "cut", n=n_cut, tokens=whole.batch.ids.shape[1]))
    changes = tuple(whole.fit_changes(i).applied for i in range(len(kept)))
    depths = read_depths(whole, changes)
    if not depths.is_finite:
        raise InputError(say("similarity", "overflow"))
    return Sentences(whole, depths, changes, is_example, tuple(notes))


def _with_sentences(lab: Lab, texts: tuple[str, ...]) -> Lab:
    (chosen,) = lab.text.sentences[lab.sentence : lab.sentence + 1] or texts[:1]
    return lab.at(lab.state.with_sentences(texts, texts.index(chosen) if chosen in texts else 0))


@once
def read_depths(lab: Lab, changes: Changes) -> SentenceDepths:
    """Run every sentence with its changes; raises as `Lab.run`."""
    with turn_on_text(lab.source, lab.run_key) as (encoder, batch):
        return sentences.read_depths(encoder, batch, seed=lab["seed"], causal=lab["causal"], interventions=changes)


@once
def leave_words_out(
    lab: Lab, changes: Changes, side: int, other: int, pooling: Pooling
) -> list[tuple[str, int | None, float]]:
    """Run one sentence without each of its words, beside another one."""
    vector = read_depths(lab, changes).pooled[pooling][-1, other]
    options = {"seed": lab["seed"], "causal": lab["causal"], "interventions": changes[side]}
    with turn_on_text(lab.source, lab.run_key) as (encoder, batch):
        return sentences.leave_words_out(encoder, lab.tokenizer, batch, side, vector, pooling, **options)


@once
def compare_word_by_depth(lab: Lab, changes: Changes, word: str, order: tuple[int, ...]) -> tuple[Array, Array]:
    """Run these sentences with a word: its cosines at every depth, and the baseline."""
    places, options = find_repeated_words(lab.batch)[word], {"seed": lab["seed"], "causal": lab["causal"]}
    with turn_on_text(lab.source, lab.run_key) as (encoder, batch):
        found = {sentence: places[sentence] for sentence in order}
        return sentences.compare_word_by_depth(encoder, batch, found, interventions=changes, **options)


# --- the page


def show_similarity(scene: Scene[Sentences], options: Options) -> Iterator[Item]:
    """Yield the closest pair, every cosine, what was run, and why two sentences are alike."""
    subject, pooling = scene.now, options["similarity_pooling"]
    pair = subject.pair(pooling, [int(options[place]) for place in SENTENCE_PAIR])
    yield Paragraph(answer_pairs(subject, pooling, pair), "answer")
    way = Control("similarity_pooling", say("similarity", "pooling"), say("similarity", "pooling.help"))
    matrix = (_matrix(subject, pooling, pair),) if len(subject.texts) > 1 else ()
    yield Columns(((Group("similarity_picture", (way, *matrix)),), tuple(_show_list(subject))), (2, 1), "small")
    pairs = rank_pairs(subject.depths.similarity(pooling))
    if pairs:
        closer, how = partial(_look_closer, subject, pooling, pair, options), partial(_explain, subject, pooling, pair)
        title, icon = say("similarity", "ranking"), ":material/format_list_numbered:"
        panels = (
            fill_panel(options, "similarity_closer", say("similarity", "closer"), closer, ":material/search:"),
            fill_panel(options, "similarity_ranking", title, lambda: _list_pairs(pairs), icon),
            fill_panel(options, "similarity_how", say("similarity", "how"), how, ":material/help:"),
        )
        yield Group("similarity_details", panels)


def _show_list(subject: Sentences) -> Iterator[Item]:
    yield Widget("list")
    n, lengths = len(subject.texts), subject.depths.n_tokens
    if subject.is_example:
        yield Paragraph(say("similarity", "example", first=n - len(EXAMPLE) + 1, last=n), "caption")
    for note in subject.notes:
        yield Paragraph(note, "info")
    yield Paragraph(say("similarity", "run", sentences=n, shortest=min(lengths), longest=max(lengths)), "caption")


def answer_pairs(subject: Sentences, pooling: Pooling, chosen: Pair) -> str:
    """Return the closest pair, and the chosen one."""
    pairs = rank_pairs(subject.depths.similarity(pooling))
    if not pairs:
        return say("similarity", "answer-one")
    closest = pairs[0]
    names = [f"*{escape_markdown(shortened(text, LONGEST_NAME))}* ({i})" for i, text in enumerate(subject.texts, 1)]
    both = {"one": names[closest.first], "other": names[closest.second], "cosine": closest.cosine}
    median = float(np.median([pair.cosine for pair in pairs]))
    told = [say("similarity", "answer-closest", **both, pairs=len(pairs), median=median)]
    if {chosen.first, chosen.second} != {closest.first, closest.second}:
        first, second = names[chosen.first], names[chosen.second]
        told.append(say("similarity", "answer-framed", first=first, second=second, framed=chosen.cosine))
    if is_random(subject.lab.weights):
        told.append(say("similarity", "answer-random"))
    return " ".join(told)


def _matrix(subject: Sentences, pooling: Pooling, pair: Pair) -> Heatmap[Sentences]:
    n = len(subject.texts)
    numbers, is_written = range(1, n + 1), n <= MOST_WRITTEN
    names, ticks = _name_sentences(subject.texts, LONGEST_ROW), {"nticks": n + 1}
    return Heatmap(
        key="similarity_matrix",
        alt=say("similarity", "matrix.alt", n=n),
        caption=say("similarity", "matrix.caption"),
        values=lambda shown: shown.depths.similarity(pooling).astype(np.float32),
        rows=Axis("", lambda _: names, place=SENTENCE_PAIR[0], numbers=lambda _: numbers, options=ticks),
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


def _name_sentences(texts: Sequence[str], longest: int) -> list[str]:
    return [f"{number} · {shortened(text, longest)}" for number, text in enumerate(texts, start=1)]


def _choose(pair: Pair) -> dict[str, int]:
    return dict(zip(SENTENCE_PAIR, (pair.first + 1, pair.second + 1), strict=True))


def _list_pairs(pairs: Sequence[Pair]) -> Iterator[Item]:

    def rank(shown: Sentences) -> pd.DataFrame:
        shared, names = common_tokens(shown.lab.batch), _name_sentences(shown.texts, LONGEST_NAME)
        rows = [
            (pair.cosine, names[pair.first], names[pair.second], 100 * shared[pair.first, pair.second])
            for pair in pairs
        ]
        return pd.DataFrame(rows, columns=["cosine", "first", "second", "in common"])

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


def _look_closer(subject: Sentences, pooling: Pooling, pair: Pair, options: Options) -> Iterator[Item]:
    names = dict(enumerate(_name_sentences(subject.texts, LONGEST_NAME), start=1))
    titles = (say("similarity", "first"), say("similarity", "second"))
    yield Columns(tuple((Menu(place, title, names),) for place, title in zip(SENTENCE_PAIR, titles, strict=True)))
    yield Control("similarity_view", say("similarity", "view"), say("similarity", "view.help"))
    yield from VIEWS[options["similarity_view"]](subject, options, pair)


def _show_contributions(subject: Sentences, options: Options, pair: Pair) -> Iterator[Item]:
    pooling = options["similarity_pooling"]
    depths, sides = subject.depths, (pair.first, pair.second)
    one, other = ((depths.final[side], depths.padding[side]) for side in sides)
    counted = [token_weights(depths.padding[side], pooling) > 0 for side in sides]
    parts = token_contributions(one, other, pooling)[np.ix_(*counted)]
    tokens = [[depths.tokens[side][i] for i in np.flatnonzero(kept)] for side, kept in zip(sides, counted, strict=True)]
    strongest = np.abs(parts).round(5).argmax()  # processors round ties differently
    row, column = (int(place) for place in np.unravel_index(strongest, parts.shape))
    first, second = quote_place(tokens[0], row), quote_place(tokens[1], column)
    told = say("similarity", "tokens.reading", sum=parts.sum(), row=first, column=second, strongest=parts[row, column])
    sums = [_token_sums(place, sides[place], tokens[place], parts.sum(axis=1 - place)) for place in range(2)]
    yield Columns(tuple((each,) for each in sums))
    yield Heatmap(
        key="similarity_tokens",
        alt=say("similarity", "tokens.alt"),
        caption=say("similarity", "tokens.caption"),
        reading=lambda _: told,
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
    which, names = ("first", "second")[place], token_names(tokens)
    labels, values = add_up_smallest(names, sums)[1:]
    return LabelledBars(
        key=f"similarity_tokens_{which}",
        alt=say("similarity", "sums.alt", which=which),
        caption=say("similarity", "sums.caption", number=side + 1),
        **signed_bars(labels, values, say("similarity", "tokens.axis")),
        table=lambda _: pd.DataFrame({"adds": sums}, names),
    )


def signed_bars(names: Sequence[str], values: Sequence[float], title: str) -> dict[str, Any]:
    """Return bars with signs and three decimals."""
    by_sign = {1: palette.ATTENTION, 0: palette.RESIDUAL, -1: palette.FEED_FORWARD}
    colours = [by_sign[int(np.sign(round(value, 3)))] for value in values]
    texts = [write_decimals(value, 3, "+") for value in values]
    return {"labels": names, "values": values, "colours": colours, "texts": texts, "title": title}


def _show_left_out(subject: Sentences, options: Options, pair: Pair) -> Iterator[Item]:
    pooling = options["similarity_pooling"]
    yield Paragraph(say("similarity", "left-out"), "caption")
    changes, cosine = tuple(tuple(filter(is_for_any_text, each)) for each in subject.changes), pair.cosine
    if changes != subject.changes:
        cosine = float(read_depths(subject.lab, changes).similarity(pooling)[pair.first, pair.second])
        yield Paragraph(say("similarity", "left-out.changes", cosine=cosine), "caption")
    sides = {"first": (pair.first, pair.second), "second": (pair.second, pair.first)}
    left_out = {which: leave_words_out(subject.lab, changes, *side, pooling) for which, side in sides.items()}
    yield Columns(tuple((_word_changes(which, side[0], left_out[which], cosine),) for which, side in sides.items()))


def _word_changes(which: str, side: int, left_out: list[tuple[str, int | None, float]], cosine: float) -> Item:
    if not left_out:
        return Paragraph(say("similarity", "left-out.one", number=side + 1), "info")
    words, places, cosines = zip(*left_out, strict=True)
    after = np.array(cosines)
    changes = after - cosine
    shown, largest = keep_largest(changes), int(np.abs(changes).round(5).argmax())
    pairs = zip(map(shortened, words), places, strict=True)
    names = [word if place is None else name_place(word, place) for word, place in pairs]
    told = {"word": quote_token(words[largest]), "before": cosine, "after": after[largest]}
    return LabelledBars(
        key=f"similarity_left_out_{which}",
        alt=say("similarity", "left-out.alt", which=which),
        caption=say("similarity", "left-out.caption", number=side + 1, **told),
        **signed_bars([names[i] for i in shown], changes[shown].tolist(), say("similarity", "left-out.axis")),
        table=lambda _: pd.DataFrame({"cosine without it": after, "change": changes}, names),
    )


def _show_depths(subject: Sentences, options: Options, pair: Pair) -> Iterator[Item]:
    pooling = options["similarity_pooling"]
    n_depths = len(subject.depths.pooled[pooling])
    every = np.stack([subject.depths.similarity(pooling, depth) for depth in range(n_depths)])
    rows, columns = np.triu_indices(every.shape[1], k=1)
    lines = {"the chosen pair": every[:, pair.first, pair.second], "median pair": np.median(every[:, rows, columns], 1)}
    yield _cosines_by_depth(
        lines,
        (palette.FOCUS, palette.RESIDUAL),
        key="similarity_depths",
        alt=say("similarity", "depths.alt"),
        caption=say("similarity", "depths.caption"),
    )


def _show_word(subject: Sentences, options: Options, pair: Pair) -> Iterator[Item]:
    words = find_repeated_words(subject.lab.batch)
    framed = [word for word, places in words.items() if {pair.first, pair.second} <= places.keys()]
    default = max((word for word in framed if word not in FUNCTION_WORDS), key=len, default=next(iter(words), ""))
    counts = {word: say("similarity", "word-in", word=word, n=len(places)) for word, places in words.items()}
    names = {"" if word == default else word: name for word, name in counts.items()}
    yield Menu("similarity_word", say("similarity", "word"), names)
    word = options["similarity_word"] or default
    if word not in words:
        yield Paragraph(say("similarity", "word-none"), "info")
        return
    order = sorted(words[word], key=lambda sentence: sentence != pair.first)[: len(palette.CURVES) + 1]
    cosines, baseline = compare_word_by_depth(subject.lab, subject.changes, word, tuple(order))
    lines = {f"in sentence {sentence + 1}": cosines[:, i] for i, sentence in enumerate(order) if i}
    colours = [*palette.CURVES[: len(lines)], palette.RESIDUAL]
    if np.isfinite(baseline).all():
        lines["other words"] = baseline
    yield _cosines_by_depth(
        lines,
        colours,
        key="similarity_word_depths",
        alt=say("similarity", "word-depths.alt"),
        caption=say("similarity", "word-depths.caption", word=quote_token(word), number=order[0] + 1),
    )


def _cosines_by_depth(lines: Mapping[str, Array], colours: Sequence[str], **chart: Any) -> Curves[Sentences]:
    depths = np.arange(len(next(iter(lines.values()))))
    curves = [Curve(name, depths, lines[name], colour) for name, colour in zip(lines, colours, strict=False)]
    return Curves(
        curves=lambda _: curves,
        x=Axis("blocks passed", options={"dtick": 1}),
        y=lambda _: {"title": "cosine"},
        height=340,
        table=lambda _: pd.DataFrame(lines, pd.Index(depths, name="blocks passed")),
        **chart,
    )


def _explain(subject: Sentences, pooling: Pooling, pair: Pair) -> Iterator[Item]:
    case = {"mean": "mean", "first token": "first", "mean with padding": "padding"}[pooling]
    yield Paragraph(say("similarity", f"pooling-{case}"))
    yield Paragraph(say("similarity", "reading"))
    yield Paragraph(
        r"\cos(\bar x, \bar y) = \sum_{i,j} a_i\, b_j\, "
        r"\frac{x_i \cdot y_j}{\lVert \bar x \rVert\, \lVert \bar y \rVert}",
        "formula",
    )
    n, m = (int((token_weights(subject.depths.padding[side], pooling) > 0).sum()) for side in pair[:2])
    yield Paragraph(say("similarity", "parts", n=n, m=m))


VIEWS: Mapping[str, Callable[[Sentences, Options, Pair], Iterator[Item]]] = {
    "token by token": _show_contributions,
    "leave a word out": _show_left_out,
    "by depth": _show_depths,
    "one word": _show_word,
}
"""By the value of `similarity_view`."""

"""What becomes of a cosine without each word of either sentence. Legend: W words."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from playground.analysis.sentences import LeftOutWords, Pair, Pooling
from playground.charts.bars import MOST_BARS, LabelledRows, keep_largest
from playground.charts.chart import Columns, Item, LabelledBars, Options, Paragraph
from playground.charts.figure import Array
from playground.charts.markdown import quote_token
from playground.charts.names import name_place, shortened
from playground.text.wording import write_decimals
from playground.views.similarity.sentences import Sentences
from playground.views.similarity.tokens import signed_bars


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


def draw_word_changes(names: Sequence[str], changes: Array) -> LabelledRows:
    """What leaving each word out does to a cosine, (W,), in their order; the strongest where they are many."""
    shown = keep_largest(changes)
    return signed_bars([names[i] for i in shown], changes[shown].tolist(), "change of the cosine")


def name_words(left_out: LeftOutWords) -> list[str]:
    """Each word with the position of its first token below the line, where it has one, so that no two are the same."""
    names: list[str] = []
    for word, place in zip(left_out.words, left_out.places, strict=True):
        name = shortened(word) if place is None else name_place(shortened(word), place)
        names.append(name if name not in names else f"{name} (word {len(names) + 1})")
    return names


def _name_extremes(left_out: LeftOutWords, changes: Array) -> str:
    """The words without which the cosine falls and rises the most, where it does."""

    def quote(number: int) -> str:
        word, place = quote_token(left_out.words[number]), left_out.places[number]
        return word if place is None else name_place(word, place)

    lowest, highest = int(changes.argmin()), int(changes.argmax())
    falls = f"It falls the most without {quote(lowest)}, by {-changes[lowest]:.3f}."
    rises = f"It rises the most without {quote(highest)}, by {changes[highest]:.3f}."
    named = [falls] * bool(changes[lowest] <= -0.0005) + [rises] * bool(changes[highest] >= 0.0005)
    return " ".join(named) or "No word changes it by as much as 0.001."

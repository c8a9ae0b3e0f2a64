"""What sentences are called on charts and in lists: their numbers, and their beginnings."""

import html
from collections.abc import Sequence
from itertools import takewhile
from textwrap import wrap

from playground.charts.names import shortened

LONGEST_ROW = 14
"""Letters of a sentence beside the matrix."""

LONGEST_HOVER = 60
"""Letters of a sentence where there is room."""


def name_sentences(sentences: Sequence[str], longest: int = 18) -> list[str]:
    """Each sentence's number, from 1, and its beginning; of those that begin alike, where they differ."""
    beginnings = [shortened(sentence, longest) for sentence in sentences]
    names = []
    for number, (sentence, beginning) in enumerate(zip(sentences, beginnings, strict=True), start=1):
        alike = {other for other, shown in zip(sentences, beginnings, strict=True) if shown == beginning}
        names.append(f"{number} · {_after_common_words(sentence, alike, longest) if len(alike) > 1 else beginning}")
    return names


def write_two_lines(sentences: Sequence[str]) -> list[str]:
    """Each sentence's number and its beginning, cut to two lines, in the HTML that Plotly shows."""
    names = name_sentences(sentences, 2 * LONGEST_ROW + 4)
    lines = (wrap(name, LONGEST_ROW + 5, max_lines=2, placeholder=" …") for name in names)
    return ["<br>".join(html.escape(line, quote=False) for line in each) for each in lines]


def _after_common_words(sentence: str, alike: set[str], longest: int) -> str:
    """A sentence from the first word on in which these differ."""
    words = zip(*(each.split() for each in alike), strict=False)
    common = list(takewhile(lambda same: len(set(same)) == 1, words))
    return shortened(f"… {' '.join(sentence.split()[len(common) :])}", longest)

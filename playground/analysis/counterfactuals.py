"""A claim about one weight, tested by other texts: two words swapped, another word in the key's place, the key moved.

A word may have several tokens; its weight is their sum.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from playground.runs.arrays import Array
from playground.text import Batch
from playground.text.sentences import Word, is_punctuation, split_words

Kind = Literal["swap", "replace", "move"]
Verdict = Literal["word", "place", "close"]

CLOSE = 0.05
"""Weights that differ by less do not tell which word a head prefers."""


@dataclass(frozen=True)
class Claim:
    """That a query looks at one word rather than at another."""

    text: str
    words: tuple[Word, ...]
    query: int
    key: int
    rival: int
    pieces: tuple[int, int, int]
    """Which token of its word query, key and rival are."""
    positions: tuple[int, int, int] = (0, 0, 0)
    weights: tuple[float, float] = (0.0, 0.0)

    def word(self, place: int) -> str:
        """Return a word as it stands in the text."""
        return self.text[self.words[place].start : self.words[place].end]


def find_claim(
    batch: Batch, sentence: int, weights: Array, allowed: Sequence[bool], focus: tuple[int, int], rival: int | None
) -> Claim | None:
    """Return what can be tested of a query's weights (T,); None unless query and key are two words and a third exists.

    The rival at a position may be None, no word, or spelled like the key's: then it is the strongest other word.
    """
    text, end = batch.sentences[sentence], max((end for _, end in batch.offsets[sentence]), default=0)
    words = tuple(word for word in split_words(text) if word.end <= end and not is_punctuation(text[slice(*word)]))
    tokens = [tokens_of(batch, sentence, word) for word in words]
    place_of = {position: place for place, positions in enumerate(tokens) for position in positions}
    asks, asked = map(place_of.get, focus)
    if asks is None or asked is None or asks == asked:
        return None
    totals = [float(weights[positions].sum(dtype=np.float64)) for positions in tokens]
    spelled = [text[slice(*word)].casefold() for word in words]
    others = [
        place
        for place, positions in enumerate(tokens)
        if positions
        and place not in (asks, asked)
        and spelled[place] != spelled[asked]
        and all(allowed[position] for position in positions)
    ]
    if not others:
        return None
    wanted = None if rival is None else place_of.get(rival)
    other = wanted if wanted in others else max(others, key=lambda place: totals[place])
    positions = (*focus, rival if rival is not None and wanted == other else tokens[other][0])
    pieces = tokens[asks].index(positions[0]), tokens[asked].index(positions[1]), tokens[other].index(positions[2])
    return Claim(text, words, asks, asked, other, pieces, positions, (totals[asked], totals[other]))


def tokens_of(batch: Batch, sentence: int, word: Word) -> list[int]:
    """Return the positions of a word's tokens."""
    spans = zip(batch.offsets[sentence], batch.special[sentence], strict=True)
    return [i for i, ((start, end), extra) in enumerate(spans) if not extra and start < word.end and end > word.start]


def change_text(claim: Claim, new: str) -> dict[Kind, Claim]:
    """Return the texts that test a claim, to be measured."""
    n, key, rival, query = len(claim.words), claim.key, claim.rival, claim.query
    order = list(range(n))
    order[key], order[rival] = rival, key
    found: dict[Kind, Claim] = {"swap": _reorder(claim, order)}
    if new and new.casefold() != claim.word(key).casefold():
        found["replace"] = _write(claim, [new if place == key else claim.word(place) for place in range(n)])
    away = 2 if query < key else -2
    for steps in (away, -away):
        target = key + steps
        passed = range(min(key, target), max(key, target) + 1)
        if 0 <= target < n and query not in passed:
            order = list(range(n))
            order.insert(target, order.pop(key))
            found["move"] = _reorder(claim, order)
            break
    return found


def _reorder(claim: Claim, order: Sequence[int]) -> Claim:
    query, key, rival = map(order.index, (claim.query, claim.key, claim.rival))
    return replace(_write(claim, [claim.word(place) for place in order]), query=query, key=key, rival=rival)


def _write(claim: Claim, texts: Sequence[str]) -> Claim:
    written, words, end = "", [], 0
    for word, text in zip(claim.words, texts, strict=True):
        written += claim.text[end : word.start]
        words.append(Word(len(written), len(written) + len(text)))
        written, end = written + text, word.end
    return replace(claim, text=written + claim.text[end:], words=tuple(words))


def measure(claim: Claim, batch: Batch, pattern: Array) -> Claim | None:
    """Measure a changed claim by a head's pattern (T, T); None if a word is missing."""
    tokens = [tokens_of(batch, 0, claim.words[place]) for place in (claim.query, claim.key, claim.rival)]
    if not all(tokens) or any(batch.unknown[0][position] for position in tokens[1]):
        return None
    query, key, rival = (each[min(piece, len(each) - 1)] for each, piece in zip(tokens, claim.pieces, strict=True))
    of_key, of_rival = (float(pattern[query, each].sum(dtype=np.float64)) for each in tokens[1:])
    return replace(claim, positions=(query, key, rival), weights=(of_key, of_rival))


def judge_swap(before: tuple[float, float], after: tuple[float, float]) -> Verdict:
    """Judge whether a word or a place has more in both orders of two words, at two decimals; else `close`."""
    for pair in (before, after):
        first, second = (float(f"{each:.2f}") for each in pair)
        if round(abs(first - second), 2) < CLOSE:
            return "close"
    return "word" if compare(before) == compare(after) else "place"


def compare(pair: tuple[float, float]) -> int:
    """Return 1 if the first of two weights is larger at two decimals, -1 if the second is, else 0."""
    first, second = (float(f"{each:.2f}") for each in pair)
    return (first > second) - (first < second)

"""A claim about one weight, tested by other texts: two words swapped, another word in the key's place, the key moved.

Words are what a reader calls so, of one token or of several; a word's weight is the sum over its tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text import Batch
from playground.text.sentences import CONTROL, LINE_BREAK, Word, is_punctuation, split_words

Kind = Literal["swap", "replace", "move"]
Verdict = Literal["word", "place", "close"]

CLOSE = 0.05
"""Two weights that are less apart are too close to tell which word a head prefers."""

WORD_GROUPS = (
    "animal dog cat horse cow bird fish rabbit mouse",
    "street road river bridge field park garden town room",
    "patient doctor nurse teacher student lawyer judge man woman boy girl child",
    "book ball cup box key car table chair trophy suitcase letter",
    "tired hungry angry happy sad afraid ill young old",
    "big small wide narrow long short heavy light",
    "good bad great poor nice terrible",
    "cross enter leave pass reach see find like love",
    "crossed entered left passed reached saw found liked loved",
    "it he she they we",
    "the a this that every",
    "because although while since before after",
    "is was seems became",
    "in on under near behind",
    "red blue green black white",
    "anna mary john paul",
)
"""Words of one kind, a line each: what may stand in a word's place and leave a sentence."""


def list_alike(word: str, text: str) -> list[str]:
    """Words of the same kind that the text has not; common nouns where the word's kind is not known."""
    kind = next((line.split() for line in WORD_GROUPS if word.lower() in line.split()), WORD_GROUPS[3].split())
    used = {text[each.start : each.end].lower() for each in split_words(text)}
    return [each for each in kind if each not in used]


def clean_word(typed: str) -> str:
    """What somebody typed as a word, in one line and without what cannot stand in a text."""
    return " ".join(CONTROL.sub(" ", LINE_BREAK.sub(" ", typed)).encode("utf-8", "replace").decode().split())


@dataclass(frozen=True)
class Claim:
    """That a query looks at one word rather than at another, in one sentence. Words count from 0."""

    text: str
    words: tuple[Word, ...]
    """Those that can change places: no punctuation."""
    query: int
    """The word that asks."""
    key: int
    """The word that is asked."""
    rival: int
    """The word that it is set beside."""
    pieces: tuple[int, int, int]
    """Which of their words' tokens query, key and rival are."""
    weights: tuple[float, float]
    """Of the key's word and of the rival's."""

    def word(self, place: int) -> str:
        """Return a word as it stands in the text."""
        return self.text[self.words[place].start : self.words[place].end]


def find_claim(
    batch: Batch, sentence: int, weights: Array, allowed: Sequence[bool], focus: tuple[int, int], rival: int | None
) -> Claim | None:
    """Return what can be tested of a weight; None unless query and key are two words, and a third can be swapped.

    Args:
        batch: of the text.
        sentence: which of its sentences, from 0.
        weights: (T,), of the query.
        allowed: (T,), the keys that it may attend to.
        focus: the positions of query and key.
        rival: the position of the key that it is set beside; the strongest other word takes the place of one that is
            no word, or is spelled as the key's.
    """
    query, key = focus
    text, end = batch.sentences[sentence], max((end for _, end in batch.offsets[sentence]), default=0)
    words = tuple(word for word in split_words(text) if word.end <= end and not is_punctuation(text[slice(*word)]))
    tokens = [tokens_of(batch, sentence, word) for word in words]
    place_of = {position: place for place, positions in enumerate(tokens) for position in positions}
    asks, asked = place_of.get(query), place_of.get(key)
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
    position = rival if rival is not None and wanted == other else tokens[other][0]
    pieces = tokens[asks].index(query), tokens[asked].index(key), tokens[other].index(position)
    return Claim(text, words, asks, asked, other, pieces, (totals[asked], totals[other]))


def tokens_of(batch: Batch, sentence: int, word: Word) -> list[int]:
    """Return the positions of the tokens that stand for a word."""
    spans = zip(batch.offsets[sentence], batch.special[sentence], strict=True)
    return [i for i, (span, extra) in enumerate(spans) if not extra and word.overlaps(*span)]


@dataclass(frozen=True)
class Counterfactual:
    """A text in which one thing is different, with where the words of the claim stand in it."""

    text: str
    words: tuple[Word, ...]
    query: int
    key: int
    """Which word is asked about: the new one where it was replaced."""
    rival: int


def change_text(claim: Claim, new: str) -> dict[Kind, Counterfactual]:
    """Return the texts that test a claim, by what was done; what cannot be done is left out."""
    n, key, rival, query = len(claim.words), claim.key, claim.rival, claim.query
    order = list(range(n))
    order[key], order[rival] = rival, key
    found: dict[Kind, Counterfactual] = {"swap": _reorder(claim, order)}
    if new and new.casefold() != claim.word(key).casefold():
        texts = [new if place == key else claim.word(place) for place in range(n)]
        found["replace"] = Counterfactual(*_write(claim, texts), query, key, rival)
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


def _reorder(claim: Claim, order: Sequence[int]) -> Counterfactual:
    """Return the text with its words in another order: the place of each, then which word stands there."""
    text, words = _write(claim, [claim.word(place) for place in order])
    return Counterfactual(text, words, *map(order.index, (claim.query, claim.key, claim.rival)))


def _write(claim: Claim, texts: Sequence[str]) -> tuple[str, tuple[Word, ...]]:
    """Return the sentence with other words in its words' places; what stands between them stays."""
    written, words, end = "", [], 0
    for word, text in zip(claim.words, texts, strict=True):
        written += claim.text[end : word.start]
        words.append(Word(len(written), len(written) + len(text)))
        written, end = written + text, word.end
    return written + claim.text[end:], tuple(words)


@dataclass(frozen=True)
class Outcome:
    """What a head does in a text in which one thing is different."""

    text: str
    positions: tuple[int, int, int]
    """The tokens that ask, are asked, and stand for the rival's word."""
    weights: tuple[float, float]
    """Of the key's word and of the rival's."""


def measure(claim: Claim, changed: Counterfactual, batch: Batch, pattern: Array) -> Outcome | None:
    """Return what a head does in a changed text, by its pattern (T, T); None if a word is cut off or unknown."""
    words = [changed.words[place] for place in (changed.query, changed.key, changed.rival)]
    tokens = [tokens_of(batch, 0, word) for word in words]
    if not all(tokens) or any(batch.unknown[0][position] for position in tokens[1]):
        return None
    pairs = zip(tokens, claim.pieces, strict=True)
    query, key, rival = (each[min(piece, len(each) - 1)] for each, piece in pairs)
    of_key, of_rival = (float(pattern[query, each].sum(dtype=np.float64)) for each in tokens[1:])
    return Outcome(changed.text, (query, key, rival), (of_key, of_rival))


def judge_swap(before: tuple[float, float], after: tuple[float, float]) -> Verdict:
    """Whether a head prefers a word or a place, by the weights of two words in either order, with two decimals.

    `word`: one word has more in both orders. `place`: one place has. `close`: in an order they are nearly the same.
    """
    if any(_gap(pair) < CLOSE for pair in (before, after)):
        return "close"
    return "word" if compare(before) == compare(after) else "place"


def _gap(pair: tuple[float, float]) -> float:
    """How far two weights are apart, as two decimals show them."""
    first, second = (float(f"{each:.2f}") for each in pair)
    return round(abs(first - second), 2)


def compare(pair: tuple[float, float]) -> int:
    """Which of two weights is larger as two decimals show them: 1 for the first, -1 for the second, 0 for neither."""
    first, second = (float(f"{each:.2f}") for each in pair)
    return (first > second) - (first < second)


TEN_SENTENCES = (
    ("The {} didn't cross the {} because it was too tired.", "horse", "river", "it"),
    ("The {} left the {} because it was afraid.", "bird", "garden", "it"),
    ("The {} stayed on the {} because it was heavy.", "book", "table", "it"),
    ("The {} didn't open the {} because it was too old.", "key", "door", "it"),
    ("The {} ran past the {} because it was quick.", "mouse", "lion", "it"),
    ("The {} hid from the {} because it was small.", "rabbit", "fox", "it"),
    ("The {} didn't see the {} because he was late.", "man", "judge", "he"),
    ("The {} didn't call the {} because he was too shy.", "boy", "teacher", "he"),
    ("The {} thanked the {} because she was kind.", "girl", "queen", "she"),
    ("The {} followed the {} because she was lost.", "child", "mother", "she"),
)
"""Text, first noun, second noun, and the pronoun that follows them."""


def judge_nouns(words: Sequence[str], runs: Sequence[Run], layer: int, head: int) -> Verdict | None:
    """Judge a head by a pronoun's weights of two nouns, from the runs with the nouns in either order.

    Return None if one of the words is no single token.
    """
    pairs = []
    for run in runs:
        tokens = [token.strip("␣") for token in run.tokens]
        if not {*words} <= {*tokens}:
            return None
        first, second, query = map(tokens.index, words)
        row = run.pattern(layer)[head, query]
        pairs.append((float(row[first]), float(row[second])))
    return judge_swap(*pairs)

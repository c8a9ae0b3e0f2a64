"""A claim about one weight, tested by other texts: two words swapped, another word in the key's place, the key moved.

Words are what a reader calls so, of one token or of several; a word's weight is the sum over its tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from playground.errors import PlaygroundError
from playground.model import Encoder
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import run_batch
from playground.text import Batch, Tokenizer
from playground.text.sentences import CONTROL, LINE_BREAK, Word, is_punctuation, split_words

Kind = Literal["swap", "replace", "move"]
Verdict = Literal["word", "place", "close"]

CLOSE = 0.05
"""Two weights that are less apart are too close to tell which word a head prefers."""

Untestable = Literal["one word", "no word", "own word", "no second word"]
"""The sentence has one word; the key is none, or is a part of the query's word; or nothing can be swapped with it."""

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
class ReadText:
    """A text as a layer of the encoder read it. T tokens, padding included."""

    offsets: Sequence[tuple[int, int]]
    special: Sequence[bool]
    unknown: Sequence[bool]
    patterns: Array | None = None
    """(H, T, T); None of a text that has been read elsewhere."""


ReadTexts = Callable[[int, Sequence[str]], Sequence[ReadText | str]]
"""Runs texts up to a layer, from 0, as one batch; a sentence in the place of one that cannot be read."""


def read_texts(
    encoder: Encoder,
    tokenizer: Tokenizer,
    batch: Batch,
    texts: Sequence[str],
    layer: int,
    *,
    max_tokens: int,
    seed: int = 0,
    causal: bool = False,
    fit: Callable[[Batch, int], tuple[Change, ...]] | None = None,
) -> list[ReadText | str]:
    """What a layer makes of texts, in one pass where nothing is changed; of one that cannot be read, why.

    Args:
        batch: of the present text, whose sentences changes may take vectors from.
        fit: the changes that a sentence of a batch can have.

    Raises:
        PlaygroundError: as the run of the present text.
    """
    found: list[ReadText | str] = []
    readable: list[str] = []
    for text in texts:
        try:
            tokenizer.encode_batch([text], max_tokens)
        except PlaygroundError:
            found.append("the tokenizer has no token for it")
        else:
            readable.append(text)
            found.append("")
    if not readable:
        return found
    first = len(batch.sentences)
    together = tokenizer.encode_batch([*batch.sentences, *readable], max_tokens)
    rows = range(first, first + len(readable))
    changes = [() if fit is None or row < first else fit(together, row) for row in range(rows.stop)]
    name = f"layers.{layer}.attn.pattern"
    patterns: dict[int, Array] = {}
    steps = run_batch(
        encoder,
        together,
        keep=name.__eq__,
        seed=seed,
        causal=causal,
        sentences=rows,
        interventions=changes,
        end=layer + 1,  # what comes after does not change its pattern
    )
    for step in steps:
        patterns |= dict(zip(step.sentences, step.arrays[name], strict=True))
    row = iter(rows)
    return [each or _read_row(together, patterns, next(row)) for each in found]


def _read_row(batch: Batch, patterns: dict[int, Array], row: int) -> ReadText:
    return ReadText(batch.offsets[row], batch.special[row], batch.unknown[row], patterns[row])


@dataclass(frozen=True)
class Claim:
    """That a query looks at one word rather than at another, in one sentence."""

    text: str
    words: tuple[Word, ...]
    """Those that can change places: no punctuation."""
    key: int
    """Which of them is the key's, from 0."""
    rival: int
    """Which of them it is set beside."""
    query: int | None
    """Which of them asks; None where no word does."""
    positions: tuple[int, int, int]
    """The tokens that ask, are asked, and stand for the rival's word."""
    weights: tuple[float, float]
    """Of the key's word and of the rival's."""
    is_asked: bool
    """Whether the rival's word is that of the rival token."""

    def word(self, place: int) -> str:
        """A word as it stands in the text."""
        return self.text[self.words[place].start : self.words[place].end]


def find_claim(
    batch: Batch, sentence: int, weights: Array, allowed: Sequence[bool], focus: tuple[int, int], rival: int | None
) -> Claim | Untestable:
    """What can be tested of a weight, or why nothing can.

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
    offsets, special = batch.offsets[sentence], batch.special[sentence]
    text, end = batch.sentences[sentence], max((end for _, end in offsets), default=0)
    words = tuple(word for word in split_words(text) if word.end <= end and _has_letters(text, word))
    places = [_word_of(words, *span) if not extra else None for span, extra in zip(offsets, special, strict=True)]
    if len(words) < 2:
        return "one word"
    asks, asked = places[query], places[key] if key < len(places) else None
    if asked is None:
        return "no word"
    if asks == asked:
        return "own word"
    totals = np.zeros(len(words))
    for position, place in enumerate(places):
        if place is not None:
            totals[place] += weights[position]
    spelled = [text[word.start : word.end].casefold() for word in words]
    others = [
        place
        for place in range(len(words))
        if place not in (asks, asked)
        and spelled[place] != spelled[asked]
        and all(allowed[position] for position, each in enumerate(places) if each == place)
        and place in places
    ]
    if not others:
        return "no second word"
    wanted = None if rival is None or rival >= len(places) else places[rival]
    other = wanted if wanted in others else max(others, key=lambda place: totals[place])
    position = rival if wanted == other and rival is not None else places.index(other)
    pair = (float(totals[asked]), float(totals[other]))
    return Claim(text, words, asked, other, asks, (query, key, position), pair, wanted == other)


def _has_letters(text: str, word: Word) -> bool:
    return not is_punctuation(text[word.start : word.end])


def _word_of(words: Sequence[Word], start: int, end: int) -> int | None:
    """The word that a token's place is in, if any."""
    return next((i for i, word in enumerate(words) if word.overlaps(start, end)), None)


@dataclass(frozen=True)
class Counterfactual:
    """A text in which one thing is different, with where the words of the claim stand in it."""

    kind: Kind
    text: str
    words: tuple[Word, ...]
    key: int
    """Which word is asked about: the new one where it was replaced."""
    rival: int
    query: int | None
    steps: int = 0
    """Of a move: how many words to the right."""
    new: str = ""
    """The word that stands in the key's place."""


def change_text(claim: Claim, new: str) -> dict[Kind, Counterfactual | str]:
    """The three texts that test a claim, by what was done; why there is none where one cannot be made."""
    n, key, rival, query = len(claim.words), claim.key, claim.rival, claim.query
    order = list(range(n))
    order[key], order[rival] = rival, key
    found: dict[Kind, Counterfactual | str] = {"swap": _reorder(claim, "swap", order)}
    if not new:
        found["replace"] = "there is no word to put there"
    elif new.casefold() == claim.word(key).casefold():
        found["replace"] = "this is the same word"
    else:
        texts = [new if place == key else claim.word(place) for place in range(n)]
        found["replace"] = Counterfactual("replace", *_write(claim, texts), key, rival, query, new=new)
    away = 2 if query is None or query < key else -2
    for steps in (away, -away):
        target = key + steps
        passed = range(min(key, target), max(key, target) + 1)
        if 0 <= target < n and query not in passed:
            order = list(range(n))
            order.insert(target, order.pop(key))
            found["move"] = _reorder(claim, "move", order, steps)
            break
    else:
        found["move"] = "there is no room for it on its side of the query"
    return found


def _reorder(claim: Claim, kind: Kind, order: Sequence[int], steps: int = 0) -> Counterfactual:
    """The text with its words in another order: the place of each, then which word stands there."""
    text, words = _write(claim, [claim.word(place) for place in order])
    query = None if claim.query is None else order.index(claim.query)
    return Counterfactual(kind, text, words, order.index(claim.key), order.index(claim.rival), query, steps)


def _write(claim: Claim, texts: Sequence[str]) -> tuple[str, tuple[Word, ...]]:
    """The sentence with other words in its words' places; what stands between them stays."""
    written, words, end = "", [], 0
    for word, text in zip(claim.words, texts, strict=True):
        written += claim.text[end : word.start]
        words.append(Word(len(written), len(written) + len(text)))
        written, end = written + text, word.end
    return written + claim.text[end:], tuple(words)


@dataclass(frozen=True)
class Outcome:
    """What a head does in a text in which one thing is different."""

    text: Counterfactual
    positions: tuple[int, int, int]
    """The tokens that ask, are asked, and stand for the rival's word."""
    weights: tuple[float, float]
    """Of the key's word and of the rival's."""


def run_tests(
    claim: Claim, batch: Batch, sentence: int, read: ReadTexts, layer: int, head: int, new: str
) -> dict[Kind, Outcome | str]:
    """What a head does in the three texts, by what was done; a reason where one cannot be had. Raises as `read`."""
    texts = change_text(claim, new)
    made = {kind: each for kind, each in texts.items() if isinstance(each, Counterfactual)}
    found = dict(zip(made, read(layer, [each.text for each in made.values()]), strict=True))
    outcomes: dict[Kind, Outcome | str] = {}
    for kind, text in texts.items():
        seen = found.get(kind, text)
        if isinstance(text, str) or isinstance(seen, str):
            outcomes[kind] = str(seen)
        elif isinstance(seen, ReadText):
            outcomes[kind] = _measure(claim, batch, sentence, text, seen, head)
    return outcomes


def _measure(
    claim: Claim, batch: Batch, sentence: int, text: Counterfactual, seen: ReadText, head: int
) -> Outcome | str:
    before = ReadText(batch.offsets[sentence], batch.special[sentence], batch.unknown[sentence])
    query = _find_query(claim, before, text, seen)
    tokens = [_tokens_of(seen, text.words[place]) for place in (text.key, text.rival)]
    if query is None or seen.patterns is None or not all(tokens):
        return "the encoder reads no sentence that is so long"
    if any(seen.unknown[position] for position in tokens[0]) and text.new:
        return "the tokenizer does not know this word"
    row = seen.patterns[head, query]
    if not np.isfinite(row).all():
        return "its weights are no finite numbers"
    key, rival = (
        each[min(_piece(before, claim.words[place], position), len(each) - 1)]
        for each, place, position in zip(tokens, (claim.key, claim.rival), claim.positions[1:], strict=True)
    )
    of_key, of_rival = (float(row[list(each)].sum(dtype=np.float64)) for each in tokens)
    return Outcome(text, (query, key, rival), (of_key, of_rival))


def _tokens_of(text: ReadText, word: Word) -> list[int]:
    """The positions of the tokens that stand for a word."""
    spans = zip(text.offsets, text.special, strict=True)
    return [i for i, (span, extra) in enumerate(spans) if not extra and word.overlaps(*span)]


def _piece(text: ReadText, word: Word, position: int) -> int:
    """Which of a word's tokens stands at a position, from 0."""
    return _tokens_of(text, word).index(position)


def _find_query(claim: Claim, before: ReadText, text: Counterfactual, seen: ReadText) -> int | None:
    """Where the token that asks stands in another text; None where it was cut off."""
    position = claim.positions[0]
    if before.special[position]:
        n_before = sum(before.special[:position])
        return [i for i, extra in enumerate(seen.special) if extra][n_before]
    if claim.query is not None and text.query is not None:
        piece = _piece(before, claim.words[claim.query], position)
        return next(iter(_tokens_of(seen, text.words[text.query])[piece:]), None)
    # What stands between two words is as far behind the first of them as before.
    start = before.offsets[position][0]
    place = max((i for i, word in enumerate(claim.words) if word.end <= start), default=None)
    if place is not None:
        start += text.words[place].end - claim.words[place].end
    spans = enumerate(zip(seen.offsets, seen.special, strict=True))
    return next((i for i, ((first, end), extra) in spans if not extra and first <= start < end), None)


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


def judge_nouns(words: Sequence[str], runs: Sequence[Run], layer: int, head: int) -> Verdict:
    """Judge a head by a pronoun's weights of two nouns, from the runs with the nouns in either order."""
    rows = [(run.pattern(layer)[head], *map([each.strip("␣") for each in run.tokens].index, words)) for run in runs]
    before, after = ((float(pattern[query, a]), float(pattern[query, b])) for pattern, a, b, query in rows)
    return judge_swap(before, after)

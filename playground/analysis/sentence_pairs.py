"""Pairs of sentences that differ in a word and have as many tokens, so that vectors can be patched between them."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from playground.errors import InputError
from playground.limits import MAX_CHARACTERS, MAX_SENTENCES
from playground.text import Batch

Encode = Callable[[Sequence[str]], Batch]
"""Cuts sentences into tokens as they would be cut in a text of their own."""

CONTRASTS = (
    ("doctor", "nurse"), ("he", "she"), ("it", "he"), ("animal", "child"), ("street", "river"), ("tired", "wide"),
    ("tired", "happy"), ("man", "woman"), ("his", "her"), ("cat", "dog"), ("good", "bad"), ("black", "white"),
    ("small", "large"), ("old", "new"), ("day", "night"), ("house", "garden"), ("the", "a"), ("is", "was"),
)  # fmt: skip
"""Words that a student may want to exchange."""

WORDS = (
    "dog", "river", "king", "she", "you", "is", "be", "never", "water", "child", "house", "music", "friend", "winter",
    "a", "to", "on", "red", "book", "three", "always", "walked", "people", "morning", "question", "different",
)  # fmt: skip
"""What stands for a word that has no contrast, the first that fits."""


class Corrupted(NamedTuple):
    """A copy of a sentence with one word changed."""

    sentence: str
    token: int
    """The first token that differs."""
    old: str
    """The word that is changed."""
    new: str


def find_partners(batch: Batch, sentence: int) -> list[int]:
    """The sentences with as many tokens as this one, but not the same ones, in their order."""
    ids = [row[mask].tolist() for row, mask in zip(batch.ids, batch.mask, strict=True)]
    own = ids[sentence]
    return [i for i, other in enumerate(ids) if len(other) == len(own) and other != own]


def changed_tokens(batch: Batch, one: int, two: int) -> list[int]:
    """The positions where two sentences of as many tokens have different ones."""
    return (batch.ids[one] != batch.ids[two]).nonzero()[:, 0].tolist()


def corrupt_word(encode: Encode, batch: Batch, sentence: int, token: int) -> Corrupted | None:
    """A copy of a sentence, of as many tokens, with the word at a token changed; None where no other word fits.

    Words that `encode` knows come first, and its contrast before others; last the word's own letters backwards.
    """
    text = batch.sentences[sentence]
    start, end = _word_around(text, *batch.offsets[sentence][token])
    if start == end or batch.truncated[sentence]:
        return None
    fitting: list[tuple[int, int, Corrupted]] = []
    for other in _other_words(text, text[start:end]):
        both = _encode_known(encode, [text, f"{text[:start]}{other}{text[end:]}"])
        if both is not None and find_partners(both, 0):
            copied = Corrupted(both.sentences[1], changed_tokens(both, 0, 1)[0], text[start:end], other)
            fitting.append((sum(both.unknown[1]), len(fitting), copied))
            if fitting[-1][0] == 0:
                break
    return min(fitting)[2] if fitting else None


def _encode_known(encode: Encode, sentences: Sequence[str]) -> Batch | None:
    """The sentences as a batch; None where a vocabulary lacks one of their words and has no token for that."""
    try:
        return encode(sentences)
    except InputError:
        return None


def append_sentences(text: str, n_sentences: int, added: Sequence[str]) -> str | None:
    """A text with further sentences, a line each; None where it would be longer than a text may be."""
    longer = "\n".join([text.rstrip("\n"), *added]) if text.strip() else "\n".join(added)
    fits = len(longer) <= MAX_CHARACTERS and n_sentences + len(added) <= MAX_SENTENCES
    return longer if fits else None


def _word_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole word that a piece of a text belongs to; an empty one where the piece has no letter or digit."""
    letters = [at for at in range(start, end) if text[at].isalnum()]
    if not letters:
        return start, start
    start, end = letters[0], letters[0]
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end


def _other_words(text: str, word: str) -> Iterator[str]:
    """What may stand for a word, the likeliest first, capitalised as it is."""
    pairs = [*CONTRASTS, *((two, one) for one, two in CONTRASTS)]
    contrasts = [two for one, two in pairs if one == word.lower()]
    own = [each for each in text.split() if each.isalnum()]
    shape = str.capitalize if word[:1].isupper() else str
    for other in dict.fromkeys([*contrasts, *WORDS, *(two for _, two in pairs), *own, word.lower()[::-1]]):
        if other.lower() != word.lower():
            yield shape(other)

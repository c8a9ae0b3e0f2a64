"""English sentences and their French, by a small grammar. Legend: N sentences, T words in the longest."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from playground.training.recipe import Recipe
from playground.training.tasks.symbol_tasks import DECODER_COPY, Drawn

_WORDS = {
    "article": "the le la, a un une, my mon ma, this ce cette",
    "adjective": "small petit petite, big grand grande, pretty joli jolie, good bon bonne",
    "colour": "black noir noire, white blanc blanche, green vert verte, grey gris grise, blue bleu bleue",
    "noun": "cat chat -, dog chien -, horse cheval -, boy garçon -, king roi -, book livre -, garden jardin -, "
    "bread pain -, cow - vache, girl - fille, queen - reine, house - maison, flower - fleur, car - voiture, "
    "door - porte, apple - pomme",
    "verb": "sees voit voit, finds trouve trouve, wants veut veut, takes prend prend, shows montre montre, "
    "draws dessine dessine",
    "preposition": "in dans dans, on sur sur, under sous sous, behind derrière derrière, with avec avec",
}

WORDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    name: tuple((english, he.strip("-"), she.strip("-")) for english, he, she in map(str.split, words.split(", ")))
    for name, words in _WORDS.items()
}
"""By class: English, masculine French, feminine French."""

WORD_CLASSES = tuple(WORDS)
ENGLISH = tuple(english for words in WORDS.values() for english, _, _ in words)
FRENCH = tuple(dict.fromkeys(form for words in WORDS.values() for _, *forms in words for form in forms if form))

PHRASES = (
    ("article", "noun"),
    ("article", "adjective", "noun"),
    ("article", "colour", "noun"),
    ("article", "adjective", "colour", "noun"),
)
"""A verb joins the first two phrases, prepositions the others."""

_SHORTEST = len(PHRASES[0])

_PHRASE = f"(?:{'|'.join(map(' '.join, PHRASES))})"
_SENTENCE = re.compile(f"{_PHRASE}(?: verb {_PHRASE}(?: preposition {_PHRASE})*)?")
"""The classes of a sentence's words."""

_CLASS = np.repeat(np.arange(len(WORD_CLASSES)), [len(words) for words in WORDS.values()])

_IS_FEMININE = torch.tensor([not masculine for words in WORDS.values() for _, masculine, _ in words]).long()
"""Of an English noun."""

_TRANSLATIONS = torch.tensor(
    [
        [len(ENGLISH) + FRENCH.index(form or masculine or feminine) for form in (masculine, feminine)]
        for words in WORDS.values()
        for _, masculine, feminine in words
    ]
)
"""(English words, 2): masculine, feminine."""


def translate(ids: Tensor) -> Tensor:
    """Return the French words, (N, T) → (N, T)."""
    word = _word_numbers(ids)
    is_noun = _is_of_class(word, "noun")
    gender = torch.zeros_like(word)
    following = torch.zeros_like(word[:, 0])
    for t in reversed(range(word.shape[1])):
        following = torch.where(is_noun[:, t], _IS_FEMININE[word[:, t]], following)
        gender[:, t] = following
    return (DECODER_COPY.first_id + _TRANSLATIONS[word, gender]).gather(1, source_places(ids))


def source_places(ids: Tensor) -> Tensor:
    """Return for each French word the position of its English one, (N, T)."""
    word = _word_numbers(ids)
    swapped = (_is_of_class(word[:, :-1], "colour") & _is_of_class(word[:, 1:], "noun")).long()
    places = torch.arange(word.shape[1]).repeat(len(word), 1)
    places[:, :-1] += swapped
    places[:, 1:] -= swapped
    return places


def _word_numbers(ids: Tensor) -> Tensor:
    return (ids - DECODER_COPY.first_id).clamp(0, len(ENGLISH) - 1)


def _is_of_class(word: Tensor, word_class: str) -> Tensor:
    return torch.from_numpy(_CLASS)[word] == WORD_CLASSES.index(word_class)


def draw_sentences(recipe: Recipe, n: int, random: torch.Generator) -> Drawn:
    """Draw sentences, lengths uniform from two words."""
    length = recipe.length
    lengths = torch.randint(_SHORTEST, length + 1, (n, 1), generator=random).numpy()
    coins = torch.rand(2, n, length, generator=random, dtype=torch.float64).numpy()
    classes = np.zeros((n, length), np.int64)
    for row, n_words, own in zip(classes, lengths[:, 0].tolist(), coins[0].tolist(), strict=True):
        row[:n_words] = _draw_classes(n_words, own)
    first, n_words_of = np.searchsorted(_CLASS, range(len(WORD_CLASSES))), np.bincount(_CLASS)
    return first[classes] + (coins[1] * n_words_of[classes]).astype(np.int64), lengths


TRANSLATE = replace(
    DECODER_COPY,
    name="seq2seq-translate",
    title="Translate, with a decoder",
    defaults={"length": 10, "steps": 800},
    ablation_sizes={"length": 8},
    counts_symbols=False,
    answers=translate,
    symbols=lambda _: (*ENGLISH, *FRENCH),
    source=ENGLISH,
    lengths=lambda length: (_SHORTEST, length),
    numbers=draw_sentences,
)


def is_sentence(words: Sequence[str]) -> bool:
    """Whether these English words are a sentence of the grammar."""
    classes = (WORD_CLASSES[_CLASS[ENGLISH.index(word)]] for word in words if word in ENGLISH)
    return set(words) <= set(ENGLISH) and _SENTENCE.fullmatch(" ".join(classes)) is not None


def _draw_classes(n_words: int, coins: list[float]) -> list[int]:
    classes: list[str] = []
    while True:
        room = n_words - len(classes)
        fitting = [phrase for phrase in PHRASES if room == len(phrase) or room - len(phrase) > _SHORTEST]
        classes.extend(fitting[int(coins[len(classes)] * len(fitting))])
        if len(classes) == n_words:
            return [WORD_CLASSES.index(each) for each in classes]
        classes.append("preposition" if "verb" in classes else "verb")

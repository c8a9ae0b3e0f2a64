"""Translations against a dictionary and a grammar written down a second time; sentences are those of the grammar."""

import re

import pytest
import torch

from playground.training.recipe import EOS_ID, IGNORE, Recipe
from playground.training.tasks import make_data
from playground.training.tasks.translation import ENGLISH
from playground.training.tasks.translation import TRANSLATE as TASK

ANY_GENDER = """sees voit finds trouve wants veut takes prend shows montre draws dessine in dans on sur under sous
    behind derrière with avec"""
MASCULINE = """the le a un my mon this ce small petit big grand pretty joli good bon black noir white blanc green vert
    grey gris blue bleu cat chat dog chien horse cheval boy garçon king roi book livre garden jardin bread pain"""
FEMININE = """the la a une my ma this cette small petite big grande pretty jolie good bonne black noire white blanche
    green verte grey grise blue bleue cow vache girl fille queen reine house maison flower fleur car voiture door porte
    apple pomme"""
COLOURS = {"black", "white", "green", "grey", "blue"}
PHRASE = (
    r"(the|a|my|this)( (small|big|pretty|good))?( (black|white|green|grey|blue))? "
    r"(cat|dog|horse|boy|king|book|garden|bread|cow|girl|queen|house|flower|car|door|apple)"
)
SENTENCE = re.compile(
    rf"{PHRASE}( (sees|finds|wants|takes|shows|draws) {PHRASE}( (in|on|under|behind|with) {PHRASE})*)?"
)


def dictionary(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def translate(words: list[str]) -> list[str]:
    """Words up to each noun agree with it, those after the last are masculine; its colour goes behind it."""
    either, masculine, feminine = map(dictionary, (ANY_GENDER, MASCULINE, FEMININE))
    nouns = [i for i, word in enumerate(words) if (word in masculine) != (word in feminine)]
    french: list[str] = []
    for i, word in enumerate(words):
        noun = next((words[j] for j in nouns if j >= i), "cat")
        french.append((either | (masculine if noun in masculine else feminine))[word])
    for j in nouns:
        if j > 0 and words[j - 1] in COLOURS:
            french[j - 1 : j + 1] = french[j], french[j - 1]
    return french


def plain_answers(row: list[int]) -> list[int]:
    """The translation of a row of ids, in ids, by the plain program."""
    symbols = TASK.symbols(0)
    return [TASK.first_id + symbols.index(word) for word in translate([symbols[i - TASK.first_id] for i in row])]


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("the small black cat sees a white house", "le petit chat noir voit une maison blanche"),
        ("my queen", "ma reine"),
        ("the blue the cow", "la bleue la vache"),  # no sentence: a word agrees with the next noun all the same
    ],
)
def test_translations_by_hand(english: str, french: str) -> None:
    ids = torch.tensor([[TASK.first_id + ENGLISH.index(word) for word in english.split()]])
    symbols = TASK.symbols(0)
    assert [symbols[i - TASK.first_id] for i in TASK.answers(ids)[0].tolist()] == french.split()
    assert translate(english.split()) == french.split()


@pytest.mark.parametrize("length", [2, 3, 4, 7, 10, 40])
def test_data_are_sentences_of_the_grammar_and_their_french(length: int) -> None:
    data = make_data(Recipe(task=TASK.name, length=length, n_train=60, n_validation=20))
    for ids, targets in zip(data.train.ids.tolist(), data.train.targets.tolist(), strict=True):
        words = [i for i in ids if i]
        assert 2 <= len(words) <= length
        assert SENTENCE.fullmatch(data.text(words))
        assert [i for i in targets if i != IGNORE] == [*plain_answers(words), EOS_ID]

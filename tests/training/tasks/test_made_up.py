"""Made-up sequences: as many as asked for, all different, of the right lengths; a clear word where that can't be."""

import itertools
import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from playground.errors import InputError, RecipeError
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, make_data
from playground.training.tasks.symbol_tasks import MadeUpTask, split_words
from playground.training.tasks.translation import is_sentence
from tests.training.tasks.test_translation import plain_answers

MADE_UP = {name: task for name, task in TASKS.items() if isinstance(task, MadeUpTask)}
FIRST = 3


def rows(ids: Tensor) -> list[tuple[int, ...]]:
    """Each sequence without its padding, which must come last."""
    assert ids.dtype == torch.int64
    assert (ids > 0).any(0).all(), "no column is only padding"
    found = [tuple(token for token in row if token) for row in ids.tolist()]
    assert all(list(row) == whole[: len(row)] for row, whole in zip(found, ids.tolist(), strict=True))
    return found


def sequences(recipe: Recipe) -> tuple[Tensor, Tensor]:
    return MADE_UP[recipe.task].sequences(recipe)


def test_too_few_different_sequences_are_refused() -> None:
    with pytest.raises(RecipeError, match="different sequences, too few to hold back"):
        sequences(Recipe(n_symbols=2, length=2, n_validation=4, n_train=1))


def test_a_small_space_is_used_up_and_not_repeated() -> None:
    recipe = Recipe(length=4, n_symbols=3, n_train=4_096, n_validation=50)  # 9 + 27 + 81 sequences
    train, validation = map(rows, sequences(recipe))
    everything = {row for length in (2, 3, 4) for row in itertools.product(range(FIRST, FIRST + 3), repeat=length)}
    assert {*train, *validation} == everything
    assert (len(train), len(validation)) == (len(everything) - 50, 50)


# --- answers


PLAIN: dict[str, Callable[[list[int]], list[int]]] = {  # of a row of ids
    "copy": lambda row: list(row),
    "reverse": lambda row: row[::-1],
    "sort": lambda row: sorted(row),
    "count": lambda row: [row.count(symbol) - 1 for symbol in row],
    "seq2seq-copy": lambda row: list(row),
    "seq2seq-reverse": lambda row: row[::-1],
    "seq2seq-translate": lambda row: plain_answers(row),
}


@pytest.mark.parametrize("task", MADE_UP.values(), ids=MADE_UP)
def test_a_typed_sequence_is_read_as_those_of_the_validation_set(task: MadeUpTask) -> None:
    recipe = Recipe(task=task.name, n_train=1, n_symbols=12, length=12)
    data = make_data(recipe)
    for i in range(20):
        one = data.validation[slice(i, i + 1)]
        text = data.text(one.ids[0].tolist())
        for typed in (text, f" {text.upper()}  ", text.replace(" ", ", ")):
            read = task.read(typed, recipe)
            assert torch.equal(read.ids, one.ids)
            assert torch.equal(read.targets, one.targets)


@pytest.mark.parametrize(
    ("task", "typed", "problem"),
    [
        ("reverse", "abz", "does not know “z”. It has learnt from sequences of 6 to 12 of these: a b c d e f g h i j."),
        ("reverse", "a" * 13, "It has learnt from sequences of 6 to 12 of these"),
        ("reverse", " , ", "It has learnt from sequences of 6 to 12 of these"),
        ("reverse", "🙂<b>**x**</b>" * 140, "does not know “🙂”."),
        ("seq2seq-translate", "the chat sees my dog", "does not know “chat”. It has learnt from sequences of 2 to 12"),
        ("seq2seq-translate", "x" * 2_000, f"does not know “{'x' * 20}…”."),
    ],
)
def test_what_can_not_be_read_is_told_with_what_can(task: str, typed: str, problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        MADE_UP[task].read(typed, Recipe(task=task))


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("The cat sees my dog.", True),
        ("the small black cat sees a white house in a garden", True),
        ("the black small cat", False),
        ("the cat sees", False),
        ("", False),
    ],
)
def test_only_what_the_grammar_makes_is_a_sentence(text: str, is_one: bool) -> None:
    assert is_sentence(split_words(text)) == is_one

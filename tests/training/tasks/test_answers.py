"""The answers to made-up sequences, against the plainest program that says the same."""

import random
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from playground.training.recipe import Recipe, TaskName
from playground.training.tasks.answers import answers, classes

FIRST, LENGTH = 3, 9


def matches(symbols: list[int], none: int = LENGTH) -> list[int]:
    """Each bracket's partner by its definition: the innermost open one, if of its kind; else none."""
    found, stack = [none] * len(symbols), list[int]()
    for place, symbol in enumerate(symbols):
        if symbol % 2 == 0:
            stack.append(place)
        elif stack and symbols[stack[-1]] == symbol - 1:
            found[place] = stack[-1]
            found[stack.pop()] = place
    return found


PLAIN: dict[TaskName, Callable[[list[int]], list[int]]] = {
    "copy": list,
    "reverse": lambda row: row[::-1],
    "sort": sorted,
    "count": lambda row: [row.count(symbol) - 1 for symbol in row],
    "brackets": lambda row: matches([symbol - FIRST for symbol in row]),
    "seq2seq-copy": list,
    "seq2seq-reverse": lambda row: row[::-1],
}
ROWS = st.lists(st.lists(st.integers(FIRST, FIRST + 3), min_size=1, max_size=LENGTH), min_size=1, max_size=6)


def padded(rows: list[list[int]]) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


@pytest.mark.parametrize("task", PLAIN)
@given(rows=ROWS)
def test_answers_are_what_a_plain_program_says(task: TaskName, rows: list[list[int]]) -> None:
    ids = padded(rows)
    before = ids.clone()
    found = answers(Recipe(task=task, length=LENGTH), ids, FIRST)
    assert torch.equal(ids, before)
    assert found.dtype == torch.int64
    assert [row[: len(given)] for row, given in zip(found.tolist(), rows, strict=True)] == list(map(PLAIN[task], rows))


@pytest.mark.parametrize(
    ("word", "partners"),
    [
        ("()", [1, 0]),
        ("([])", [3, 2, 1, 0]),
        ("(]", [None, None]),
        ("([)]", [None, 3, None, 1]),  # ")" meets "[", finds no partner, and leaves "[" open
        ("))((", [None] * 4),
        ("()[", [1, 0, None]),
        ("(()", [None, 2, 1]),
        (")()", [None, 2, 1]),
    ],
)
def test_partners_by_hand(word: str, partners: list[int | None]) -> None:
    ids = torch.tensor([["()[]".index(symbol) + FIRST for symbol in word]])
    found = answers(Recipe(task="brackets", length=LENGTH), ids, FIRST)[0].tolist()
    assert found == [LENGTH if place is None else place for place in partners]


@pytest.mark.parametrize("seed", range(3))
def test_long_brackets(seed: int) -> None:
    draw = random.Random(seed)
    rows = [[draw.randrange(4) for _ in range(draw.randint(100, 200))] for _ in range(20)]
    found = answers(Recipe(task="brackets", length=200), padded([[s + FIRST for s in row] for row in rows]), FIRST)
    assert [places[: len(row)] for row, places in zip(rows, found.tolist(), strict=True)] == [
        matches(row, none=200) for row in rows
    ]


def test_classes_are_called_by_what_they_mean() -> None:
    assert classes(Recipe(task="count", length=3), ("x",)) == ("1", "2", "3")
    assert classes(Recipe(task="brackets", length=3), ("x",)) == ("0", "1", "2", "none")
    assert classes(Recipe(task="sort"), ("[PAD]", "0")) == ("[PAD]", "0")

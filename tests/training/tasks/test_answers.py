"""The answers to made-up sequences, against the plainest program that says the same."""

import random
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from playground.training.tasks import TASKS
from playground.training.tasks.made_up import MadeUpTask

LENGTH = 9


def made_up(name: str) -> MadeUpTask:
    task = TASKS[name]
    assert isinstance(task, MadeUpTask)
    return task


def partners(symbols: list[int], none: int = LENGTH) -> list[int]:
    """Each bracket's partner by its definition: the innermost open one, if of its kind; else none."""
    places, stack = [none] * len(symbols), list[int]()
    for place, symbol in enumerate(symbols):
        if symbol % 2 == 0:
            stack.append(place)
        elif stack and symbols[stack[-1]] == symbol - 1:
            places[place] = stack[-1]
            places[stack.pop()] = place
    return places


PLAIN: dict[str, Callable[[list[int]], list[int]]] = {
    "copy": list,
    "reverse": lambda row: row[::-1],
    "sort": sorted,
    "count": lambda row: [row.count(symbol) - 1 for symbol in row],
    "brackets": lambda row: partners([symbol - 3 for symbol in row]),
    "seq2seq-copy": list,
    "seq2seq-reverse": lambda row: row[::-1],
}
ROWS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=LENGTH), min_size=1, max_size=6)


def padded(rows: list[list[int]], first: int = 3) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([[symbol + first for symbol in row] + [0] * (width - len(row)) for row in rows])


@pytest.mark.parametrize("name", PLAIN)
@given(rows=ROWS)
def test_answers_are_what_a_plain_program_says(name: str, rows: list[list[int]]) -> None:
    task = made_up(name)
    ids = padded(rows, task.first_id)
    before = ids.clone()
    answers = task.answers(ids, LENGTH)
    assert torch.equal(ids, before)
    assert answers.dtype == torch.int64
    for answer, row in zip(answers.tolist(), rows, strict=True):
        assert answer[: len(row)] == PLAIN[name]([symbol + task.first_id for symbol in row])


@pytest.mark.parametrize(
    ("word", "places"),
    [
        ("([])", [3, 2, 1, 0]),
        ("(]", [None, None]),
        ("([)]", [None, 3, None, 1]),  # ")" meets "[", finds no partner, and leaves "[" open
        ("))((", [None] * 4),
        ("(()", [None, 2, 1]),
        (")()", [None, 2, 1]),
    ],
)
def test_partners_by_hand(word: str, places: list[int | None]) -> None:
    ids = padded([["()[]".index(symbol) for symbol in word]])
    answers = made_up("brackets").answers(ids, LENGTH)[0].tolist()
    assert answers == [LENGTH if place is None else place for place in places]


def test_long_brackets() -> None:
    draw = random.Random(0)
    rows = [[draw.randrange(4) for _ in range(draw.randint(100, 200))] for _ in range(60)]
    answers = made_up("brackets").answers(padded(rows), 200).tolist()
    assert [places[: len(row)] for row, places in zip(rows, answers, strict=True)] == [
        partners(row, none=200) for row in rows
    ]

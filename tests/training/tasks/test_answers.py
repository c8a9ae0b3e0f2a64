"""The answers to made-up sequences, against the plainest program that says the same."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from playground.training.tasks import TASKS
from playground.training.tasks.made_up import MadeUpTask
from tests.training.tasks.plain import PLAIN, plain_answers

LENGTH = 200
ROWS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=LENGTH), min_size=1, max_size=6)


def answer(name: str, rows: list[list[int]]) -> list[list[int]]:
    """The task's answers to rows of symbols, without the padding that they are given."""
    task, width = TASKS[name], max(map(len, rows))
    assert isinstance(task, MadeUpTask)
    ids = torch.tensor([[symbol + task.first_id for symbol in row] + [0] * (width - len(row)) for row in rows])
    before = ids.clone()
    answers: Tensor = task.answers(ids, LENGTH)
    assert torch.equal(ids, before)
    assert answers.dtype == torch.int64
    return [places[: len(row)] for row, places in zip(rows, answers.tolist(), strict=True)]


@pytest.mark.parametrize("name", PLAIN)
@given(rows=ROWS)
def test_answers_are_what_a_plain_program_says(name: str, rows: list[list[int]]) -> None:
    first = TASKS[name].first_id  # type: ignore[attr-defined]
    assert answer(name, rows) == [plain_answers(name, [symbol + first for symbol in row], LENGTH) for row in rows]


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
    (answers,) = answer("brackets", [["()[]".index(symbol) for symbol in word]])
    assert answers == [LENGTH if place is None else place for place in places]

"""Sentences on an experiment, the same on every page that has one."""

from types import SimpleNamespace
from typing import Any

import pytest

from playground.web.shared.experiment_buttons import ordinal, pending_sentence


@pytest.mark.parametrize(
    ("status", "state", "ended", "wait", "sentence"),
    [
        ("waiting", None, False, 0.0, "Waiting: 2nd in the queue. It starts by itself, on any page."),
        (
            "waiting",
            object(),
            False,
            40.0,
            "Waiting: 2nd in the queue. It continues in about 40 s by itself, on any page.",
        ),
        ("running", None, False, 0.0, "Getting ready."),
        ("paused", None, False, 0.0, "Paused before the first step."),
        ("cancelled", None, True, 0.0, "Cancelled before the first step."),
        ("running", object(), False, 0.0, ""),
        ("failed", None, True, 0.0, ""),
    ],
)
def test_what_is_said_while_there_is_nothing_to_show(
    status: str, state: object | None, ended: bool, wait: float, sentence: str
) -> None:
    job = SimpleNamespace(status=status, position=2, ended=ended, expected_wait=wait, left=False)
    experiment: Any = SimpleNamespace(job=job, state=state, cancelling=False, disconnected=False)
    assert pending_sentence(experiment) == sentence


def test_a_place_in_the_queue() -> None:
    places = {1: "next", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"}
    assert {n: ordinal(n) for n in places} == places

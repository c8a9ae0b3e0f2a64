"""The experiment on reversing: which heads are off, and what is concluded of a network's numbers."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from playground.config import ModelConfig
from playground.learn.reverse_tour import REVERSE, answer_alone, conclude, describe_others, heads_off, judge_head
from playground.learn.tour import Conclusion, TourState
from playground.link.changes import read_changes
from playground.link.params import ARCHITECTURE, RECIPE, SMALL
from playground.runs.arrays import Array
from playground.training.answers import Head, Reversal

FOUND = Reversal(
    weights=np.array([[0.1, 0.2], [0.9, 0.6]], np.float32),
    even=0.1,
    accuracy=1.0,
    first_off=Head(1, 0),
    accuracy_off=0.97,
    second_off=Head(1, 1),
    accuracy_both=0.3,
    accuracy_none=0.3,
    pattern=np.eye(3, dtype=np.float32),
)


def test_a_head_is_needed_only_where_most_of_what_was_learnt_is_lost_without_it() -> None:
    assert judge_head(FOUND, 0.1)[0] == "refuted"
    assert judge_head(replace(FOUND, accuracy_off=0.5), 0.1)[0] == "held"
    assert judge_head(replace(FOUND, accuracy=0.1), 0.1)[0] == "untested"


def test_only_heads_that_look_at_the_mirrored_place_take_over() -> None:
    assert FOUND.mirrored == [Head(1, 0), Head(1, 1)]
    assert "layer 1, head 1 (0.60)" in describe_others(FOUND, "the rule")
    alone = replace(FOUND, weights=np.array([[0.1, 0.2], [0.9, 0.3]], np.float32), second_off=None)
    assert "No other head gives half of its weight to the mirrored place." in describe_others(alone, "the rule")


NONE = np.array([[0.1, 0.4], [0.2, 0.3]], np.float32)
ONE = np.array([[0.1, 0.2], [0.9, 0.3]], np.float32)
TWO = np.array([[0.1, 0.2], [0.9, 0.6]], np.float32)


@pytest.mark.parametrize(
    ("weights", "first", "off", "both", "none", "verdict", "answer"),
    [
        (ONE, (1, 0), 0.15, 0.15, 0.15, "held", " does most of it alone"),
        (ONE, (1, 0), 0.4, 0.1, 0.4, "held", " does not do it alone"),  # the visitor's second head counts
        (ONE, (1, 0), 0.9, 0.9, 0.9, "refuted", " does not do it alone"),
        (ONE, (0, 0), 0.15, 0.1, 0.1, "held", " does not do it alone"),  # needed, and looks elsewhere
        (ONE, (0, 0), 1.0, 0.1, 0.1, "refuted", " does not do it alone"),
        (NONE, (0, 1), 0.9, 0.9, 1.0, "refuted", " does not do it alone"),
        (NONE, (0, 1), 0.15, 0.15, 1.0, "held", "; whether that does it alone is not shown"),
        (TWO, (1, 0), 0.12, 0.1, 0.1, "held", " does most of it alone"),
        (TWO, (1, 0), 0.4, 0.1, 0.1, "held", " does not do it alone"),
        (TWO, (1, 0), 0.97, 0.3, 0.3, "refuted", " does not do it alone"),
    ],
)
def test_one_head_does_it_alone_where_it_is_needed_and_others_do_little_without_it(
    weights: Array, first: tuple[int, int], off: float, both: float, none: float, verdict: str, answer: str
) -> None:
    found = replace(FOUND, weights=weights, first_off=Head(*first))
    found = replace(found, accuracy_off=off, accuracy_both=both, accuracy_none=none)
    judged, test = judge_head(found, 0.1)
    assert judged == verdict
    assert "other" not in test, "it says nothing of heads that it does not look at"
    assert f"{found.first_off}{answer}." in answer_alone(found, 0.1)


def test_nothing_is_said_of_one_head_alone_where_nothing_was_learnt() -> None:
    assert answer_alone(replace(FOUND, accuracy=0.1), 0.1) == ""


def test_the_end_answers_what_the_card_asks_with_the_visitors_numbers_and_guess() -> None:
    results = SimpleNamespace(kept_step=200, validation_accuracy=1.0, baseline=0.1)
    shape: dict[str, Any] = {name: param.default for name, param in ARCHITECTURE.items()}
    config = ModelConfig(vocab_size=4, **shape | SMALL)
    recipe = SimpleNamespace(**{name: param.default for name, param in RECIPE.items()})
    trained = SimpleNamespace(task=SimpleNamespace(name="reverse"), results=results, config=config, recipe=recipe)
    values = dict(TourState(page="attention").values) | {"do": read_changes("1.0:zero")[0]}

    def end_of(answers: Mapping[str, str], found: Reversal = FOUND) -> Conclusion:
        state = TourState(page="attention", values=values, answers=answers)
        evidence: Any = SimpleNamespace(state=state, find_trained=lambda: trained, measure_reversal=lambda _: found)
        return conclude(evidence)

    end = end_of({"left": "all"})
    without_line = end_of({}, replace(FOUND, weights=NONE))
    for question in ("How does it do it?", "Does one head do it alone?"):
        assert question in REVERSE.question
        for each in (end, without_line):
            assert f"**{question}**" in each.sentence
    assert "layer 1, head 0 does not do it alone" in without_line.sentence
    assert "100.0% of the letters right" in end.sentence
    assert "Layer 1, head 0 gives 0.90 of its weight to the mirrored place" in end.sentence
    assert "97.0% stay right" in end.test
    assert "layer 1, head 0 does not do it alone" in end.more
    assert "You guessed “over 80 %”, and were right." in end.test
    assert end_of({"left": "none"}).test.endswith("You guessed “under 40 %”, and it is “over 80 %”.")
    assert "You guessed" not in end_of({}).test


def test_heads_are_off_in_the_order_in_which_they_were_switched_off() -> None:
    changes = read_changes("1.1:zero,-0.0:zero,1.0:zero,0.ffn:off")[0]
    values = dict(TourState(page="attention").values) | {"do": changes}
    assert heads_off(TourState(page="attention", values=values)) == [Head(1, 1), Head(1, 0)]

"""The experiment on a negation: which sentences deny each other, what its steps ask for, what its test finds."""

from dataclasses import replace

import pytest

from playground.learn.negation_tour import NEGATION, find_negation, judge_meaning, negate
from playground.learn.tour import START, TourState

OWN = "The weather was lovely on Sunday."
DENIED = "The weather was not lovely on Sunday."
REPEATED = "On Sunday we had beautiful sunshine."

BEGIN = TourState(
    page="similarity", values=dict(START) | {"text": OWN}, began=dict(START) | {"text": OWN}, tokens=("a",)
)
BY_NAME = {step.name: step for step in NEGATION.steps}


def at(**values: object) -> TourState:
    return replace(BEGIN, values={**BEGIN.values, **values})


@pytest.mark.parametrize(
    "denied",
    [
        ("He likes cats.", "He does not like cats."),
        ("She can swim", "She can't swim"),
        ("I don’t know him.", "I know him."),
        ("It is never late.", "It is late!"),
        ("We cannot stay here.", "We can stay here."),
    ],
)
def test_a_sentence_and_its_negation_are_found_in_either_order(denied: tuple[str, str]) -> None:
    assert find_negation(denied) == (0, 1)
    assert find_negation(["Rates rose last week.", *denied[::-1]]) == (1, 2)


@pytest.mark.parametrize("other", [OWN, "Dogs do not bark.", "", "The weather was grey on Monday."])
def test_what_denies_nothing_is_not_a_pair(other: str) -> None:
    assert find_negation([OWN, other]) is None


@pytest.mark.parametrize(
    ("sentence", "denied"),
    [
        ("The film was great.", "The film was not great."),
        ("The film was not great.", "The film was great."),
        ("She can't swim.", "She can swim."),
        ("I won’t go.", "I will go."),
        ("He likes cats.", None),
    ],
)
def test_a_sentence_is_denied_by_a_simple_rule_or_not_at_all(sentence: str, denied: str | None) -> None:
    assert negate(sentence) == denied


def test_each_step_waits_for_what_it_asks_for() -> None:
    write, word, meaning = (BY_NAME[name] for name in ("write", "word", "meaning"))
    pair, three = at(similarity_list=DENIED), at(similarity_list=f"{DENIED}\n{REPEATED}")
    assert [write.is_done(state) for state in (BEGIN, at(similarity_list=REPEATED), pair)] == [False, False, True]
    assert write.hint(at(similarity_list=REPEATED))
    assert [word.is_done(at(similarity_view=view)) for view in ("token by token", "leave a word out")] == [False, True]
    assert [meaning.is_done(state) for state in (BEGIN, pair, three)] == [False, False, True]


@pytest.mark.parametrize(
    ("opposite", "paraphrase", "verdict"),
    [(0.9, 0.5, "refuted"), (0.5, 0.9, "held"), (0.701, 0.702, "undecided"), (-0.2, -0.1, "held")],
)
def test_a_cosine_that_shows_meaning_would_put_the_paraphrase_nearer(
    opposite: float, paraphrase: float, verdict: str
) -> None:
    assert judge_meaning(opposite, paraphrase)[0] == verdict

"""A question of a lesson's author: carried by its link and file, checked as shipped ones, and bounded."""

from typing import Any

import pytest

from playground.errors import InputError
from playground.learn.exercise import Variant, shipped_exercises
from playground.learn.formulas import NUMBERS, list_numbers
from playground.learn.lesson import (
    Lesson,
    LessonStep,
    OwnExercise,
    WrongAnswer,
    check_lesson,
    decode_lesson,
    encode_lesson,
    read_lesson,
    write_lesson,
)
from playground.learn.quantities import QUANTITIES
from playground.link.opening import open_link
from playground.pretrained import load

STATE = "weights=random&tokenizer=char&d_model=64&n_heads=4&n_layers=2&d_ff=128&text={a}+cat"
FILE = f"""\
title: Mine
steps:
  - words: How wide?
    own:
      link: parameters?{STATE}
      question: How wide is a head?
      answer: {{kind: number, truth: d_head, tolerance: 0.0, within: 0.5}}
      wrong:
        - {{answer: "64", feedback: Divide by the heads.}}
        - {{answer: "config[d_model] / 2", feedback: There are four.}}
      explanation: "It is {{= d_head | .0f}}."
"""


def own(truth: str = "d_head", **changed: Any) -> OwnExercise:
    found = read_lesson(FILE.replace("truth: d_head", f"truth: '{truth}'")).steps[0].own
    assert found is not None
    return found.model_copy(update=changed)


def check(**changed: Any) -> list[str]:
    return check_lesson(Lesson(title="x", steps=[LessonStep(own=own(**changed))]), shipped_exercises())


def test_it_travels_in_the_link_and_in_the_file_and_keeps_its_key() -> None:
    lesson = read_lesson(FILE)
    assert decode_lesson(encode_lesson(lesson)) == lesson == read_lesson(write_lesson(lesson))
    assert "wrong" not in write_lesson(Lesson(title="x", steps=[LessonStep(own=own(wrong=[WrongAnswer()] * 2))]))
    moved = lesson.model_copy(update={"steps": [LessonStep(words="Before it."), *lesson.steps]})
    assert lesson.steps[0].address == moved.steps[1].address == f"exercises?exercises_key={own().key}"
    assert own(question="How deep?").key != own().key


def test_it_is_checked_as_a_shipped_one() -> None:
    variant = Variant(own(wrong=[*own().wrong, WrongAnswer(answer="17 # x", feedback="Nearly.")]).pose(), 0)
    assert variant.truth == 64 / 4
    assert variant.view.text == ("{a} cat",)
    answers = {
        "16.4": "", "15.4": "That is not what comes out.", "17": "Nearly.", "64": "Divide by the heads.",
        "32": "There are four.",
    }  # fmt: skip
    assert {given: variant.check(variant.read(given)) for given in answers} == answers
    assert variant.explanation == "It is 16."
    assert variant.exercise.shown == ["parameter_breakdown"]
    assert own(shows_chart=False).pose().hidden == ["parameter_breakdown"]


def test_what_does_not_hold_is_told() -> None:
    wrong = [WrongAnswer(answer="16.2", feedback="No."), WrongAnswer(answer="3")]
    near = "Step 1: Wrong answer 1 is within the tolerance of the right one, or of the other."
    assert check() == check(wrong=[WrongAnswer()]) == []
    assert check(wrong=wrong) == [near, "Step 1: Wrong answer 2 needs a number and feedback."]
    assert "Wrong answer 2" in check(wrong=[own().wrong[0], WrongAnswer(answer="63.9", feedback="No.")])[0]
    assert "no quantity" not in check(truth="pattern[9,9,9,9]")[0]
    assert check(truth="weight.most_token") == ["Step 1: `weight.most_token` gives no number here."]
    assert check(truth="1e999") == ["Step 1: `1e999` gives no number here."]
    assert "n_heads" in check(link="norms?weights=random&d_model=64&n_heads=5")[0]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("truth: d_head", "truth: trained", "train nothing"),
        ('answer: "64"', 'answer: "gradient.kept[x]"', "train nothing"),
        ("{= d_head | .0f}", "{= trained.encoder[x]}", "train nothing"),
        ("truth: d_head", "truth: __import__(1)", "There is no quantity"),
        ('answer: "64"', 'answer: "{abc}"', "no case"),
        ('answer: "64"', f"answer: '{'1' * 400}'", "at most 300 characters"),
        ("How wide is a head?", "<script>x</script>", "HTML"),
        ("Divide by the heads.", "x" * 1_001, "at most 1000 characters"),
        ("tolerance: 0.0", "tolerance: 2", "less than or equal to 1"),
        ("within: 0.5", "within: .inf", "finite"),
        ("link: parameters", "link: elsewhere", "opens no page"),
        ("own:", "page: norms\n    own:", "a link, a page or an exercise"),
        ("wrong:", "wrong:\n        - {}", "at most 2 items"),
    ],
)
def test_a_hostile_one_is_one_sentence(old: str, new: str, says: str) -> None:
    assert old in FILE
    with pytest.raises(InputError, match=r"^mine\.yaml") as caught:
        read_lesson(FILE.replace(old, new, 1), "mine.yaml")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("page", NUMBERS)
def test_a_page_has_numbers_to_ask_about_each_with_its_own_name(page: str) -> None:
    found = list_numbers(open_link(f"{page}?{STATE}%0Atwo&layer=1&head=0&query=1&key=2"))
    assert 1 <= len(found) <= 12
    assert len({name for name, _ in found.values()}) == len(found)


def test_the_likeliest_answer_is_the_networks_own() -> None:
    network, _ = load("english")
    text = "the keys near the old box [MASK] rusty ."
    view = open_link(f"attention?weights=english&text={text}&mask=-1")
    assert QUANTITIES["answer.top"](view) == pytest.approx(network.predict(text, 1)[0][1], rel=1e-4)
    with pytest.raises(InputError, match="no head that names words"):
        QUANTITIES["answer.top"](open_link("attention?"))


def test_the_cosines_are_of_the_sentences_that_the_page_lists() -> None:
    listed = QUANTITIES["similarity"](open_link("similarity?text=a+cat&similarity_list=a+dog"), 0, 1)
    typed = QUANTITIES["similarity"](open_link("similarity?text=a+cat%0Aa+dog"), 0, 1)
    assert listed == pytest.approx(typed, rel=1e-6)

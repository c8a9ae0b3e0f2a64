"""Lessons: their files and codes, what does not hold in them, and the numbers of the shipped ones."""

import zlib
from base64 import urlsafe_b64encode
from hashlib import sha512
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.errors import InputError
from playground.learn import formulas
from playground.learn.exercise import shipped_exercises
from playground.learn.lesson import (
    Lesson,
    LessonStep,
    check_lesson,
    decode_lesson,
    encode_lesson,
    find_lesson,
    read_lesson,
    shipped_lessons,
)
from playground.link.opening import LinkedView, open_link, split_link
from playground.link.params import MAX_LESSON

SERVER = "https://somewhere.example"
FILE = """title: "Mine: *one* thing"
about: "It has a colon: and a hash # in it."
minutes: 7
steps:
  - words: |
      Read this.

      - one
      - two
  - words: Look.
    link: attention?text=dogs bark&layer=2
    done: focus[key] == 1
    conclusion: "It is {= pattern[2,1,0,1] | .2f}."
  - words: Say.
    exercise: sqrt-d-head
    variant: 2
"""
MINE = read_lesson(FILE)
SHORT = [name for name, lesson in shipped_lessons().items() if lesson.minutes < 10]


@pytest.mark.parametrize("name", [*shipped_lessons(), "mine"])
def test_a_lesson_holds_and_is_one_link(name: str) -> None:
    lesson = MINE if name == "mine" else find_lesson(name)
    assert check_lesson(lesson, shipped_exercises()) == []
    assert decode_lesson(encode_lesson(lesson)) == lesson
    assert len(encode_lesson(lesson)) < MAX_LESSON / 2
    assert lesson.about


def compute(formula: str, **views: LinkedView) -> Any:
    return formulas.compute(formula, views)


@pytest.mark.parametrize("name", sorted({*SHORT} - {"reverse"}))
def test_no_step_is_done_at_its_start_one_guess_is_right_and_the_conclusion_has_its_numbers(name: str) -> None:
    for step in find_lesson(name).steps:
        if step.has_task:
            view = open_link(step.link)
            assert not (step.done and compute(step.done, now=view))
            assert sum(bool(compute(option.when, now=view)) for option in step.guess) == bool(step.guess)
            views = {"now": view, "start": view}
            assert "{" not in formulas.fill_numbers(step.conclusion, lambda each: formulas.compute(each, views))  # noqa: B023


@pytest.mark.parametrize(
    ("name", "number", "changes"),
    [
        ("pronoun", 1, "&key=2"),
        ("pronoun", 4, "&do=3.1:zero"),
        ("negation", 2, "&similarity_view=leave a word out"),
        ("parts", 1, "&positions=none"),
        ("parts", 3, "&n_layers=1"),
        ("reverse", 4, "training?do=1.1:zero"),
        ("reverse", 5, "training?do=1.1:zero,0.1:zero"),
    ],
)
def test_a_step_is_done_by_what_it_asks_for(name: str, number: int, changes: str) -> None:
    step = find_lesson(name).steps[number - 1]
    link = step.link.replace("&key=10", "").replace("&similarity_view=token by token", "")
    assert compute(step.done, now=open_link(link + changes))


def test_what_the_lessons_conclude_is_so() -> None:
    """The conclusions' words rest on these."""
    swapped = open_link(find_lesson("pronoun").steps[2].link)
    before = open_link(find_lesson("pronoun").steps[0].link)
    assert compute("pattern[3,1,it,street] > pattern[3,1,it,animal]", now=swapped)
    assert compute("other.pattern[3,1,it,animal] > pattern[3,1,it,street]", now=before, other=swapped)
    base, bag, one_layer = (
        open_link(f"attention?weights=english{change}") for change in ("", "&positions=none", "&n_layers=1")
    )
    assert compute("learnt[who_did_what] > 0.99 and learnt[recall] > 0.98", now=base)
    assert compute("learnt[who_did_what] < 0.6 and learnt[negation] > 0.99", now=bag)
    assert compute("learnt[who_did_what] < 0.6 and learnt[recall] < 0.6 and learnt[agreement] > 0.95", now=one_layer)


@pytest.mark.parametrize("server", ["", f"{SERVER}/base/"])
def test_a_link_may_be_pasted_whole(server: str) -> None:
    step = LessonStep(link=f"{server}positions?text=a+b&lesson=x&tour=3")
    assert check_lesson(Lesson(title="x", steps=[step]), shipped_exercises()) == []
    assert split_link(step.address)[0] == "positions"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("link: attention?text=dogs bark&layer=2", "link: nonsense", "“nonsense” is no link"),
        ("title:", "titel:", "`titel`: there is no such name here"),
        ("Look.", "Look <b>here</b>.", "HTML"),
        ("Look.", "Look ![x](https://tracker.example/x.png).", "no pictures"),
        ("exercise: sqrt-d-head", "exercise: sqrt-d-head\n    page: norms", "a link, a page or an exercise"),
        ("link: attention?text=dogs bark&layer=2", "page: nowhere", "there is no page “nowhere”"),
        ("focus[key] == 1", "trained > 0.5", "train nothing"),
        ("focus[key] == 1", "focus[key] == 1\n    guess: [{text: x, when: 1 == 1}]", "not both"),
        ("| .2f", "| .2q", "steps.2.conclusion"),
        ("pattern[2,1,0,1]", "patern[2]", "the nearest are pattern"),
        ("It is {=", "{= 1}" * 8 + "{=", "at most 8 numbers"),
    ],
)
def test_a_broken_file_is_one_sentence(old: str, new: str, says: str) -> None:
    assert old in FILE
    with pytest.raises(InputError) as caught:
        read_lesson(FILE.replace(old, new, 1), "mine.yaml")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_link_cut_anywhere_is_told_and_never_another_lesson() -> None:
    code = encode_lesson(MINE)
    for n in range(1, len(code)):
        with pytest.raises(InputError, match=r"not whole|can't be read"):
            decode_lesson(code[:n])


@given(st.binary(max_size=60))
def test_what_is_no_lesson_is_told(data: bytes) -> None:
    for packed in (data, zlib.compress(data), zlib.compress(b'{"title": ' + data + b"}")):
        with pytest.raises(InputError):
            decode_lesson("~" + urlsafe_b64encode(packed).decode().rstrip("="))


def test_a_code_that_unpacks_to_very_much_is_not_unpacked() -> None:
    bomb = "~" + urlsafe_b64encode(zlib.compress(b'{"title": "' + b"a" * 10_000_000 + b'"}', 9)).decode().rstrip("=")
    with pytest.raises(InputError, match="at most 100,000 characters"):
        decode_lesson(bomb)


def test_a_lesson_that_is_no_link_is_told() -> None:
    noise = "".join(sha512(str(n).encode()).hexdigest() for n in range(140))
    steps = [LessonStep(words=noise[n : n + 3000]) for n in range(0, 15_000, 3000)]
    assert "at most 6,000" in check_lesson(MINE.model_copy(update={"steps": steps}), shipped_exercises())[0]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (LessonStep(exercise="nothing-at-all"), "Step 1: This step asks for the exercise “nothing-at-all”"),
        (LessonStep(link="attention?n_heads=5&weights=random&d_model=64"), "n_heads"),
        (LessonStep(), "Step 1: It has no words"),
    ],
)
def test_what_does_not_hold_is_told(step: LessonStep, says: str) -> None:
    lesson = MINE.model_copy(update={"steps": [step, *MINE.steps]})
    found = check_lesson(lesson, shipped_exercises())
    assert len(found) == 1
    assert says in found[0]

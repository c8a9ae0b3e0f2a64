"""Lessons: their files and codes, what does not hold in them, how they run, and what is printed."""

import zlib
from base64 import urlsafe_b64encode
from hashlib import sha512
from pathlib import Path

import nbformat
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from playground import check_answer
from playground.command_line import main
from playground.errors import InputError
from playground.learn.answers import ANSWER_KINDS
from playground.learn.checks import check_lesson
from playground.learn.exercise import Variant, shipped_exercises
from playground.learn.handout import describe_truth, write_handout, write_notebook
from playground.learn.lesson import (
    Lesson,
    LessonStep,
    decode_lesson,
    encode_lesson,
    find_lesson,
    read_lesson,
    shipped_lessons,
    write_lesson,
)
from playground.learn.tour import TourState
from playground.learn.tours import lesson_tour
from playground.link import opening
from playground.link.opening import split_link
from playground.link.params import MAX_LESSON

SERVER = "https://somewhere.example"
MINE = Lesson(
    title="Mine: *one* thing",
    about="It has a colon: and a hash # in it.",
    minutes=7,
    steps=[
        LessonStep(words="Read this.\n\n- one\n- two\n\nAnd $x^2$."),
        LessonStep(words="Look.", link="attention?text=dogs bark&layer=2"),
        LessonStep(words="Say.", exercise="sqrt-d-head", variant=2),
    ],
)

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<!"), max_size=200)
STEPS = st.builds(LessonStep, words=TEXTS, exercise=st.sampled_from([None, "temperature"]), variant=st.integers(0, 999))


@given(st.builds(Lesson, title=TEXTS.filter(bool).map(lambda text: text[:80]), steps=st.lists(STEPS, max_size=4)))
def test_a_lesson_is_the_same_from_its_file_and_from_its_code(lesson: Lesson) -> None:
    assert read_lesson(write_lesson(lesson)) == lesson
    code = encode_lesson(lesson)
    assert decode_lesson(code) == lesson
    assert find_lesson(code) == lesson


@pytest.mark.parametrize("name", [*shipped_lessons(), "mine"])
def test_a_lesson_holds_and_is_one_link(name: str) -> None:
    lesson = MINE if name == "mine" else find_lesson(name)
    assert check_lesson(lesson, shipped_exercises(), computes=False) == []
    assert len(encode_lesson(lesson)) < MAX_LESSON / 2
    assert yaml.safe_load(write_lesson(lesson))["title"] == lesson.title
    assert read_lesson(write_lesson(lesson)) == lesson


def test_three_lessons_are_shipped_each_with_exercises() -> None:
    assert len(shipped_lessons()) == 3
    for lesson in shipped_lessons().values():
        assert sum(step.exercise is not None for step in lesson.steps) >= 5
        assert lesson.minutes >= 30
        assert lesson.about


@pytest.mark.parametrize(
    ("link", "kept"),
    [
        ("/positions?v=2", "positions?v=2"),
        ("//positions", "positions?"),
        ("host.example/a/positions?v=2#x", "positions?v=2"),
        ("ftp://host/positions?v=2", "ftp://host/positions?v=2"),
        (f"{SERVER}/attention?text=a+b&lesson=x&tour=3&experiment=reverse&layer=2", "attention?text=a+b&layer=2"),
        (f"{SERVER}/base/norms", "norms?"),
        (f"  {SERVER}/?d_model=64#here ", "overview?d_model=64"),
        ("what-if?do=3.1:zero&v=2", "what-if?do=3.1:zero&v=2"),
        (f"{SERVER}/nothing?x=1", f"{SERVER}/nothing?x=1"),
        ("", ""),
    ],
)
def test_of_a_pasted_link_page_and_parameters_are_kept(link: str, kept: str) -> None:
    assert LessonStep(link=link).link == kept


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("title:", "titel:", "line 1: `titel`: there is no such name here"),
        ("Look.", "Look <b>here</b>.", "HTML"),
        ("Look.", "Look ![x](https://tracker.example/x.png).", "no pictures"),
        ("exercise: sqrt-d-head", "exercise: sqrt-d-head\n  link: attention?", "a link or an exercise"),
        ("variant: 2", "variant: -1", "line 16: `steps.2.variant`"),
        ("steps:", "steps: 3\nsteps_:", "steps"),
    ],
)
def test_a_broken_file_is_one_sentence(old: str, new: str, says: str) -> None:
    text = write_lesson(MINE)
    assert old in text
    with pytest.raises(InputError) as caught:
        read_lesson(text.replace(old, new, 1), "mine.yaml")
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
    other = MINE.model_copy(update={"steps": [LessonStep(words=_noise(n)) for n in range(6)]})
    with pytest.raises(InputError, match="at most 6,000"):
        encode_lesson(other)
    assert "at most 6,000" in check_lesson(other, shipped_exercises())[0]


def _noise(seed: int) -> str:
    """3,000 letters that cannot be compressed much."""
    return "".join(sha512(f"{seed} {n}".encode()).hexdigest() for n in range(24))[:3000]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (LessonStep(exercise="nothing-at-all"), "Step 1: This step asks for the exercise “nothing-at-all”"),
        (LessonStep(link="nonsense"), "Step 1: “nonsense” is no link"),
        (LessonStep(link="nonsense?v=2"), "opens no page"),
        (LessonStep(link="v=2"), "opens no page"),
        (LessonStep(link="attention?n_heads=5&weights=random&d_model=64"), "n_heads"),
        (LessonStep(link="attention?weights=mine"), "no link can carry"),
        (LessonStep(), "Step 1: It has no words"),
    ],
)
def test_what_does_not_hold_is_told_and_the_rest_runs(step: LessonStep, says: str) -> None:
    lesson = MINE.model_copy(update={"steps": [step, *MINE.steps]})
    found = check_lesson(lesson, shipped_exercises(), computes=False)
    assert len(found) == 1
    assert says in found[0]
    tour = lesson_tour(lesson, "mine", shipped_exercises())
    assert [each.opens for each in tour.steps[1:]] == [each.address for each in MINE.steps]
    assert tour.exercises == ("sqrt-d-head",)


def test_to_look_at_a_lessons_links_builds_nothing_and_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    links = [f"attention?weights=random&tokenizer=bpe&vocab_size={300 + 100 * n}" for n in range(20)]
    lesson = MINE.model_copy(update={"steps": [LessonStep(link=link) for link in links]})
    for name in ("build_tokenizer", "Encoder", "view_of"):
        monkeypatch.delattr(opening, name)
    before = opening.check_link.cache_info()
    for _ in range(3):
        assert check_lesson(lesson, shipped_exercises(), computes=False) == []
    after = opening.check_link.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (20, 40)
    assert after.maxsize is not None


def test_a_lesson_runs_as_a_tour() -> None:
    tour = lesson_tour(MINE, "mine", shipped_exercises())
    state = TourState(page="attention")
    assert [step.page for step in tour.steps] == [None, "attention", "exercises"]
    assert [step.sentence(state) for step in tour.steps] == [step.words for step in MINE.steps]
    assert not any(step.is_done(state) for step in tour.steps)
    page, texts = split_link(tour.steps[2].opens)
    assert (page, texts) == ("exercises", {"exercises_key": ["sqrt-d-head"], "exercises_variant": ["2"]})
    assert [step.hint(state) for step in tour.steps] == [None, None, None]


def test_a_handout_asks_and_answers_only_where_it_is_to() -> None:
    asked = write_handout(MINE, shipped_exercises(), SERVER, has_answers=False)
    answered = write_handout(MINE, shipped_exercises(), SERVER, has_answers=True)
    variant = Variant(shipped_exercises()["sqrt-d-head"], 2)
    assert f"{SERVER}/attention?text=dogs+bark&layer=2" in asked
    assert variant.fill(variant.exercise.question) in asked
    for told in (describe_truth(variant), variant.explain(variant.exercise.explanation)):
        assert told in answered
        assert told not in asked
    assert "- one\n- two" in asked


def one_of_each_kind() -> dict[str, str]:
    return {each.answer.kind: key for key, each in reversed(list(shipped_exercises().items()))}


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_every_kind_is_asked_and_answered_on_paper(kind: str) -> None:
    lesson = Lesson(title="One", steps=[LessonStep(exercise=one_of_each_kind()[kind])])
    answered = write_handout(lesson, shipped_exercises(), SERVER, has_answers=True)
    assert "**Answer.**" in answered
    assert "**Why.**" in answered
    assert "{" not in answered.replace("\\{", "") or "$" in answered


def test_a_notebook_is_valid_and_its_cells_check_without_showing() -> None:
    lesson = find_lesson("attention-in-30-minutes")
    notebook = write_notebook(lesson, shipped_exercises(), SERVER)
    node = nbformat.reads(notebook, as_version=4)
    nbformat.validate(node)
    assert notebook == write_notebook(lesson, shipped_exercises(), SERVER)
    cells = [cell.source for cell in node.cells if cell.cell_type == "code"]
    compile("\n".join(cells), "notebook", "exec")
    checks = [cell for cell in cells if "check_answer(" in cell and "import" not in cell]
    assert len(checks) == sum(step.exercise is not None for step in lesson.steps)
    for step in lesson.steps:
        if step.exercise is not None:
            explanation = Variant(shipped_exercises()[step.exercise], step.variant).exercise.explanation
            assert explanation[:40] not in notebook


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_an_answer_is_checked_in_a_notebook(kind: str) -> None:
    exercise = shipped_exercises()[one_of_each_kind()[kind]]
    assert check_answer(exercise.key, exercise.solved) == "Right."
    mistake = next(each for each in exercise.mistakes if each.example is not None)
    assert check_answer(exercise.key, mistake.example) == Variant(exercise, 0).fill(mistake.feedback)
    with pytest.raises(InputError, match=r"no answer|[Hh]ere|An answer"):
        check_answer(exercise.key, ...)


def test_a_state_is_given_to_a_notebook_as_a_link_too() -> None:
    link = "positions?weights=random&tokenizer=word&text=dogs chase cats&positions=none&d_model=32&n_heads=4&n_layers=2"
    assert check_answer("hide-the-order", f"{link}&d_ff=64") == "Right."
    with pytest.raises(InputError, match="no exercise"):
        check_answer("nothing", 1)


def test_the_command_checks_lessons_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, broken = tmp_path / "mine.yaml", tmp_path / "broken.yaml"
    file.write_text(write_lesson(MINE), encoding="utf-8")
    broken.write_text(write_lesson(MINE).replace("sqrt-d-head", "sqrt-d"), encoding="utf-8")
    assert main(["lesson", "check", str(file)]) == 0
    assert capsys.readouterr().out.endswith("all holds.\n")
    assert main(["lesson", "check", str(file), str(broken)]) == 1
    assert (
        "broken.yaml: Step 3: This step asks for the exercise “sqrt-d”, which is not here." in capsys.readouterr().out
    )


def test_a_link_without_a_server_is_printed_as_an_address_that_opens() -> None:
    lesson = Lesson(title="x", steps=[LessonStep(words="Look.", link="/positions?v=2")])
    server = "https://host"
    for text in (write_handout(lesson, {}, server, has_answers=False), write_notebook(lesson, {}, server)):
        assert "<https://host/positions?v=2>" in text

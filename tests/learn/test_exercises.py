"""Every shipped exercise, solved: right, and with each mistake that is to be expected."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from playground.charts.chart import Chart, Columns, Group, Item, Later, Panel, Paragraph, Table
from playground.learn import exercises
from playground.learn.answers import Choose, Settings
from playground.learn.exercise import Exercise, Mistake, read_exercise
from playground.learn.quantities import Numbers
from playground.learn.variant import Variant
from playground.link.opening import LinkedView, open_texts
from playground.views.all_views import VIEWS

FILES = {path.stem: path for path in sorted(Path(exercises.__path__[0]).glob("*.yaml"))}

KINDS = {"choose", "number", "click", "order", "draw", "settings"}


@cache
def read(key: str) -> Exercise:
    return read_exercise(FILES[key].read_text(), FILES[key].name)


@cache
def first_variant(key: str) -> Variant:
    return Variant(read(key), 0)


def variants(key: str) -> Iterator[Variant]:
    """A variant for each case, the first one first."""
    yield first_variant(key)
    missing = [{name: str(value) for name, value in case.items()} for case in read(key).cases[1:]]
    numbers = iter(range(1, 1_000))
    while missing:
        variant = Variant(read(key), next(numbers))
        if variant.case in missing:
            missing.remove(dict(variant.case))
            yield variant


def test_there_are_36_of_three_levels_and_all_kinds_and_their_map_has_no_cycle() -> None:
    every = {key: read(key) for key in FILES}
    assert len(every) >= 36
    for level in (1, 2, 3):
        assert len(every) / 5 < sum(each.level == level for each in every.values()) < len(every) / 2
    for kind in KINDS:
        assert sum(each.answer.kind == kind for each in every.values()) >= 3
    seen: dict[str, int] = {}

    def depth(key: str, path: tuple[str, ...] = ()) -> int:
        assert key not in path, f"{' rests on '.join((*path, key))}"
        if key not in seen:
            seen[key] = 1 + max((depth(other, (*path, key)) for other in every[key].rests_on), default=0)
        return seen[key]

    for key, each in every.items():
        depth(key)
        assert all(every[other].level <= each.level for other in each.rests_on)


@pytest.mark.parametrize("key", FILES)
def test_an_exercise_is_written_as_it_should_be(key: str) -> None:
    exercise = read(key)
    assert exercise.key == key
    assert 3 <= len(exercise.cases) <= 8
    assert 1 <= len(exercise.mistakes) <= 4
    assert all(mistake.example is not None for mistake in exercise.mistakes)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("key", FILES)
def test_it_is_solved_by_hand_and_each_mistake_is_taken_for_what_it_is(key: str) -> None:
    variant = first_variant(key)
    verdict = variant.check(variant.read(read(key).solved))
    assert verdict.is_right, variant.truth
    for mistake in read(key).mistakes:
        verdict = variant.check(variant.read(mistake.example))
        assert not verdict.is_right
        assert verdict.mistake is mistake
        assert verdict.feedback
        assert "{" not in verdict.feedback


@pytest.mark.sampled(16)
@pytest.mark.parametrize("key", FILES)
def test_in_every_case_it_has_one_truth_and_can_be_explained(key: str) -> None:
    exercise = read(key)
    for variant in variants(key):
        usual = open_texts(exercise.page, {}).notices
        for view in filter(None, (variant.view, variant.other)):
            assert view.notices == usual  # nothing was repaired
        truth, answer = variant.truth, exercise.answer
        if isinstance(answer, Choose):
            assert answer.several or len(truth) == 1  # type: ignore[arg-type]
            assert len(truth) < len(answer.options) or answer.several  # type: ignore[arg-type]
        if isinstance(answer, Settings):
            assert truth is False  # there is something to do
        else:
            right = right_answer(variant)
            assert variant.is_right(right)
            for mistake in exercise.mistakes:
                assert not holds(variant, mistake, right), (variant.case, mistake.name)
        texts = [exercise.question, *exercise.hints, *(mistake.feedback for mistake in exercise.mistakes)]
        explained = [variant.explain(exercise.explanation), *map(variant.fill, texts)]
        assert not any("{" in text or "nan" in text.split() for text in explained), explained


@pytest.mark.parametrize("key", ["sink", "previous-token-head", "linking-head", "striking-pattern"])
def test_where_the_words_name_a_head_it_is_that_one_in_every_case(key: str) -> None:
    for variant in variants(key):
        assert variant.is_right(variant.read(read(key).solved))


@pytest.mark.parametrize("key", [key for key in FILES if "{n} tokens" in read(key).question])
def test_a_text_has_as_many_tokens_as_the_question_says(key: str) -> None:
    for variant in variants(key):
        assert variant.explain("{= tokens | .0f}") == variant.case["n"]


def holds(variant: Variant, mistake: Mistake, given: Any) -> bool:
    """Whether an answer would be taken for a mistake if it were not right."""
    return bool(variant.compute(mistake.when, given))


def right_answer(variant: Variant) -> Any:
    """The truth, as an answer."""
    answer, truth = variant.exercise.answer, variant.truth
    if isinstance(truth, dict):
        return tuple(sorted(truth, key=truth.__getitem__, reverse=answer.wanted == "largest first"))  # type: ignore
    if isinstance(truth, Numbers) and answer.kind == "click":
        flat = int(truth.values.argmax() if answer.wanted == "largest" else truth.values.argmin())
        return (flat,) if truth.values.ndim == 1 else divmod(flat, truth.values.shape[1])
    return tuple(variant.heights) if isinstance(truth, Numbers) else truth


@pytest.mark.parametrize("key", [key for key in FILES if read(key).shown or read(key).hidden])
def test_its_charts_stand_on_its_page(key: str) -> None:
    exercise = read(key)
    for variant in variants(key):
        on_page = chart_keys(variant.view)
        assert {*exercise.shown, *exercise.hidden} <= on_page, sorted(on_page)


def chart_keys(view: LinkedView) -> set[str]:
    shown = VIEWS[view.page]
    return set(keys_of(shown.show(shown.scene(view), view.values)))


def keys_of(items: Any) -> Iterator[str]:
    each: Item
    for each in items:
        match each:
            case Chart() | Table():
                yield each.key
            case Paragraph(kind="answer"):
                yield "answer"
            case Columns(columns=columns):
                for column in columns:
                    yield from keys_of(column)
            case Group(items=inner) | Panel(items=inner) | Later(inner):
                yield from keys_of(inner)

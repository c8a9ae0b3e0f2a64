"""What does not hold in an exercise or a lesson: truths computed, expected mistakes made, states opened."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from playground.charts.chart import Columns, Group, Item, Later, Panel, Paragraph
from playground.errors import InputError, PlaygroundError
from playground.learn.answers import Choose, Settings
from playground.learn.exercise import Exercise, Variant, variants_of
from playground.learn.lesson import Lesson, LessonStep, encode_lesson, find_problem
from playground.link.opening import check_link, open_link
from playground.link.query import needed_panels
from playground.pages import page_at
from playground.text.wording import join_words, quote_text
from playground.views.all_views import VIEWS

ANSWER = "answer"
"""What stands among the keys of charts for the page's first sentence."""


def check_exercise(exercise: Exercise, known: Mapping[str, Exercise] | None = None) -> list[str]:
    """A sentence on each thing of an exercise that does not hold; every case is computed.

    Args:
        exercise: to check.
        known: exercises that it may rest on, by key; None: this is not looked at.
    """
    found = []
    if known is not None:
        missing = [quote_text(key) for key in exercise.rests_on if key not in known]
        found += [f"It rests on {join_words(missing)}, which is no exercise."] if missing else []
    for variant in variants_of(exercise):
        where = f" (case {join_words([quote_text(word) for word in variant.case.values()])})" if variant.case else ""
        try:
            found += [f"{sentence}{where}" for sentence in _check_variant(variant)]
        except PlaygroundError as error:
            found.append(f"{error}{where}")
    return found


def check_lesson(lesson: Lesson, exercises: Mapping[str, Exercise], *, computes: bool = True) -> list[str]:
    """A sentence on each thing of a lesson that does not hold.

    Args:
        lesson: to check.
        exercises: that it can ask, by key.
        computes: whether to compute the truth of what it asks, too; otherwise no tokenizer and no model is built.
    """
    found = [] if lesson.steps else ["It has no steps."]
    try:
        encode_lesson(lesson)
    except InputError as error:
        found.append(str(error))
    for number, step in enumerate(lesson.steps, start=1):
        try:
            found += [f"Step {number}: {sentence}" for sentence in _check_step(step, exercises, computes)]
        except PlaygroundError as error:
            found.append(f"Step {number}: {error}")
    return found


def _check_step(step: LessonStep, exercises: Mapping[str, Exercise], computes: bool) -> Iterator[str]:
    problem = find_problem(step, exercises)
    if problem:
        yield problem
    elif step.exercise is not None:
        variant = Variant(exercises[step.exercise], step.variant)
        if computes:
            _ = variant.truth
            variant.explain(variant.exercise.explanation)
    elif step.link:
        page, notices = check_link(step.link)
        yield from repairs(page, open_link(step.link).notices if computes else notices)
    elif not step.words:
        yield "It has no words, no link and no exercise."


def _check_variant(variant: Variant) -> Iterator[str]:
    exercise, answer = variant.exercise, variant.exercise.answer
    for view in (variant.view, variant.other):
        yield from ([] if view is None else repairs(view.page, view.notices))
    truth = variant.truth
    if isinstance(answer, Choose) and not answer.several and isinstance(truth, tuple) and len(truth) > 1:
        yield f"More than one option is right: {join_words([quote_text(word) for word in truth])}."
    if isinstance(answer, Settings) and truth:
        yield "The state fulfils the condition from the start."
    if variant.number == 0:
        yield from _check_solved(variant)
        yield from _check_charts(variant)
    variant.explain(exercise.explanation)
    for mistake in exercise.mistakes:
        if mistake.example is None or (variant.number and not isinstance(answer, Choose)):
            continue
        verdict = variant.check(variant.read(mistake.example))
        if verdict.is_right:
            yield f"The mistake “{mistake.name}” is right here."
        elif verdict.mistake is not mistake:
            yield f"The example of “{mistake.name}” is taken for {_name(verdict.mistake)}."


def _check_solved(variant: Variant) -> Iterator[str]:
    solved = variant.exercise.solved
    if solved is not None and not variant.is_right(variant.read(solved)):
        yield f"The answer that was found by hand, {quote_text(str(solved))}, is not right."


def _name(mistake: Any) -> str:
    return "no expected mistake" if mistake is None else f"“{mistake.name}”"


def repairs(page: str, notices: Iterable[str]) -> list[str]:
    """Return the sentence on each thing of a state that could not be as it was asked for, of a page's notices."""
    about_page = f"The page {page} shows other networks"  # a word on the page, not on the state
    return [each for each in notices if not (page_at(page).own_networks and each.startswith(about_page))]


def _check_charts(variant: Variant) -> Iterator[str]:
    asked = {*variant.exercise.shown, *variant.exercise.hidden}
    if not asked:
        return
    view = VIEWS.get(variant.exercise.page)
    if view is None:
        raise InputError(f"The page {variant.exercise.page} cannot show charts of an exercise.")
    options = {**variant.view.values, **needed_panels(asked)}
    missing = sorted(asked - {*list_keys(view.show(view.scene(variant.view), options))})
    if missing:
        yield f"The page {variant.exercise.page} has no {join_words([quote_text(key) for key in missing])}."


def list_keys(items: Iterable[Item]) -> Iterator[str]:
    """The keys of charts, tables and groups, also of those inside of others; `answer` for the first sentence."""
    for item in items:
        match item:
            case Paragraph(kind="answer"):
                yield ANSWER
            case Columns(columns=columns):
                yield from list_keys(each for column in columns for each in column)
            case Group() | Panel() | Later():
                yield from list_keys(item.items)
        key = getattr(item, "key", "")
        if key:
            yield key

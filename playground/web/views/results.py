"""The page Results, on which a teacher reads a class's codes, and the code at a lesson's end."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.charts import palette
from playground.charts.chart import Axis, Bars, Item, Paragraph, Table, Widget
from playground.charts.names import escape_markdown, shortened
from playground.charts.scene import Scene
from playground.learn import results
from playground.learn.exercise import Variant
from playground.learn.lesson import Lesson, shipped_lessons
from playground.learn.results import Received, Result, Task, lesson_hash
from playground.web.choices.widgets import PERSISTS
from playground.web.components import draw_legend
from playground.web.session.caches import shipped_exercises
from playground.web.session.services import services
from playground.web.shared import navigation, panels, saving
from playground.web.shared.renderer import Live, render
from playground.web.views.exercises import find_attempt
from playground.words import say

_CODES, _VISITOR = "results_codes", "_results_visitor"
"""Session keys: the pasted text, which no link holds; what tells a session's codes from others without a name."""

_COLOURS = dict(zip(results.FOUND_AT, (*palette.CURVES, palette.NORMS, palette.RESIDUAL), strict=True))

_MOST_PROBLEMS, _MOST_LETTERS = 20, 24
"""Lines that are named, and letters of an exercise's title beside its bar, which a phone has room for."""


def draw_code(lesson: Lesson) -> None:
    """Draw the menu with the code of what the visitor found in a lesson, if it asks for anything."""
    tasks, icon = tuple(_list_tasks(lesson)), ":material/assignment_turned_in:"
    if not tasks:
        return
    menu = st.popover(say("results", "code"), type="primary", icon=icon, key="lesson_code", on_change="rerun")
    if menu.open:
        with menu:
            name = st.text_input(say("results", "name"), key="results_name", max_chars=results.MAX_NAME, **PERSISTS)
            visitor = st.session_state.setdefault(_VISITOR, secrets.token_hex(3))
            now, title = int(datetime.now(UTC).timestamp()), lesson.title.replace("*", "")[: results.MAX_TITLE]
            result = Result(lesson=lesson_hash(lesson), title=title, visitor=visitor, made=now, tasks=tasks, name=name)
            st.code(results.write_code(result, services().settings.results_key), language=None, wrap_lines=True)
            st.caption(say("results", "code.says"))


def _list_tasks(lesson: Lesson) -> Iterator[Task]:
    for number, step in enumerate(lesson.steps, start=1):
        if step.asked is not None:
            yield Task(number, *find_attempt(step.asked, step.variant))
        elif step.has_task:
            yield navigation.find_task(number)


def draw_results() -> None:
    """Draw the whole page: what was read of the pasted codes, and the field for them."""
    panels.draw_heading(say("results", "heading"))
    key = services().settings.results_key
    answer, (field, file) = st.container(), st.columns([3, 2])
    text = field.text_area(say("results", "codes"), key=_CODES, height=120)
    with file:
        saving.draw_uploader(say("results", "file"), "results_file", _open_file, max_upload_size=1)
    st.caption(say("results", "stored"))
    with panels.explain_errors():
        received, problems = results.read_codes(text, key)
    lessons = results.group_by_lesson(received)
    with answer:
        shown = _choose_lesson(lessons) if lessons else []
        render([Paragraph(_describe(shown) if shown else say("results", "invitation"), "answer")])
    if problems:
        st.warning(say("results", "unread", n=len(problems)))
        lines = [say("results", "unread-line", number=str(n), reason=each) for n, each in problems.items()]
        st.caption("  \n".join(lines[:_MOST_PROBLEMS]))
    if shown:
        render(_show_class(shown), Scene(shown), Live({"legend": draw_legend}))
        left_out = len(received) - sum(map(len, lessons))
        notes = [say("results", "book"), say("results", "signed") if key else say("results", "signed.none")]
        st.caption(" ".join(notes + [say("results", "several", n=left_out)] * bool(left_out)))


def _open_file(file: UploadedFile) -> None:
    st.session_state[_CODES] = file.getvalue().decode(errors="replace")


def _choose_lesson(lessons: Sequence[Sequence[Received]]) -> Sequence[Received]:
    firsts = ((each[0].result, len(each)) for each in lessons)
    names = [say("results", "lesson-name", title=one.title, lesson=one.lesson, n=n) for one, n in firsts]
    label, places = say("results", "lesson"), range(len(names))
    return lessons[st.selectbox(label, places, format_func=names.__getitem__) if len(lessons) > 1 else 0]


def _describe(received: Sequence[Received]) -> str:
    counts, result = results.count_tries(received)["not"], received[0].result
    hardest = max(counts, key=lambda step: counts[step])
    return say(
        "results",
        "answer",
        n=len(received),
        finished=sum(each.result.n_found == len(result.tasks) for each in received),
        title=escape_markdown(result.title),
        step=hardest,
        least=len(received) - counts[hardest],
        unsigned=sum(not each.is_signed for each in received),
    )


def _show_class(received: Sequence[Received]) -> Iterator[Item]:
    n, titles = len(received), _find_titles(received[0].result)
    counts = {at: numbers for at, numbers in results.count_tries(received).items() if any(numbers.values())}
    names = {at: say("results", f"at-{at}") for at in counts}
    legend = [{"name": names[at], "colour": _COLOURS[at]} for at in counts]
    yield Widget("legend", {"key": "results_key", "entries": legend})
    yield Bars[Any](
        key="results_tries",
        alt=say("results", "tries"),
        caption=say("results", "tries"),
        bars=lambda _: {names[at]: {f"step {i}": k for i, k in counts[at].items()} for at in counts},
        labels=Axis(""),
        value={"title": say("results", "tries.axis"), "range": [0, n], "tickformat": "d", "nticks": min(n, 5) + 1},
        colours={names[at]: _COLOURS[at] for at in counts},
        number="d",
        unit=say("results", "tries.axis"),
        stacked=True,
        whole=n,
        notes=lambda *_: titles,
    )
    n_tasks, unsigned = len(received[0].result.tasks), [] if services().settings.results_key else ["signed"]
    frame = results.write_grade_book(received).drop(columns=unsigned)
    looks: dict[str, Any] = {"row_height": 34, "most_rows": 12, "widths": {"name": 140}, "fills": {"found": n_tasks}}
    formats = {"found": f"%d of {n_tasks}"}
    yield Table[Any](key="results_table", frame=lambda _: frame, shows_index=False, formats=formats, **looks)


def _find_titles(result: Result) -> Mapping[str, str]:
    """Return the titles of a shipped lesson's exercises, by the names of their steps."""
    lesson = next((each for each in shipped_lessons().values() if lesson_hash(each) == result.lesson), None)
    asked = [(i, step) for i, step in enumerate(lesson.steps if lesson else (), start=1) if step.exercise]
    variants = {f"step {i}": Variant(shipped_exercises()[str(step.exercise)], step.variant) for i, step in asked}
    return {name: shortened(variant.fill(variant.exercise.title), _MOST_LETTERS) for name, variant in variants.items()}

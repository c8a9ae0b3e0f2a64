"""What a link shows, in a notebook."""

from typing import TYPE_CHECKING, Any

from playground.errors import InputError
from playground.link import open_link
from playground.pages import PAGES
from playground.text.wording import quote_text

if TYPE_CHECKING:
    from playground.charts.chart import Item
    from playground.charts.draw import Drawn
    from playground.charts.scene import Scene
    from playground.link import LinkedView


def show(link: "str | LinkedView") -> None:
    """Display what the page of a link shows, in a notebook; InputError if it is no link, or its page is no view."""
    from playground.views.all_views import VIEWS  # it needs Plotly and pandas, which the package itself does not

    opened = open_link(link) if isinstance(link, str) else link
    view = VIEWS.get(opened.page)
    if view is None:
        titles = ", ".join(PAGES[path].title for path in VIEWS)
        raise InputError(
            f"The page {PAGES[opened.page].title} can't be shown in a notebook yet: those that can are {titles}. "
            "`open_link` has its run."
        )
    for notice in opened.notices:
        _display_text(notice)
    scene = view.scene(opened)
    for item in view.show(scene, {**opened.values, "overview_shapes": True}):
        _display(item, scene)


def check_answer(exercise: str, answer: Any, variant: int = 0) -> str:
    """Say whether an answer to an exercise is right, or what to think about next; InputError if it is none.

    An answer is a number, words, a place, or settings: a link or a mapping.
    """
    from playground.learn.exercise import Variant, shipped_exercises
    from playground.words import say

    if exercise not in shipped_exercises():
        raise InputError(f"There is no exercise {quote_text(exercise)}.")
    asked = Variant(shipped_exercises()[exercise], variant)
    is_link = isinstance(answer, str) and asked.exercise.answer.kind == "settings"
    return asked.check(asked.read(open_link(answer) if is_link else answer)) or say("exercises", "right")


def _display(item: "Item", scene: "Scene[Any]") -> None:
    from playground.charts import chart as charts
    from playground.charts.draw import draw_chart, draw_table

    match item:
        case charts.Chart():
            drawing = draw_chart(item, scene)
            for drawn in (drawing.now, *drawing.beside):
                _display_chart(drawn)
            if drawing.note:
                _display_text(drawing.note)
        case charts.Table():
            _put(draw_table(item, scene))
        case charts.Paragraph(text, "code"):
            _display_text(f"```text\n{text}\n```")
        case charts.Paragraph(text, "formula"):
            _display_text(f"$$\n{text}\n$$")
        case charts.Paragraph(text, kind):
            _display_text(f"### {text}" if kind == "header" else text)
        case charts.Columns(columns=columns):
            for each in (each for column in columns for each in column):
                _display(each, scene)
        case charts.Panel(key, title, ()):
            _display_text(f"*{title}*: add `{key}=true` to the link.")
        case charts.Group(items=items) | charts.Panel(items=items):
            for each in items:
                _display(each, scene)


def _display_chart(drawn: "Drawn") -> None:
    import plotly.graph_objects as go

    _put(go.Figure(drawn.figure))
    _display_text(drawn.caption)
    if drawn.table is not None:
        _put(drawn.table())


def _display_text(text: str) -> None:
    from IPython.display import Markdown

    _put(Markdown(text))  # type: ignore[no-untyped-call]


def _put(shown: object) -> None:
    from IPython.display import display

    display(shown)  # type: ignore[no-untyped-call]

"""An answer beside the truth, as items: seen once an answer is found or given up."""

import html
from collections.abc import Iterator, Sequence
from typing import Any

from playground.charts import palette
from playground.charts.chart import Axis, Heatmap, Item, Paragraph
from playground.charts.colour_scales import from_zero
from playground.charts.figure import Frame
from playground.learn.answers import Choose, Click, Number
from playground.learn.exercise import Variant
from playground.learn.quantities import Numbers

KEY = "exercise_truth"
"""Of the chart."""


def compare_answer(variant: Variant, given: Any) -> Iterator[Item]:
    """Yield the truth of a variant beside an answer, as `Variant.read` returns it; None if there was none."""
    truth = variant.truth
    match variant.exercise.answer:
        case Choose(options=options):
            lines = [
                f"- {'✓' if word in truth else '✗'} {variant.fill(option.text)}"
                f"{' :violet-badge[your answer]' if word in (given or ()) else ''}"
                for word, option in options.items()
            ]
            yield Paragraph("\n".join(lines))
        case Number(unit=unit):
            said = "" if given is None else f"You said {given:,.4g}. "
            yield Paragraph(f"{said}Computed: **{truth:,.4g}** {unit}".rstrip())
        case Click():
            yield frame_places(truth, given)


def frame_places(truth: Numbers, given: Sequence[int] | None) -> Heatmap[Any]:
    """Return the numbers of which a place was asked, with frames around the right one and the answer."""
    *above, across = truth.axes
    cells = truth.values if above else truth.values[None, :]

    def frame(place: Sequence[int], colour: str, width: int) -> Frame:
        row, column = place if above else (0, place[0])
        return ((row, row), (column, column), colour, width)

    frames = [frame(truth.best, palette.CHANGE, 7)]
    said = ""
    if given is not None:
        frames.append(frame(given, palette.FOCUS, 3))
        said = f"Thin frame, your choice: {truth.name(given)}, {truth.values[tuple(given)]:.4g}. "
    *rows, columns = ([html.escape(name, quote=False) for name in names] for names in truth.labels)
    return Heatmap(
        key=KEY,
        alt="Heatmap of the numbers with the largest one framed",
        caption=f"{said}Thick frame, the largest: {truth.name(truth.best)}, **{truth.values[truth.best]:.4g}**.",
        values=lambda _: cells,
        rows=Axis("".join(above), lambda _: rows[0] if rows else [""], options={"autorange": "reversed"}),
        columns=Axis(across, lambda _: columns),
        bar="",
        hover="%{y}, %{x}" if above else "%{x}",
        more="a larger number",
        colours=from_zero,
        frames=lambda _: frames,
        height=None if above else 170,
        compares=False,
    )

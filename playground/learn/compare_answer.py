"""A student's answer beside the truth, as a view yields charts: what is seen once an answer is found or given up."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from playground.charts import palette
from playground.charts.chart import Axis, Bars, Curves, Heatmap, Item, Paragraph, Table
from playground.charts.colour_scales import between_ends, from_zero
from playground.charts.figure import Array, Curve, Frame
from playground.charts.names import token_labels
from playground.learn.answers import Choose, Click, Draw, Number, Order, handle_places
from playground.learn.exercise import Variant
from playground.learn.quantities import Numbers

YOU, COMPUTED = "you", "computed"

KEY = "exercise_truth"
"""Of the chart or table."""

_COLOURS = {YOU: palette.MUTED, COMPUTED: palette.ATTENTION}


def compare_answer(variant: Variant, given: Any) -> Iterator[Item]:
    """The truth of a variant, and beside it what was answered.

    Args:
        variant: whose truth can be computed.
        given: as `Variant.read` returns it; None where there was no answer.
    """
    answer, truth = variant.exercise.answer, variant.truth
    match answer:
        case Choose(options=options):
            chosen, right = given or (), truth if isinstance(truth, tuple) else ()
            texts = [
                f"- {'✓' if word in right else '✗'} {variant.fill(option.text)} "
                f"{':green-badge[true]' if word in right else ':gray-badge[not so]'}"
                f"{' :violet-badge[your answer]' if word in chosen else ''}"
                for word, option in options.items()
            ]
            yield Paragraph("\n".join(texts))
        case Number(unit=unit) if isinstance(truth, float):
            if given is not None and f"{given:.4g}" == f"{truth:.4g}":
                yield Paragraph(f"**{truth:,.4g}**{f' {unit}' if unit else ''}, as you said.")
            else:
                yield compare_numbers(truth, given, unit)
        case Click() if isinstance(truth, Numbers):
            yield frame_places(truth, given, answer.wanted)
        case Order(items=items, wanted=wanted) if isinstance(truth, Mapping):
            yield compare_orders({word: variant.fill(item.text) for word, item in items.items()}, truth, given, wanted)
        case Draw() if isinstance(truth, Numbers):
            yield compare_curves(answer, truth, given)


def compare_numbers(truth: float, given: float | None, unit: str) -> Bars[Any]:
    """Two bars: the number that was expected, and what is computed."""
    numbers = ({} if given is None else {YOU: float(given)}) | {COMPUTED: truth}
    said = f"You said {given:,.4g}; computed is" if given is not None else "Computed is"
    return Bars(
        key=KEY,
        alt="Bars: your number and what is computed",
        caption=f"{said} **{truth:,.4g}**{f' {unit}' if unit else ''}.",
        bars=lambda _: {name: {name: number} for name, number in numbers.items()},
        labels=Axis(""),
        value={"title": unit},
        colours=_COLOURS,
        stacked=True,
        height=150,
        compares=False,
        is_tabulated=False,
    )


def frame_places(truth: Numbers, given: Sequence[int] | None, wanted: str) -> Heatmap[Any]:
    """The numbers of which a place was asked, with a frame around the right one and another around the answer."""
    best = truth.best(wanted)
    cells = truth.values if truth.columns else truth.values[None, :]
    columns = truth.columns or truth.rows

    def frame(place: Sequence[int], colour: str, width: int) -> Frame:
        row, column = place if truth.columns else (0, place[0])
        return Frame((row, row), (column, column), colour, width)

    frames = [frame(best, palette.CHANGE, 7)]
    if given is not None:
        frames.append(frame(given, palette.FOCUS, 3))
    rows: Axis[Any] = Axis("", lambda _: [""])
    if truth.columns:
        rows = Axis(truth.row_title, lambda _: axis_labels(truth.rows), options={"autorange": "reversed"})
    said = f"You chose {truth.name(given)}: {truth[tuple(given)]:.4g}. " if given is not None else ""
    is_signed = bool((cells < 0).any())
    return Heatmap(
        key=KEY,
        alt=f"Heatmap of {truth.title or 'the numbers'} with the {wanted} number framed",
        caption=f"{said}The {wanted} is at {truth.name(best)}: **{truth[best]:.4g}**. "
        f"It has the thick frame{', your choice the thin one' if said else ''}.",
        values=lambda _: cells,
        rows=rows,
        columns=Axis(truth.column_title if truth.columns else truth.row_title, lambda _: axis_labels(columns)),
        bar="",
        hover="%{x}" if not truth.columns else "%{y}, %{x}",
        more="a larger number",
        colours=between_ends if is_signed else from_zero,
        frames=lambda _: frames,
        height=None if truth.columns else 170,
        compares=False,
    )


def axis_labels(names: Sequence[str]) -> list[str]:
    """Names of places for the axes of figures: with its number below the line where two are the same."""
    if len(set(names)) < len(names):
        return token_labels(names)
    return [name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for name in names]


def compare_orders(
    texts: Mapping[str, str], truth: Mapping[str, float], given: Sequence[str] | None, wanted: str
) -> Table[Any]:
    """The order that was given beside the true one, with its numbers."""
    right = sorted(truth, key=lambda word: truth[word], reverse=wanted == "largest first")
    columns: dict[str, list[str]] = {}
    if given is not None:
        columns[YOU] = [texts[word] for word in given]
    columns[COMPUTED] = [texts[word] for word in right]
    columns["its number"] = [f"{truth[word]:,.4g}" for word in right]
    frame = pd.DataFrame(columns, index=pd.Index([f"{place}." for place in range(1, len(right) + 1)]))
    return Table(key=KEY, frame=lambda _: frame, compares=False, is_markdown=True)


def compare_curves(answer: Draw, truth: Numbers, given: Sequence[float] | None) -> Curves[Any]:
    """The drawn curve and the true one on the same axes."""
    (names,) = truth.axes
    places = np.arange(len(names))
    handles = np.array(handle_places(len(places)))
    curves = [Curve(COMPUTED, places, np.asarray(truth.values, float), palette.ATTENTION)]
    if given is not None:
        curves.append(Curve(YOU, handles, np.asarray(given, float), palette.FOCUS, dash="dash"))

    def axis(_: Sequence[Array]) -> dict[str, Any]:
        ends = [answer.low, answer.high, *np.ravel(truth.values)[np.isfinite(np.ravel(truth.values))]]
        return {"title": answer.y_title, "range": [float(min(ends)), float(max(ends))]}

    labels = axis_labels(truth.rows)
    every = max(1, len(places) // 12)
    ticks = {"tickmode": "array", "tickvals": places[::every].tolist(), "ticktext": labels[::every]}
    table = pd.DataFrame({COMPUTED: truth.values}, index=pd.Index(names, name=answer.x_title))
    return Curves(
        key=KEY,
        alt="Curves: what you drew and what is computed",
        caption=f"A handle may be {answer.tolerance * (answer.high - answer.low):.3g} off. The dashed line is yours."
        if given is not None
        else "What is computed.",
        curves=lambda _: curves,
        x=Axis(answer.x_title, options=ticks),
        y=[axis],
        table=lambda _: table,
        compares=False,
    )

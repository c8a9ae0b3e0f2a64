"""The page Diagnosis: where somebody's tensors differ from the model's, and which mistakes explain it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from playground.charts.chart import Axis, Columns, Item, Paragraph, Table
from playground.charts.colour_scales import describe_around_zero
from playground.charts.figure import Array
from playground.charts.heads import tensor_map
from playground.charts.names import token_names
from playground.config import ModelConfig
from playground.diagnosis import Diagnosis
from playground.mistakes.registry import MISTAKES, Mistake
from playground.text.wording import join_words, upper_first
from playground.views.points import name_point
from playground.words import say

_MOST_CELLS = 64
"""Rows and columns of a map."""


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """What was found, and the first tensor that differs beside the model's."""

    found: Diagnosis
    theirs: Array | None
    ours: Array | None
    tokens: Sequence[str]


def diagnosed(found: Diagnosis, ours: Mapping[str, Array], tokens: Sequence[str]) -> Diagnosed:
    """Return what the page shows; `ours` are the model's tensors."""
    if found.first is None:
        return Diagnosed(found, None, None, tokens)
    return Diagnosed(found, found.theirs[found.first].float().numpy(), ours[found.first], tokens)


def show_mistake(mistake: Mistake, config: ModelConfig) -> Iterator[Item]:
    """Yield a mistake: what it means, its lines in such an encoder, and how it is noticed."""
    wrong, right = mistake.write_lines(config)
    yield Paragraph(say("diagnosis", "mistake", title=upper_first(mistake.title), meaning=mistake.meaning))
    yield Paragraph(f"# wrong\n{wrong}\n\n# right\n{right}", "code")
    notes = {"symptom": mistake.symptom, "test": mistake.test, "source": mistake.source}
    yield Paragraph(say("diagnosis", "mistake.notes", **notes))


def show_diagnosis(seen: Diagnosed) -> Iterator[Item]:
    """Yield what explains the tensors, the first of them that differs, and the alternatives."""
    found = seen.found
    yield Paragraph(_answer_what_is_wrong(seen), "answer")
    if found.first is None:
        return
    for key in found.mistakes:
        yield from show_mistake(MISTAKES[key], found.config)
    yield Paragraph(say("diagnosis", "where"), "header")
    yield Paragraph("\n".join(f"- {each}" for each in found.describe_details()))
    yield from _show_maps(seen)
    yield Table[Diagnosed](
        key="diagnosis_differences",
        frame=lambda _: _list_differences(found),
        formats={"largest difference": "%.3g", "given": "%.6g", "the model's": "%.6g"},
        shows_index=False,
        is_folded=True,
        title=say("diagnosis", "table"),
    )


def _answer_what_is_wrong(seen: Diagnosed) -> str:
    found = seen.found
    numbers = {"differ": len(found.differences), "compared": found.n_compared}
    if found.first is None:
        return say("diagnosis", "answer-right", **numbers)
    place = {"first": found.first, "point": name_point(found.first)}
    if found.mistakes:
        mistakes = join_words([f"**{MISTAKES[key].title}**" for key in found.mistakes])
        return say("diagnosis", "answer-found", mistakes=mistakes, **numbers, **place)
    if found.is_noise:
        return say("diagnosis", "answer-noise", **numbers, **place)
    return say("diagnosis", "answer-unknown", **numbers, **place)


def _list_differences(found: Diagnosis) -> pd.DataFrame:
    names = {"name": "tensor", "off": "largest difference", "where": "at", "theirs": "given", "ours": "the model's"}
    return pd.DataFrame([{names[name]: getattr(each, name) for name in names} for each in found.differences])


def _show_maps(seen: Diagnosed) -> Iterator[Item]:
    if seen.theirs is None or seen.ours is None:
        return
    first = seen.found.differences[0]
    rows, columns = map(_choose_window, first.place[-2:], seen.ours.shape[-2:])
    theirs, ours = (each[first.place[:-2]][rows, columns] for each in (seen.theirs, seen.ours))
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        apart: Array = theirs - ours
    names = token_names(seen.tokens)
    across: Axis[Diagnosed] = Axis("number", first=columns.start)
    if first.name.endswith(("scores", "pattern")):
        across = Axis("key", lambda _: names[columns])
    both = [theirs, ours]
    maps = {"yours": (theirs, both), "ours": (ours, both), "difference": (apart, [apart])}
    charts = []
    for key, (values, shared) in maps.items():
        title, colours = say("diagnosis", "map", title=key), describe_around_zero(shared)
        chart = tensor_map(
            values,
            shared,
            key=f"diagnosis_{key}",
            alt=say("diagnosis", "map.alt", tensor=first.name, title=title),
            caption=say("diagnosis", "map.caption", title=title, colours=colours),
            rows=Axis("token", lambda _: names[rows]),
            columns=across,
            height=360,
        )
        charts.append((chart,))
    yield Columns(tuple(charts))


def _choose_window(place: int, n: int) -> slice:
    """Return the cells of an axis of `n` to show: the first ones, or those around a place."""
    start = max(0, min(place - _MOST_CELLS // 2, n - _MOST_CELLS)) if place >= _MOST_CELLS else 0
    return slice(start, start + _MOST_CELLS)


def describe_names(ours: Mapping[str, Array]) -> pd.DataFrame:
    """Return the names that a tensor may have, in words, with the shapes of this sentence."""
    rows = [{"name": name, "what it is": name_point(name), "shape": str(array.shape)} for name, array in ours.items()]
    return pd.DataFrame(rows)

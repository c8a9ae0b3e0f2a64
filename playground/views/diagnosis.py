"""The page Diagnosis: where somebody's tensors differ from the model's, and which mistakes explain it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from playground.charts.chart import Axis, Columns, Item, Paragraph, Table
from playground.charts.colour_scales import describe_around_zero
from playground.charts.figure import Array
from playground.charts.head_map import tensor_map
from playground.charts.names import token_names
from playground.diagnosis import Diagnosis
from playground.mistakes.registry import MISTAKES
from playground.text.wording import join_words
from playground.views.mistakes import show_mistake
from playground.views.points import name_point

_MOST_CELLS = 64
"""Rows and columns of a map."""

_MOST_NAMED = 4
"""Tensors that are named as those to bring next."""


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """What was found in somebody's tensors, and the first of them that differs, beside the model's."""

    found: Diagnosis
    theirs: Array | None
    ours: Array | None
    tokens: Sequence[str]
    missing: Sequence[str]
    """Names between the last given tensor that agrees and the first that differs."""


def diagnosed(found: Diagnosis, ours: Mapping[str, Array], tokens: Sequence[str]) -> Diagnosed:
    """Return what the page shows of a diagnosis; `ours` are the model's tensors in the order of the computation."""
    if found.first is None:
        return Diagnosed(found, None, None, tokens, ())
    before = list(ours)[: list(ours).index(found.first)]
    last_right = max((place for place, name in enumerate(before) if name in found.theirs), default=-1)
    theirs = found.theirs[found.first].float().numpy()
    return Diagnosed(found, theirs, ours[found.first], tokens, before[last_right + 1 :])


def show_diagnosis(seen: Diagnosed) -> Iterator[Item]:
    """Yield what explains the tensors, the first of them that differs, and the alternatives."""
    found = seen.found
    yield Paragraph(answer_what_is_wrong(seen), "answer")
    if found.first is None:
        return
    for key in found.mistakes:
        yield from show_mistake(MISTAKES[key], found.config)
    yield Paragraph("Where the numbers first differ", "header")
    told = [*found.describe_differences(), *found.describe_alternatives()]
    yield Paragraph("\n".join(f"- {sentence}" for sentence in told))
    yield from _show_maps(seen)
    yield Table[Diagnosed](
        key="diagnosis_differences",
        frame=lambda _: _list_differences(found),
        formats={"largest difference": "%.3g", "given": "%.6g", "the model's": "%.6g"},
        shows_index=False,
        is_folded=True,
        title="Every tensor that differs",
    )


def answer_what_is_wrong(seen: Diagnosed) -> str:
    """Return the verdict, how many tensors differ, and if nothing explains it what to bring next."""
    found = seen.found
    counts = f"**{len(found.differences)}** of {found.n_compared} tensors differ from the model's"
    if found.first is None:
        return f"No mistake shows: {counts}."
    told = f"{counts}, first `{found.first}` ({name_point(found.first)})."
    if found.mistakes:
        return f"Found: {join_words([f'**{MISTAKES[key].title}**' for key in found.mistakes])}. {told}"
    if found.is_noise:
        return f"No mistake, only noise, such as lower precision. {told}"
    named = [f"`{name}`" for name in seen.missing[:: -(-len(seen.missing) // _MOST_NAMED) or 1]]
    more = f" Bring what was computed before it too: {join_words(named)}." if named else ""
    return f"No known mistake explains it, alone or in a pair. {told}{more}"


def _list_differences(found: Diagnosis) -> pd.DataFrame:
    names = {"name": "tensor", "off": "largest difference", "where": "at", "theirs": "given", "ours": "the model's"}
    rows = [{title: getattr(each, name) for name, title in names.items()} for each in found.differences]
    return pd.DataFrame(rows)


def _show_maps(seen: Diagnosed) -> Iterator[Item]:
    """Yield the first differing tensor around its largest difference: given, the model's, and the difference."""
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
    maps = (
        ("yours", "Given", theirs, [theirs, ours]),
        ("ours", "The model's", ours, [theirs, ours]),
        ("difference", "Difference", apart, [apart]),
    )
    charts = (
        tensor_map(
            values,
            shared,
            key=f"diagnosis_{key}",
            alt=f"{first.name}, {title}, as colours.",
            caption=f"**{title}.** {describe_around_zero(shared)}",
            rows=Axis("token", lambda _: names[rows]),
            columns=across,
            height=360,
        )
        for key, title, values, shared in maps
    )
    yield Columns(tuple((chart,) for chart in charts))


def _choose_window(place: int, n: int) -> slice:
    """Return the cells that a map shows along an axis of `n`: the first ones, or else those around a place."""
    start = max(0, min(place - _MOST_CELLS // 2, n - _MOST_CELLS)) if place >= _MOST_CELLS else 0
    return slice(start, start + _MOST_CELLS)


def describe_names(ours: Mapping[str, Array]) -> pd.DataFrame:
    """Return the names that a tensor may have, in words, with the shapes of this sentence."""
    rows = [{"name": name, "what it is": name_point(name), "shape": str(array.shape)} for name, array in ours.items()]
    return pd.DataFrame(rows)

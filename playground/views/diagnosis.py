"""What the page Diagnosis says of somebody's tensors: where they part from the model's, and what explains it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from playground.analysis.comparison import name_point
from playground.charts.chart import Axis, Columns, Item, Options, Paragraph, Table
from playground.charts.colour_scales import describe_around_zero
from playground.charts.figure import Array
from playground.charts.head_map import tensor_map
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.diagnosis import Diagnosis
from playground.mistakes.registry import MISTAKES
from playground.text.wording import join_words, upper_first
from playground.views.mistakes import show_mistake

_MOST = 64
"""Rows and columns of a map."""

_MOST_NAMED = 4
"""Tensors that are named as those to bring next."""


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """Somebody's tensors beside the model's."""

    found: Diagnosis
    theirs: Mapping[str, Array]
    """With the model's axes."""
    ours: Mapping[str, Array]
    tokens: Sequence[str]
    """Of the sentence."""
    missing: Sequence[str] = ()
    """Names between the last given tensor that agrees and the first that differs."""
    is_example: bool = False
    """Whether nobody brought them: they go with the model that they were made of."""

    @property
    def whose(self) -> str:
        """Before *numbers*, in a sentence."""
        return "the example's" if self.is_example else "your"

    @property
    def owner(self) -> str:
        """Without a noun behind it."""
        return "the example's" if self.is_example else "yours"


def show_diagnosis(scene: Scene[Diagnosed], _: Options) -> Iterator[Item]:
    """What explains the tensors, the first of them that differs, and how all of that was found."""
    found = scene.now.found
    yield Paragraph(answer_what_is_wrong(scene.now), "answer")
    if found.first is None:
        return
    for key in found.mistakes:
        yield from show_mistake(MISTAKES[key], found.config)
    yield Paragraph(f"Where {scene.now.whose} numbers first differ", "header")
    yield from _show_maps(scene.now)
    yield Paragraph("How this was found", "header")
    yield Paragraph(
        "\n".join(f"- {sentence}" for sentence in found.report(tells_best=False, whose=scene.now.whose).splitlines())
    )
    yield Table[Diagnosed](
        key="diagnosis_differences",
        frame=lambda diagnosed: _list_differences(diagnosed),
        formats={"largest difference": "%.3g", scene.now.owner: "%.6g", "the model's": "%.6g"},
        shows_index=False,
        is_folded=True,
        title="Every tensor that differs",
    )


def answer_what_is_wrong(diagnosed: Diagnosed) -> str:
    """The page's answer, and where nothing explains it what to do next."""
    found = diagnosed.found
    if found.first is None:
        if found.n_compared == 1:
            return "No mistake shows: the tensor agrees with the model's."
        return f"No mistake shows: all **{found.n_compared}** tensors agree with the model's."
    first = f"`{found.first}` ({name_point(found.first)})"
    if found.mistakes:
        titles = " and ".join(f"**{MISTAKES[key].title}**" for key in found.mistakes)
        which, others = found.explanations[0].which, len(found.explanations) - 1
        also = f" {others} other explanation{' fits' if others == 1 else 's fit'} as well: see below." if others else ""
        told = f"With {which} the model computes {diagnosed.whose} numbers."
        return f"Found: {titles}. {told} The first to differ is {first}.{also}"
    if found.is_noise:
        largest = max(each.off for each in found.differences)
        return (
            f"No mistake, only noise: {diagnosed.whose} numbers differ from {first} on. None is off by more than "
            f"{largest:.1g} of the largest in its tensor."
        )
    told = f"{upper_first(diagnosed.whose)} numbers first differ in {first}. No mistake that is known here explains it."
    if found.not_excluded:
        told += f" That does not exclude {' or '.join(found.not_excluded)}."
    return f"{told} {_narrow_down(diagnosed)}"


def _narrow_down(diagnosed: Diagnosed) -> str:
    """A sentence on what to bring, or to read, next."""
    missing = diagnosed.missing
    if not missing:
        return "Compare your lines that compute it with the model's: nothing that you brought before it differs."
    named = [f"`{name}`" for name in missing[:: -(-len(missing) // _MOST_NAMED)]]
    return f"To narrow it down, bring what was computed before it too, such as {join_words(named)}."


def _list_differences(diagnosed: Diagnosed) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "tensor": each.name,
                "largest difference": each.off,
                "at": each.where,
                diagnosed.owner: each.theirs,
                "the model's": each.ours,
            }
            for each in diagnosed.found.differences
        ]
    )


def _show_maps(diagnosed: Diagnosed) -> Iterator[Item]:
    """The first differing tensor around its largest difference: theirs, ours, and the difference."""
    first = diagnosed.found.differences[0]
    place, shape = first.place[:-2], diagnosed.ours[first.name].shape
    rows, columns = map(_choose_window, first.place[-2:], shape[-2:])
    theirs, ours = (
        np.asarray(tensors[first.name][place], np.float32)[rows.start : rows.stop, columns.start : columns.stop]
        for tensors in (diagnosed.theirs, diagnosed.ours)
    )
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        apart = theirs - ours
    are_tokens = first.name.endswith(("scores", "pattern"))
    row_names = _name_rows(diagnosed, shape[-2])[rows.start : rows.stop]
    column_names = _name_rows(diagnosed, shape[-1])[columns.start : columns.stop]
    where = f"`{first.name}` ({name_point(first.name)}){f', head {place[1]}' if len(place) > 1 else ''}"
    for window, n, what in ((rows, shape[-2], "tokens"), (columns, shape[-1], "tokens" if are_tokens else "numbers")):
        where += f", {what} {window.start} to {window.stop - 1} of {n}" if len(window) < n else ""
    yield Paragraph(f"In {where}.")
    mine = upper_first(diagnosed.owner)
    maps = (
        ("yours", mine, theirs, [theirs, ours], " The model's has these colours too."),
        ("ours", "The model's", ours, [theirs, ours], f" {mine} has these colours too."),
        (
            "difference",
            f"{mine} − the model's",
            apart,
            [apart],
            " The other two have colours of their own.",
        ),
    )
    yield Columns(
        tuple(
            (
                Paragraph(f"**{title}**"),
                tensor_map(
                    values,
                    shared,
                    key=f"diagnosis_{key}",
                    alt=f"{title} of {first.name}, as colours.",
                    caption=f"**{title}.** {describe_around_zero(shared)}{note}",
                    rows=Axis("token", lambda _: row_names),
                    columns=Axis("key", lambda _: column_names) if are_tokens else Axis("number", first=columns.start),
                    height=360,
                ),
            )
            for key, title, values, shared, note in maps
        )
    )


def _choose_window(place: int, n: int) -> range:
    """The cells along an axis of `n` that a map shows: from the first on, or else around a place."""
    start = max(0, min(place - _MOST // 2, n - _MOST)) if place >= _MOST else 0
    return range(start, min(start + _MOST, n))


def _name_rows(diagnosed: Diagnosed, n: int) -> list[str]:
    names = token_names(diagnosed.tokens)[:n]
    return [*names, *(str(i) for i in range(len(names), n))]


def describe_names(ours: Mapping[str, Array]) -> pd.DataFrame:
    """The names that a tensor may have, what each is, and the shapes of this sentence."""
    rows = [{"name": name, "what it is": name_point(name), "shape": str(array.shape)} for name, array in ours.items()]
    return pd.DataFrame(rows)

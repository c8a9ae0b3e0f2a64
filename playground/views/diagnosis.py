"""What the page Diagnosis says of somebody's tensors: where they part from the model's, and what explains it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground.charts.chart import Axis, Code, Columns, Heatmap, Item, Options, Paragraph, Table
from playground.charts.figure import Array, around_zero, describe_around_zero
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.diagnosis import Diagnosis
from playground.mistakes.registry import MISTAKES
from playground.text.wording import join_words, upper_first

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


def show_diagnosis(scene: Scene[Diagnosed], _: Options) -> Iterator[Item]:
    """The report, the first tensor that differs, and how far each does."""
    found = scene.now.found
    yield Paragraph(answer_what_is_wrong(scene.now), "answer")
    if found.first is not None:
        yield from _show_maps(scene.now)
    sentences = found.report().splitlines()
    yield Paragraph("\n".join(f"- {sentence}" for sentence in sentences))
    for key in found.mistakes:
        mistake = MISTAKES[key]
        yield Paragraph(upper_first(mistake.title), "header")
        yield Paragraph(
            f"**What its maker sees.** {mistake.symptom} **The cheapest test.** {mistake.test} "
            f"**What cannot show it.** {mistake.hidden_from} **Who makes it.** "
            f"{upper_first(mistake.source)}."
        )
        yield Code(f"# wrong\n{mistake.wrong}\n\n# right\n{mistake.right}", wraps=True)
    if found.differences:
        yield Table[Diagnosed](
            key="diagnosis_differences",
            frame=lambda diagnosed: _list_differences(diagnosed.found),
            formats={"largest difference": "%.3g", "yours": "%.6g", "the model's": "%.6g"},
            shows_index=False,
            is_folded=True,
            title="Every tensor that differs",
        )


def answer_what_is_wrong(diagnosed: Diagnosed) -> str:
    """The page's answer, and where nothing explains it what to do next."""
    found = diagnosed.found
    if found.first is None:
        n = found.n_compared
        return f"Nothing: **{n}** of your {n} tensors agree with the model's."
    if found.mistakes:
        titles = " and ".join(f"**{MISTAKES[key].title}**" for key in found.mistakes)
        others = len(found.explanations) - 1
        also = f" {others} other explanation{'s' * (others > 1)} would do as well." if others else ""
        return f"With this mistake the model computes your numbers: {titles}. It shows first in `{found.first}`.{also}"
    if found.is_noise:
        return f"Nothing but noise: from `{found.first}` on, numbers are off by at most {found.differences[0].off:.1g}."
    return (
        f"Your numbers part from the model's in `{found.first}`, and no mistake that is known here explains it. "
        f"{_narrow_down(diagnosed)}"
    )


def _narrow_down(diagnosed: Diagnosed) -> str:
    """A sentence on what to bring, or to read, next."""
    missing = diagnosed.missing
    if not missing:
        return "Compare your lines that compute it with the model's: nothing that you brought before it differs."
    named = [f"`{name}`" for name in missing[:: -(-len(missing) // _MOST_NAMED)]]
    return f"To narrow it down, bring what was computed before it too, such as {join_words(named)}."


def _list_differences(found: Diagnosis) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "tensor": each.name,
                "largest difference": each.off,
                "at": str(list(each.place)),
                "yours": each.theirs,
                "the model's": each.ours,
            }
            for each in found.differences
        ]
    )


def _show_maps(diagnosed: Diagnosed) -> Iterator[Item]:
    """The first differing tensor around its largest difference: theirs, ours, and the difference."""
    first = diagnosed.found.differences[0]
    place, shape = first.place[:-2], diagnosed.ours[first.name].shape
    rows, columns = map(_choose_window, first.place[-2:], shape[-2:])
    theirs, ours = (
        np.where(np.isfinite(each), each, np.nan)[rows.start : rows.stop, columns.start : columns.stop]
        for each in (
            np.asarray(tensors[first.name][place], np.float32) for tensors in (diagnosed.theirs, diagnosed.ours)
        )
    )
    are_tokens = first.name.endswith(("scores", "pattern"))
    row_names = _name_rows(diagnosed, shape[-2])[rows.start : rows.stop]
    column_names = partial(_give, _name_rows(diagnosed, shape[-1])[columns.start : columns.stop])
    where = f"`{first.name}`{f', at {list(place)}' if any(place) else ''}"
    for window, n, what in ((rows, shape[-2], "tokens"), (columns, shape[-1], "tokens" if are_tokens else "numbers")):
        where += f", {what} {window.start} to {window.stop - 1} of {n}" if len(window) < n else ""
    maps = (
        ("yours", "Yours", theirs, [theirs, ours], " Its colours and the model's are the same."),
        ("ours", "The model's", ours, [theirs, ours], " Its colours and yours are the same."),
        ("difference", "Yours − the model's", theirs - ours, [theirs - ours], " It has colours of its own."),
    )
    yield Columns(
        tuple(
            (
                Heatmap[Any](
                    key=f"diagnosis_{key}",
                    alt=f"{title} of {first.name}, as colours.",
                    caption=f"**{title}:** {where}. {describe_around_zero(shared)}{note}",
                    values=partial(_give, values),
                    rows=Axis("token", partial(_give, row_names), options={"autorange": "reversed"}),
                    columns=Axis("key", column_names) if are_tokens else Axis("number", first=columns.start),
                    bar="",
                    hover="%{y}, %{x}",
                    more="a larger number",
                    colours=partial(_give, around_zero()(shared)),
                    compares=False,
                    height=360,
                ),
            )
            for key, title, values, shared, note in maps
        )
    )


def _give(value: Any, _: object) -> Any:
    return value


def _choose_window(place: int, n: int) -> range:
    """The cells along an axis of `n` that a map shows: from the first on, or else around a place."""
    start = max(0, min(place - _MOST // 2, n - _MOST)) if place >= _MOST else 0
    return range(start, min(start + _MOST, n))


def _name_rows(diagnosed: Diagnosed, n: int) -> list[str]:
    names = token_names(diagnosed.tokens)[:n]
    return [*names, *(str(i) for i in range(len(names), n))]


def describe_names(ours: Mapping[str, Array]) -> pd.DataFrame:
    """The names that a tensor may have, with the shapes of this sentence."""
    return pd.DataFrame([{"name": name, "shape": str(array.shape)} for name, array in ours.items()])

"""What the page Diagnosis says of somebody's tensors: where they part from the model's, and what explains it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground.charts.chart import Axis, Code, Columns, Heatmap, Item, Options, Paragraph, Table
from playground.charts.figure import Array, around_zero, between_ends
from playground.charts.markdown import escape_markdown
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.diagnosis import Diagnosis
from playground.mistakes.registry import MISTAKES

_MOST = 64
"""Rows and columns of a map."""


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """Somebody's tensors beside the model's."""

    found: Diagnosis
    theirs: Mapping[str, Array]
    """With the model's axes."""
    ours: Mapping[str, Array]
    tokens: Sequence[str]
    """Of the sentence."""


def show_diagnosis(scene: Scene[Diagnosed], _: Options) -> Iterator[Item]:
    """The report, the first tensor that differs, and how far each does."""
    found = scene.now.found
    yield Paragraph(answer_what_is_wrong(found), "answer")
    if found.first is not None:
        yield from _show_maps(scene.now)
    sentences = found.report().splitlines()
    yield Paragraph("\n".join(f"- {sentence}" for sentence in sentences))
    for key in found.mistakes:
        mistake = MISTAKES[key]
        yield Paragraph(f"{mistake.title[0].upper()}{mistake.title[1:]}", "header")
        yield Paragraph(
            f"**What its maker sees.** {mistake.symptom} **The cheapest test.** {mistake.test} "
            f"**What cannot show it.** {mistake.hidden_from} **Who makes it.** "
            f"{mistake.source[0].upper()}{mistake.source[1:]}."
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


def answer_what_is_wrong(found: Diagnosis) -> str:
    """The page's answer in a sentence."""
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
    return f"Your numbers part from the model's in `{found.first}`, and no mistake that is known here explains it."


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
    place = first.place[:-2]
    theirs, ours = (
        np.where(np.isfinite(each), each, np.nan)
        for each in (_slice(tensors[first.name], place) for tensors in (diagnosed.theirs, diagnosed.ours))
    )
    shared = between_ends([theirs, ours])
    difference = theirs - ours
    where = f"`{first.name}`{f', at {list(place)}' if any(place) else ''}"
    maps = (
        ("yours", theirs, "Yours"),
        ("ours", ours, "The model's"),
        ("difference", difference, "Yours − the model's"),
    )
    rows = _name_rows(diagnosed, theirs.shape[0])
    columns = _name_rows(diagnosed, theirs.shape[1]) if first.name.endswith(("scores", "pattern")) else None
    yield Columns(
        tuple(
            (
                Heatmap[Any](
                    key=f"diagnosis_{key}",
                    alt=f"{title} of {first.name}, as colours.",
                    caption=f"**{title}:** {where}.",
                    values=partial(_give, values),
                    rows=Axis("token", partial(_give, rows), options={"autorange": "reversed"}),
                    columns=Axis("key" if columns else "number", partial(_give, columns) if columns else None),
                    bar="",
                    hover="%{y}, %{x}",
                    more="a larger number",
                    colours=around_zero() if key == "difference" else partial(_give, shared),
                    compares=False,
                    height=360,
                ),
            )
            for key, values, title in maps
        )
    )


def _give(value: Any, _: object) -> Any:
    return value


def _slice(tensor: Array, place: tuple[int, ...]) -> Array:
    """The matrix of a tensor at a place of its first axes, as much of it as a map shows."""
    matrix: Array = np.asarray(tensor[place], np.float32)[:_MOST, :_MOST]
    return matrix


def _name_rows(diagnosed: Diagnosed, n: int) -> list[str]:
    names = token_names(diagnosed.tokens)[:n]
    return [*names, *(str(i) for i in range(len(names), n))]


def describe_names(ours: Mapping[str, Array]) -> pd.DataFrame:
    """The names that a tensor may have, with the shapes of this sentence."""
    return pd.DataFrame([{"name": escape_markdown(name), "shape": str(array.shape)} for name, array in ours.items()])

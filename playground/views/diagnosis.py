"""The page Diagnosis: somebody's tensors beside the model's."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from torch import Tensor

from playground.charts.chart import Axis, Button, Columns, Item, Panel, Paragraph, Table
from playground.charts.colour_scales import around_zero
from playground.charts.figure import Array
from playground.charts.heads import tensor_map
from playground.charts.names import quote_token, token_names
from playground.config import ModelConfig
from playground.diagnosis import Diagnosis, Difference, write_saving_code
from playground.link.lab import Lab
from playground.mistakes.edits import Input
from playground.mistakes.registry import MISTAKES, Mistake
from playground.text.wording import join_words, upper_first
from playground.words import say

_MOST_CELLS = 64
"""Rows and columns of a map."""

SMALL = {"weights": "random", "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32}


def name_point(name: str) -> str:
    """Return a point's name in words; one of training keeps its own."""
    _, layer, point = name.split(".", maxsplit=2) if name.startswith("layers.") else ("", "", name)
    try:
        words = say("points", f"point-{point.replace('.', '-')}")
    except KeyError:
        words = f"`{point}`"
    return f"layer {layer}, {words}" if layer else words


def show_mistake(mistake: Mistake, config: ModelConfig) -> Iterator[Item]:
    """Yield what a mistake means, its lines, and how it is noticed."""
    yield Paragraph(say("diagnosis", "mistake", title=upper_first(mistake.title), meaning=mistake.meaning))
    yield show_lines(mistake, config)
    notes = {"symptom": mistake.symptom, "test": mistake.test, "source": mistake.source}
    yield Paragraph(say("diagnosis", "mistake.notes", **notes))


def show_lines(mistake: Mistake, config: ModelConfig) -> Paragraph:
    """Return a mistake's lines of code, wrong and right."""
    wrong, right = mistake.write_lines(config)
    return Paragraph(f"# wrong\n{wrong}\n\n# right\n{right}", "code")


def show_diagnosis(found: Diagnosis, tokens: Sequence[str]) -> Iterator[Item]:
    """Yield what explains the tensors, and the first that differs."""
    yield Paragraph(_answer_what_is_wrong(found), "answer")
    if found.first_tensors is None:
        return
    for key in found.mistakes:
        yield from show_mistake(MISTAKES[key], found.config)
    yield Paragraph(say("diagnosis", "where"), "header")
    yield Paragraph("\n".join(f"- {each}" for each in found.describe_details()))
    yield _show_maps(found.differences[0], *found.first_tensors, token_names(tokens))
    names = {"name": "tensor", "off": "largest difference", "where": "at", "theirs": "given", "ours": "the model's"}
    table = Table[Diagnosis](
        key="diagnosis_differences",
        frame=lambda found: pd.DataFrame(
            [{title: getattr(each, name) for name, title in names.items()} for each in found.differences]
        ),
        formats={"largest difference": "%.3g", "given": "%.6g", "the model's": "%.6g"},
        shows_index=False,
    )
    yield Panel("", say("diagnosis", "table"), (table,), ":material/table:")


def _answer_what_is_wrong(found: Diagnosis) -> str:
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


def _show_maps(first: Difference, theirs: Tensor, ours: Tensor, names: Sequence[str]) -> Columns:
    rows, columns = map(_choose_window, first.place[-2:], ours.shape[-2:])
    both = [each.float().numpy()[first.place[:-2]][rows, columns] for each in (theirs, ours)]
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        gap: Array = both[0] - both[1]
    of_keys = first.name.endswith(("scores", "pattern"))
    across: Axis[Diagnosis] = Axis("key", lambda _: names[columns]) if of_keys else Axis("number", first=columns.start)
    charts = []
    for key, values in (("yours", both[0]), ("ours", both[1]), ("difference", gap)):
        look = {"colours": around_zero} if key == "difference" else {}
        title = say("diagnosis", "map", title=key)
        chart = tensor_map(
            values,
            both,
            **look,
            key=f"diagnosis_{key}",
            alt=say("diagnosis", "map.alt", tensor=first.name, title=title),
            caption=f"**{title}.**",
            rows=Axis("token", lambda _: names[rows]),
            columns=across,
            height=360,
        )
        charts.append((chart,))
    return Columns(tuple(charts))


def _choose_window(place: int, n: int) -> slice:
    """Return the cells of an axis to show: the first, or those around a place."""
    start = max(0, min(place - _MOST_CELLS // 2, n - _MOST_CELLS)) if place >= _MOST_CELLS else 0
    return slice(start, start + _MOST_CELLS)


def show_steps(lab: Lab, given: Input, ours: Mapping[str, Tensor]) -> Iterator[Item]:
    """Yield how to bring one's own tensors."""
    yield Paragraph(say("diagnosis", "steps"), "header")
    yield Paragraph(say("diagnosis", "build"))
    if lab["weights"] != "random":
        yield Button("diagnosis_small", say("diagnosis", "small"), SMALL, icon=":material/casino:")
    yield Paragraph(say("diagnosis", "run"))
    yield Paragraph(" ".join(map(quote_token, lab.batch.tokens[lab.sentence])))
    rows = [{"name": name, "what it is": name_point(name), "shape": str(tuple(t.shape))} for name, t in ours.items()]
    code = Paragraph(write_saving_code(lab.config, given.ids, given.mask), "code")
    names: Table[None] = Table(key="diagnosis_names", frame=lambda _: pd.DataFrame(rows), shows_index=False)
    yield Panel("", say("diagnosis", "code"), (code, names), ":material/code:")
    yield Paragraph(say("diagnosis", "bring"))

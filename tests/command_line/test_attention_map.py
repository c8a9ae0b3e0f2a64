"""A head's attention as coloured text."""

import io

import numpy as np
import pytest
from rich.console import Console

from playground.charts.palette import ATTENTION
from playground.command_line import draw_map

WEIGHTS = np.array([[1.0, 0.0], [0.004, 0.996]], np.float32)


def test_a_heavier_weight_is_nearer_to_attentions_colour() -> None:
    _, first, second, _ = draw_map(WEIGHTS, ["a", "b"], 80)
    full = first.spans[0].style.bgcolor.get_truecolor()  # type: ignore[union-attr]
    assert full.hex == ATTENTION
    reds = [span.style.bgcolor.get_truecolor().red for span in (*first.spans, *second.spans)]  # type: ignore[union-attr]
    order = np.argsort(WEIGHTS.ravel())
    assert np.all(np.diff(np.array(reds)[order]) <= 0)


def luminance(red: int, green: int, blue: int) -> float:
    """Of WCAG 2, from 0 to 1."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red / 255, green / 255, blue / 255)
    ]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_every_number_can_be_read_on_its_colour() -> None:
    weights = np.linspace(0, 1, 40, dtype=np.float32)[:, None].repeat(40, axis=1)
    for row in draw_map(weights, ["x"] * 40, 1_000)[1:-1]:
        style = row.spans[0].style
        letters, ground = (luminance(*colour.get_truecolor()) for colour in (style.color, style.bgcolor))  # type: ignore[union-attr]
        assert (max(letters, ground) + 0.05) / (min(letters, ground) + 0.05) >= 4.2


@pytest.mark.parametrize("width", [5, 23, 60, 200])
def test_columns_fit_whatever_the_width_and_the_letters(width: int) -> None:
    tokens = ["猫" * 20, "a" * 30, "ok", "\u0301"]
    lines = draw_map(np.full((4, 4), 0.25, np.float32), tokens, width)
    assert all(line.cell_len <= max(width, 22) for line in lines)
    assert sum(line.plain.count("25") for line in lines) == 16


@pytest.mark.parametrize(("colours", "escapes"), [("truecolor", True), (None, False)])
def test_colours_are_for_terminals(colours: "str | None", escapes: bool) -> None:
    file = io.StringIO()
    console = Console(file=file, color_system=colours, force_terminal=escapes, width=80)  # type: ignore[arg-type]
    for line in draw_map(WEIGHTS, ["a", "b"], 80):
        console.print(line)
    assert ("\x1b[" in file.getvalue()) == escapes


def test_numbers_that_overflowed_are_shown_as_they_are() -> None:
    lines = draw_map(np.array([[np.nan, np.inf], [0, 1]], np.float32), ["a", "b"], 80)
    assert lines[1].plain.split() == ["0", "a", "nan", "inf"]
    assert lines[2].plain.split() == ["1", "b", ".", "100"]

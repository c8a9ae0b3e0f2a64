"""The paper that pictures are drawn on: its width, and the colours of the app's light theme."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

PIXELS = 96
"""Of a page, an inch; a PNG has twice as many dots."""

PAGE_WIDTH = 170 / 25.4 * PIXELS
"""Pixels of 170 mm: as wide as the text on a page."""

TEXT = "#17151f"
FAINT_TEXT = "#55525f"
GRID = "#e9e7ef"
FRAME = "#b9b5c4"

SEQUENTIAL = (
    "#faf9fe", "#e4defe", "#cec1fc", "#b3a0f3", "#987ee4", "#7a5bce", "#5e3fb0", "#432a8c", "#2f1e6c", "#1f154f",
)  # fmt: skip
DIVERGING = (
    "#853f03", "#b95c11", "#dc8b4e", "#f0bf94", "#f9eee2", "#f0eefa", "#ccc1f9", "#a690ea", "#7d60cd", "#5031a1",
)  # fmt: skip
"""As in the app's theme file: evenly spaced stops, the lowest number first."""

SHADES = 256
"""Colours of a scale: as many as an 8-bit screen tells apart."""

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, each in 0 … 1."""


def read_colour(colour: str | None, default: str = TEXT) -> Colour:
    """A colour as Plotly writes it, `#rrggbb`, `rgb(…)` or `rgba(…)`; what is neither is the default."""
    text = colour or default
    if re.fullmatch("#[0-9a-fA-F]{6}", text):
        whole = bytes.fromhex(text[1:])
        return whole[0] / 255, whole[1] / 255, whole[2] / 255, 1.0
    numbers = re.fullmatch(r"rgba?\(([\d., ]+)\)", text)
    if numbers is None:
        return read_colour(default)
    red, green, blue, *opacity = (float(number) for number in numbers[1].split(","))
    return red / 255, green / 255, blue / 255, opacity[0] if opacity else 1.0


def ramp_of(trace: go.Heatmap) -> NDArray[np.uint8]:
    """The colours of a heatmap, (SHADES, 3), from its lowest number to its highest."""
    stops = trace.colorscale
    if stops is None:
        ramp = _ramp(tuple((i / 9, colour) for i, colour in enumerate(SEQUENTIAL)))
    elif stops == _template().diverging:
        ramp = _ramp(tuple((i / 9, colour) for i, colour in enumerate(DIVERGING)))
    else:
        ramp = _ramp(tuple((float(place), str(colour)) for place, colour in stops))
    return ramp[::-1] if trace.reversescale else ramp


@cache
def _template() -> Any:
    return go.Figure().layout.template.layout.colorscale


@cache
def _ramp(stops: Sequence[tuple[float, str]]) -> NDArray[np.uint8]:
    """Colours between stops, (SHADES, 3); a faint colour is mixed with the white of the paper."""
    places, colours = zip(*stops, strict=True)
    shades = np.linspace(0, 1, SHADES)
    rgba = np.array([read_colour(colour) for colour in colours])
    solid = rgba[:, :3] * rgba[:, 3:] + 1 - rgba[:, 3:]
    # Two stops at one place are a step there: the first of the two holds below it, the second above.
    steps = np.array(places) + 1e-9 * np.arange(len(places))
    mixed = np.stack([np.interp(shades, steps, channel) for channel in solid.T], axis=1)
    ramp: NDArray[np.uint8] = np.round(255 * mixed).astype(np.uint8)
    ramp.flags.writeable = False
    return ramp


def ink_on(colour: Sequence[float]) -> str:
    """Dark or white, whichever is easier to read on a colour whose channels are in 0 … 1."""
    red, green, blue = (channel / 12.92 if channel <= 0.04 else ((channel + 0.055) / 1.055) ** 2.4
                        for channel in colour[:3])  # fmt: skip
    return TEXT if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.25 else "#ffffff"

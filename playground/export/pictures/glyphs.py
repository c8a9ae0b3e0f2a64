"""The letters of a picture, in a font that every server has."""

import unicodedata
from functools import cache
from typing import Any

from matplotlib import get_data_path
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font

from playground.export.pictures.paper import PIXELS

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that every server draws the same."""

LACKING = "□"
"""Stands in a PNG or a PDF for a character that the font lacks; an SVG keeps the character."""

LACKING_NOTE = f"{LACKING}: a character that this file's font lacks; the SVG has it."

_STAND_INS = [chr(code) for code in range(0x2801, 0x2900)]
"""Braille, which the font has and hardly a sentence: stand for characters of an SVG while it is laid out."""


class Glyphs:
    """The letters of one picture: what the font lacks has a stand-in, and comes back in an SVG."""

    def __init__(self, *, keeps_characters: bool) -> None:
        """For a file that `keeps_characters`, or for one that has the font's shapes alone."""
        self._keeps = keeps_characters
        self._stand_ins: dict[str, str] = {}
        self.lacking = False
        """Whether a text had a character for which LACKING stands now."""

    def fit(self, text: str) -> str:
        """A text in characters that the font has; control and format characters are left out."""
        return "".join(map(self._fit, unicodedata.normalize("NFC", text)))

    def _fit(self, character: str) -> str:
        if character == "\n":
            return character
        category = unicodedata.category(character)
        if category in ("Cc", "Cf", "Zl", "Zp"):
            return ""
        if self._keeps and character in _STAND_INS:
            return LACKING  # else it would be taken for another
        if ord(character) in _characters():
            return character
        if self._keeps and category not in ("Cs", "Cn", "Co"):
            if character in self._stand_ins:
                return self._stand_ins[character]
            if len(self._stand_ins) < len(_STAND_INS):
                return self._stand_ins.setdefault(character, _STAND_INS[len(self._stand_ins)])
        self.lacking = True
        return LACKING

    def restore(self, svg: str) -> str:
        """The SVG with the characters for which others stand."""
        return svg.translate({ord(stand_in): character for character, stand_in in self._stand_ins.items()})


def wrap(text: str, width: float, points: float) -> list[str]:
    """Lines of a text in letters of so many points, that are at most so many pixels wide."""
    font = FontProperties(family=FONT, size=points)
    canvas: Any = FigureCanvasAgg(Figure(figsize=(0.1, 0.1), dpi=PIXELS))
    renderer = canvas.get_renderer()
    lines: list[str] = []
    for word in text.replace("\n", " ").split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        is_wide = renderer.get_text_width_height_descent(longer, font, ismath=False)[0] > width
        if lines and not is_wide:
            lines[-1] = longer
        else:
            lines.append(word)
    return [line for line in lines if line]


@cache
def _characters() -> frozenset[int]:
    """The code points that the font has."""
    font: Any = FT2Font(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    return frozenset(font.get_charmap())

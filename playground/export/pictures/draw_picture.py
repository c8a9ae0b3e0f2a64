"""A figure of a page as PNG, SVG or PDF: light, with its caption, and with its link in the file."""

import threading
from typing import Any, Literal, get_args

import plotly.graph_objects as go
from matplotlib import rc_context

from playground.export.pictures.arrange import arrange
from playground.export.pictures.draw_traces import paint_cells
from playground.export.pictures.glyphs import FONT, Glyphs
from playground.export.pictures.write_file import write_pdf, write_png, write_svg

Format = Literal["png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)

_STYLE: Any = {
    "font.family": [FONT],
    "text.usetex": False,
    "text.parse_math": False,  # a dollar sign in a sentence is a dollar sign
    "axes.unicode_minus": True,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "playground",  # the same picture is the same file
    "pdf.fonttype": 42,
    "pdf.compression": 6,
    "path.simplify": False,
}

_ONE_AT_A_TIME = threading.Lock()
"""matplotlib's settings and fonts are one for all threads."""


def draw_picture(
    figure: go.Figure, file_format: Format, *, caption: str = "", title: str = "", link: str = ""
) -> bytes:
    """A file of the figure, of `layout.width` pixels, or as wide as a page (170 mm), and as high as it needs.

    The cells of a heatmap are vectors in an SVG; in a PDF they are a lossless image, but for cells with gaps between
    them, which are vectors there too.

    Args:
        figure: as `playground.figures` makes them.
        file_format: a PNG has two dots a pixel.
        caption: stands below the chart; in markdown, as on the page.
        title: what the chart is called in the file's metadata.
        link: to the page that the chart is from, in the file's metadata.
    """
    with _ONE_AT_A_TIME, rc_context(_STYLE):
        glyphs = Glyphs(keeps_characters=file_format == "svg")
        drawing = arrange(figure, caption, glyphs, dots=2 if file_format == "png" else 1)
        if file_format == "svg":
            return write_svg(drawing, glyphs, title=title, caption=caption, link=link)
        for cells in drawing.cells:
            paint_cells(cells)
        write = write_png if file_format == "png" else write_pdf
        return write(drawing.paper, title=title, caption=caption, link=link)

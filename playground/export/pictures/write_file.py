"""A drawing as the bytes of a file, with what it shows and where it is from in the file's metadata."""

import io
from html import escape
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from playground.export.pictures.cells import path_of_cells
from playground.export.pictures.drawing import Cells, Drawing
from playground.export.pictures.glyphs import FONT, Glyphs
from playground.export.pictures.paper import PIXELS
from playground.export.pictures.plain_text import plain_caption

_XML = '<?xml version="1.0" encoding="utf-8"?>\n'
"""Without the document type that drawing libraries name: readers would ask another server for it."""

CREATOR = "Transformer Encoder Playground"

_FONTS = f"'{FONT}', Verdana, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
"""Where a reader of the SVG lacks the first, the next has letters of the same width."""


def write_png(paper: Figure, *, title: str, caption: str, link: str) -> bytes:
    """Two dots a pixel; metadata as text chunks."""
    FigureCanvasAgg(paper)
    metadata = {"Title": title, "Description": plain_caption(caption), "Source": link, "Software": CREATOR}
    return _save(paper, "png", dpi=2 * PIXELS, metadata=_printable(metadata))


def write_pdf(paper: Figure, *, title: str, caption: str, link: str) -> bytes:
    """Fonts embedded; metadata as the document's information, the link among the keywords."""
    FigureCanvasPdf(paper)
    metadata: dict[str, Any] = {
        "Title": title, "Subject": plain_caption(caption), "Keywords": link, "Creator": CREATOR,
    }  # fmt: skip
    return _save(paper, "pdf", dpi=300, metadata=_printable(metadata) | {"CreationDate": None})


def write_svg(drawing: Drawing, glyphs: Glyphs, *, title: str, caption: str, link: str) -> bytes:
    """Text stays text, cells are vectors; metadata as RDF, and a description for readers who cannot see it."""
    for number, cells in enumerate(drawing.cells):
        cells.axes.add_artist(
            Rectangle((0, 0), 1, 1, transform=cells.axes.transAxes, facecolor="none", gid=_place_of(number), zorder=1)
        )
    FigureCanvasSVG(drawing.paper)
    about = plain_caption(caption)
    metadata = {"Title": title, "Description": about, "Source": link, "Creator": CREATOR}
    svg = _save(drawing.paper, "svg", dpi=72, metadata=_printable(metadata) | {"Date": None}).decode()
    for number, cells in enumerate(drawing.cells):
        svg = _put_cells(svg, _place_of(number), _cells_as_svg(cells, drawing.paper))
    described = _without_control(f"<desc>{escape(f'{about} {link}'.strip())}</desc>")
    begin = svg.index("<svg ")
    inside = svg.index(">", begin) + 1
    svg = f"{_XML}{svg[begin:inside]}{described}{svg[inside:]}"
    return glyphs.restore(svg.replace(f"'{FONT}'", _FONTS)).encode()


def _save(paper: Figure, file_format: str, *, dpi: int, metadata: dict[str, Any], **options: Any) -> bytes:
    file = io.BytesIO()
    paper.savefig(file, format=file_format, dpi=dpi, metadata=metadata, **options)
    return file.getvalue()


def _printable(metadata: dict[str, str]) -> dict[str, Any]:
    return {name: _without_control(text) for name, text in metadata.items() if text}


def _without_control(text: str) -> str:
    """A text that any file takes: neither control characters nor halves of characters."""
    text = "".join(character for character in text if character >= " " and character not in "\x7f\ufffe\uffff")
    return text.encode("utf-8", "ignore").decode()


def _place_of(number: int) -> str:
    return f"cells_{number}"


def _put_cells(svg: str, place: str, cells: str) -> str:
    """The SVG with cells instead of what stands for them."""
    begin = svg.index(f'<g id="{place}">')
    end = svg.index("</g>", begin)
    return f'{svg[:begin]}<g id="{place}" shape-rendering="crispEdges">{cells}{svg[end:]}'


def _cells_as_svg(cells: Cells, paper: Figure) -> str:
    """Cells in the file's coordinates: points from the upper left."""
    height = paper.get_size_inches()[1] * 72
    left, right, first, last = cells.edges
    scale = 72 / paper.dpi
    (x0, y0), (x1, y1) = cells.axes.transData.transform([(left, first), (right, last)]) * scale
    n_rows, n_columns = cells.shades.shape
    across, down = (x1 - x0) / n_columns, (y0 - y1) / n_rows
    transform = f"matrix({across:.6g} 0 0 {down:.6g} {x0:.6g} {height - y0:.6g})"
    return f'<g transform="{transform}">{path_of_cells(cells.shades, cells.ramp, cells.gaps)}</g>'

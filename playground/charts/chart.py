"""What a view returns: charts, tables, paragraphs and controls, each a record.

A chart says which numbers of a subject (`S`, a run on most pages) it shows; `charts.draw` asks it for both subjects.
Legend: R rows, C columns of a heatmap.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.charts.bars import LabelledRows
from playground.charts.colour_scales import Colours, around_zero, from_zero
from playground.charts.figure import Array, Curve, Figure, Frame, Mark
from playground.charts.head_lines import Lines
from playground.charts.names import token_names
from playground.charts.weights import SQUARE_ROOT, WeightScale

S = TypeVar("S")

AxisOptions: TypeAlias = Mapping[str, Any]


Mask: TypeAlias = NDArray[np.bool_]


def _nothing(*_: object) -> str:
    return ""


def _no_frames(_: object) -> Sequence[Frame]:
    return ()


def _grow_with_rows(n_rows: int) -> int:
    return int(np.clip(170 + 26 * n_rows, 280, 620))


@dataclass(frozen=True)
class Axis(Generic[S]):
    """What the cells along an axis stand for."""

    title: str
    names: Callable[[S], Sequence[str]] | None = None
    """Plain texts; else cells are numbered from `first`."""
    first: int = 0
    place: str = ""
    """What a click chooses: `layer`, `head`, `query`, `key`, or the page's own number by its key in the link."""
    numbers: Callable[[S], Sequence[int | None]] | None = None
    """Each cell's number of that place; else counted from 0."""
    of_tokens: bool = False
    """Runs of other tokens cannot be compared cell by cell."""
    options: AxisOptions = field(default_factory=dict)


def token_axis(tokens: Callable[[S], Sequence[str]], place: str = "query", title: str = "token") -> Axis[S]:
    """An axis with a cell a token."""
    return Axis(title, lambda subject: token_names(tokens(subject)), place=place, of_tokens=True)


@dataclass(frozen=True, kw_only=True)
class Chart(Generic[S]):
    """What every chart has. Captions are markdown."""

    key: str
    """Of its container; its table's ends in `_numbers`."""
    alt: str
    """Its name for those who cannot see it."""
    caption: str
    reading: Callable[[S], str] = _nothing
    """What these numbers say; also below the pinned chart."""
    table: Callable[[S], pd.DataFrame] | None = None
    """The numbers to read; a heatmap makes its own."""
    click: str = ""
    """What the frame marks and the arrow keys move; empty if nothing can be chosen."""
    needs_tokens: str = ""
    """What is not shown of a pinned run of other tokens, a plural."""
    height: int | None = None
    """Pixels."""
    beside_key: str = ""
    """Key prefix of the charts beside it; else its own key."""
    saved_as: str = ""
    """Name of saved files; else the key."""
    compares: bool = True
    """Whether a pinned subject's numbers belong beside it."""
    is_tabulated: bool = True
    table_title: str = "The numbers"
    on_row: Callable[[Any], Mapping[str, Any]] | None = None
    """What a click on a row of its table chooses, by the row's label."""
    chosen: Mapping[str, int] = field(default_factory=dict)
    """The page's own places where the frame stands."""
    grows: bool = False
    """Whether it still gets longer: a live page draws it without Plotly."""


@dataclass(frozen=True, kw_only=True)
class Heatmap(Chart[S]):
    """Numbers (R, C) as colours; with a pinned subject, also its heatmap and the difference."""

    values: Callable[[S], Array]
    rows: Axis[S]
    columns: Axis[S]
    bar: str
    """Title of the colour bar; empty for none."""
    hover: str
    """`%{x}` is the column, `%{y}` the row."""
    more: str
    """What a larger number means: `a longer vector`."""
    number: str = ".4g"
    colours: Callable[[Sequence[Array]], Colours] = from_zero
    """From the numbers of all subjects."""
    magnitude: float | None = None
    """Of the numbers that these come from, if larger; below its rounding they are 0."""
    change_colours: Callable[[Sequence[Array]], Colours] = around_zero
    change: Callable[[S, S], str] = _nothing
    """What the difference's caption adds."""
    nearest: Callable[[S], str] = _nothing
    """What the pinned caption says if the shown place is missing."""
    gap: int = 0
    """Pixels between cells."""
    frames: Callable[[S], Sequence[Frame]] = _no_frames
    """Framed cells besides the chosen one."""
    shown: Callable[[S], Mask] | None = None
    """Coloured cells (R, C); others are grey."""
    height_of: Callable[[int], int] = _grow_with_rows
    """Pixels for so many rows."""
    written: str = ""
    """Format of numbers written in cells; empty for none."""
    flat_bar: bool = False
    """The bar above the cells, or below those between tokens."""
    least_cell: int = 0
    """Least width of a cell in pixels: a phone scrolls a wider map."""
    in_one_row: bool = False
    """Whether the pinned one stands in the same row if there is no difference."""
    opens: str = ""
    """Key of what shows a cell; a press scrolls there."""
    clicks_beside: bool = False
    """Whether the charts beside it can be clicked too."""


@dataclass(frozen=True, kw_only=True)
class Curves(Chart[S]):
    """Curves over one axis; a pinned subject's are dotted."""

    curves: Callable[[S], Sequence[Curve]]
    x: Axis[S]
    y: Sequence[Callable[[Sequence[Array]], AxisOptions]]
    """The vertical axis of each panel from the top, for its numbers."""
    shares: Sequence[float] = (1.0,)
    """Of the height, by panel."""
    order: Callable[[str], Any] | None = None
    """Sort key of the horizontal axis' names, if two subjects differ."""
    marks: Sequence[Mark] = ()


@dataclass(frozen=True, kw_only=True)
class Bars(Chart[S]):
    """Bars, one a label and series; a pinned subject's are paler, beside its own.

    Stacked, it has a row below; upright and stacked, rings.
    """

    bars: Callable[[S], Mapping[str, Mapping[str, float]]]
    """Numbers by label, by series; plain texts."""
    labels: Axis[S]
    value: AxisOptions
    colours: Mapping[str, str]
    """By series."""
    number: str = ".4g"
    unit: str = ""
    horizontal: bool = True
    stacked: bool = False
    """Whether a label's series make up one bar."""
    notes: Callable[[S, S | None], Mapping[str, str]] | None = None
    """The line below each label of a row."""
    order: Callable[[str], Any] | None = None
    """Sort key of stacked labels."""
    grey: Callable[[S], Sequence[bool]] | None = None
    """By label: nothing can be there."""


@dataclass(frozen=True, kw_only=True)
class Vectors(Chart[S]):
    """Vectors of any lengths, their first numbers in cells; pinned ones and differences stand beside them."""

    rows: Callable[[S], Mapping[str, Array]]
    """By name."""
    numbers: str = "number in the vector"


@dataclass(frozen=True, kw_only=True)
class Picture(Chart[S]):
    """A figure of its own kind, such as dots; a pinned subject's stands beside it."""

    figure: Callable[[S], Figure]


@dataclass(frozen=True, kw_only=True)
class HeadGrid(Chart[S]):
    """Every head's weights as a thumbnail, rows being layers."""

    thumbnails: Callable[[S], Array]
    """(L, H, rows, columns), made by `shrink`."""
    weights: Callable[[S], Array]
    """(L, H, Tq, Tk), to be saved."""
    queries: Callable[[S], Sequence[str]]
    keys: Callable[[S], Sequence[str]]
    scale: WeightScale = SQUARE_ROOT
    places: tuple[str, str] = ("layer", "head")
    opens: str = ""
    compares: bool = False


@dataclass(frozen=True, kw_only=True)
class HeadLines(Chart[S]):
    """A head's weights as lines between two columns of tokens."""

    lines: Callable[[S], Lines]
    weights: Callable[[S], pd.DataFrame]
    """To be saved."""
    nearest: Callable[[S], str] = _nothing


@dataclass(frozen=True, kw_only=True)
class LabelledBars(Chart[S]):
    """Horizontal bars with texts, drawn without Plotly on a live page."""

    bars: Callable[[S], LabelledRows]
    compares: bool = False


@dataclass(frozen=True)
class CellRanges:
    """What the rows and columns of a clickable picture stand for."""

    rows: tuple[str, Mapping[int, int]] | None
    """The place, and the axis' cell → its number; None if cells are as high as the picture."""
    columns: tuple[str, Mapping[int, int]] | None
    is_mosaic: bool = False
    """Whether cells are equal shares of the picture."""
    opens: str = ""


@dataclass(frozen=True, kw_only=True)
class Table(Generic[S]):
    """A table on the page; a pinned subject adds its numbers and the differences as columns."""

    key: str
    frame: Callable[[S], pd.DataFrame]
    formats: Mapping[str, str] = field(default_factory=dict)
    """By column: a printf format, or `localized`."""
    shows_index: bool = True
    compares: bool = True
    fills: Mapping[str, float] = field(default_factory=dict)
    """By column drawn as bars: the full number."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """Pixels by column."""
    row_height: int | None = None
    """Pixels of rows with wrapped texts."""
    most_rows: int | None = None
    """Rows seen at once."""
    missing: str | None = None
    is_folded: bool = False
    """In an expander with this `title`."""
    title: str = "The numbers"
    is_markdown: bool = False
    on_row: Callable[[Any], Mapping[str, Any]] | None = None
    """What a click on a row chooses, by its label."""


@dataclass(frozen=True)
class Paragraph:
    """Words in markdown."""

    text: str
    kind: Literal["text", "caption", "info", "error", "header", "answer"] = "text"
    """`answer` stands right below the title."""
    icon: str = ""


@dataclass(frozen=True)
class Formula:
    """LaTeX."""

    latex: str


@dataclass(frozen=True)
class Code:
    """A text to copy."""

    text: str
    wraps: bool = False
    """Whether long lines wrap and all lines show."""


@dataclass(frozen=True)
class Metric:
    """One number in large letters."""

    label: str
    value: str
    change: str = ""
    help: str = ""


@dataclass(frozen=True)
class Metrics:
    """A few numbers in large letters."""

    metrics: tuple[Metric, ...]


@dataclass(frozen=True)
class Control:
    """Where a page has the widget of a parameter."""

    key: str
    label: str
    help: str = ""
    high: int | None = None
    """The largest number."""


@dataclass(frozen=True)
class Menu:
    """A list that opens, of a parameter's values by what they are called."""

    key: str
    """Of the parameter, whose widget's ends in `_menu`."""
    label: str
    names: Mapping[Any, str]
    help: str = ""
    takes_text: bool = False
    """Whether other values can be typed."""


@dataclass(frozen=True)
class Button:
    """A press chooses other values; only a live page has it."""

    key: str
    label: str
    chooses: Mapping[str, Any]
    """By the parameters' keys in the link."""
    help: str = ""
    icon: str = ""
    is_disabled: bool = False
    opens: str = ""
    """The page, by its path, that a press opens; empty for the present one."""


@dataclass(frozen=True)
class Columns:
    """Items side by side."""

    columns: tuple[tuple["Item", ...], ...]
    shares: tuple[int, ...] = ()
    """Of the width."""
    gap: Literal["small", "medium"] = "medium"


@dataclass(frozen=True)
class Group:
    """Items in a container of this key, which links scroll to."""

    key: str
    items: tuple["Item", ...]
    is_row: bool = False
    is_card: bool = False
    """With a line around them."""
    gap: Literal["xsmall", "small"] | None = None
    is_proof: bool = False
    """Whether they stand with the answer above the focus line."""


@dataclass(frozen=True)
class Panel:
    """Items behind a heading."""

    key: str
    """Of the parameter in the link; may be empty."""
    title: str
    items: tuple["Item", ...]
    icon: str = ""


@dataclass(frozen=True)
class Later:
    """Items that a live page draws last, in their place."""

    items: tuple["Item", ...]


@dataclass(frozen=True)
class Widget:
    """What only a live page has, by name."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    caption: str = ""


Item: TypeAlias = (
    Chart[Any]
    | Table[Any]
    | Paragraph
    | Formula
    | Code
    | Metrics
    | Control
    | Menu
    | Button
    | Columns
    | Group
    | Panel
    | Later
    | Widget
)

Options: TypeAlias = Mapping[str, Any]
"""A page's own parameters, by their keys in the link."""


def fill_panel(
    options: Options,
    key: str,
    title: str,
    show: Callable[[], Iterable[Item]],
    icon: str = "",
    closed: tuple[Item, ...] = (),
) -> Panel:
    """A panel that makes its items if it is open; else it has those of `closed`."""
    return Panel(key, title, tuple(show()) if options[key] else closed, icon)

"""What a view returns: charts, tables, paragraphs and controls, each a record.

A chart takes no two runs. It says which numbers of a subject (`S`, a run of the encoder on most pages) it shows, and
what they mean; `charts.draw` asks it for either subject. Legend: R rows, C columns of a heatmap.
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
"""Of an axis, by Plotly's names."""


Mask: TypeAlias = NDArray[np.bool_]


def _nothing(*_: object) -> str:
    return ""


def _no_frames(_: object) -> Sequence[Frame]:
    return ()


def _grow_with_rows(n_rows: int) -> int:
    return int(np.clip(170 + 26 * n_rows, 280, 620))


@dataclass(frozen=True)
class Axis(Generic[S]):
    """What the cells along an axis stand for: their names, and the place that a click on one chooses."""

    title: str
    names: Callable[[S], Sequence[str]] | None = None
    """Its cells' names, plain texts; without, they are numbered from `first`."""
    first: int = 0
    place: str = ""
    """What a click chooses and a frame marks: `layer`, `head`, `query` or `key`, or a whole number of the page's own by
    its key in the link; empty where a cell is no place."""
    numbers: Callable[[S], Sequence[int | None]] | None = None
    """Each cell's number of that place, None where it has none; without, cells count it from 0."""
    of_tokens: bool = False
    """Whether cells belong to tokens, so that runs of other tokens cannot be compared cell by cell."""
    options: AxisOptions = field(default_factory=dict)


def token_axis(tokens: Callable[[S], Sequence[str]], place: str = "query", title: str = "token") -> Axis[S]:
    """An axis with a cell a token, each with its position below the line."""
    return Axis(title, lambda subject: token_names(tokens(subject)), place=place, of_tokens=True)


@dataclass(frozen=True, kw_only=True)
class Chart(Generic[S]):
    """What every chart has. Captions are markdown."""

    key: str
    """Of its container, and of its table's with `_numbers` behind it."""
    alt: str
    """Its name for whoever cannot see it; what it shows is read off the numbers and added."""
    caption: str
    """How to read it."""
    reading: Callable[[S], str] = _nothing
    """What these numbers say, after a space; also of the pinned subject, below its own chart."""
    table: Callable[[S], pd.DataFrame] | None = None
    """The numbers to read and copy. A heatmap makes its own."""
    click: str = ""
    """What the frame marks and the arrow keys move, for whoever cannot see it; empty where nothing can be chosen."""
    needs_tokens: str = ""
    """What cannot be shown of a pinned run of other tokens, a plural such as `these lengths`."""
    height: int | None = None
    """Pixels; else as the numbers need."""
    beside_key: str = ""
    """What the keys of the charts beside it begin with, if not with its own."""
    saved_as: str = ""
    """Name of the saved files, without their ending; else the key."""
    compares: bool = True
    """Whether a pinned subject's numbers belong beside it."""
    is_tabulated: bool = True
    """Whether its numbers stand in a table below it, where it has any."""
    table_title: str = "The numbers"
    on_row: Callable[[Any], Mapping[str, Any]] | None = None
    """What a click on a row of its table chooses, by the row's label: values by place, or by parameter."""
    chosen: Mapping[str, int] = field(default_factory=dict)
    """The numbers of places that are the page's own, where the frame stands."""
    grows: bool = False
    """Whether its lines still get longer: a live page draws them without Plotly, which would blink at every update."""


@dataclass(frozen=True, kw_only=True)
class Heatmap(Chart[S]):
    """Numbers (R, C) as colours; beside a pinned subject, also its heatmap and the difference."""

    values: Callable[[S], Array]
    rows: Axis[S]
    columns: Axis[S]
    bar: str
    """What the colours stand for; where it is empty, no bar says so."""
    hover: str
    """What a cell says besides its number: `%{x}` is its column, `%{y}` its row."""
    more: str
    """What a larger number means: `a longer vector`."""
    number: str = ".4g"
    """A number's format."""
    colours: Callable[[Sequence[Array]], Colours] = from_zero
    """How numbers become colours, from those of all subjects that share them."""
    magnitude: float | None = None
    """Of the numbers that these were computed from, where those were larger; changes below its rounding are none."""
    change_colours: Callable[[Sequence[Array]], Colours] = around_zero
    """How the numbers of the difference become colours."""
    change: Callable[[S, S], str] = _nothing
    """What else the difference's caption says, of the present and the pinned subject, after a space."""
    nearest: Callable[[S], str] = _nothing
    """What the pinned chart's caption says where the pinned subject lacks the place that is shown, after a space."""
    gap: int = 0
    """Pixels between cells."""
    frames: Callable[[S], Sequence[Frame]] = _no_frames
    """Cells that a subject's heatmap has framed, besides the chosen one; a difference has those of the present."""
    shown: Callable[[S], Mask] | None = None
    """Cells (R, C) that have a colour; others are grey. Of a difference, those of either subject."""
    height_of: Callable[[int], int] = _grow_with_rows
    """Pixels for so many rows, where `height` says nothing."""
    written: str = ""
    """The format in which each cell's number is written in it; empty where none is."""
    flat_bar: bool = False
    """Whether the bar lies above the cells, or below those between tokens, which then have all the width."""
    least_cell: int = 0
    """Pixels that a cell is wide at least: a phone scrolls a wider map sideways in its own box; 0: as it comes."""
    in_one_row: bool = False
    """Whether the pinned subject's stands in a row with the present one where there is no difference to draw."""
    opens: str = ""
    """Key of the chart or group that shows what a cell stands for; a press brings it into the window."""
    clicks_beside: bool = False
    """Whether cells of the charts beside it can be chosen too, where both subjects have the same tokens."""


@dataclass(frozen=True, kw_only=True)
class Curves(Chart[S]):
    """Curves over one axis; a pinned subject's are dotted, on the same axes, in the same colours."""

    curves: Callable[[S], Sequence[Curve]]
    x: Axis[S]
    y: Sequence[Callable[[Sequence[Array]], AxisOptions]]
    """Of each panel, from the top: the vertical axis for the numbers that share it (`figure.length_axis`, …)."""
    shares: Sequence[float] = (1.0,)
    """Of the height, by panel."""
    order: Callable[[str], Any] | None = None
    """What the names on the horizontal axis sort by, where two subjects have other names; else they stand as given."""
    marks: Sequence[Mark] = ()


@dataclass(frozen=True, kw_only=True)
class Bars(Chart[S]):
    """Bars, one a label and series; a pinned subject's are paler, each beside its own.

    Stacked bars have a row a label, and the pinned subject's the row below it; upright ones have rings at those' ends.
    """

    bars: Callable[[S], Mapping[str, Mapping[str, float]]]
    """Numbers by label, by series; a series is one colour. Labels are plain texts."""
    labels: Axis[S]
    value: AxisOptions
    """The axis of the numbers."""
    colours: Mapping[str, str]
    """By series."""
    number: str = ".4g"
    unit: str = ""
    """Of a number, behind it where the pointer is."""
    horizontal: bool = True
    stacked: bool = False
    """Whether a label's series lie end to end, and so make up one bar."""
    notes: Callable[[S, S | None], Mapping[str, str]] | None = None
    """The line below each label of a row: of a subject, and of the pinned one that it is compared with."""
    order: Callable[[str], Any] | None = None
    """What the labels of stacked bars sort by; else they stand as given."""
    grey: Callable[[S], Sequence[bool]] | None = None
    """By label, whether its place is grey, as nothing can be there; beside a pinned subject, where that is so too."""


@dataclass(frozen=True, kw_only=True)
class Vectors(Chart[S]):
    """Vectors of any lengths below one another, their first numbers written into cells; all are in the table.

    A pinned subject's stand above the present ones of their names, differences of equally long ones below them.
    """

    rows: Callable[[S], Mapping[str, Array]]
    """By name, a plain text."""
    numbers: str = "number in the vector"
    """What a column is, of every row alike."""


@dataclass(frozen=True, kw_only=True)
class Picture(Chart[S]):
    """A figure of its own kind, such as a treemap; a pinned subject has one of its own beside it."""

    figure: Callable[[S], Figure]


@dataclass(frozen=True, kw_only=True)
class HeadGrid(Chart[S]):
    """Every head's weights as a thumbnail, rows being layers; saved with all its weights."""

    thumbnails: Callable[[S], Array]
    """(L, H, rows, columns), as `shrink` makes them of the weights."""
    weights: Callable[[S], Array]
    """(L, H, Tq, Tk), for what is saved."""
    queries: Callable[[S], Sequence[str]]
    keys: Callable[[S], Sequence[str]]
    scale: WeightScale = SQUARE_ROOT
    places: tuple[str, str] = ("layer", "head")
    """What a click chooses."""
    opens: str = ""
    """Key of the chart that shows the chosen head."""
    compares: bool = False


@dataclass(frozen=True, kw_only=True)
class HeadLines(Chart[S]):
    """A head's weights as lines between two columns of tokens; a pinned subject's beside them."""

    lines: Callable[[S], Lines]
    weights: Callable[[S], pd.DataFrame]
    """The weights between the tokens that are drawn, for what is saved."""
    nearest: Callable[[S], str] = _nothing
    """What the pinned drawing's caption says, after its name."""


@dataclass(frozen=True, kw_only=True)
class LabelledBars(Chart[S]):
    """Horizontal bars of the present subject, each with a text at its end, drawn without Plotly on a live page."""

    bars: Callable[[S], LabelledRows]
    compares: bool = False


@dataclass(frozen=True)
class CellRanges:
    """What the rows and columns of a picture stand for, where cells of it can be chosen."""

    rows: tuple[str, Mapping[int, int]] | None
    """The place, and what the vertical axis calls a cell → its number; None where a cell is as high as the picture."""
    columns: tuple[str, Mapping[int, int]] | None
    is_mosaic: bool = False
    """Whether cells are equal shares of the picture, counted from its top left corner."""
    opens: str = ""
    """Key of the chart that shows what a cell stands for; a press brings it into the window."""


@dataclass(frozen=True, kw_only=True)
class Table(Generic[S]):
    """A table that stands on the page; with a pinned subject, its numbers and the differences as further columns."""

    key: str
    frame: Callable[[S], pd.DataFrame]
    formats: Mapping[str, str] = field(default_factory=dict)
    """By column: a printf format, or `localized`."""
    shows_index: bool = True
    compares: bool = True
    """Whether a pinned subject's numbers belong beside it."""
    fills: Mapping[str, float] = field(default_factory=dict)
    """By column whose numbers are drawn as bars: the number that fills one."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """By column, pixels; else as they need, while there is room."""
    row_height: int | None = None
    """Pixels of a row whose texts wrap; else rows have one line."""
    most_rows: int | None = None
    """Rows of this height that are seen at once; others are scrolled to."""
    missing: str | None = None
    """What stands where there is no number; else the word None."""
    is_folded: bool = False
    """Whether it stands in an expander, under a heading of its own."""
    title: str = "The numbers"
    """The heading of that expander."""
    is_markdown: bool = False
    """Whether its cells and labels are markdown: to read, without a menu that copies them."""
    on_row: Callable[[Any], Mapping[str, Any]] | None = None
    """What a click on a row chooses, by the row's label: values by place, or by parameter."""


@dataclass(frozen=True)
class Paragraph:
    """Words in markdown."""

    text: str
    kind: Literal["text", "caption", "info", "error", "header", "answer"] = "text"
    """`answer`: what the page's title asks, answered in one sentence, which stands right below the title."""
    icon: str = ""
    """Of an `info`, by Streamlit's name such as `:material/help:`."""


@dataclass(frozen=True)
class Formula:
    """LaTeX."""

    latex: str


@dataclass(frozen=True)
class Code:
    """A text to copy as it is, in letters of equal width; a page shows some lines of it at once."""

    text: str
    wraps: bool = False
    """Whether a line that is too long goes on in the next, and all lines are shown."""


@dataclass(frozen=True)
class Metric:
    """One number in large letters."""

    label: str
    value: str
    change: str = ""
    """Of a pinned subject's number, in words."""
    help: str = ""


@dataclass(frozen=True)
class Metrics:
    """A few numbers in large letters, side by side."""

    metrics: tuple[Metric, ...]


@dataclass(frozen=True)
class Control:
    """Where a page has the widget of one of its parameters; a view is given the value with its options."""

    key: str
    """Of the parameter in the link."""
    label: str
    help: str = ""
    high: int | None = None
    """The largest number that the present subject has."""


@dataclass(frozen=True)
class Columns:
    """Items side by side; below one another where there is no room."""

    columns: tuple[tuple["Item", ...], ...]
    shares: tuple[int, ...] = ()
    """Of the width, by column; else all have the same."""
    gap: Literal["small", "medium"] = "medium"


@dataclass(frozen=True)
class Group:
    """Items that belong together, in a container of this key: what a link to a part of a page scrolls to."""

    key: str
    """May be empty."""
    items: tuple["Item", ...]
    is_row: bool = False
    """Whether they stand in a row, as far as there is room."""
    is_card: bool = False
    """Whether a line is drawn around them."""
    gap: Literal["xsmall", "small"] | None = None
    """Between them; without, it is narrow in a card alone."""
    is_proof: bool = False
    """Whether they prove the answer that they follow, and stand with it above the focus line, as a chart does."""


@dataclass(frozen=True)
class Panel:
    """Items behind a heading, to be opened; a view makes them where the panel's parameter says that it is open."""

    key: str
    """Of the parameter in the link; empty where no link remembers whether it is open."""
    title: str
    items: tuple["Item", ...]
    icon: str = ""
    """Of Streamlit's, such as `:material/table:`."""


@dataclass(frozen=True)
class Later:
    """Items that a live page draws after all others, in their place: what a click changes is seen first."""

    items: tuple["Item", ...]


@dataclass(frozen=True)
class Widget:
    """What only a live page has, such as buttons: the renderer knows it by name; others leave it out."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    caption: str = ""
    """How to read or use it, in markdown."""


Item: TypeAlias = (
    Chart[Any] | Table[Any] | Paragraph | Formula | Code | Metrics | Control | Columns | Group | Panel | Later | Widget
)
"""What a view yields, in the order of the page."""

Options: TypeAlias = Mapping[str, Any]
"""Values of a page's own parameters, by their keys in the link."""


def fill_panel(
    options: Options,
    key: str,
    title: str,
    show: Callable[[], Iterable[Item]],
    icon: str = "",
    closed: tuple[Item, ...] = (),
) -> Panel:
    """A panel whose items are made by `show` where it is open; else it has those of `closed`, such as a control."""
    return Panel(key, title, tuple(show()) if options[key] else closed, icon)

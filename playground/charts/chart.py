"""What a view returns, each a record. A chart says which numbers of a subject `S` it shows, such as a run.

Legend: R rows, C columns of a heatmap.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.charts.colour_scales import Colours, from_zero
from playground.charts.figure import Array, Curve, Figure, Frame
from playground.charts.names import token_names

S = TypeVar("S")

AxisOptions: TypeAlias = Mapping[str, Any]
Mask: TypeAlias = NDArray[np.bool_]


def _nothing(*_: object) -> str:
    return ""


@dataclass(frozen=True)
class Axis(Generic[S]):
    """What the cells along an axis stand for."""

    title: str
    names: Callable[[S], Sequence[str]] | None = None
    """Plain texts; by default numbers from `first`."""
    first: int = 0
    place: str = ""
    """What a click chooses, by its key in the link."""
    numbers: Callable[[S], Sequence[int | None]] | None = None
    """Of that place, for each cell; by default from 0."""
    of_tokens: bool = False
    options: AxisOptions = field(default_factory=dict)


def token_axis(tokens: Callable[[S], Sequence[str]], place: str = "query", title: str = "token") -> Axis[S]:
    """An axis with a cell a token."""
    return Axis(title, lambda subject: token_names(tokens(subject)), place=place, of_tokens=True)


@dataclass(frozen=True, kw_only=True)
class Chart(Generic[S]):
    """What every chart has; captions are markdown, `controls` stand in its menu."""

    key: str
    alt: str
    caption: str
    reading: Callable[[S], str] = _nothing
    table: Callable[[S], pd.DataFrame] | None = None
    """Its numbers; some kinds make their own."""
    click: str = ""
    """What the frame marks; empty if nothing can be clicked."""
    needs_tokens: str = ""
    """A plural, not shown of a pinned run of other tokens."""
    height: int | None = None
    beside_key: str = ""
    """Key prefix of the pinned charts."""
    saved_as: str = ""
    compares: bool = True
    is_tabulated: bool = True
    on_row: Callable[[Any], Mapping[str, Any]] | None = None
    """What a click on a table's row chooses."""
    chosen: Mapping[str, int] = field(default_factory=dict)
    """The page's own places of the frame."""
    controls: tuple["Control | Menu", ...] = ()


@dataclass(frozen=True, kw_only=True)
class Heatmap(Chart[S]):
    """Numbers (R, C) as colours; for two subjects, also the pinned ones and the difference."""

    values: Callable[[S], Array]
    rows: Axis[S]
    columns: Axis[S]
    bar: str
    hover: str
    """`%{x}` is the column, `%{y}` the row."""
    more: str
    """What a larger number means: `a longer vector`."""
    number: str = ".4g"
    colours: Callable[[Sequence[Array]], Colours] = from_zero
    magnitude: float | None = None
    """Below its rounding, numbers are 0."""
    nearest: Callable[[S], str] = _nothing
    gap: int = 0
    frames: Callable[[S], Sequence[Frame]] = lambda _: ()
    shown: Callable[[S], Mask] | None = None
    """Coloured cells (R, C); others are grey."""
    height_of: Callable[[int], int] = lambda n_rows: int(np.clip(170 + 26 * n_rows, 280, 620))
    written: str = ""
    """Format of numbers in cells; empty for none."""
    flat_bar: bool = False
    least_cell: int = 0
    """Pixels; a phone scrolls a wider map."""
    in_one_row: bool = False
    opens: str = ""
    """Key of the container that a press scrolls to."""


@dataclass(frozen=True, kw_only=True)
class Curves(Chart[S]):
    """Curves over one axis; pinned ones are dotted."""

    curves: Callable[[S], Sequence[Curve]]
    x: Axis[S]
    y: Callable[[Sequence[Array]], AxisOptions]
    marks: Mapping[str, float] = field(default_factory=dict)
    """Vertical lines on a logarithmic axis, by their names."""


@dataclass(frozen=True, kw_only=True)
class Bars(Chart[S]):
    """Bars, one a label and series; pinned ones are paler, or beside."""

    bars: Callable[[S], Mapping[str, Mapping[str, float]]]
    """Numbers by label by series; plain texts."""
    labels: Axis[S]
    value: AxisOptions
    colours: Mapping[str, str]
    number: str = ".4g"
    unit: str = ""
    horizontal: bool = True
    stacked: bool = False
    whole: float = 0
    """What shares of stacked rows are of; 0: of all bars."""
    notes: Callable[[S, S | None], Mapping[str, str]] | None = None


@dataclass(frozen=True, kw_only=True)
class Vectors(Chart[S]):
    """The first numbers of vectors in cells, with pinned ones and differences."""

    rows: Callable[[S], Mapping[str, Array]]
    numbers: str = "number in the vector"


@dataclass(frozen=True, kw_only=True)
class Picture(Chart[S]):
    """A figure of its own kind."""

    figure: Callable[[S], Figure]


@dataclass(frozen=True, kw_only=True)
class HeadGrid(Chart[S]):
    """Every head's weights as a thumbnail, rows being layers."""

    thumbnails: Callable[[S], Array]
    """(L, H, rows, columns), from `shrink`."""
    weights: Callable[[S], Array]
    """(L, H, Tq, Tk), to be saved."""
    queries: Callable[[S], Sequence[str]]
    keys: Callable[[S], Sequence[str]]
    square_root: bool = True
    """Of weights, so that faint ones show."""
    places: tuple[str, str] = ("layer", "head")
    opens: str = ""
    compares: bool = False


@dataclass(frozen=True)
class Lines:
    """Two columns of tokens and the strokes between them."""

    names: list[str]
    positions: list[int]
    strokes: list[dict[str, Any]]
    """Lines that look alike: `colour`, `width`, and `edges` (query's row, key's row)."""
    row_height: int


@dataclass(frozen=True, kw_only=True)
class HeadLines(Chart[S]):
    """A head's weights as lines between two columns of tokens."""

    lines: Callable[[S], Lines]
    weights: Callable[[S], pd.DataFrame]
    nearest: Callable[[S], str] = _nothing


@dataclass(frozen=True, kw_only=True)
class LabelledBars(Chart[S]):
    """Bars from the top, each with a text at its end, drawn without Plotly on a live page."""

    labels: Sequence[str]
    values: Sequence[float]
    colours: Sequence[str]
    texts: Sequence[str]
    title: str
    compares: bool = False


@dataclass(frozen=True)
class CellRanges:
    """What a clickable picture's rows and columns stand for."""

    rows: tuple[str, Mapping[int, int]] | None
    """The place, and cell → number; None for a single row."""
    columns: tuple[str, Mapping[int, int]] | None
    is_mosaic: bool = False
    opens: str = ""


@dataclass(frozen=True, kw_only=True)
class Table(Generic[S]):
    """A table on the page, with columns of pinned numbers and differences."""

    key: str
    frame: Callable[[S], pd.DataFrame]
    formats: Mapping[str, str] = field(default_factory=dict)
    """By column: printf, or `localized`."""
    shows_index: bool = True
    compares: bool = True
    fills: Mapping[str, float] = field(default_factory=dict)
    """By column drawn as bars."""
    widths: Mapping[str, int] = field(default_factory=dict)
    row_height: int | None = None
    most_rows: int | None = None
    missing: str | None = None
    is_markdown: bool = False
    on_row: Callable[[Any], Mapping[str, Any]] | None = None


@dataclass(frozen=True)
class Paragraph:
    """Markdown; a `formula` is LaTeX."""

    text: str
    kind: Literal["text", "caption", "info", "error", "header", "answer", "code", "formula"] = "text"
    icon: str = ""


@dataclass(frozen=True)
class Control:
    """A parameter's widget."""

    key: str
    label: str
    help: str = ""
    high: int | None = None


@dataclass(frozen=True)
class Menu:
    """A menu of a parameter's values, by what they are called."""

    key: str
    label: str
    names: Mapping[Any, str]
    help: str = ""


@dataclass(frozen=True)
class Button:
    """A press chooses other values, on a live page."""

    key: str
    label: str
    chooses: Mapping[str, Any]
    help: str = ""
    icon: str = ""
    is_disabled: bool = False
    is_wide: bool = False
    opens: str = ""
    scrolls: str = ""
    """Key of the container that a press scrolls to."""


@dataclass(frozen=True)
class Columns:
    """Items side by side."""

    columns: tuple[tuple["Item", ...], ...]
    shares: tuple[int, ...] = ()
    gap: Literal["small", "medium"] = "medium"


@dataclass(frozen=True)
class Group:
    """Items in a container of this key."""

    key: str
    items: tuple["Item", ...]
    is_row: bool = False
    is_card: bool = False
    gap: Literal["xsmall", "small"] | None = None
    is_proof: bool = False
    """Whether they are above the focus line, with the answer."""
    is_late: bool = False
    """Whether a live page draws them last, in their place."""


@dataclass(frozen=True)
class Panel:
    """Items behind a heading."""

    key: str
    title: str
    items: tuple["Item", ...]
    icon: str = ""


@dataclass(frozen=True)
class Widget:
    """What only a live page draws, by name."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    caption: str = ""


Item: TypeAlias = Chart[Any] | Table[Any] | Paragraph | Control | Menu | Button | Columns | Group | Panel | Widget

Options: TypeAlias = Mapping[str, Any]
"""A page's own parameters, by their keys in the link."""


def fill_panel(options: Options, key: str, title: str, show: Callable[[], Iterable[Item]], icon: str = "") -> Panel:
    """Return a panel whose items are made if it is open."""
    return Panel(key, title, tuple(show()) if options[key] else (), icon)

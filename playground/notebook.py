"""In a notebook: what a link shows, and the attention of any model."""

import base64
import html
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from playground.charts import palette
from playground.charts.names import token_names
from playground.errors import InputError
from playground.link import LinkedView, open_link
from playground.text.wording import count_heads, count_noun, quote_text

if TYPE_CHECKING:
    from playground.charts.chart import Item
    from playground.charts.draw import Drawn
    from playground.charts.figure import Array
    from playground.charts.scene import Scene

MOST_TOKENS, MOST_WEIGHTS = 512, 20_000_000
"""Of a text, and of all heads, that are drawn."""

MOST_BYTES, FULL_SIZE = 1_000_000, 2_400_000
"""Bytes of a drawing of this many weights, such as 12 × 12 heads of 128 tokens; more weights may take more."""

LEVELS = (65_535, 255, 191, 127, 95, 63, 47, 39, 31, 23, 15)
"""Steps of a drawn weight's square root, the finest first."""


def show(link: "str | LinkedView") -> None:
    """Display what the page of a link shows, in a notebook; InputError if it is no link, or its page is no view."""
    from playground.views.all_views import VIEWS  # it needs Plotly and pandas, which the package itself does not

    opened = link if isinstance(link, LinkedView) else open_link(link)
    view = VIEWS.get(opened.page)
    if view is None:
        raise InputError(f"The page {opened.page} can't be shown in a notebook: those that can are {', '.join(VIEWS)}.")
    for notice in opened.notices:
        _display_text(notice)
    scene = view.scene(opened)
    for item in view.show(scene, {**opened.values, "overview_shapes": True}):
        _display(item, scene)


def check_answer(exercise: str, answer: Any, variant: int = 0) -> str:
    """Say whether an answer to an exercise is right, or what to think about next; InputError if it is none.

    An answer is a number, words, a place, or settings: a link or a mapping.
    """
    from playground.learn.exercise import Variant, shipped_exercises
    from playground.words import say

    if exercise not in shipped_exercises():
        raise InputError(f"There is no exercise {quote_text(exercise)}.")
    asked = Variant(shipped_exercises()[exercise], variant)
    is_link = isinstance(answer, str) and asked.exercise.answer.kind == "settings"
    return asked.check(asked.read(open_link(answer) if is_link else answer)) or say("exercises", "right")


def _display(item: "Item", scene: "Scene[Any]") -> None:
    from playground.charts import chart as charts
    from playground.charts.draw import draw_chart, draw_table

    match item:
        case charts.Chart():
            drawing = draw_chart(item, scene)
            for drawn in (drawing.now, *drawing.beside):
                _display_chart(drawn)
            if drawing.note:
                _display_text(drawing.note)
        case charts.Table():
            _put(draw_table(item, scene))
        case charts.Paragraph(text, "code"):
            _display_text(f"```text\n{text}\n```")
        case charts.Paragraph(text, "formula"):
            _display_text(f"$$\n{text}\n$$")
        case charts.Paragraph(text, kind):
            _display_text(f"### {text}" if kind == "header" else text)
        case charts.Columns(columns=columns):
            for each in (each for column in columns for each in column):
                _display(each, scene)
        case charts.Panel(key, title, ()):
            _display_text(f"*{title}*: add `{key}=true` to the link.")
        case charts.Group(items=items) | charts.Panel(items=items):
            for each in items:
                _display(each, scene)


def _display_chart(drawn: "Drawn") -> None:
    import plotly.graph_objects as go

    _put(go.Figure(drawn.figure))
    _display_text(drawn.caption)
    if drawn.table is not None:
        _put(drawn.table())


def _display_text(text: str) -> None:
    from IPython.display import Markdown

    _put(Markdown(text))  # type: ignore[no-untyped-call]


def _put(shown: object) -> None:
    from IPython.display import display

    display(shown)  # type: ignore[no-untyped-call]


# --- the attention of any model


@dataclass(frozen=True, repr=False)
class HeadMaps:
    """Drawn heads; a notebook shows them."""

    html: str
    """A whole page, with its script, that reads nothing else."""
    precision: float
    """How far a drawn weight near 1 is from the given one, at most; a smaller weight w: √w times as far."""
    shape: tuple[int, ...]
    """(L, H, Tq, Tk)"""

    def __repr__(self) -> str:
        (n_layers, n_heads, n_tokens, _), kilobytes = self.shape, len(self.html) // 1000 + 1
        return f"{count_heads(n_layers, n_heads)}, {count_noun(n_tokens, 'token')}, {kilobytes:,} kB"

    def _repr_html_(self) -> str:
        options = 'title="Attention heads" sandbox="allow-scripts" style="width: 100%; height: 780px; border: 0"'
        return f'<iframe {options} srcdoc="{html.escape(self.html)}"></iframe>'

    def save(self, path: str | Path) -> None:
        """Write the page to a file, for any browser."""
        Path(path).write_text(self.html, encoding="utf-8")


def heads(patterns: Any, tokens: Iterable[str], *, other: Any = None, keys: Iterable[str] | None = None) -> HeadMaps:
    """Draw every head of any model, and one of them large: its map, its lines, its difference to another.

    Up to 12 × 12 heads of 128 tokens take 1 MB at most, twice that with `other`: square roots of weights are rounded
    to 1/65,535 if there are few, to 1/15 at the coarsest. The page shows beside each weight how exact it is.

    Args:
        patterns: weights after the softmax, of torch or NumPy: (H, Tq, Tk), (L, H, Tq, Tk), or a list of layers, each
            (1, H, Tq, Tk), as `outputs.attentions` of transformers.
        tokens: the queries, Tq names.
        other: patterns of the same shape; the page then shows either, and their difference.
        keys: Tk names, if the keys are not the queries.

    Raises:
        InputError: shapes, names or weights that cannot be drawn.
    """
    given = [_read_patterns(each) for each in ([patterns] if other is None else [patterns, other])]
    if given[-1].shape != given[0].shape:
        shapes = " and ".join(str(each.shape) for each in given)
        raise InputError(f"`patterns` and `other` need one shape: these have {shapes}.")
    sets = np.stack(given).swapaxes(-1, -2)  # (1 or 2, L, H, Tk, Tq): columns, which are often alike, compress better
    for listed in (tokens, tokens if keys is None else keys):
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise InputError("Tokens and keys are lists of names, such as text.split().")
    queries = list(tokens)
    names = {"keys": queries if keys is None else list(keys), "queries": queries}
    for (axis, listed), n in zip(names.items(), sets.shape[-2:], strict=True):
        if len(listed) != n:
            raise InputError(f"The patterns have {n} {axis}: give a list of {n} tokens, not of {len(listed)}.")
    if max(sets.shape[-2:]) > MOST_TOKENS or sets.size > MOST_WEIGHTS:
        raise InputError(
            f"At most {MOST_TOKENS} tokens and {MOST_WEIGHTS:,} weights can be drawn, these are "
            f"{max(sets.shape[-2:])} and {sets.size:,}: shorten the text, or draw fewer layers."
        )
    if not (sets.min() >= 0 and sets.max() <= 1.001):  # half precision rounds upwards; NaN is neither
        raise InputError("Weights lie between 0 and 1: give the patterns after the softmax, without dropout or NaN.")
    colours = {"focus": palette.FOCUS, "attention": palette.ATTENTION, "less": palette.FEED_FORWARD}
    data = {axis: token_names(list(map(str, listed))) for axis, listed in names.items()}
    return _fill_page({**data, "colours": {**colours, "muted": palette.MUTED}}, sets)


def _read_patterns(patterns: Any) -> "Array":
    """Return patterns (L, H, Tq, Tk)."""

    def read(values: Any) -> "Array":
        return np.asarray(values.detach().cpu().float() if isinstance(values, torch.Tensor) else values, np.float32)

    try:
        array = np.stack(list(map(read, patterns))) if isinstance(patterns, (list, tuple)) else read(patterns)
    except (TypeError, ValueError):
        raise InputError("The patterns are no arrays of numbers, or their layers differ in shape.") from None
    if array.ndim == 5 and array.shape[1] == 1:  # layers of one sentence each
        array = array[:, 0]
    array = array[None] if array.ndim == 3 else array
    if array.ndim != 4 or not array.size:
        raise InputError(
            f"Patterns of the shape {array.shape} can't be drawn: give those of one sentence, (heads, queries, keys), "
            "(layers, heads, queries, keys) or a list of layers. transformers returns them with "
            "attn_implementation='eager' and output_attentions=True."
        )
    return array


def _fill_page(data: dict[str, Any], sets: "Array") -> HeadMaps:
    """Write weights as finely as there is room for."""
    page = (Path(__file__).parent / "heads.html").read_text(encoding="utf-8")
    most_bytes = MOST_BYTES * max(1.0, sets.size / FULL_SIZE)
    for levels in LEVELS:
        numbers = np.rint(np.sqrt(np.minimum(sets, 1)) * levels).astype("<u2" if levels > 255 else np.uint8)
        weights = base64.b64encode(zlib.compress(numbers.tobytes())).decode()
        text = json.dumps({**data, "shape": sets.shape, "levels": levels, "weights": weights})
        filled = page.replace("{}", text.replace("<", "\\u003c"), 1)  # a token's `</script>` ends no script
        if len(html.escape(filled).encode()) <= most_bytes:
            break
    return HeadMaps(filled, 1 / levels, sets[0].swapaxes(-1, -2).shape)

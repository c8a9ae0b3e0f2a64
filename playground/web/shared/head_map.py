"""One head's attention as a large map, with the focus framed in it."""

import numpy as np
from numpy.typing import NDArray

from playground.figures import attention as figures
from playground.figures.theme import token_table
from playground.link.places import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.saving.save_menu import Saved

Mask = NDArray[np.bool_]


def draw_head_map(
    key: str, run: Run, pattern: Array, visible: Mask, focus: Focus | None, scale: figures.WeightScale | None, *,
    caption: str, alt: str, file: str = "",
) -> None:  # fmt: skip
    """Show weights (T, T) between visible tokens (T,), queries in rows; a click on a cell moves the focus there.

    Without a scale, the numbers are differences of weights. Without a focus, no cell is framed and no click counts.
    `file` is how saved files are called, without their ending; else as the key.
    """
    shown = np.flatnonzero(visible).tolist()
    overlay = None
    if focus is not None:
        overlay = frame_cell(
            key,
            focus,
            rows=Cells.of("query", shown),
            columns=Cells.of("key", shown),
            label="The chosen query, in its row, and key, in its column. Arrow keys move them.",
        )
    panels.chart(
        key,
        figures.head_heatmap(
            pattern,
            run.tokens,
            _drawn_cells(run),
            shown=visible,
            scale=scale,
            signed=scale is None,
            magnitude=1.0 if scale is None else None,
            bar="weight" if scale else "difference",
        ),
        caption=caption,
        alt=alt,
        overlay=overlay,
        table=lambda: token_table(pattern, run.tokens).loc[visible, visible],
        saved=Saved(file),
    )


def has_grey_cells(run: Run, visible: Mask) -> bool:
    """Whether the map leaves out cells between visible tokens, as they are masked or their query is padding."""
    return not _drawn_cells(run)[np.ix_(visible, visible)].all()


def _drawn_cells(run: Run) -> Mask:
    """Cells (T, T) that have a colour."""
    return run.allowed & ~run.padding[:, None]

"""The way of the data as a row of boxes: each with its shape, its parameters and its share of the work."""

from collections.abc import Callable, Sequence
from itertools import groupby

from playground.accounting.stages import Stage
from playground.figures import palette
from playground.web.components.load_component import load_component

PAGES = {"embeddings": "parameters", "attention": "attention", "feed_forward": "parameters", "norms": "norms"}
"""The page that explains each component of the model."""

_flow = load_component("data_flow", draws=True)


def draw_data_flow(
    stages: Sequence[Stage], n_layers: int, on_open: Callable[[], None] | None = None, *, key: str = "data_flow"
) -> None:
    """Draw the boxes, and the residual connections as lines past those that they lead around.

    `on_open` runs when a box is pressed, with its page in the session state as `<key>.open`; without it, boxes are no
    buttons.
    """
    inside = [i for i, stage in enumerate(stages) if stage.in_block]
    first, last = inside[0], inside[-1]
    block = groupby(stages[first : last + 1], key=lambda stage: stage.residual)
    _flow(
        key=key,
        data={
            "before": [_box(stage) for stage in stages[:first]],
            "block": [{"residual": number > 0, "boxes": [_box(stage) for stage in run]} for number, run in block],
            "after": [_box(stage) for stage in stages[last + 1 :]],
            "times": f"{n_layers} blocks, one after the other" if n_layers > 1 else "1 block",
            "line": palette.RESIDUAL,
            "opens": on_open is not None,
        },
        on_open_change=on_open or (lambda: None),
    )


def _box(stage: Stage) -> dict[str, object]:
    is_sum = stage.in_block and stage.component is None
    page = "norms" if is_sum else "attention" if stage.component is None else PAGES[stage.component]
    lines = [] if is_sum else [stage.shape]
    if stage.parameters:
        lines.append(f"{stage.parameters:,} params")
    if stage.share:
        lines.append(f"{stage.share:.0%} of the work")
    colour = palette.COMPONENTS[stage.component] if stage.component else palette.RESIDUAL
    return {"title": stage.title, "lines": lines, "colour": colour, "page": page, "sum": is_sum}

"""The way of the data as a row of boxes: each with its shape, its parameters and its share of the work."""

from collections.abc import Callable, Sequence

from playground.accounting.stages import Stage
from playground.figures import palette
from playground.web.components.load_component import load_component

PAGES = {"embeddings": "parameters", "attention": "attention", "feed_forward": "parameters", "norms": "norms"}
"""The page that explains each component of the model."""

_flow = load_component("data_flow", draws=True)


def draw_data_flow(stages: Sequence[Stage], n_layers: int, on_open: Callable[[], None]) -> None:
    """Draw the boxes; `on_open` runs when one is pressed, with its page in the session state as `data_flow.open`."""
    inside = [i for i, stage in enumerate(stages) if stage.in_block]
    boxes = [_box(stage) for stage in stages]
    _flow(
        key="data_flow",
        data={
            "before": boxes[: inside[0]],
            "block": boxes[inside[0] : inside[-1] + 1],
            "after": boxes[inside[-1] + 1 :],
            "times": f"{n_layers} blocks, one after the other" if n_layers > 1 else "1 block",
        },
        on_open_change=on_open,
    )


def _box(stage: Stage) -> dict[str, object]:
    page = "attention" if stage.component is None else PAGES[stage.component]
    lines = [stage.shape]
    if stage.parameters:
        lines.append(f"{stage.parameters:,} params")
    if stage.share:
        lines.append(f"{stage.share:.0%} of the work")
    colour = palette.COMPONENTS[stage.component] if stage.component else palette.RESIDUAL
    return {"title": stage.title, "lines": lines, "colour": colour, "page": page, "hint": f"Open the {page} page"}

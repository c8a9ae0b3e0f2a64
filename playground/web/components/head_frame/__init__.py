"""A frame over one thumbnail of a grid of heads, which neither draws nor sends the thumbnails again.

It also says which thumbnail was clicked. Plotly's own selection takes the point that the pointer hovered over last: a
finger hovers over none, so that a tap opened the head of the tap before.
"""

from collections.abc import Callable

from playground.figures import palette
from playground.web.components.load_component import load_component

_frame = load_component("head_frame")


def draw_head_frame(
    container: str, selected: tuple[int, int], n_layers: int, n_heads: int, on_click: Callable[[], None]
) -> None:
    """Frame the selected layer and head in a grid of equally large thumbnails; called inside the grid's container.

    `on_click` runs when a thumbnail is clicked, with its [layer, head] in the session state as
    `<container>_frame.clicked`.
    """
    place = {"layer": selected[0], "head": selected[1], "layers": n_layers, "heads": n_heads}
    data = {**place, "container": container, "colour": palette.FEED_FORWARD}
    _frame(key=f"{container}_frame", data=data, on_clicked_change=on_click)

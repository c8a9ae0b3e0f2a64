"""A frame over one thumbnail of a grid of heads, which neither draws nor sends the thumbnails again."""

from playground.figures import palette
from playground.web.components.load_component import load_component

_frame = load_component("head_frame")


def draw_head_frame(container: str, selected: tuple[int, int], n_layers: int, n_heads: int) -> None:
    """Frame one thumbnail.

    Args:
        container: the key of the grid's container, inside which this is called.
        selected: the layer and head to frame.
        n_layers: the grid's rows.
        n_heads: its columns; all of its thumbnails are equally large.
    """
    place = {"layer": selected[0], "head": selected[1], "layers": n_layers, "heads": n_heads}
    _frame(key=f"{container}_frame", data={**place, "container": container, "colour": palette.FEED_FORWARD})

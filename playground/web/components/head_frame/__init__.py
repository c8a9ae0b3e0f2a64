"""A frame over one thumbnail of a grid of heads, which neither draws nor sends the thumbnails again."""

from playground.figures import palette
from playground.web.components.load_component import load_component

_frame = load_component("head_frame")


def draw_head_frame(container: str, selected: tuple[int, int], n_layers: int, n_heads: int) -> None:
    """Frame the selected layer and head in a grid of equally large thumbnails; called inside the grid's container."""
    place = {"layer": selected[0], "head": selected[1], "layers": n_layers, "heads": n_heads}
    _frame(key=f"{container}_frame", data={**place, "container": container, "colour": palette.FEED_FORWARD})

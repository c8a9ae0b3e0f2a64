"""The points of the forward pass in words."""

from playground.words import say


def name_point(name: str) -> str:
    """Return what a point of the trace is called; one that only training has keeps its name."""
    _, layer, point = name.split(".", maxsplit=2) if name.startswith("layers.") else ("", "", name)
    try:
        words = say("points", f"point-{point.replace('.', '-')}")
    except KeyError:
        words = f"`{point}`"
    return f"layer {layer}, {words}" if layer else words

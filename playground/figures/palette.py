"""The colours that mean something: one each for a part of the model, the same on every page, light and dark."""

Q = "#3b82c4"
K = "#c4861a"
V = "#2f9e6e"
ATTENTION = "#7c5cc4"
FEED_FORWARD = "#d0661f"
NORMS = "#5b8a8a"
EMBEDDINGS = "#b1497f"
RESIDUAL = "#8a8794"
MUTED = "rgba(138, 135, 148, 0.45)"
"""Padding, masked cells and grid lines."""

COMPONENTS = {
    "embeddings": EMBEDDINGS,
    "attention": ATTENTION,
    "feed_forward": FEED_FORWARD,
    "norms": NORMS,
}
"""By the component names of `accounting`."""

"""The colours that mean something, the same on every page, light and dark."""

Q = "#3b82c4"
K = "#c4861a"
V = "#2f9e6e"
ATTENTION = "#7c5cc4"
FEED_FORWARD = "#d0661f"
NORMS = "#5b8a8a"
EMBEDDINGS = "#b1497f"
RESIDUAL = "#8a8794"
POST_NORM = "#c2405a"
PRE_NORM = "#1b8fa8"
NO_NORM = "#b8802a"
POST_NORM_ALONE = "#6d7dce"
PRE_NORM_ALONE = "#9f9255"
NO_NORM_ALONE = "#8c36e2"
"""The same without residual connections."""
TRAINING = "#7d8aa5"
VALIDATION = "#8a9a1b"
BATCHES = "#b06a9a"
NO_REGULARISER = RESIDUAL
REGULARISERS = dict(
    enumerate(
        ("#4a7bd0", "#d4622a", "#b8860b", NORMS, "#3a9d5d", "#a63d8f", "#8660c9", "#1597a5", "#7f9425", "#4a7bd0"), 1
    )
)
"""By their number among the ten; both kinds of dropout have one colour."""
CURVES = ("#4a7bd0", "#3fa65c", "#b8860b", "#c93756")
"""Of lines told apart by a number."""
FOCUS = "#e5174b"
"""What the visitor looks at."""
CHANGE = "#0f8f88"
"""What the visitor has changed."""
MUTED = "rgba(138, 135, 148, 0.45)"
"""Padding, masked cells, grid lines."""

COMPONENTS = {"embeddings": EMBEDDINGS, "attention": ATTENTION, "feed_forward": FEED_FORWARD, "norms": NORMS}

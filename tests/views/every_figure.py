"""Every figure of every page that is a view, drawn of a small link beside pinned settings."""

from functools import cache
from unittest.mock import patch

import plotly.graph_objects as go

from playground import notebook, show
from playground.charts.draw import Drawn
from playground.link import params
from playground.views.all_views import VIEWS

LINK = "weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&text=<b>one</b>+<i>+three+two%0Afive"
PANELS = {
    *params.FOLDS.values(), "overview_shapes", "parameters_formulas", "whatif_chosen", "whatif_tokens",
    "similarity_ranking", "compare_head",
    "tutorials_mistakes", "tutorials_five",
    "encdec_show_training", "encdec_show_masks",
}  # fmt: skip
FOLDS = "&".join(f"{panel}=true" for panel in sorted(PANELS))
"""What opens every panel."""


@cache
def every_figure() -> dict[str, go.Figure]:
    """By the page's path and the chart's key; Plotly has validated them."""
    figures: dict[str, go.Figure] = {}
    for page in VIEWS:

        def keep(drawn: Drawn, page: str = page) -> None:
            figures[f"{page} {drawn.key}"] = go.Figure(drawn.figure)

        with patch.object(notebook, "_display_chart", keep), patch.object(notebook, "_put"):
            show(f"http://host/{page}?{LINK}&{FOLDS}&b_n_layers=3&do=0.1:zero")
    return figures

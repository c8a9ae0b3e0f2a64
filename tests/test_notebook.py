"""What `show` displays of each page, without a notebook around it: the page's charts, of the link's own numbers."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import notebook, open_link, show
from playground.charts.draw import Drawn
from playground.views.all_views import VIEWS
from tests.views.every_figure import FOLDS

SMALL = "weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&text=one+two+three+two%0Afive"
CHARTS = {
    "overview": set(),
    "attention": {"attention_pattern", "head_pinned", "attention_grid", "attention_lines", "attention_lines_pinned"},
    "norms": {"norms_by_layer", "norm_numbers_1", "norm_numbers_2", "norms_by_token", "norms_by_token_pinned"},
    "parameters": {"parameter_breakdown", "flops_breakdown", "flops_by_length", "capability_by_parameters"},
    "what-if": {"whatif_heads", "whatif_most", "whatif_vectors", "whatif_difference", "whatif_before", "whatif_after"},
    "similarity": {"similarity_matrix", "similarity_tokens", "similarity_tokens_first", "similarity_tokens_second"},
    "compare": {"compare_points"},  # both heads are equal
    "step-by-step": {"step_embedding", "step_pinned"},
    "positions": {"position_table", "swap_differences"},
    "encoder-decoder": {"encdec_grid", "encdec_pattern", "encdec_mask_combined", "encdec_mask_no_peek",
                        "encdec_mask_source_padding", "encdec_mask_target_padding"},
    "gradient-flow": {"gradient_by_layer"},
    "parts": {"capability_table"},
    "bug-lab": {"lab_pattern_0"},
    "tutorials": {"tutorials_effects"},
}  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("page", VIEWS)
def test_every_view_is_shown_with_its_charts_beside_pinned_settings(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Drawn] = []
    displayed: list[Any] = []
    monkeypatch.setattr(notebook, "_display_chart", shown.append)
    monkeypatch.setattr(notebook, "_put", displayed.append)
    show(f"http://host/{page}?{SMALL}&b_n_layers=3&do=0.1:zero&lab_tests=pattern&{FOLDS}")
    assert {each.key for each in shown} == CHARTS[page]
    assert all(go.Figure(each.figure).data for each in shown), "Plotly takes what was drawn"


def test_positions_are_those_of_the_model_without_changes() -> None:
    placed = VIEWS["positions"].scene(open_link(f"http://host/positions?{SMALL}&do=0.1:zero")).now
    np.testing.assert_array_equal(placed.run.arrays["final"], open_link(f"?{SMALL}").run.arrays["final"])

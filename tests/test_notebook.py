"""What `show` displays of each page, without a notebook around it: the page's charts, of the link's own numbers."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import notebook, open_link, show
from playground.charts.draw import Drawn
from playground.views.all_views import VIEWS
from playground.views.positions import table_rows
from playground.views.similarity import leave_words_out
from tests.views.every_figure import FOLDS

SMALL = "weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&text=one+two+three+two%0Afive"
CHARTS = {
    "overview": set(),
    "attention": {"attention_pattern", "head_pinned", "head_difference", "attention_grid", "attention_lines",
                  "attention_lines_pinned", "why_parts", "why_key_sources"},
    "norms": {"norms_by_layer", "norm_numbers_1", "norm_numbers_2", "norms_by_token",
              "norms_by_token_pinned", "norms_by_token_difference"},
    "parameters": {"parameter_breakdown", "flops_breakdown", "flops_by_length",
                   "capability_by_parameters"},
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


def subject(page: str, link: str = "do=0.1:zero") -> tuple[Any, Any]:
    """What a page's view is given of a link, and what the link shows."""
    opened = open_link(f"http://host/{page}?{SMALL}&{link}")
    return VIEWS[page].scene(opened).now, opened


def test_what_followed_is_the_difference_to_the_run_without_the_links_changes() -> None:
    followed, opened = subject("what-if")
    plain = open_link(f"http://host/?{SMALL}").run
    np.testing.assert_array_equal(followed.run.arrays["final"], opened.run.arrays["final"])
    np.testing.assert_array_equal(followed.untouched.arrays["final"], plain.arrays["final"])


def test_positions_are_those_of_the_model_without_changes() -> None:
    placed, opened = subject("positions")
    np.testing.assert_array_equal(placed.run.arrays["final"], open_link(f"?{SMALL}").run.arrays["final"])
    table = opened.encoder.embed.position_table().numpy()
    np.testing.assert_array_equal(table_rows(placed), table[: len(table_rows(placed))])


def test_sentences_are_the_texts_and_the_lists_with_the_changes_that_each_can_have() -> None:
    listed, opened = subject("similarity", "do=0.1:zero&similarity_list=three+two")
    assert listed.texts == ("one two three two", "five", "three two")
    np.testing.assert_allclose(listed.depths.final[0], opened.run.arrays["final"], atol=1e-6)
    assert all(listed.changes)
    without = leave_words_out(listed.lab, listed.changes, 0, 2, "mean")
    assert [word for word, *_ in without] == ["one", "two", "three", "two"]
    alone = VIEWS["similarity"].scene(open_link("?weights=random&tokenizer=word&n_layers=1&text=Snow+fell."))
    assert len(alone.now.texts) == 10, "one sentence stands beside the example"

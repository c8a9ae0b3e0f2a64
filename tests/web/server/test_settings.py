"""The default settings go together."""

from playground.runs.budget import MAX_KEPT
from playground.web.server.settings import Settings


def test_the_results_of_two_settings_fit_at_their_largest() -> None:
    """Else a page that compares them computes each anew, again and again."""
    assert Settings().max_cached_results > 2 * 4 * MAX_KEPT

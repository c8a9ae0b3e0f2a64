"""Whose cache a result belongs to."""

import pytest

from playground.web.session.weights_cache import TRANSLATOR, least_shared


@pytest.mark.parametrize(
    ("weights", "found"),
    [
        (("random", "minilm"), "random"),
        (("random", "0f3a"), "0f3a"),
        (("0f3a", "minilm"), "0f3a"),
        ((TRANSLATOR, "initial-7"), "initial-7"),
    ],
)
def test_what_depends_on_one_sessions_weights_is_that_sessions(weights: tuple[str, ...], found: str) -> None:
    assert least_shared(*weights) == found

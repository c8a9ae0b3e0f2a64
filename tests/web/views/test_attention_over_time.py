"""What the caption of a training run's attention says of the largest weight."""

import numpy as np

from playground.web.views.training.attention_over_time import describe_largest


def test_a_row_that_can_only_see_itself_is_not_the_largest_weight() -> None:
    pattern = np.array([[1, 0, 0], [0.4, 0.6, 0], [0.3, 0.3, 0.4]], np.float32)
    reading = describe_largest(pattern, np.tri(3, dtype=bool))
    assert "largest weight is 0.60" in reading
    assert "over 3 tokens, each would get 0.33" in reading
    assert "1.00" in reading, "what the first row gives, and why, is said"


def test_where_all_rows_can_choose_the_largest_is_that_of_all() -> None:
    reading = describe_largest(np.eye(2, dtype=np.float32), np.ones((2, 2), bool))
    assert "largest weight is 1.00" in reading
    assert "alone" not in reading


def test_a_single_token_has_nothing_to_choose() -> None:
    assert "largest" not in describe_largest(np.ones((1, 1), np.float32), np.ones((1, 1), bool))

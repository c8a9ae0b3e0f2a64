"""What the caption of a training run's attention says of the largest weight."""

import numpy as np
import pytest

from playground.training.evaluation import Snapshot
from playground.web.views.training.attention_over_time import describe_largest, most_changed_head
from tests.web.app_test import choose, working
from tests.web.experiment_pages import measured, training_page


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


def test_the_head_that_learnt_most_is_the_one_whose_rows_have_moved_most() -> None:
    before = np.full((2, 3, 4, 4), 0.25, np.float32)
    middle, after = before.copy(), before.copy()
    middle[0, 0] = np.eye(4)
    after[1, 2] = np.eye(4)
    after[0, 1, 0] = [1, 0, 0, 0]
    snapshots = [Snapshot(step, {"self": pattern}) for step, pattern in enumerate((before, middle, after))]
    assert most_changed_head(snapshots, "self") == (1, 2)
    assert most_changed_head(snapshots[:1], "self") is None


@pytest.mark.usefixtures("one_experiment_at_a_time")
def test_a_head_that_a_link_or_a_hand_has_chosen_stays() -> None:
    shape = {"training_n_layers": 2}
    app = measured(training_page(**shape))
    opened = app.session_state["training_layer"], app.session_state["training_head"]
    linked = measured(training_page(**shape, training_layer=1 - opened[0], training_head=1))
    assert (linked.session_state["training_layer"], linked.session_state["training_head"]) == (1 - opened[0], 1)
    choose(app, training_layer=0, training_head=0)
    working(app.run())
    assert (app.session_state["training_layer"], app.session_state["training_head"]) == (0, 0)

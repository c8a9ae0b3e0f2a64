"""Under changes, Steps and the reasons of the page Attention say what the model computed and what was set instead."""

import re

import numpy as np
import pytest

from tests.web.app_test import SMALL, array, captions, charts, formulas, open_page, prose, without_error
from tests.written_numbers import read_number

TWO = {**SMALL, "text": "abcdefgh\nhgfedcba", "layer": "1", "head": "2", "query": "5", "key": "3"}

ACTING = {
    "embedding": "positions:shuffle_1",
    "projections": "1.2.k:patch_3_2",
    "mask": "1.2:cut_5_3",
    "softmax": "1.2:uniform_5",
    "weighted sum": "1.2:zero",
    "output projection": "1.attn:off",
    "first residual": "1.mid:patch_5_2",
    "feed-forward": "1.ffn:off~0.5",
    "second norm": "1.out:patch_5_2",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("stage", ACTING)
def test_a_stage_adds_up_and_shows_what_was_set_after_it(stage: str) -> None:
    app = without_error(open_page("step_by_step", **TWO, do=ACTING[stage], step_stage=stage))
    found = re.search(r"from the model is (\S+(?:\s×\s10\S+)?)\.", captions(app))
    assert found
    assert read_number(found[1]) < 1e-5
    assert "your changes act" in prose(app)
    assert any(r"\leftarrow" in formula for formula in formulas(app))
    drawn = charts(app)["step_changed"]
    if stage in ("mask", "softmax"):
        assert not np.array_equal(array(drawn, 0, "y"), array(drawn, 1, "y"), equal_nan=True)
    else:
        before, after, change = array(drawn)[:3]
        np.testing.assert_allclose(after - before, change, atol=1e-6)
        assert np.abs(change).max() > 0

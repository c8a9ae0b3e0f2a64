"""The pages Steps and Positions beside the pinned settings: both sides' numbers against ones made here."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.analysis.walkthrough import STAGES
from playground.model.encoder import sinusoids
from playground.web.choices.shortcuts import preset_values
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    open_page,
    open_panels,
    small_trace,
    table,
    without_error,
)  # fmt: skip
from tests.web.pinned_pages import OTHER_TOKENS, TEXT, colour_ends, page

# --- steps


RESULTS = {
    "embedding": "embed.out", "output projection": "attn.out", "first residual": "resid_mid",
    "first norm": "norm1.out", "feed-forward": "ffn.out", "second residual": "resid_post", "second norm": "norm2.out",
    "softmax": "attn.pattern", "mask": "attn.scores", "weighted sum": "attn.z",
}  # fmt: skip


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_has_its_result_in_both(stage: str) -> None:
    app = page("step_by_step", step_stage=stage, b_seed=5)
    drawn = charts(app)["step_pinned"]
    if stage not in RESULTS:
        return
    name = RESULTS[stage] if stage == "embedding" else f"layers.1.{RESULTS[stage]}"
    now, before = (small_trace(TEXT, seed)[name][0].numpy() for seed in (0, 5))
    now, before = (numbers[2, 3] if numbers.ndim == 3 else numbers[3] for numbers in (now, before))
    if stage in ("softmax", "mask"):
        np.testing.assert_allclose(array(drawn, 0, "y"), now, atol=1e-5)
        np.testing.assert_allclose(array(drawn, 1, "y"), before, atol=1e-5)
    else:
        expected = np.stack([before, now, now - before])[:, :8]
        np.testing.assert_allclose(array(drawn), expected, atol=1e-5)
    open_panels(app, "step_pinned_open")
    np.testing.assert_allclose(table(app, next(c for c in table_columns(app) if c.endswith("now − pinned")))
                               .filter(like="now − pinned").iloc[:, 0], now - before, atol=1e-5)  # fmt: skip


def table_columns(app: AppTest) -> list[str]:
    return [str(column) for frame in app.dataframe for column in frame.value]


def test_a_stage_says_where_the_two_cannot_be_subtracted() -> None:
    told = captions(page("step_by_step", step_stage="weighted sum", b_n_heads=2))
    assert "cannot be subtracted" in told
    assert "as it has no head 2" not in captions(page("step_by_step", step_stage="softmax", b_n_heads=4, b_seed=5))
    assert "as it has no head 2" in captions(page("step_by_step", step_stage="softmax", b_n_heads=2))
    app = page("step_by_step", b_text="x")
    assert OTHER_TOKENS in captions(app)
    assert "step_pinned" not in charts(app)


def test_the_tutorials_own_input_is_shown_for_the_present_settings_alone() -> None:
    tutorial = {"weights": "random", **preset_values("tutorial-b"), "step_path": "as tutorial B"}
    app = without_error(open_page("step_by_step", **tutorial, step_stage="softmax", b_seed=5))
    assert "The tutorial's own input" in captions(app)
    assert "step_pinned" not in charts(app)
    assert "step_pinned" in charts(choose(app, step_input="my text"))


# --- positions


def test_positions_of_both_are_shown() -> None:
    app = page("positions", positions_view="curves", b_positions="sinusoidal-doubled", positions_curve_1=4)
    rows = sinusoids(128, 16, doubled=True).numpy()
    np.testing.assert_array_equal(array(charts(app)["position_table_pinned"]), rows)
    ghost = next(each for each in charts(app)["position_curves"] if each["line"].get("dash") == "dot")
    np.testing.assert_array_equal(array([ghost], name="y"), rows[:, 4])
    drawn = charts(choose(app, positions_view="similarity"))
    assert colour_ends(drawn["between_positions"]) == colour_ends(drawn["between_positions_pinned"])
    assert len(charts(choose(app, positions_view="swap two words"))["swap_differences"]) == 4
    other = page("positions", b_text="xyz", positions="learned", b_seed=5)
    assert OTHER_TOKENS in captions(other)
    assert len(charts(other)["swap_differences"]) == 2
    tables = [Encoder(ModelConfig(**SMALL_CONFIG | {"positions": "learned"}), seed=seed).embed.position_vectors(128)
              for seed in (0, 5)]  # fmt: skip
    change = (tables[0] - tables[1]).detach().numpy()
    np.testing.assert_array_equal(array(charts(other)["position_table_difference"]), change)

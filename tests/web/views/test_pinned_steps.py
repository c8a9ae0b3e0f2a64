"""The pages Steps and Positions beside the pinned settings: both sides' numbers against ones made here."""

import numpy as np

from playground import Encoder, ModelConfig
from playground.model.encoder import sinusoids
from playground.web.choices.shortcuts import preset_values
from tests.web.app_test import (
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    open_page,
    small_trace,
    without_error,
)  # fmt: skip
from tests.web.pinned_pages import OTHER_TOKENS, TEXT, colour_ends, page

# --- steps


def test_a_stage_has_its_result_in_both_where_they_read_the_same_tokens() -> None:
    drawn = charts(page("step_by_step", step_stage="softmax", b_seed=5, b_n_heads=2))["step_pinned"]
    before = small_trace(TEXT, 5, n_heads=2)["layers.1.attn.pattern"][0, 1, 3].numpy()
    np.testing.assert_allclose(array(drawn, 1, "y"), before, atol=1e-5)
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

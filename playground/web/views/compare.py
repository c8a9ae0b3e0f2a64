"""The live parts of the page Compare: what two runs have in common from the caches, and a button that pins."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from playground.analysis import comparison
from playground.analysis.comparison import PointDifference, describe_shared
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.views import compare as view
from playground.web.choices import setup, shortcuts
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.session.caches import TwoRuns
from playground.web.session.weights_cache import cache_by_weights
from playground.web.shared import panels
from playground.web.shared.model_costs import model_costs, pinned_costs
from playground.web.shared.page_end import fragment
from playground.web.shared.pinning import pinned_side, run_pinned, shared_weights
from playground.web.shared.renderer import render, run_scene


@fragment
def compare_runs() -> None:
    """The head at the focus, the norms, and where the two runs part."""
    side = pinned_side()
    if side is None or run_pinned(side) is None:
        return
    st.header("One head, in both")
    scene = run_scene()
    if scene.pinned is None:
        return
    keys = TwoRuns(side.setup.run_key, current_setup().run_key)
    with panels.explain_errors():
        moved = _measure_moved_weight(keys) if scene.same_tokens else None
        differences = _find_differences(keys)
    render(view.compare_heads(scene, scene.pinned, moved), scene)
    render(view.compare_points(scene, scene.pinned, differences), scene)
    render(view.compare_lengths(scene, scene.pinned), scene)


@cache_by_weights
def _measure_moved_weight(keys: TwoRuns) -> Array:
    """`comparison.moved_weight` of two runs; raises as `caches.run_sentence`."""
    return comparison.moved_weight(*map(caches.run_sentence, keys))


@cache_by_weights
def _find_differences(keys: TwoRuns) -> list[PointDifference]:
    """`comparison.compare_points` of two runs; raises as `caches.run_sentence`."""
    return comparison.compare_points(*map(caches.run_sentence, keys))


def compare_costs() -> None:
    """Parameters and the work for the sentence, and the initial weights that both share."""
    side = pinned_side()
    before = pinned_costs(side)
    if side is None or before is None:
        return
    now = model_costs(current_setup())
    scene = Scene(now, Focus(0, 0, 0, 0), before, side.name, side.now)
    render(view.compare_costs(scene, before), scene)
    shared = shared_weights(side)
    if shared:
        st.header("Which initial weights do they share?")
        st.markdown(
            "\n".join(f"- {sentence}" for sentence in describe_shared(shared, ("the pinned model", "this one")))
        )


def offer_pin() -> None:
    """How to pin, in two sentences, and a button that does it with one telling change."""
    st.markdown(
        "Pin the settings of the sidebar with the button above, then change any of them: this page and its neighbours "
        "show both, before and after. Or begin with a pair that differs in one choice:"
    )
    before, after = instructive_pair(current_setup().values)
    (key,) = (key for key in after if before[key] != after[key])
    name = key.replace("_", " ")
    weights = "" if current_setup().weights == "random" else ", with random weights"
    st.button(
        f"Compare {name} {before[key]} with {after[key]}{weights}",
        key="compare_start",
        icon=":material/compare_arrows:",
        on_click=_pin_pair,
        help="Both with random weights of the present shape, drawn from the same seed: trained weights fit one "
        "architecture alone.",
    )


def instructive_pair(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two sets of values that differ in one choice: to pin, and to set now.

    Both have the present shape and random weights. They differ in the place of the norms, or where there are no norms,
    in having them.
    """
    now = {**values, "weights": "random"}
    if values["norm"] == "none":
        return now, {**now, "norm": "layer"}
    return {**now, "norm_placement": "post"}, {**now, "norm_placement": "pre"}


def _pin_pair() -> None:
    before, after = instructive_pair(current_setup().values)
    shortcuts.discard_unlocked()
    setup.pin(before)
    st.session_state.update(after)

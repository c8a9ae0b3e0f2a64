"""The live parts of the page Compare: what two runs have in common from the caches, and a button that pins."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from playground.analysis import comparison
from playground.analysis.comparison import PointDifference
from playground.charts.chart import Group, Item, Panel, fill_panel
from playground.charts.scene import Scene
from playground.link.changes import Changes, MadeChange
from playground.link.state import is_random
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.views import compare as view
from playground.views.parameters import model_costs
from playground.web.choices.setup import Setup, current_setup, current_value
from playground.web.session import caches
from playground.web.session.caches import TwoRuns
from playground.web.session.weights_cache import cache_by_weights
from playground.web.shared import panels
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.shared.pinning import pinned_side, run_pinned, start_comparison
from playground.web.shared.renderer import draw_focus_and_scene, read_options, render


@fragment
def compare_runs() -> None:
    """Where the two runs part; in panels the head at the focus, and the lengths."""
    side = pinned_side()
    if side is None or run_pinned(side) is None:
        return
    scene, options = draw_focus_and_scene(), read_options("compare")
    if scene.pinned is None:
        return
    now = current_setup()
    keys = TwoRuns(side.setup.run_key, now.run_key)
    with panels.explain_errors():
        moved = _measure_moved_weight(keys) if scene.same_tokens and options["compare_head"] else None
        differences = _find_differences(keys)
    random = is_random(side.setup.weights), is_random(now.weights)
    points = tuple(view.compare_points(scene, differences))
    answer = view.answer_parting(*scene.both, differences, random)
    render([answer, Group("", points, is_proof=True)], scene)
    heads = partial(view.compare_heads, scene, moved)
    lengths = partial(view.compare_lengths, scene)
    render(
        [
            fill_panel(options, "compare_head", "One head, in both", heads, ":material/compare:"),
            fill_panel(options, "compare_lengths", "How long are the vectors?", lengths, ":material/show_chart:"),
        ],
        scene,
    )


@cache_by_weights
def _measure_moved_weight(keys: TwoRuns) -> Array:
    """`comparison.moved_weight` of two runs; raises as `caches.run_sentence`."""
    return comparison.moved_weight(*map(caches.run_sentence, keys))


@cache_by_weights
def _find_differences(keys: TwoRuns) -> list[PointDifference]:
    """`comparison.compare_points` of two runs; raises as `caches.run_sentence`."""
    return comparison.compare_points(*map(caches.run_sentence, keys))


def compare_costs() -> None:
    """A panel of parameters and the work for the sentence."""
    side = pinned_side()
    if side is None:
        return
    before, now = model_costs(side.setup), model_costs(current_setup())
    if before is None or now is None:
        return
    scene = Scene(now, pinned=before, pinned_name=side.name, now_name=side.now)
    items: list[Item] = []
    if current_value("compare_costs"):
        items += view.compare_costs(scene)
    render([Panel("compare_costs", "What do they cost?", tuple(items), icon=":material/payments:")], scene)


@dataclass(frozen=True)
class ReadyPair:
    """Two sets of the sidebar's values that are worth comparing."""

    name: str
    """Of its button, and not on the page."""
    title: str
    question: str
    before: Mapping[str, Any]
    """To pin."""
    after: Mapping[str, Any]
    """To set now."""


@as_one_element
def offer_pin() -> None:
    """What to do while nothing is pinned: pairs that are ready to compare, or the visitor's own settings."""
    with st.container(key="answer"):
        st.markdown(
            "Press a button, and read here in which layer two settings part and how far apart they end. One stays as "
            "it is: it is *pinned*. The other is *now*, what the sidebar says (on a phone, » opens it)."
        )
    pairs = _list_pairs()
    for column, pair in zip(st.columns(3, gap="small"), pairs, strict=False):
        with column, st.container(key=f"compare_pair_{pair.name}", border=True, gap="small", height="stretch"):
            st.markdown(f"**{pair.title}**")
            st.markdown(pair.question)
            st.button(
                "Compare the two",
                key="compare_start" if pair is pairs[0] else f"compare_start_{pair.name}",
                icon=":material/compare_arrows:",
                type="primary",
                on_click=start_comparison,
                args=(pair.before, pair.after),
            )


def _list_pairs() -> list[ReadyPair]:
    """The pairs that go with the present settings."""
    present = current_setup()
    values = present.values
    before, after = instructive_pair(values)
    differ = (
        "One has norms, which bring all vectors to about one length; the other has none."
        if values["norm"] == "none"
        else "A norm brings all vectors to about one length: in one it stands after each part of a layer, in the other "
        "before it."
    )
    pairs = [
        ReadyPair(
            "norms",
            "Norms or none?" if values["norm"] == "none" else "Norms after or before?",
            f"Two encoders as large as yours, with the same random weights. {differ} In which layer do they part?",
            before,
            after,
        )
    ]
    if values["weights"] == "minilm":
        pairs.append(
            ReadyPair(
                "weights",
                "Random or trained?",
                "The same architecture, with random weights and with trained ones. How alike is what they make of your "
                "sentence?",
                {**values, "weights": "random"},
                values,
            )
        )
    pairs.append(_pair_of_changes(present))
    return pairs


def _pair_of_changes(present: Setup) -> ReadyPair:
    """The model without the visitor's changes, and with them; where nothing is changed, without the chosen head."""
    before = {**present.values, "do": Changes()}
    if present.switched_on:
        title, after = "Your changes or none?", dict(present.values)
        told = "The model without your changes, and with them."
    else:
        config = present.config
        layer, head = min(current_value("layer"), config.n_layers - 1), min(current_value("head"), config.n_heads - 1)
        title, after = "One head off?", {**before, "do": Changes((MadeChange(Change("zero", layer, head)),))}
        told = f"The present model, and the same without layer {layer}, head {head}."
    question = f"{told} Does the difference grow from layer to layer, or is it mended?"
    return ReadyPair("head", title, question, before, after)


def instructive_pair(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two sets of values that differ in one choice: to pin, and to set now.

    Both have the present shape and random weights. They differ in the place of the norms, or where there are no norms,
    in having them.
    """
    now = {**values, "weights": "random"}
    if values["norm"] == "none":
        return now, {**now, "norm": "layer"}
    return {**now, "norm_placement": "post"}, {**now, "norm_placement": "pre"}

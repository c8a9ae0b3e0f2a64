"""What the page Parameters has beside its view: the model that is chosen, and what it is checked against."""

import streamlit as st

from playground.accounting.readable import ModelCosts
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.presets import PRESETS
from playground.training.network import count_head
from playground.views import parameters as view
from playground.web.choices.focus import current_layer
from playground.web.choices.setup import current_setup, current_value
from playground.web.shared import panels
from playground.web.shared.model_costs import count_built_parameters, model_costs, pinned_costs
from playground.web.shared.page_end import fragment
from playground.web.shared.pinning import pinned_side_without_changes
from playground.web.shared.renderer import WIDGETS, read_options, render


def counted_scene() -> Scene[ModelCosts]:
    """The model that the page counts; beside the sidebar's, the pinned one."""
    setup, name, side = current_setup(), current_value("parameters_model"), pinned_side_without_changes()
    is_sidebars = name == "sidebar"
    with panels.explain_errors():
        now = model_costs(setup) if is_sidebars else model_costs(setup, PRESETS[name].config, name)
    focus = Focus(current_layer(now.config.n_layers), head=0, query=0, key=0)
    before = pinned_costs(side) if is_sidebars else None
    return Scene(now, focus, before, side.name if side else "", side.now if side else "")


@fragment
def explore_parameters() -> None:
    """The choice of the model to count, and what the page shows of it."""
    scene, setup, options = counted_scene(), current_setup(), read_options("parameters")
    config, n_built, head = scene.now.config, None, None
    if options["parameters_formulas"]:
        n_built = count_built_parameters(config)
        if (trained := setup.trained_network) is not None and config == setup.config:
            part = "a decoder" if trained.task.has_decoder else "an output head"
            head = (part, count_head(config, trained.task, len(trained.labels)))
    render(view.show_parameters(scene, options, n_built, head), scene)


def choose_model() -> None:
    """The choice of the model to count, and where a named one is from."""
    st.session_state["parameters_model"] = current_value("parameters_model")
    chosen = st.selectbox(  # not bound to the link, which would have the words of an option instead of its name
        "Model to count",
        ("sidebar", *PRESETS),
        key="parameters_model",
        format_func=lambda name: "your settings (sidebar)" if name == "sidebar" else name,
        width=280,
        help="Your settings are the model that you set in the sidebar. The others are models of the tutorials and of "
        "papers.",
    )
    if chosen != "sidebar":
        st.caption(f"**{PRESETS[chosen].title}**: {PRESETS[chosen].source}.")


WIDGETS["model_to_count"] = choose_model

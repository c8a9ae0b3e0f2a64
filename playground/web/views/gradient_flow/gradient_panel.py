"""The page's introduction, its sliders, and what they redraw."""

import streamlit as st

from playground.accounting import count_parameters
from playground.accounting.readable import in_millions
from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import Comparison
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.views.gradient_flow import gradient_cache, gradient_results

SCALE_HELP = "Multiplies the random weights of every linear map (Glorot & Bengio's); tables and norms stay as they are."


def show_introduction() -> None:
    """What happens to a gradient on its way, and what is compared here."""
    st.markdown(
        "A *gradient* says how the loss, the model's error, changes with each weight. It starts at the loss and comes "
        "back block by block. Each block multiplies it. Factors a little below 1 make it *vanish*; factors a little "
        "above 1 make it *explode*. Residual connections add an identity to each factor (He et al. 2015). Norms "
        "rescale what passes, and where they stand matters (Xiong et al. 2020). Here are all six combinations, with "
        "**the same random weights** and one backward pass each: tutorial D's exercise 3."
    )


@as_one_element
def check_text() -> None:
    """What had to be cut from the text; ends the page where there is no sentence."""
    setup = current_setup()
    panels.require_text(setup, "Type a sentence in the sidebar: the loss is about naming its next tokens.")
    with panels.explain_errors():
        text = gradient_cache.build_key(setup, 1, 1.0).text
        cut = caches.tokenize(text).truncated[setup.sentence]
    if cut:
        st.info(
            f"The first {text.max_tokens} tokens of the sentence take part; {cut} more are left out.",
            icon=":material/content_cut:",
        )


@fragment
def show_comparison() -> None:
    """The page's sliders, and all that they redraw."""
    columns = st.columns([2, 2, 4], gap="medium")
    with columns[0]:
        n_layers = widgets.whole("gradient_layers", "Layers of each encoder", high=48)
    with columns[1]:
        scale = widgets.size("gradient_scale", "Initial scale", help_text=SCALE_HELP)
    with columns[2]:
        part = widgets.choice("gradient_of", "Gradient of")
    setup, line = current_setup(), st.empty()
    with panels.explain_errors():
        key = gradient_cache.build_key(setup, n_layers, scale)
        with line, st.spinner(f"Six encoders of {n_layers} layers, forwards and backwards …"):
            comparison = gradient_cache.compare_variants(key)
    line.caption(_describe_run(comparison, random="" if setup["weights"] == "random" else ", instead of the sidebar's"))
    flows = dict(comparison.flows[n_layers])
    st.markdown(reading.describe(flows, part, n_layers))
    left, right = st.columns(2, gap="medium")
    with left:
        gradient_results.show_gradients(flows, part)
    with right:
        gradient_results.show_lengths(flows)
    gradient_results.show_table(flows, part, n_layers)
    gradient_results.show_loss(comparison, setup)
    if widgets.choice("gradient_view", "Look closer") == "chain rule":
        gradient_results.show_chain(flows, n_layers)
    else:
        gradient_results.show_sweep(key, part)


def _describe_run(comparison: Comparison, random: str) -> str:
    config, where = comparison.config, "a GPU" if comparison.device == "cuda" else "CPU"
    return (
        f"{comparison.n_tokens} tokens · 6 encoders, {config.n_layers} layers × {config.n_heads} heads, "
        f"{in_millions(count_parameters(config).total)} parameters each · {comparison.seconds:.2g} s on {where} · "
        f":orange-badge[random weights]{random}"
    )

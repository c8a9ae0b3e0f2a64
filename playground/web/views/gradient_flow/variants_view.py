"""The gradient page's parts: what is asked, and six encoders' gradients side by side."""

import math

import pandas as pd
import streamlit as st

from playground.accounting import count_parameters
from playground.accounting.readable import in_millions
from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import Comparison, Variant
from playground.analysis.gradients import Flow
from playground.analysis.tex import number
from playground.figures import gradient_flow as figures
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.views.gradient_flow import chain_and_sweep, gradient_cache

Flows = dict[Variant, Flow]

BADGES: dict[reading.Verdict, str] = {
    "steady": ":green-badge[steady]",
    "vanishing": ":blue-badge[vanishing]",
    "exploding": ":red-badge[exploding]",
    "zero": ":gray-badge[zero]",
    "infinite": ":red-badge[infinite]",
    "not a number": ":red-badge[not a number]",
}
_OF = {
    "whole layer": "all of a layer's parameters",
    "attention": "the parameters of a layer's attention",
    "feed-forward": "the parameters of a layer's feed-forward network",
    "norms": "gain and bias of a layer's two norms; those without norms have none",
}

SCALE = "The random weights of every linear map, Glorot & Bengio's, are multiplied by this; tables and norms are not."


def introduce() -> None:
    """What happens to a gradient on its way, and what is compared here."""
    st.markdown(
        "A gradient starts at the loss and comes back block by block. Each block multiplies it: a little below 1 every "
        "time, and it vanishes; a little above, and it explodes. Residual connections add an identity to each factor "
        "(He et al. 2015); norms rescale what passes, and where they stand matters (Xiong et al. 2020). These are all "
        "six combinations, with **the same random weights** and one backward pass each: tutorial D's exercise 3."
    )


def check_text() -> None:
    """Say what had to be cut from the text; without a sentence, end the page."""
    setup = current_setup()
    panels.require_text(setup, "Type a sentence in the sidebar: naming its next words is what the loss is about.")
    with panels.explain_errors():
        text = gradient_cache.asked(setup, 1, 1.0).text
        cut = caches.tokenize(text).truncated[setup.sentence]
    if cut:
        st.info(
            f"The first {text.max_tokens} tokens of the sentence take part, {cut} more are left out.",
            icon=":material/content_cut:",
        )


@fragment
def explore() -> None:
    """The page's sliders, and all that they redraw."""
    columns = st.columns([2, 2, 4], gap="medium")
    with columns[0]:
        n_layers = widgets.whole("gradient_layers", "Layers of each encoder", high=48)
    with columns[1]:
        scale = widgets.size("gradient_scale", "Initial scale", help_text=SCALE)
    with columns[2]:
        part = widgets.choice("gradient_of", "Gradient of")
    setup, line = current_setup(), st.empty()
    with panels.explain_errors():
        key = gradient_cache.asked(setup, n_layers, scale)
        with line, st.spinner(f"Six encoders of {n_layers} layers, forwards and backwards …"):
            found = gradient_cache.flows(key)
    line.caption(_run_line(found))
    flows = dict(found.flows[n_layers])
    st.markdown(reading.describe(flows, part, n_layers))
    left, right = st.columns(2, gap="medium")
    with left:
        show_gradients(flows, part)
    with right:
        show_lengths(flows)
    show_summary(flows, part, n_layers)
    show_terms(found, setup)
    if widgets.choice("gradient_view", "Look closer") == "chain rule":
        chain_and_sweep.show_chain(flows, n_layers)
    else:
        chain_and_sweep.show_sweep(key, part)


def show_gradients(flows: Flows, part: str) -> None:
    """How long the gradient is, layer by layer."""
    values, stream = reading.of_part(flows, part), part == "stream"
    of = r"\partial x_l" if stream else r"\partial \theta_l"
    what = "$x_l$, all tokens' vectors after $l$ blocks" if stream else rf"$\theta_l$, {_OF[part]}"
    axis = figures.DEPTH if stream else figures.LAYER
    panels.chart(
        "gradient_by_layer",
        figures.by_layer(chain_and_sweep.figure_lines(values), "gradient norm", axis),
        caption=rf"**Backwards:** $\lVert \partial\mathcal{{L}} / {of} \rVert_2$, of {what}. The gradient travels from "
        "right to left. Colour: where the norms stand; dashed: no residual connections. A cross beyond an end of the "
        "axis is what it cannot show: 0, infinite (∞) or not a number (NaN).",
        alt=f"Gradient norm of the {part} by layer, six lines on a logarithmic axis: {_listed(flows, part)}.",
    )
    name = "blocks passed" if stream else "layer"
    panels.numbers("gradient_by_layer", lambda: reading.by_layer(values).rename_axis(name))


def show_lengths(flows: Flows) -> None:
    """How long the vectors are, depth by depth."""
    values = {variant: flow.lengths for variant, flow in flows.items()}
    panels.chart(
        "gradient_lengths",
        figures.by_layer(chain_and_sweep.figure_lines(values), "mean L2 norm", figures.DEPTH),
        caption=r"**Forwards:** $\lVert x_l \rVert_2$, a token's vector after $l$ blocks, as a mean over tokens. The "
        "same six encoders: all start from the same embeddings.",
        alt="Mean L2 norm of the tokens' vectors by depth, six lines on a logarithmic axis.",
    )
    panels.numbers("gradient_lengths", lambda: reading.by_layer(values).rename_axis("blocks passed"))


def show_summary(flows: Flows, part: str, n_layers: int) -> None:
    """Both ends of each line, their ratio, and what it is called."""
    first, last = reading.first_and_last(part, n_layers)
    rows = {}
    for variant, flow in flows.items():
        norms = flow.gradients.get(part)
        ends = ["–"] * 4 if norms is None else [
            BADGES[reading.judge(norms)],
            *(_tex(x) for x in (reading.first_over_last(norms), norms[0], norms[-1])),
        ]  # fmt: skip
        alike = "–" if math.isnan(flow.alike) else f"{flow.alike:.4f}"
        rows[f"**{variant.name}**"] = [*ends, _tex(flow.embeddings), _tex(flow.loss), alike]
    columns = ["verdict", "first / last", "first", "last", "tables", "loss", "tokens alike"]
    with st.container(key="gradient_summary"):
        st.table(pd.DataFrame.from_dict(rows, orient="index", columns=columns))
    st.caption(
        f"Gradient norms of the {part}; *first*: at {first}, *last*: at {last}; vanishing where the ratio is below "
        f"1/{reading.LIMIT:,}, exploding above {reading.LIMIT:,}. *Tables*: of the embeddings' parameters. *Tokens "
        "alike*: the mean cosine between two tokens behind the last block. A steady size is not everything: at 1, all "
        "tokens point the same way, which attention without residual connections leads to (Dong et al. 2021)."
    )


def show_terms(found: Comparison, setup: Setup) -> None:
    """The loss as a formula with this run's numbers, and what the six share."""
    vocab, d_model = found.config.vocab_size, found.config.d_model
    st.latex(r"\mathcal{L} = -\frac{1}{T} \sum_{t=0}^{T-1} \log\, \operatorname{softmax}(E\, h_t)_{w_{t+1}}")
    norm = f"`{found.config.norm}`" + (", as the sidebar's norm is none" if setup["norm"] == "none" else "")
    st.caption(
        f"**The loss:** each of the T = {found.n_tokens} last vectors $h_t$ names the next token $w_{{t+1}}$, the last "
        f"one the first, through the token table $E$ ({vocab:,} × {d_model:,}, held fixed); an even guess costs ln "
        f"{vocab:,} = {math.log(vocab):.3g}. The mean of all outputs would teach nothing: a layer norm makes it 0, "
        "whatever the weights. **The six share** the sidebar's text, seed and shape. Its n_layers, norm_placement and "
        f"residual are set here instead; norms are {norm}. Without dropout."
    )


def _run_line(found: Comparison) -> str:
    size = in_millions(count_parameters(found.config).total)
    where = "a GPU" if found.device == "cuda" else "CPU"
    aside = "" if current_setup()["weights"] == "random" else ", instead of the sidebar's"
    return (
        f"{found.n_tokens} tokens · 6 encoders, {found.config.n_layers} layers × {found.config.n_heads} heads, {size} "
        f"parameters each · {found.seconds:.2g} s on {where} · :orange-badge[random weights]{aside}"
    )


def _listed(flows: Flows, part: str) -> str:
    return ", ".join(
        f"{variant.name} {reading.judge(norms)}" for variant, norms in reading.of_part(flows, part).items()
    )


def _tex(x: float) -> str:
    return "NaN" if math.isnan(x) else f"${number(x, 3)}$"

"""The page's introduction, its sliders, and six encoders' results: charts, a table, the loss, products, depths."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground.accounting import count_parameters
from playground.accounting.readable import in_millions
from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import Comparison, Variant
from playground.analysis.gradients import Flow, Norms
from playground.analysis.tex import number
from playground.figures import gradient_flow as figures
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.views.gradient_flow.gradient_cache import (
    ComparisonKey,
    build_key,
    compare_depths,
    compare_variants,
    list_depths,
)

SCALE_HELP = "Multiplies the random weights of every linear map (Glorot & Bengio's); tables and norms stay as they are."

PARTS = {
    "whole layer": "all parameters of layer $l$",
    "attention": "the parameters of layer $l$'s attention",
    "feed-forward": "the parameters of layer $l$'s feed-forward network",
    "norms": "the parameters of layer $l$'s two norms; encoders without norms have none",
}


def show_introduction() -> None:
    """What happens to a gradient on its way, and what is compared here."""
    st.markdown(
        "A *gradient* says how the loss, the model's error, changes with each weight. It starts at the loss and comes "
        "back block by block. Each block multiplies it. Factors a little below 1 make it *vanish*; factors a little "
        "above 1 make it *explode*. Residual connections add an identity to each factor (He et al. 2015). Norms "
        "rescale what passes, and where they stand matters (Xiong et al. 2020). Here are all six combinations, with "
        "**the same random weights** and one backward pass each: exercise 3 of tutorial D · Notebook 05."
    )


@as_one_element
def check_text() -> None:
    """What had to be cut from the text; ends the page where there is no sentence."""
    setup = current_setup()
    panels.require_text(setup, "Type a sentence into “Your text”: the loss is about naming its next tokens.")
    with panels.explain_errors():
        text = build_key(setup, 1, 1.0).text
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
        key = build_key(setup, n_layers, scale)
        with line, st.spinner(f"Six encoders of {n_layers} layers, forwards and backwards …"):
            comparison = compare_variants(key)
    line.caption(_describe_run(comparison, random="" if setup["weights"] == "random" else ", instead of the sidebar's"))
    st.markdown(reading.describe(comparison, part))
    left, right = st.columns(2, gap="medium")
    with left:
        _show_gradients(comparison, part)
    with right:
        _show_lengths(comparison.full_depth)
    _show_table(comparison, part)
    _show_loss(comparison, setup)
    if widgets.choice("gradient_view", "Look closer") == "chain rule":
        _show_chain(comparison.full_depth, n_layers)
    else:
        _show_sweep(key, part)


def _describe_run(comparison: Comparison, random: str) -> str:
    config, where = comparison.config, "a GPU" if comparison.device == "cuda" else "CPU"
    return (
        f"{comparison.n_tokens} tokens · 6 encoders, {config.n_layers} layers × {config.n_heads} heads, "
        f"{in_millions(count_parameters(config).total)} parameters each · {comparison.seconds:.2g} s on {where} · "
        f":orange-badge[random weights]{random}"
    )


def _show_gradients(comparison: Comparison, part: str) -> None:
    """The L2 norm of the gradient, layer by layer."""
    values, stream = reading.of_part(comparison.full_depth, part), part == "stream"
    symbol = "x_l" if stream else r"\theta_l"
    meaning = "all tokens' vectors after $l$ blocks" if stream else PARTS[part]
    judged = reading.judge_all(comparison, part)
    verdicts = "; ".join(f"{variant.name}: {verdict}" for variant, verdict in judged.items())
    name = "blocks passed" if stream else "layer"
    panels.chart(
        "gradient_by_layer",
        figures.by_layer(_figure_lines(values), "gradient norm", figures.DEPTH if stream else figures.LAYER),
        caption=rf"**Backwards:** $\lVert \partial\mathcal{{L}} / \partial {symbol} \rVert_2$, the gradient's length. "
        f"${symbol}$: {meaning}. The gradient travels from right to left. Colours say where the norms stand. "
        "Dashed lines have no residual connections. Crosses are values that a logarithmic axis cannot show: 0, "
        "infinite (∞), not a number (NaN).",
        alt=f"Gradient norm of the {part} by layer, six lines on a logarithmic axis: {verdicts}.",
        table=lambda: reading.by_layer(values).rename_axis(name),
    )


def _show_lengths(flows: Mapping[Variant, Flow]) -> None:
    """The mean length of the tokens' vectors, depth by depth."""
    values = {variant: flow.lengths for variant, flow in flows.items()}
    panels.chart(
        "gradient_lengths",
        figures.by_layer(_figure_lines(values), "mean L2 norm", figures.DEPTH),
        caption=r"**Forwards:** $\lVert x_l \rVert_2$, the length of a token's vector after $l$ blocks, as a mean over "
        "tokens. These are the same six encoders; all start from the same embeddings.",
        alt="Mean L2 norm of the tokens' vectors by depth, six lines on a logarithmic axis.",
        table=lambda: reading.by_layer(values).rename_axis("blocks passed"),
    )


def _figure_lines(values: Mapping[Variant, Norms]) -> list[figures.Line]:
    """Each encoder's numbers as a line of the figures."""
    return [figures.Line(variant.name, variant.norm, variant.residual, numbers) for variant, numbers in values.items()]


def _show_table(comparison: Comparison, part: str) -> None:
    """Both ends of each line, their ratio, and the verdict on it."""
    first, last = reading.first_and_last(part, comparison.config.n_layers)
    verdicts, rows = reading.judge_all(comparison, part), {}
    for variant, flow in comparison.full_depth.items():
        ends = ["–"] * 4
        if variant in verdicts:
            colour, _ = reading.VERDICTS[verdicts[variant]]
            numbers = reading.ratio_numbers(flow.gradients[part])
            ends = [f":{colour}-badge[{verdicts[variant]}]", *(f"${shown}$" for shown in numbers)]
        alike = "–" if math.isnan(flow.alike) else f"{flow.alike:.4f}"
        tables = "–" if flow.embeddings is None else _format_number(flow.embeddings)
        rows[f"**{variant.name}**"] = [*ends, tables, _format_number(flow.loss), alike]
    columns = ["verdict", "first / last", "first", "last", "tables", "loss", "tokens alike"]
    with st.container(key="gradient_summary"):
        st.table(pd.DataFrame.from_dict(rows, orient="index", columns=columns))
    limit = f"{reading.LIMIT:,}"
    st.caption(
        f"Gradient norms of the {part}. *First* is at {first}, *last* at {last}. A ratio below 1/{limit} counts as "
        f"*vanishing*, one above {limit} as *exploding*. A steady one may still be *huge* (above {limit} anywhere) or "
        f"*tiny* (below 1/{limit} at the first). *Tables*: the gradient norm of the embeddings' parameters."
    )
    st.caption(reading.describe_losses(comparison))
    st.caption(reading.describe_likeness(comparison))


def _show_loss(comparison: Comparison, setup: Setup) -> None:
    """The loss as a formula with this run's numbers, and what the six encoders share."""
    n_names, d_model = comparison.n_names, comparison.config.d_model
    source = "token table $E$" if comparison.config.vocab_size else "words' drawn vectors over √d_model, here $E$"
    st.latex(r"\mathcal{L} = -\frac{1}{T} \sum_{t=0}^{T-1} \log\, \operatorname{softmax}(E\, h_t)_{w_{t+1}}")
    norm = f"`{comparison.config.norm}`" + (", as the sidebar's norm is none" if setup["norm"] == "none" else "")
    final = " A final norm follows the last block, but not where there is no norm." if setup["final_norm"] else ""
    st.caption(
        f"**The loss:** each of the T = {comparison.n_tokens} last vectors $h_t$ names the next token $w_{{t+1}}$; the "
        f"last vector names the first token. Names come from the {source} ({n_names:,} × {d_model:,}), which is held "
        f"fixed. An even guess costs ln {n_names:,} = {comparison.even_guess:.3g}. The mean of all outputs would be no "
        "loss to learn from: a layer norm makes it 0, whatever the weights. **The six share** the sidebar's text, seed "
        "and shape. n_layers, norm_placement and residual are set on this page instead. Their norms are "
        f"{norm}. **None of the six has a norm on the embeddings**, so that *no norm* means none anywhere.{final} "
        "There is no dropout."
    )


def _show_chain(flows: Mapping[Variant, Flow], n_layers: int) -> None:
    """The stream's gradient as a product: its formula, and its factors in this run."""
    st.latex(
        r"\frac{\partial \mathcal{L}}{\partial x_0} = \frac{\partial \mathcal{L}}{\partial x_L}"
        r"\prod_{l=L-1}^{0} \frac{\partial x_{l+1}}{\partial x_l}"
    )
    rows = {
        f"**{variant.name}**": [
            f"${reading.CHAIN_FORMULAS[variant.norm, variant.residual]}$",
            f"${reading.chain_numbers(flow)}$",
        ]
        for variant, flow in flows.items()
    }
    columns = ["each of a block's two sublayers f", "a block on average, all of them"]
    with st.container(key="gradient_chain"):
        st.table(pd.DataFrame.from_dict(rows, orient="index", columns=columns))
    st.caption(
        "By the chain rule, the gradient of the stream is multiplied once per sublayer. $f'$ is the derivative of "
        "attention or feed-forward. $N'$ is that of the norm, which divides by the size of its input. $I$ is the "
        f"identity that a residual connection adds. Right: the geometric mean over {n_layers} blocks of "
        r"$\lVert \partial\mathcal{L} / \partial x_l \rVert_2$ over "
        r"$\lVert \partial\mathcal{L} / \partial x_{l+1} \rVert_2$, and its power. It has as many digits as its power "
        "needs."
    )


def _show_sweep(key: ComparisonKey, part: str) -> None:
    """The first layer's gradient against the number of layers."""
    n_layers = key.config.n_layers
    if n_layers == 1:
        st.info("One layer is the least there is. With more, this shows how the first layer's gradient changes.")
        return
    with panels.explain_errors(), st.spinner("The same six at every depth …"):
        norms_by_depth = {
            variant: np.array([norms[part] for norms in by_depth.values()])
            for variant, by_depth in compare_depths(key).items()
            if part in by_depth[n_layers]
        }
    depths = list(list_depths(n_layers))
    first, _ = reading.first_and_last(part, n_layers)
    changes = "; ".join(
        f"{variant.name} {reading.times(reading.first_over_last(norms[::-1]))}"
        for variant, norms in norms_by_depth.items()
    )
    table = reading.by_layer(norms_by_depth).set_index(pd.Index(depths, name="layers"))
    panels.chart(
        "gradient_by_depth",
        figures.by_depth(_figure_lines(norms_by_depth), depths, "gradient norm"),
        caption=f"The gradient norm at {first} ({part}), for encoders of 1 to {n_layers} layers. A deeper encoder "
        f"begins with the layers of a shallower one. From 1 layer to {n_layers} the norm changes by: {changes}.",
        alt=f"Gradient norm at {first} against the number of layers, six lines, both axes logarithmic.",
        table=lambda: table,
    )


def _format_number(x: float) -> str:
    return "NaN" if math.isnan(x) else f"${number(x, 3)}$"

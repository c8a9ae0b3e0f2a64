"""The six gradients as products of factors, and how they change with depth."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import Variant
from playground.analysis.gradients import Flow
from playground.figures import gradient_flow as figures
from playground.web.shared import panels
from playground.web.views.gradient_flow.gradient_cache import ComparisonKey, compare_depths
from playground.web.views.gradient_flow.gradient_results import figure_lines


def show_chain(flows: Mapping[Variant, Flow], n_layers: int) -> None:
    """The stream's gradient as a product: its formula, and its factors in this run."""
    st.latex(
        r"\frac{\partial \mathcal{L}}{\partial x_0} = \frac{\partial \mathcal{L}}{\partial x_L}"
        r"\prod_{l=L-1}^{0} \frac{\partial x_{l+1}}{\partial x_l}"
    )
    rows = {
        f"**{variant.name}**": [f"${reading.chain_formula(variant)}$", f"${reading.chain_numbers(flow)}$"]
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
        r"$\lVert \partial\mathcal{L} / \partial x_{l+1} \rVert_2$, and its power."
    )


def show_sweep(key: ComparisonKey, part: str) -> None:
    """The first layer's gradient against the number of layers."""
    n_layers = key.config.n_layers
    if n_layers == 1:
        st.info("One layer is the least there is. With more, this shows how the first layer's gradient changes.")
        return
    with panels.explain_errors(), st.spinner("The same six at every depth …"):
        flows_by_depth = compare_depths(key).flows
    first, _ = reading.first_and_last(part, n_layers)
    norms_by_depth = {
        variant: np.array([flows[variant].gradients[part][0] for flows in flows_by_depth.values()])
        for variant in reading.of_part(flows_by_depth[n_layers], part)
    }
    depths = list(flows_by_depth)
    changes = "; ".join(
        f"{variant.name} {reading.times(reading.first_over_last(norms[::-1]))}"
        for variant, norms in norms_by_depth.items()
    )
    panels.chart(
        "gradient_by_depth",
        figures.by_depth(figure_lines(norms_by_depth), depths, "gradient norm"),
        caption=f"The gradient norm at {first} ({part}), for encoders of 1 to {n_layers} layers. A deeper encoder "
        f"begins with the layers of a shallower one. From 1 layer to {n_layers} the norm changes by: {changes}.",
        alt=f"Gradient norm at {first} against the number of layers, six lines, both axes logarithmic.",
    )
    table = reading.by_layer(norms_by_depth).set_index(pd.Index(depths, name="layers"))
    panels.numbers("gradient_by_depth", lambda: table)

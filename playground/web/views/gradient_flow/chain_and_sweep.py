"""A closer look at the six gradients: the factors they are made of, and how they change with depth."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import Variant
from playground.analysis.gradients import Array, Flow
from playground.figures import gradient_flow as figures
from playground.web.shared import panels
from playground.web.views.gradient_flow import gradient_cache


def show_chain(flows: Mapping[Variant, Flow], n_layers: int) -> None:
    """The stream's gradient as a product: by its formula, and what its factors come to here."""
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
        "What the gradient of the stream is multiplied by. $f'$: the derivative of attention or feed-forward; $N'$: of "
        "the norm, which divides by the size of what it normalises; $I$: the identity that a residual connection adds. "
        rf"Right: the geometric mean over {n_layers} blocks of $\lVert \partial\mathcal{{L}} / \partial x_l \rVert_2$ "
        r"over $\lVert \partial\mathcal{L} / \partial x_{l+1} \rVert_2$, and its power."
    )


def show_sweep(key: gradient_cache.Asked, part: str) -> None:
    """The first layer's gradient against depth."""
    n_layers = key.config.n_layers
    if n_layers == 1:
        st.info("One layer is the least there is: with more, this shows how the first layer's gradient changes.")
        return
    with panels.explain_errors(), st.spinner("The same six at every depth …"):
        found = gradient_cache.sweep(key)
    depths = list(found.flows)
    first, _ = reading.first_and_last(part, n_layers)
    by_depth = {
        variant: np.array([flows[variant].gradients[part][0] for flows in found.flows.values()])
        for variant, flow in found.flows[n_layers].items()
        if part in flow.gradients
    }
    told = [
        f"{variant.name} {reading.times(reading.first_over_last(norms[::-1]))}" for variant, norms in by_depth.items()
    ]
    panels.chart(
        "gradient_by_depth",
        figures.by_depth(figure_lines(by_depth), depths, "gradient norm"),
        caption=f"The gradient at {first} ({part}) of encoders with more and more layers; a deeper one begins with the "
        f"layers of a shallower one. From 1 to {n_layers} layers: {', '.join(told)}.",
        alt=f"Gradient norm at {first} against the number of layers, six lines, both axes logarithmic.",
    )
    table = reading.by_layer(by_depth).set_index(pd.Index(depths, name="layers"))
    panels.numbers("gradient_by_depth", lambda: table)


def figure_lines(values: Mapping[Variant, Array]) -> list[figures.Line]:
    """Each encoder's numbers as a line of the figures."""
    return [figures.Line(variant.name, variant.norm, variant.residual, numbers) for variant, numbers in values.items()]

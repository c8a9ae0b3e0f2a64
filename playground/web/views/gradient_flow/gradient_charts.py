"""Charts of six encoders: gradients backwards, lengths of vectors forwards."""

from collections.abc import Mapping

from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import Variant
from playground.analysis.gradients import Flow, Norms
from playground.figures import gradient_flow as figures
from playground.web.shared import panels

PARTS = {
    "whole layer": "all parameters of layer $l$",
    "attention": "the parameters of layer $l$'s attention",
    "feed-forward": "the parameters of layer $l$'s feed-forward network",
    "norms": "the parameters of layer $l$'s two norms; encoders without norms have none",
}


def show_gradients(flows: Mapping[Variant, Flow], part: str) -> None:
    """The L2 norm of the gradient, layer by layer."""
    values, stream = reading.of_part(flows, part), part == "stream"
    symbol = "x_l" if stream else r"\theta_l"
    meaning = "all tokens' vectors after $l$ blocks" if stream else PARTS[part]
    verdicts = ", ".join(f"{variant.name} {reading.judge(norms)}" for variant, norms in values.items())
    panels.chart(
        "gradient_by_layer",
        figures.by_layer(figure_lines(values), "gradient norm", figures.DEPTH if stream else figures.LAYER),
        caption=rf"**Backwards:** $\lVert \partial\mathcal{{L}} / \partial {symbol} \rVert_2$, the gradient's length. "
        f"${symbol}$: {meaning}. The gradient travels from right to left. Colours say where the norms stand. "
        "Dashed lines have no residual connections. Crosses are values that a logarithmic axis cannot show: 0, "
        "infinite (∞), not a number (NaN).",
        alt=f"Gradient norm of the {part} by layer, six lines on a logarithmic axis: {verdicts}.",
    )
    name = "blocks passed" if stream else "layer"
    panels.numbers("gradient_by_layer", lambda: reading.by_layer(values).rename_axis(name))


def show_lengths(flows: Mapping[Variant, Flow]) -> None:
    """The mean length of the tokens' vectors, depth by depth."""
    values = {variant: flow.lengths for variant, flow in flows.items()}
    panels.chart(
        "gradient_lengths",
        figures.by_layer(figure_lines(values), "mean L2 norm", figures.DEPTH),
        caption=r"**Forwards:** $\lVert x_l \rVert_2$, the length of a token's vector after $l$ blocks, as a mean over "
        "tokens. These are the same six encoders; all start from the same embeddings.",
        alt="Mean L2 norm of the tokens' vectors by depth, six lines on a logarithmic axis.",
    )
    panels.numbers("gradient_lengths", lambda: reading.by_layer(values).rename_axis("blocks passed"))


def figure_lines(values: Mapping[Variant, Norms]) -> list[figures.Line]:
    """Each encoder's numbers as a line of the figures."""
    return [figures.Line(variant.name, variant.norm, variant.residual, numbers) for variant, numbers in values.items()]

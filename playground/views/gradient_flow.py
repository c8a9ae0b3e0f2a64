"""What norms and residual connections do to a gradient on its way back: six encoders' charts, tables and formulas."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from playground.accounting import count_parameters
from playground.accounting.readable import in_millions
from playground.analysis import gradient_reading as reading
from playground.analysis.gradient_variants import (
    BY_NAME,
    LONGEST,
    VARIANTS,
    Comparison,
    DepthNorms,
    Variant,
    check_layers,
    common_config,
    compare,
    draw_vocabulary,
)
from playground.analysis.gradients import Norms
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Columns, Control, Formula, Item, Options, Panel, Paragraph, Picture, Table
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.link.opening import LinkedView
from playground.link.query import longest_sentence
from playground.text.wording import count_noun, name_device, write_number

SWEEP_DEPTHS = (1, 2, 4, 8, 16, 32)
"""Numbers of layers that the depth sweep tries, below the one that the page shows."""

GRADIENT = (
    "*Gradient*: how the error changes with each weight. *Residual connection*: what enters a part of a layer is added "
    "to what leaves it."
)

INTRODUCTION = (
    "All six have **the same random weights** (exercise 3 of tutorial D · Notebook 05). Each layer multiplies the "
    "gradient: factors a little below 1 make it *vanish*, factors a little above 1 make it *explode*. Norms rescale "
    "what passes (Xiong et al. 2020). Residual connections add an identity, a factor of 1, to each (He et al. 2015)."
)

LAYERS = Control("gradient_layers", "Layers of each encoder", high=48)
"""Also on a page that refuses so many."""

SCALE_HELP = "Multiplies the random weights of every linear map (Glorot & Bengio's); tables and norms stay as they are."

PARTS = {
    "whole layer": "all parameters of layer $l$",
    "attention": "the parameters of layer $l$'s attention",
    "feed-forward": "the parameters of layer $l$'s feed-forward network",
    "norms": "the parameters of layer $l$'s two norms; encoders without norms have none",
}


@dataclass(frozen=True)
class SixEncoders:
    """What the page looks at."""

    comparison: Comparison
    """At full depth."""
    sweep: Callable[[], DepthNorms]
    """The first layer's gradient norms at each of `list_depths`."""
    has_random_weights: bool
    """Whether the visitor's own encoder has random weights, as these have."""
    has_norms: bool
    """Whether the visitor's own encoder has norms."""


def list_depths(n_layers: int) -> tuple[int, ...]:
    """The numbers of layers that the sweep shows, up to the page's own."""
    return (*(depth for depth in SWEEP_DEPTHS if depth < n_layers), n_layers)


def linked_encoders(view: LinkedView) -> Scene[SixEncoders]:
    """What a link's page looks at; raises as `compare`, and TooLargeError."""
    values, n_layers = view.values, view.values["gradient_layers"]
    config = common_config(view.config, n_layers)
    check_layers(config, view.lab.source.max_parameters)
    batch = view.tokenizer.encode_batch(view.text, min(longest_sentence(values), LONGEST))
    ids = batch.ids[view.sentence][batch.mask[view.sentence]]
    is_swept = values["gradient_six"] and values["gradient_view"] == "depth sweep"
    depths = list_depths(n_layers) if is_swept else (n_layers,)
    comparison = compare(
        config, view.seed, ids, depths, vectors=draw_vocabulary(view.tokenizer, config, view.seed),
        scale=values["gradient_scale"], causal=view.causal,
    )  # fmt: skip
    six = SixEncoders(
        comparison,
        cache(lambda: _first_norms(comparison)),
        has_random_weights=view.weights == "random",
        has_norms=view.config.norm != "none",
    )
    return Scene(six)


def _first_norms(comparison: Comparison) -> DepthNorms:
    """The first layer's gradient norms in a comparison at several depths."""
    return {
        variant: {
            depth: {part: float(norms[0]) for part, norms in flows[variant].gradients.items()}
            for depth, flows in comparison.flows.items()
        }
        for variant in comparison.full_depth
    }


def show_gradient_flow(scene: Scene[SixEncoders], options: Options) -> Iterator[Item]:
    """Two encoders that the visitor chooses, in a sentence and a chart; all six and the mathematics in a panel."""
    comparison, part = scene.now.comparison, options["gradient_of"]
    pair = tuple(dict.fromkeys(BY_NAME[options[f"gradient_{which}"]] for which in ("first", "second")))
    yield Paragraph(reading.describe_pair(comparison, pair, part), "answer")
    instead = "" if scene.now.has_random_weights else ", instead of the sidebar's"
    yield Paragraph(f"{GRADIENT} Weights: :orange-badge[random weights]{instead}.", "caption")
    yield gradients_by_layer(comparison, part, pair)
    yield LAYERS
    controls = (Control("gradient_of", "Gradient of"), Control("gradient_scale", "Initial scale", SCALE_HELP))
    items: list[Item] = [Columns(tuple((control,) for control in controls), shares=(2, 1))]
    if options["gradient_six"]:
        items += [
            Paragraph(_describe_run(comparison), "caption"),
            Paragraph(f"{reading.describe(comparison, part)}\n\n{INTRODUCTION}"),
            Columns(((gradients_by_layer(comparison, part, VARIANTS),), (lengths_by_depth(comparison),))),
            *_show_summary(comparison, part),
        ]
    items.append(Control("gradient_view", "Look closer"))
    if options["gradient_six"]:
        match options["gradient_view"]:
            case "chain rule":
                items += _show_chain(comparison)
            case "depth sweep":
                items += _show_sweep(scene.now, part)
            case "loss":
                items += _show_loss(scene.now)
    yield Panel("gradient_six", "All six encoders, and the mathematics", tuple(items), icon=":material/functions:")


def _describe_run(comparison: Comparison) -> str:
    config = comparison.config
    return (
        f"{comparison.n_tokens} token{'s' * (comparison.n_tokens > 1)} · 6 encoders, {config.n_layers} "
        f"layer{'s' * (config.n_layers > 1)} × {config.n_heads} head{'s' * (config.n_heads > 1)}, "
        f"{in_millions(count_parameters(config).total)} parameters each · {comparison.seconds:.2g} s on "
        f"{name_device(comparison.device)}"
    )


def gradients_by_layer(comparison: Comparison, part: str, variants: Sequence[Variant]) -> Picture[SixEncoders]:
    """The L2 norm of a part's gradient in some of the encoders, layer by layer."""

    def values(six: SixEncoders) -> Mapping[Variant, Norms]:
        norms = reading.of_part(six.comparison.full_depth, part)
        return {variant: norms[variant] for variant in variants if variant in norms}

    stream = part == "stream"
    title = name_depths(comparison) if stream else LAYER
    symbol = "x_l" if stream else r"\theta_l"
    meaning = "all tokens' vectors before layer $l$" if stream else PARTS[part]
    judged = reading.judge_all(comparison, part)
    verdicts = "; ".join(f"{variant.name}: {judged[variant]}" for variant in variants if variant in judged)
    is_all = variants == VARIANTS
    name = "before layer" if stream else "layer"
    looks = [] if all(variant.residual for variant in variants) else ["Dashed lines have no residual connections."]
    if is_all:
        looks.append("Crosses: 0, infinite (∞) or not a number (NaN).")
    elif stream or comparison.config.n_layers > 1:
        looks.insert(
            0,
            "The gradient travels from right to left. Where it is near 0, weights hardly learn. "
            + reading.explain_reaching(part, comparison.config.n_layers),
        )
    return Picture(
        key="gradient_six_by_layer" if is_all else "gradient_by_layer",
        alt=f"Length of the gradient of the {part} by layer, a line each on a logarithmic axis: {verdicts}.",
        caption=rf"**Backwards:** the gradient's length, $\lVert \partial\mathcal{{L}} / \partial {symbol} \rVert_2$. "
        f"${symbol}$: {meaning}. {' '.join(looks)}",
        figure=lambda six: draw_by_layer(values(six), "length of the gradient", title),
        table=lambda six: write_by_layer(values(six)).rename_axis(name),
    )


def write_by_layer(values: Mapping[Variant, Norms]) -> pd.DataFrame:
    """Numbers by variant as the hover writes them: those near 0 keep their digits."""
    return reading.by_layer(values).map(lambda x: write_number(x, DIGITS))


def lengths_by_depth(comparison: Comparison) -> Picture[SixEncoders]:
    """The mean length of the tokens' vectors, depth by depth."""

    def values(six: SixEncoders) -> Mapping[Variant, Norms]:
        return {variant: flow.lengths for variant, flow in six.comparison.full_depth.items()}

    return Picture(
        key="gradient_lengths",
        alt="Mean length of the tokens' vectors by depth, six lines on a logarithmic axis.",
        caption=r"**Forwards:** the length of a token's vector before layer $l$, $\lVert x_l \rVert_2$, as a mean over "
        "tokens. All start from the same embeddings.",
        figure=lambda six: draw_by_layer(values(six), "mean length", name_depths(comparison)),
        table=lambda six: write_by_layer(values(six)).rename_axis("before layer"),
    )


def _show_summary(comparison: Comparison, part: str) -> Iterator[Item]:
    first, last = reading.first_and_last(part, comparison.config.n_layers)
    limit = f"{reading.LIMIT:,}"
    yield Table[SixEncoders](
        key="gradient_summary", frame=lambda six: summarise(six.comparison, part), is_markdown=True
    )
    yield Paragraph(
        f"Lengths of the gradient of the {part}. *First*: at {first}. *Last*: at {last}. First / last below 1/{limit} "
        f"is *vanishing*, above {limit} *exploding*. What arrives is *huge* if it is longer than {limit} anywhere, "
        f"*tiny* if it is shorter than 1/{limit} at the first.",
        "caption",
    )


def summarise(comparison: Comparison, part: str) -> pd.DataFrame:
    """Both ends of each encoder's gradient, their ratio, and the verdict on it."""
    verdicts, rows = reading.judge_all(comparison, part), {}
    for variant, flow in comparison.full_depth.items():
        ends = ["–"] * 4
        if variant in verdicts:
            colour, _ = reading.VERDICTS[verdicts[variant]]
            ends = [f":{colour}-badge[{verdicts[variant]}]", *reading.ratio_numbers(flow.gradients[part])]
        rows[f"**{variant.name}**"] = ends
    columns = ["verdict", "first / last", "first", "last"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def list_losses(comparison: Comparison) -> pd.DataFrame:
    """Each encoder's loss, the gradient norm of its embeddings, and how alike its tokens are."""
    rows = {
        f"**{variant.name}**": [
            write_number(flow.loss),
            "–" if flow.embeddings is None else write_number(flow.embeddings),
            "–" if math.isnan(flow.alike) else f"{flow.alike:.4f}",
        ]
        for variant, flow in comparison.full_depth.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["loss", "tables", "tokens alike"])


def _show_loss(six: SixEncoders) -> Iterator[Item]:
    """The loss in numbers and as a formula, and what the six encoders share."""
    comparison = six.comparison
    config, n_names = comparison.config, comparison.n_names
    source = "token table $E$" if config.vocab_size else "words' drawn vectors over √d_model, here $E$"
    norm = f"`{config.norm}`" + ("" if six.has_norms else ", as the sidebar's norm is none")
    final = " A final norm follows the last block, but not where there is no norm." if config.final_norm else ""
    yield Table[SixEncoders](key="gradient_losses", frame=lambda six: list_losses(six.comparison), is_markdown=True)
    yield Paragraph(
        f"{reading.describe_losses(comparison)} *Tables*: the gradient norm of the embeddings' parameters.\n\n"
        f"{reading.describe_likeness(comparison)}",
        "caption",
    )
    yield Formula(r"\mathcal{L} = -\frac{1}{T} \sum_{t=0}^{T-1} \log\, \operatorname{softmax}(E\, h_t)_{w_{t+1}}")
    yield Paragraph(
        f"**The loss:** each of the T = {comparison.n_tokens} last vectors $h_t$ names the next token $w_{{t+1}}$; the "
        f"last vector names the first token. Names come from the {source} ({n_names:,} × {config.d_model:,}), which is "
        f"held fixed. An even guess costs ln {n_names:,} = {comparison.even_guess:.3g}. The mean of all outputs would "
        "be no loss to learn from: a layer norm makes it 0, whatever the weights. **The six share** the sidebar's "
        "text, seed and shape. n_layers, norm_placement and residual are set on this page instead. Their norms are "
        f"{norm}. **None of the six has a norm on the embeddings**, so that *no norm* means none anywhere.{final} "
        "There is no dropout.",
        "caption",
    )


def _show_chain(comparison: Comparison) -> Iterator[Item]:
    """The stream's gradient as a product: its formula, and its factors in this run."""
    yield Formula(
        r"\frac{\partial \mathcal{L}}{\partial x_0} = \frac{\partial \mathcal{L}}{\partial x_L}"
        r"\prod_{l=L-1}^{0} \frac{\partial x_{l+1}}{\partial x_l}"
    )
    yield Table[SixEncoders](key="gradient_chain", frame=lambda six: list_factors(six.comparison), is_markdown=True)
    yield Paragraph(
        "By the chain rule, the gradient of the stream is multiplied once per sublayer. $f'$ is the derivative of "
        "attention or feed-forward. $N'$ is that of the norm, which divides by the size of its input. $I$ is the "
        f"identity that a residual connection adds. Right: the geometric mean over "
        f"{count_noun(comparison.config.n_layers, 'layer')} "
        r"of $\lVert \partial\mathcal{L} / \partial x_l \rVert_2$ over "
        r"$\lVert \partial\mathcal{L} / \partial x_{l+1} \rVert_2$, and its power.",
        "caption",
    )


def list_factors(comparison: Comparison) -> pd.DataFrame:
    """What each encoder's sublayers multiply a gradient by, as a formula and in numbers."""
    rows = {
        f"**{variant.name}**": [
            f"${reading.CHAIN_FORMULAS[variant.norm, variant.residual]}$",
            reading.chain_numbers(flow),
        ]
        for variant, flow in comparison.full_depth.items()
    }
    columns = ["each of a layer's two sublayers f", "a layer on average, all of them"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _show_sweep(six: SixEncoders, part: str) -> Iterator[Item]:
    """The first layer's gradient against the number of layers."""
    n_layers = six.comparison.config.n_layers
    if n_layers == 1:
        yield Paragraph(
            "One layer is the least there is. With more, this shows how the first layer's gradient changes.", "info"
        )
        return

    def values(six: SixEncoders) -> Mapping[Variant, Norms]:
        return {
            variant: np.array([norms[part] for norms in by_depth.values()])
            for variant, by_depth in six.sweep().items()
            if part in by_depth[n_layers]
        }

    depths, (first, _) = list(list_depths(n_layers)), reading.first_and_last(part, n_layers)
    changes = "; ".join(
        f"{variant.name} {write_number(reading.first_over_last(norms[::-1]), 2)}"
        for variant, norms in values(six).items()
    )
    yield Picture[SixEncoders](
        key="gradient_by_depth",
        alt=f"Length of the gradient at {first} against the number of layers, six lines, both axes logarithmic.",
        caption=f"The gradient's length at {first} ({part}), for encoders of 1 to {n_layers} layers. A deeper encoder "
        f"begins with the layers of a shallower one. Its factor from 1 layer to {n_layers}: {changes}.",
        figure=lambda six: draw_by_depth(values(six), depths, "length of the gradient"),
        table=lambda six: write_by_layer(values(six)).set_index(pd.Index(depths, name="layers")),
    )


COLOURS = {
    ("post", True): palette.POST_NORM,
    ("pre", True): palette.PRE_NORM,
    ("none", True): palette.NO_NORM,
    ("post", False): palette.POST_NORM_ALONE,
    ("pre", False): palette.PRE_NORM_ALONE,
    ("none", False): palette.NO_NORM_ALONE,
}
"""Of a line, by norm and residual: on every chart of the page."""

SYMBOLS = {"post": "circle", "pre": "square", "none": "diamond"}
"""Of a line and its points, by where the norms stand; a dashed line has no residual connections."""

LAYER = "layer (0 = first)"
"""What a number counts along the lower axis."""


def name_depths(comparison: Comparison) -> str:
    """What a number counts along the lower axis of vectors that enter the layers."""
    return f"before layer ({comparison.config.n_layers} = the output)"


DASHED = "no residual"
"""What the legend of all six calls an encoder that it lists below the one with the same norms."""

DIGITS = 4
"""Of a number in a hover or in the table below a chart."""

_ROW = 0.07
"""Height of one encoder's row of crosses, as a share of the axis's decades."""


def draw_by_layer(values: Mapping[Variant, Norms], y_title: str, x_title: str) -> Figure:
    """One number a layer, or a depth, of each encoder, on a logarithmic axis; all lines are equally long."""
    n = max((len(norms) for norms in values.values()), default=1)
    x_axis = {"title": x_title, "tickvals": np.arange(0, n, max(1, n // 12))}
    return _draw(values, np.arange(n), y_title, x_axis, f"{x_title.split(' (')[0]} %{{x}}", (-0.5, n - 0.5))


def draw_by_depth(values: Mapping[Variant, Norms], depths: list[int], y_title: str) -> Figure:
    """One number for each number of layers, both axes logarithmic."""
    low, high = np.log10([depths[0] / 1.2, depths[-1] * 1.2])
    x_axis = {"title": "layers of the encoder (log scale)", "type": "log", "tickvals": depths}
    return _draw(values, np.array(depths), y_title, x_axis, "%{x} layers", (low, high))


def _draw(
    values: Mapping[Variant, Norms],
    x: NDArray[np.int_],
    y_title: str,
    x_axis: Mapping[str, Any],
    x_hover: str,
    ends: Sequence[float],
) -> Figure:
    """The lines, and crosses beyond the axis for 0, infinity and what is not a number, which it has no place for.

    The lower axis has two `ends`, and room behind them for the crosses' names.
    """
    low, high = _decades(values)
    span = high - low
    high, low = high + 0.04 * span, low - 0.04 * span
    traces = []
    for variant, y in values.items():
        traces.append(_line(variant, x, _drawable(y)))
        for beyond, side in ((np.isnan(y) | np.isinf(y), 1), (y == 0, -1)):
            if beyond.any():
                edge = high if side == 1 else low
                traces.append(_crosses(variant, x[beyond], y[beyond], 10 ** (edge + side * _ROW * span / 2)))
                high, low = (high + _ROW * span, low) if side == 1 else (high, low - _ROW * span)
    room = 0.1 * (ends[1] - ends[0]) if len(traces) > len(values) else 0
    legend_rows = 1 if len(values) <= 2 else 2
    if legend_rows == 1:  # each has an entry of its own
        for trace in (each for each in traces if each["mode"] == "lines+markers"):
            trace["showlegend"] = True
    else:
        nothing = {"type": "scatter", "x": x[:1], "y": np.array([np.nan]), "hoverinfo": "skip", "mode": "lines"}
        traces += [
            {**_line(variant, x, y), **nothing, "name": DASHED, "showlegend": True}
            for variant, y in values.items()
            if not variant.residual
        ]
    x_axis = {**x_axis, "range": [ends[0], ends[1] + room]}
    return _style(traces, y_title, x_axis, x_hover, (low, high), legend_rows)


def _style(
    traces: list[dict[str, Any]],
    y_title: str,
    x_axis: Mapping[str, Any],
    x_hover: str,
    decades: tuple[float, float],
    legend_rows: int,
) -> Figure:
    low, high = decades
    dtick = np.ceil((high - low) / 7)
    layout = {
        "xaxis": {**x_axis, "unifiedhovertitle": {"text": x_hover}},
        "yaxis": {
            "title": f"{y_title} (log scale)",
            "type": "log",
            "exponentformat": "power",
            "dtick": dtick,
            "range": [low, high],
        },
        "hovermode": "x unified",
    }
    figure = figures.style(traces, layout, height=320, legend=True, margin={"t": 28 + 20 * (legend_rows - 1)})
    if legend_rows > 1:
        figure["layout"]["legend"] |= {"entrywidthmode": "fraction", "entrywidth": 0.33}
    return figure


def _line(variant: Variant, x: NDArray[np.int_], y: Norms) -> dict[str, Any]:
    """An encoder's line."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": y,
        "name": variant.name,
        "line": {"color": _colour(variant), "width": 2, "dash": "solid" if variant.residual else "dash"},
        "marker": {"size": 6, "symbol": SYMBOLS[variant.norm] + ("" if variant.residual else "-open")},
        "legendgroup": variant.name,
        "showlegend": variant.residual,
        "customdata": np.array([write_number(each, DIGITS) for each in y]),
        "hovertemplate": "%{customdata}",
    }


def _colour(variant: Variant) -> str:
    return COLOURS[variant.norm, variant.residual]


def _crosses(variant: Variant, x: NDArray[np.int_], y: Norms, height: float) -> dict[str, Any]:
    """What a logarithmic axis cannot show, in a row beyond its end; the last cross carries the name."""
    colour = _colour(variant)
    names = np.array(["NaN" if np.isnan(norm) else "∞" if norm else "0" for norm in y])
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": x,
        "y": np.full(len(x), height),
        "name": variant.name,
        "legendgroup": variant.name,
        "showlegend": False,
        "text": [*[""] * (len(x) - 1), ", ".join(dict.fromkeys(names))],
        "textposition": "middle right",
        "customdata": names,
        "marker": {
            "symbol": "x" if variant.residual else "x-thin",
            "size": 8,
            "color": colour,
            "line": {"width": 0 if variant.residual else 1.5, "color": colour},
        },
        "hovertemplate": "%{customdata}",
        "cliponaxis": False,
    }


def _drawable(values: Norms) -> Norms:
    """The values, NaN where a logarithmic axis has no place for them."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def _decades(values: Mapping[Variant, Norms]) -> tuple[float, float]:
    """The powers of ten between which all positive numbers lie, at least two apart."""
    positive = [norms[~np.isnan(norms)] for norms in map(_drawable, values.values())]
    powers = np.log10(np.concatenate(positive or [np.zeros(0)]))
    if powers.size == 0:
        return -1.0, 1.0
    low, high = float(powers.min()), float(powers.max())
    short = max(0.0, 2 - (high - low)) / 2
    return low - short, high + short

"""What norms and residual connections do to a gradient on its way back: two encoders, the chain rule, depth, loss."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from playground.analysis.gradients import (
    BY_NAME,
    Flow,
    Norms,
    Variant,
    backward,
    common_config,
    draw_vocabulary,
    with_variant,
)
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Curves,
    Formula,
    Item,
    Options,
    Panel,
    Paragraph,
    Table,
)
from playground.charts.figure import Curve
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.link.lab import Lab, once, read_text
from playground.link.opening import LinkedView
from playground.link.state import RANDOM
from playground.text import Batch
from playground.text.wording import upper_first, write_number
from playground.words import say

LONGEST = 64
"""Tokens of a sentence that take part: forwards and backwards costs three times a pass."""

SWEEP_DEPTHS = (1, 2, 4, 8, 16, 32)
"""Numbers of layers that the depth sweep tries, below the one that the page shows."""

LIMIT = 1_000
"""A gradient that changes by more than this factor from the last layer to the first does not arrive."""

COLOURS = {
    ("post", True): palette.POST_NORM,
    ("pre", True): palette.PRE_NORM,
    ("none", True): palette.NO_NORM,
    ("post", False): palette.POST_NORM_ALONE,
    ("pre", False): palette.PRE_NORM_ALONE,
    ("none", False): palette.NO_NORM_ALONE,
}
"""Of a line, by norm and residual: on every chart of the page."""


@dataclass(frozen=True)
class Encoders:
    """What the page looks at: encoders with random weights that share a lab's text, seed and shape."""

    lab: Lab
    pair: tuple[Variant, ...]
    """Those that are compared; one if both are the same."""
    n_layers: int
    scale: float
    """A factor on the weights of every linear map."""

    @property
    def config(self) -> ModelConfig:
        """What they share."""
        return share_config(self.lab, self.n_layers)

    @property
    def batch(self) -> Batch:
        """The tokens of the text, at most `LONGEST` a sentence."""
        return read_tokens(self.lab)

    @property
    def n_names(self) -> int:
        """How many tokens the loss chooses from."""
        return self.config.vocab_size or self.lab.tokenizer.vocab_size

    def flow(self, variant: Variant) -> Flow:
        """Return a variant's backward pass.

        Raises:
            TooLargeError: it has too many parameters, or too many layers for these tokens.
            InputError: a tokenizer has no word for the text, or the position table is too short.
        """
        return run_back(self.lab, variant, (self.n_layers,), self.scale)[0]

    def sweep(self, variant: Variant) -> Mapping[int, Flow]:
        """Return a variant's backward passes by number of layers; raises as `flow`."""
        depths = (*(depth for depth in SWEEP_DEPTHS if depth < self.n_layers), self.n_layers)
        return dict(zip(depths, run_back(self.lab, variant, depths, self.scale), strict=True))

    def norms(self, part: str) -> dict[str, Norms]:
        """Return a part's gradient norms by the encoder's name, of those that have it."""
        flows = {variant.name: self.flow(variant).gradients for variant in self.pair}
        return {name: gradients[part] for name, gradients in flows.items() if part in gradients}


def share_config(lab: Lab, n_layers: int) -> ModelConfig:
    """Return the architecture that the encoders of a lab share."""
    return common_config(replace(lab.config, vocab_size=lab.random_table_rows), n_layers)


def read_tokens(lab: Lab) -> Batch:
    """Return the tokens of a lab's text, at most `LONGEST` a sentence."""
    key = lab.text_key
    return read_text(lab.source, replace(key, max_tokens=min(key.max_tokens, LONGEST)))


@once
def run_back(lab: Lab, variant: Variant, depths: tuple[int, ...], scale: float) -> tuple[Flow, ...]:
    """Return a variant's backward pass at each number of layers, the largest last; raises as `Encoders.flow`."""
    config, batch, seed = share_config(lab, depths[-1]), read_tokens(lab), lab["seed"]
    ids = batch.ids[lab.sentence][batch.mask[lab.sentence]]
    lab.source.check(config, len(ids))
    encoder = with_variant(lab.source.encoder(RANDOM, config, seed), variant, scale)
    vectors, device = draw_vocabulary(lab.tokenizer, config, seed), next(encoder.parameters()).device
    vectors = None if vectors is None else vectors.to(device)
    back = partial(backward, encoder, ids.to(device), vectors=vectors, causal=lab["causal"])
    return tuple(back(n_layers=depth) for depth in depths)


def gradient_scene(view: LinkedView) -> Scene[Encoders]:
    """Return what a page looks at; nothing is computed before it is asked for."""
    values, lab = view.values, view.lab.without_changes
    pair = tuple(dict.fromkeys(BY_NAME[values[f"gradient_{which}"]] for which in ("first", "second")))
    return Scene(Encoders(lab, pair, values["gradient_layers"], values["gradient_scale"]))


def show_gradient_flow(scene: Scene[Encoders], options: Options) -> Iterator[Item]:
    """The page: the answer for each of two encoders, their gradients by layer, and the mathematics in a panel."""
    encoders, part = scene.now, options["gradient_of"]
    yield Paragraph("  \n".join(describe_way(encoders, variant, part) for variant in encoders.pair), "answer")
    yield gradients_by_layer(encoders, part)
    yield Paragraph(say("gradient_flow", "terms"), "caption")
    if cut := encoders.batch.truncated[encoders.lab.sentence]:
        yield Paragraph(say("gradient_flow", "cut", tokens=LONGEST, cut=cut), "info", ":material/content_cut:")
    scale = Control("gradient_scale", say("gradient_flow", "scale"), say("gradient_flow", "scale.help"))
    items: list[Item] = [
        Columns(((Control("gradient_of", say("gradient_flow", "part")),), (scale,)), shares=(2, 1)),
        Control("gradient_view", say("gradient_flow", "view")),
    ]
    if options["gradient_six"]:
        items += VIEWS[options["gradient_view"]](scene, options)
    yield Panel("gradient_six", say("gradient_flow", "closer"), tuple(items), icon=":material/functions:")


def describe_way(encoders: Encoders, variant: Variant, part: str) -> str:
    """Return what becomes of a part's gradient in an encoder."""
    case, numbers = find_way(encoders.flow(variant).gradients.get(part))
    name = upper_first(variant.name)
    if case in ("missing", "broken"):
        return say("gradient_flow", f"way-{case}", name=name)
    return say("gradient_flow", "way", case=case, name=name, part=part, layer=encoders.n_layers - 1, **numbers)


def find_way(norms: Norms | None) -> tuple[str, dict[str, float]]:
    """How a gradient's length changes from the last layer to the first: it `arrives`, `vanishes` or `explodes`.

    `broken` if it is 0 everywhere or leaves 32-bit floats, `missing` if there is no such part.
    """
    if norms is None:
        return "missing", {}
    if not np.isfinite(norms).all() or not norms[-1]:
        return "broken", {}
    ratio = float(norms[0] / norms[-1])
    case = "vanishes" if ratio < 1 / LIMIT else "explodes" if ratio > LIMIT else "arrives"
    return case, {"ratio": ratio}


def gradients_by_layer(encoders: Encoders, part: str) -> Curves[Encoders]:
    """The L2 norm of a part's gradient, layer by layer."""
    kind = "stream" if part == "stream" else "weights"
    title = "before layer" if part == "stream" else "layer"
    return Curves(
        key="gradient_by_layer",
        alt=say("gradient_flow", "by-layer.alt", part=part),
        caption=say("gradient_flow", f"by-layer-{kind}", part=part),
        curves=lambda encoders: [draw_line(name, norms) for name, norms in encoders.norms(part).items()],
        x=Axis(title),
        y=[figures.length_axis("length of the gradient")],
        height=320,
        table=lambda encoders: pd.DataFrame(encoders.norms(part)).rename_axis(title),
    )


def draw_line(name: str, norms: Norms, depths: tuple[int, ...] = ()) -> Curve:
    """A variant's line, with gaps where a logarithmic axis has no place for a number."""
    variant, x = BY_NAME[name], np.array(depths or range(len(norms)))
    shown = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan).astype(np.float32)
    return Curve(name, x, shown, COLOURS[variant.norm, variant.residual], dash=None if variant.residual else "dash")


def show_chain(scene: Scene[Encoders], options: Options) -> Iterator[Item]:
    """The stream's gradient as a product: its formula, and its factors in this run."""

    def list_factors(encoders: Encoders) -> pd.DataFrame:
        rows = {}
        for variant in encoders.pair:
            _, numbers = find_way(encoders.flow(variant).gradients["stream"])
            ratio = numbers.get("ratio", math.nan)
            factors = write_number(ratio ** (1 / encoders.n_layers), 4), write_number(ratio)
            rows[f"**{variant.name}**"] = f"${variant.factor}$", *factors
        return pd.DataFrame.from_dict(rows, orient="index", columns=["a sublayer f", "a layer on average", "all"])

    yield Formula(
        r"\frac{\partial \mathcal{L}}{\partial x_0} = \frac{\partial \mathcal{L}}{\partial x_L}"
        r"\prod_{l=L-1}^{0} \frac{\partial x_{l+1}}{\partial x_l}"
    )
    yield Table[Encoders](key="gradient_chain", frame=list_factors, is_markdown=True)
    yield Paragraph(say("gradient_flow", "chain", layers=scene.now.n_layers), "caption")


def show_sweep(scene: Scene[Encoders], options: Options) -> Iterator[Item]:
    """The first layer's gradient against the number of layers."""
    part = options["gradient_of"]

    def first_norms(encoders: Encoders) -> pd.DataFrame:
        swept = {variant.name: encoders.sweep(variant) for variant in encoders.pair}
        columns = {
            name: {depth: flow.gradients[part][0] for depth, flow in flows.items() if part in flow.gradients}
            for name, flows in swept.items()
        }
        return pd.DataFrame(columns).dropna(axis="columns", how="all").rename_axis("layers")

    def curves(encoders: Encoders) -> list[Curve]:
        table = first_norms(encoders)
        return [draw_line(str(name), table[name].to_numpy(), tuple(table.index)) for name in table]

    yield Curves(
        key="gradient_by_depth",
        alt=say("gradient_flow", "by-depth.alt"),
        caption=say("gradient_flow", "by-depth.caption", part=part, layers=scene.now.n_layers),
        curves=curves,
        x=Axis("layers of the encoder"),
        y=[figures.length_axis("length of the gradient")],
        height=320,
        table=first_norms,
    )


def show_loss(scene: Scene[Encoders], options: Options) -> Iterator[Item]:
    """The loss as a formula and in numbers, and what the encoders share."""
    encoders, config = scene.now, scene.now.config
    names = encoders.n_names
    yield Formula(r"\mathcal{L} = -\frac{1}{T} \sum_{t=0}^{T-1} \log\, \operatorname{softmax}(E\, h_t)_{w_{t+1}}")
    yield Paragraph(say("gradient_flow", "loss", names=names, guess=math.log(names)))
    losses = pd.DataFrame({"loss": {variant.name: encoders.flow(variant).loss for variant in encoders.pair}})
    yield Table[Encoders](key="gradient_losses", frame=lambda _: losses.rename_axis("encoder"))
    yield Paragraph(say("gradient_flow", "shared", norm=config.norm), "caption")


VIEWS: Mapping[str, Callable[[Scene[Encoders], Options], Iterator[Item]]] = {
    "chain rule": show_chain,
    "depth sweep": show_sweep,
    "loss": show_loss,
}
"""By the value of `gradient_view`."""

"""Where a model's parameters sit, what a sentence costs, and how large other models are: counted, never run."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from playground import accounting
from playground.accounting import LABELS, Count, Term, readable
from playground.accounting.readable import (
    ModelCosts,
    describe_costs,
    in_millions,
    sentence_costs,
    signed,
    substitute,
    times,
)
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Bars,
    Chart,
    Control,
    Curves,
    Group,
    Item,
    Metric,
    Options,
    Paragraph,
    Picture,
    Table,
    Widget,
    fill_panel,
)
from playground.charts.figure import Curve, Figure, Mark
from playground.charts.names import escape_markdown, text_width
from playground.charts.scene import Scene
from playground.config import ModelConfig, nearest_divisors
from playground.errors import PlaygroundError
from playground.language.family import is_shipped, shipped_specs, table
from playground.language.network import Spec
from playground.language.text import VOCABULARY
from playground.link.lab import Lab
from playground.link.opening import Focus, LinkedView
from playground.model import Encoder, EncoderDecoder
from playground.presets import PRESETS
from playground.text.wording import write_share
from playground.views.parts import name_spec
from playground.views.scenes import MOST_NAMED, list_differences, name_sides, without_changes
from playground.words import say

Costs = Scene[ModelCosts]

S = TypeVar("S")

COMPONENTS = {LABELS[name]: colour for name, colour in palette.COMPONENTS.items()}
"""What components are called, in the order of every page, and their colours."""

PARTS = {
    **dict.fromkeys(("tokens", "segments", "positions", "distances", "to d_model"), palette.EMBEDDINGS),
    **dict.fromkeys(("QKV", "O", "scores", "weighted sum"), palette.ATTENTION),
    **dict.fromkeys(("W₁", "W₂", "W₃"), palette.FEED_FORWARD),
    **dict.fromkeys(("embedding norm", "norm 1", "norm 2", "final norm"), palette.NORMS),
    **dict.fromkeys(("Q norm", "K norm", "norm 1 after", "norm 2 after"), palette.NORMS),
    "Q": palette.Q,
    "K": palette.K,
    "V": palette.V,
}
"""Colours of a component's parts."""


def model_costs(lab: Lab) -> ModelCosts | None:
    """What a model costs for its text; None where that cannot be read."""
    try:
        return sentence_costs(lab.config, lab.batch.ids.shape[1] if lab.text.sentences else None)
    except PlaygroundError:
        return None


def parameters_scene(view: LinkedView) -> Costs:
    """The model that the page counts; beside the view's own, the pinned one. Raises as the view's tokens."""
    name, n_tokens = view.values["parameters_model"], view.batch.ids.shape[1] if view.text else None
    config = view.config if name == "sidebar" else PRESETS[name].config
    focus = Focus(min(view.values["layer"], config.n_layers - 1), 0, 0, 0)
    now = sentence_costs(config, n_tokens, *(() if name == "sidebar" else (name,)))
    pinned = view.pinned and without_changes(view).pinned
    if pinned is None:
        return Scene(now, focus)
    names = name_sides(list_differences(pinned.lab.values, view.lab.values), MOST_NAMED)
    return Scene(now, focus, model_costs(pinned.lab) if name == "sidebar" else None, *names)


def count_built_parameters(config: ModelConfig, tgt_vocab_size: int | None = None) -> int:
    """Sum `numel()` over the parameters of an encoder, or of an encoder–decoder if it has a target.

    The model is built as shapes alone. A table of sines holds no parameters but would take its memory: it gets one row.
    """
    if config.positions != "learned":
        config = replace(config, max_len=1)
    model = Encoder(config, seed=None) if tgt_vocab_size is None else EncoderDecoder(config, tgt_vocab_size, seed=None)
    return sum(parameter.numel() for parameter in model.parameters())


def show_parameters(scene: Costs, options: Options) -> Iterator[Item]:
    """The page: where most parameters sit, then formulas, a sentence's costs and other models."""
    now, pinned = scene.now, scene.pinned
    yield Paragraph(say("parameters", "answer", **find_largest(now.parameters)), "answer")
    yield Widget("model_to_count")
    if pinned is not None:
        yield Paragraph(escape_markdown(describe_costs(pinned, now)))
    elif scene.pinned_name:
        yield Paragraph(say("parameters", "not-compared"), "caption")
    yield Control("parameters_view", say("parameters", "view"))
    yield BREAKDOWNS[options["parameters_view"]](scene, options["parameters_model"] == "sidebar")
    panels: tuple[tuple[str, str, Callable[[], Iterator[Item]]], ...] = (
        ("formulas", "functions", partial(show_formulas, scene)),
        ("costs", "timer", partial(show_costs, scene)),
        ("bought", "scatter_plot", partial(show_by_parameters, now.config)),
        ("models", "bar_chart", partial(compare_models, scene)),
    )
    for name, icon, show in panels:
        yield fill_panel(options, f"parameters_{name}", say("parameters", f"panel-{name}"), show, f":material/{icon}:")


def find_largest(count: Count) -> dict[str, Any]:
    """The number of parameters, and the two largest components with theirs."""
    sums = sum_by_component(count)
    first, second = sorted(sums, key=sums.__getitem__, reverse=True)[:2]
    sizes = {"first_size": in_millions(sums[first]), "second_size": in_millions(sums[second])}
    shares = {"first_share": sums[first] / count.total, "second_share": sums[second] / count.total}
    return {"total": f"{count.total:,}", "first": first, "second": second, **sizes, **shares}


def show_formulas(scene: Costs) -> Iterator[Item]:
    """Every part's formula, whether they add up to the `numel()` of the built model, and what heads cost."""
    config, total = scene.now.config, scene.now.parameters.total
    if (built := count_built_parameters(config)) == total:
        yield Paragraph(say("parameters", "checked", total=f"{total:,}"), "caption")
    else:
        yield Paragraph(say("parameters", "unequal", total=f"{total:,}", built=f"{built:,}"), "error")
    yield Table(
        key="parameter_formulas",
        frame=lambda costs: readable.breakdown_table(costs.parameters, costs.config),
        formats={"each": "localized", "total": "localized", "times": "× %d", "share, %": "%.2g"},
        fills={"share, %": 100},
        widths={"share, %": 100} | _fit_texts(readable.breakdown_table(scene.now.parameters, config)),
        shows_index=False,
        compares=False,
    )
    if config == PRESETS["minilm-l6"].config:
        pooler = config.d_model**2 + config.d_model
        numbers = {"all": in_millions(total + pooler), "pooler": f"{pooler:,}"}
        formula = substitute("d_model² + d_model", config)
        yield Paragraph(say("parameters", "pooler", formula=formula, **numbers), "caption")
    case, heads = find_head_costs(config)
    yield Paragraph(say("parameters", f"heads-{case}", **heads))


def find_head_costs(config: ModelConfig) -> tuple[str, dict[str, str]]:
    """Whether more heads cost parameters, and the counts for several numbers of heads."""
    n, d_model = config.n_heads, config.d_model
    choices = sorted({max(1, n // 2), n, 2 * n} if config.d_head else {n, *nearest_divisors(d_model, n)})
    counts = [accounting.count_parameters(replace(config, n_heads=each, n_kv_heads=0)).total for each in choices]
    numbers = {"heads": ", ".join(map(str, choices)), "counts": ", ".join(f"{count:,}" for count in counts)}
    case = "cost" if config.d_head else "free"
    return case, numbers | {"width": f"{config.head_width:,}", "model": f"{d_model:,}"}


def _fit_texts(table: pd.DataFrame) -> dict[str, int]:
    """Pixels of a table's columns of texts, so that none is cut; a table that gets too wide is scrolled."""
    return {
        str(name): round(0.9 * text_width([*table[name], str(name)])) + 16
        for name in table.select_dtypes(exclude="number")
    }


def show_components(scene: Costs, has_focus: bool) -> Chart[ModelCosts]:
    """A row a component."""
    return component_bars(
        "parameter_breakdown",
        lambda costs: costs.parameters,
        "parameters",
        caption=say("parameters", "components"),
        alt=_breakdown_alt(scene),
        reading=_describe_blocks,
        is_tabulated=False,
    )


def _breakdown_alt(scene: Costs) -> str:
    return say("parameters", "components.alt", components=list_components(scene.now.parameters))


MOST_LAYER_TICKS = 6
"""Layers that are named below their bars: a phone has no room for more."""

LEAST_DIVIDED = 0.08
"""Of the longest bar: what a bar has to reach so that its pieces have room for their names, and are drawn."""


def component_bars(
    key: str, count: Callable[[S], Count], unit: str, *, caption: str, alt: str, **options: Any
) -> Bars[S]:
    """A row a component, a piece a part, summed over the blocks; `unit` is what is counted, options are the chart's."""

    def bars(subject: S) -> Mapping[str, Mapping[str, float]]:
        whole = sum_by_component(count(subject))
        short = {name for name, n in whole.items() if n < LEAST_DIVIDED * max(whole.values())}

        def piece(term: Term) -> tuple[str, str]:
            component = LABELS[term.component]
            return (component if component in short else term.part, component)

        return {part: {component: n} for (part, component), n in count(subject).by(piece).items()}

    def notes(subject: S, pinned: S | None) -> Mapping[str, str]:
        sums, before = sum_by_component(count(subject)), {} if pinned is None else sum_by_component(count(pinned))
        shares = {name: write_share(sums.get(name, 0) / count(subject).total) for name in COMPONENTS}
        if pinned is None:
            return shares
        return {name: f"{share} · {signed(sums.get(name, 0) - before.get(name, 0))}" for name, share in shares.items()}

    return Bars(
        key=key,
        alt=alt,
        caption=caption,
        bars=bars,
        labels=Axis(""),
        value=_count_axis(unit),
        colours=PARTS | COMPONENTS,
        number=",",
        unit=unit,
        stacked=True,
        notes=notes,
        order=list(COMPONENTS).index,
        **options,
    )


def sum_by_component(count: Count) -> dict[str, int]:
    """What is counted, by the components' names."""
    return count.by(lambda term: LABELS[term.component])


def list_components(count: Count) -> str:
    """A count's components and their numbers, in words."""
    return ", ".join(f"{name} {n:,}" for name, n in sum_by_component(count).items())


def _count_axis(unit: str) -> Mapping[str, Any]:
    """An axis of billions of parameters, but of GFLOPs."""
    return {"title": unit, "exponentformat": "B" if unit == "parameters" else "SI", "nticks": 6}


def _describe_blocks(costs: ModelCosts) -> str:
    config = costs.config
    last = 0 if config.share_layers else config.n_layers - 1  # the first may lack a norm
    block = sum(term.count for term in costs.parameters if term.layer == last)
    blocks = 1 if config.share_layers else config.n_layers
    return say("parameters", "components.reading", blocks=blocks, size=f"{block:,}")


def show_layers(scene: Costs, has_focus: bool) -> Chart[ModelCosts]:
    """A bar a block, and one each for what stands before and after the blocks."""

    def bars(costs: ModelCosts) -> Mapping[str, Mapping[str, float]]:
        sums = costs.parameters.by(lambda term: (LABELS[term.component], _place(term)))
        places = dict.fromkeys(("embed", *(place for _, place in sums)))
        found = [name for name in COMPONENTS if any(component == name for component, _ in sums)]
        return {name: {place: sums.get((name, place), 0) for place in places} for name in found}

    n_layers = max(costs.config.n_layers for costs in (scene.now, scene.pinned) if costs is not None)
    step = figures.round_step(n_layers, MOST_LAYER_TICKS)
    ticks = ["embed", *map(str, range(step, n_layers, step))]
    return Bars(
        key="parameter_breakdown",
        alt=_breakdown_alt(scene),
        caption=say("parameters", "layers"),
        reading=_describe_blocks,
        bars=bars,
        labels=Axis(
            "layer",
            place="layer",
            numbers=lambda costs: [None, *range(costs.config.n_layers)],
            options={} if n_layers <= MOST_LAYER_TICKS else {"tickvals": ticks, "ticktext": ticks},
        ),
        value=_count_axis("parameters"),
        colours=COMPONENTS,
        number=",",
        unit="parameters",
        horizontal=False,
        stacked=True,
        order=lambda place: {"embed": -1, "final": math.inf}.get(place) or int(place),
        click=say("parameters", "layers.click") if has_focus else "",
        is_tabulated=False,
    )


def _place(term: Term) -> str:
    if term.layer is not None:
        return str(term.layer)
    return "final" if term.name == "final_norm" else "embed"


BREAKDOWNS: Mapping[str, Callable[[Costs, bool], Chart[ModelCosts]]] = {
    "components": show_components,
    "layers": show_layers,
}
"""By the value of `parameters_view`; whether the focus is one of the counted model's layers."""


def show_costs(scene: Costs) -> Iterator[Item]:
    """The work for one sentence, how it grows with the sentence's length, and the memory."""
    now = scene.now
    yield Group("", show_size(scene), is_row=True)
    yield component_bars(
        "flops_breakdown",
        lambda costs: costs.flops,
        "FLOPs",
        caption=say("parameters", "flops", tokens=now.n_tokens),
        alt=say("parameters", "flops.alt", components=list_components(now.flops)),
        table=lambda costs: readable.breakdown_table(costs.flops, costs.config, B=1, T=costs.n_tokens).set_index(
            "part"
        ),
    )
    yield _flops_by_length(now)
    memory = readable.memory_table(now.config, now.n_tokens)
    widths = _fit_texts(memory)
    yield Table(key="parameter_memory", frame=lambda _: memory, widths=widths, shows_index=False, compares=False)
    yield Paragraph(say("parameters", "memory"), "caption")


def show_size(scene: Costs) -> tuple[Metric, ...]:
    """The model's size, beside BERT base's, and the work for the sentence."""
    now, pinned = scene.now, scene.pinned
    total, flops = now.parameters.total, now.flops.total
    bert = accounting.count_parameters(PRESETS["bert-base"].config).total
    size = Metric(say("parameters", "size"), f"{total:,}", help=say("parameters", "size.help"))
    work = Metric(
        say("parameters", "work", tokens=now.n_tokens),
        readable.in_units(flops, "FLOPs"),
        help=say("parameters", "work.help"),
    )
    if pinned is not None:
        size = replace(size, change=f"{total - pinned.parameters.total:+,} since pinned")
        work = replace(work, change=f"{signed(flops - pinned.flops.total)}FLOPs since pinned")
    return size, Metric(say("parameters", "beside-bert"), times(total / bert)), work


def _flops_by_length(now: ModelCosts) -> Chart[ModelCosts]:
    overtakes = accounting.attention_overtakes(now.config)
    longest = max(256, 4 * (overtakes or 0), 4 * now.config.window)
    lengths = np.unique(np.geomspace(1, longest, 64).round().astype(int)).tolist()
    x = np.array(lengths, np.float64)

    def curves(costs: ModelCosts) -> list[Curve]:
        counts = accounting.flops_by_length(costs.config, lengths)
        hover = "%{y:.3s}FLOPs a token"
        return [
            Curve(LABELS[name], x, total / x, palette.COMPONENTS[name], hover=hover, marker=0)
            for name, total in counts.items()
        ]

    marks, told = [Mark(now.n_tokens, f"this sentence: {now.n_tokens:,}")], say("parameters", "by-length")
    if overtakes is not None:
        marks.append(Mark(overtakes, f"attention overtakes: {overtakes:,}", "dash"))
        told += f" {say('parameters', 'overtakes', tokens=overtakes)}"
    return Curves(
        key="flops_by_length",
        alt=say("parameters", "by-length.alt"),
        caption=told,
        curves=curves,
        x=Axis("length of the sentence T, in tokens", options={"type": "log", "exponentformat": "SI", "dtick": 1}),
        y=[lambda _: {"title": "FLOPs a token", "exponentformat": "SI", "nticks": 6, "rangemode": "tozero"}],
        marks=marks,
        height=340,
        table=lambda costs: pd.DataFrame(
            accounting.flops_by_length(costs.config, lengths), index=pd.Index(lengths, name="T")
        ),
    )


def compare_models(scene: Costs) -> Iterator[Item]:
    """Parameters of every preset, beside the model that is counted."""
    total = scene.now.parameters.total
    sizes = {scene.now.name: total}
    sizes |= {name: accounting.count_parameters(preset.config).total for name, preset in PRESETS.items()}
    sizes = dict(sorted(sizes.items(), key=lambda named: named[1]))
    rows = {f"{name} · {in_millions(size)} · {times(total / size)}": size for name, size in sizes.items()}
    yield Bars[ModelCosts](
        key="named_models",
        alt=say("parameters", "models.alt"),
        caption=say("parameters", "models", name=scene.now.name),
        bars=lambda _: {"parameters": rows},
        labels=Axis(""),
        value={"title": "parameters (log scale)", "type": "log", "exponentformat": "B", "dtick": 1},
        colours={"parameters": palette.ATTENTION},
        number=",",
        compares=False,
    )


def show_by_parameters(config: ModelConfig) -> Iterator[Item]:
    """A dot for each shipped encoder, parameters across, mean share right up; that of this architecture marked."""
    specs = [spec for spec in shipped_specs() if is_shipped(spec)]
    sizes = [accounting.count_parameters(spec.config).total for spec in specs]
    shares = [np.mean(list(table()[spec.key].shares.values())) for spec in specs]
    names = pd.Index(map(name_spec, specs), name="encoder")
    frame = pd.DataFrame({"parameters": sizes, "mean share right": shares}, names)
    chosen = name_spec(Spec(config)) if config.vocab_size == len(VOCABULARY) else ""
    yield Picture(
        key="capability_by_parameters",
        alt=say("parameters", "bought.alt"),
        caption=say("parameters", "bought", encoders=len(specs)),
        figure=lambda _: _draw_dots(frame, chosen),
        table=lambda _: frame,
        compares=False,
    )


def _draw_dots(frame: pd.DataFrame, chosen: str) -> Figure:
    colours = [palette.FOCUS if name == chosen else palette.ATTENTION for name in frame.index]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": frame["parameters"].to_numpy(),
        "y": frame["mean share right"].to_numpy(),
        "customdata": list(frame.index),
        "marker": {"size": 9, "color": colours},
        "hovertemplate": "%{customdata}<br>%{x:,} parameters, %{y:.2f} right<extra></extra>",
    }
    ticks = {"tickvals": [3_000, 10_000, 30_000, 100_000, 300_000], "tickformat": ","}
    x_axis = {"title": "parameters (log scale)", "type": "log", **ticks}
    return figures.style([dots], {"xaxis": x_axis, "yaxis": {"title": "mean share right"}}, height=380)

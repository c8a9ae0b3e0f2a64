"""The page Parameters: counted, never run."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground import accounting
from playground.accounting import LABELS, Count, Term, readable
from playground.accounting.readable import ModelCosts, describe_costs, in_millions, sentence_costs, signed
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Bars,
    Chart,
    Control,
    Curves,
    Item,
    Menu,
    Options,
    Paragraph,
    Picture,
    Table,
    fill_panel,
)
from playground.charts.figure import Curve
from playground.charts.names import escape_markdown
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.language.family import is_shipped, shipped_specs, table
from playground.language.network import Spec
from playground.language.text import VOCABULARY
from playground.link.lab import Lab
from playground.link.opening import Focus, LinkedView
from playground.presets import PRESETS
from playground.text.wording import write_share
from playground.views.parts import name_spec
from playground.views.scenes import MOST_NAMED, list_differences, name_sides, without_changes
from playground.words import say

Costs = Scene[ModelCosts]

COMPONENTS = {LABELS[name]: colour for name, colour in palette.COMPONENTS.items()}
"""Components' names and colours, in order."""

PARTS = {
    **dict.fromkeys(("tokens", "segments", "positions", "distances", "to d_model"), palette.EMBEDDINGS),
    **dict.fromkeys(("QKV", "Q, K", "O", "scores", "weighted sum"), palette.ATTENTION),
    **dict.fromkeys(("W₁", "W₂", "W₃"), palette.FEED_FORWARD),
    **dict.fromkeys(("embedding norm", "norm 1", "norm 2", "final norm"), palette.NORMS),
    **dict.fromkeys(("Q norm", "K norm", "norm 1 after", "norm 2 after"), palette.NORMS),
    "Q": palette.Q,
    "K": palette.K,
    "V": palette.V,
}
"""Colours of a component's parts."""


def _model_costs(lab: Lab) -> ModelCosts | None:
    """Return a model's costs; None if its text cannot be read."""
    try:
        return sentence_costs(lab.config, lab.batch.ids.shape[1] if lab.text.sentences else None)
    except PlaygroundError:
        return None


def parameters_scene(view: LinkedView) -> Costs:
    """Return the counted model and the pinned one; raises as the tokens."""
    name, n_tokens = view.values["parameters_model"], view.batch.ids.shape[1] if view.text else None
    config = view.config if name == "sidebar" else PRESETS[name].config
    focus = Focus(min(view.values["layer"], config.n_layers - 1), 0, 0, 0)
    now = sentence_costs(config, n_tokens)
    pinned = view.pinned and without_changes(view).pinned
    if pinned is None or name != "sidebar":
        return Scene(now, focus)
    names = name_sides(list_differences(pinned.lab.values, view.lab.values), MOST_NAMED)
    return Scene(now, focus, _model_costs(pinned.lab), *names)


def show_parameters(scene: Costs, options: Options) -> Iterator[Item]:
    """Yield the largest components, formulas, costs, what parameters buy."""
    now, pinned, model = scene.now, scene.pinned, options["parameters_model"]
    yield Paragraph(say("parameters", "answer", **find_largest(now.parameters)), "answer")
    names = {"sidebar": say("parameters", "choose.own")} | {name: name for name in PRESETS}
    yield Menu("parameters_model", say("parameters", "choose"), names, say("parameters", "choose.help"))
    if model in PRESETS:
        yield Paragraph(f"**{PRESETS[model].title}**: {say('parameters', f'source-{model}')}.", "caption")
    if pinned is not None:
        yield Paragraph(escape_markdown(describe_costs(pinned, now)))
    yield Control("parameters_view", say("parameters", "view"))
    yield _show_breakdown(scene, options)
    panels: tuple[tuple[str, str, Callable[[], Iterator[Item]]], ...] = (
        ("formulas", "functions", _show_formulas),
        ("costs", "timer", partial(_show_costs, scene)),
        ("bought", "scatter_plot", partial(show_by_parameters, now.config)),
    )
    for name, icon, show in panels:
        yield fill_panel(options, f"parameters_{name}", say("parameters", f"panel-{name}"), show, f":material/{icon}:")


def find_largest(count: Count) -> dict[str, Any]:
    """Return the total and the two largest components."""
    sums = _sum_by_component(count)
    first, second = sorted(sums, key=sums.__getitem__, reverse=True)[:2]
    sizes = {"first_size": in_millions(sums[first]), "second_size": in_millions(sums[second])}
    shares = {"first_share": sums[first] / count.total, "second_share": sums[second] / count.total}
    return {"total": f"{count.total:,}", "first": first, "second": second, **sizes, **shares}


def _show_formulas() -> Iterator[Item]:
    yield Table(
        key="parameter_formulas",
        frame=lambda costs: readable.breakdown_table(costs.parameters, costs.config),
        formats={"each": "localized", "total": "localized", "times": "× %d", "share, %": "%.2g"},
        fills={"share, %": 100},
        widths={"part": 140, "formula": 240, "with these numbers": 240, "share, %": 100},
        shows_index=False,
        compares=False,
    )


def _component_bars(count: Callable[[ModelCosts], Count], unit: str, **options: Any) -> Bars[ModelCosts]:
    """Return a row a component, a piece a part."""

    def bars(costs: ModelCosts) -> Mapping[str, Mapping[str, float]]:
        pieces = count(costs).by(lambda term: (LABELS[term.component], term.part))
        return {part: {name: pieces[name, part]} for name in COMPONENTS for of, part in pieces if of == name}

    def notes(costs: ModelCosts, pinned: ModelCosts | None) -> Mapping[str, str]:
        sums, before = _sum_by_component(count(costs)), {} if pinned is None else _sum_by_component(count(pinned))
        shares = {name: write_share(sums.get(name, 0) / count(costs).total) for name in COMPONENTS}
        if pinned is None:
            return shares
        return {name: f"{share} · {signed(sums.get(name, 0) - before.get(name, 0))}" for name, share in shares.items()}

    return Bars(
        bars=bars,
        labels=Axis(""),
        value=_count_axis(unit),
        colours=PARTS,
        number=",",
        unit=unit,
        stacked=True,
        notes=notes,
        **options,
    )


def _sum_by_component(count: Count) -> dict[str, int]:
    return count.by(lambda term: LABELS[term.component])


def _list_components(count: Count) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in _sum_by_component(count).items())


def _count_axis(unit: str) -> Mapping[str, Any]:
    return {"title": unit, "exponentformat": "B" if unit == "parameters" else "SI", "nticks": 6}


def _show_breakdown(scene: Costs, options: Options) -> Chart[ModelCosts]:

    def describe_blocks(costs: ModelCosts) -> str:
        config = costs.config
        last = 0 if config.share_layers else config.n_layers - 1  # the first may lack a norm
        block = sum(term.count for term in costs.parameters if term.layer == last)
        blocks = 1 if config.share_layers else config.n_layers
        return say("parameters", "components.reading", blocks=blocks, size=f"{block:,}")

    def bars(costs: ModelCosts) -> Mapping[str, Mapping[str, float]]:
        sums = costs.parameters.by(lambda term: (LABELS[term.component], _place(term)))
        places = dict.fromkeys(("embed", *(place for _, place in sums)))
        found = [name for name in COMPONENTS if any(component == name for component, _ in sums)]
        return {name: {place: sums.get((name, place), 0) for place in places} for name in found}

    shared: dict[str, Any] = {
        "key": "parameter_breakdown",
        "alt": say("parameters", "components.alt", components=_list_components(scene.now.parameters)),
        "reading": describe_blocks,
        "is_tabulated": False,
    }
    if options["parameters_view"] == "components":
        caption = say("parameters", "components")
        return _component_bars(lambda costs: costs.parameters, "parameters", caption=caption, **shared)
    return Bars(
        caption=say("parameters", "layers"),
        bars=bars,
        labels=Axis(
            "layer",
            place="layer",
            numbers=lambda costs: [None, *range(costs.config.n_layers)],
            options={"nticks": 6},  # a phone has no room for more
        ),
        value=_count_axis("parameters"),
        colours=COMPONENTS,
        number=",",
        unit="parameters",
        horizontal=False,
        stacked=True,
        compares=False,
        click=say("parameters", "layers.click") if options["parameters_model"] == "sidebar" else "",
        **shared,
    )


def _place(term: Term) -> str:
    if term.layer is not None:
        return str(term.layer)
    return "final" if term.name == "final_norm" else "embed"


def _show_costs(scene: Costs) -> Iterator[Item]:
    now = scene.now
    work = readable.in_units(now.flops.total, "FLOPs")

    def tabulate_work(costs: ModelCosts) -> pd.DataFrame:
        return readable.breakdown_table(costs.flops, costs.config, B=1, T=costs.n_tokens).set_index("part")

    yield _component_bars(
        lambda costs: costs.flops,
        "FLOPs",
        key="flops_breakdown",
        caption=say("parameters", "flops", tokens=now.n_tokens, work=work),
        alt=say("parameters", "flops.alt", components=_list_components(now.flops)),
        table=tabulate_work,
    )
    yield _flops_by_length(now)
    yield Table(
        key="parameter_memory",
        frame=lambda costs: readable.memory_table(costs.config, costs.n_tokens),
        shows_index=False,
        compares=False,
    )
    yield Paragraph(say("parameters", "memory"), "caption")


def _flops_by_length(now: ModelCosts) -> Chart[ModelCosts]:
    overtakes = accounting.attention_overtakes(now.config)
    longest = max(256, 4 * (overtakes or 0), 4 * now.config.window)
    lengths = np.unique(np.geomspace(1, longest, 64).round().astype(int)).tolist()
    marks = {f"this sentence: {now.n_tokens:,}": now.n_tokens}
    if overtakes is not None:
        marks[f"attention overtakes: {overtakes:,}"] = overtakes

    def curves(costs: ModelCosts) -> list[Curve]:
        x, hover = np.array(lengths, np.float64), "%{y:.3s}FLOPs a token"
        return [
            Curve(LABELS[name], x, total / x, palette.COMPONENTS[name], hover=hover, marker=0)
            for name, total in accounting.flops_by_length(costs.config, lengths).items()
        ]

    return Curves(
        key="flops_by_length",
        alt=say("parameters", "by-length.alt"),
        caption=say("parameters", "by-length"),
        curves=curves,
        x=Axis("length of the sentence T, in tokens", options={"type": "log", "exponentformat": "SI", "dtick": 1}),
        y=lambda _: {"title": "FLOPs a token", "exponentformat": "SI", "nticks": 6, "rangemode": "tozero"},
        marks=marks,
        height=340,
        table=lambda costs: pd.DataFrame(
            accounting.flops_by_length(costs.config, lengths), index=pd.Index(lengths, name="T")
        ),
    )


def show_by_parameters(config: ModelConfig) -> Iterator[Item]:
    """Yield a dot a shipped encoder."""
    specs = [spec for spec in shipped_specs() if is_shipped(spec)]
    sizes = [accounting.count_parameters(spec.config).total for spec in specs]
    shares = [np.mean(list(table()[spec.key].shares.values())) for spec in specs]
    names = pd.Index(map(name_spec, specs), name="encoder")
    frame = pd.DataFrame({"parameters": sizes, "mean share right": shares}, names)
    chosen = name_spec(Spec(config)) if config.vocab_size == len(VOCABULARY) else ""
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": frame["parameters"].to_numpy(),
        "y": frame["mean share right"].to_numpy(),
        "customdata": list(names),
        "marker": {"size": 9, "color": [palette.FOCUS if name == chosen else palette.ATTENTION for name in names]},
        "hovertemplate": "%{customdata}<br>%{x:,} parameters, %{y:.2f} right<extra></extra>",
    }
    ticks = {"tickvals": [3_000, 10_000, 30_000, 100_000, 300_000], "tickformat": ","}
    x_axis = {"title": "parameters (log scale)", "type": "log", **ticks}
    yield Picture(
        key="capability_by_parameters",
        alt=say("parameters", "bought.alt"),
        caption=say("parameters", "bought", encoders=len(specs)),
        figure=lambda _: figures.style([dots], {"xaxis": x_axis, "yaxis": {"title": "mean share right"}}, height=380),
        table=lambda _: frame,
        compares=False,
    )

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
from playground.accounting.counts import Component
from playground.accounting.readable import (
    ModelCosts,
    describe_costs,
    in_millions,
    listed,
    sentence_costs,
    share,
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
    Item,
    Metric,
    Metrics,
    Options,
    Paragraph,
    Picture,
    Table,
    Widget,
    fill_panel,
)
from playground.charts.figure import Curve, Figure, Mark
from playground.charts.markdown import escape_markdown
from playground.charts.names import label, text_width
from playground.charts.scene import Scene
from playground.config import ModelConfig, nearest_divisors
from playground.errors import PlaygroundError
from playground.link.lab import Lab
from playground.link.opening import Focus, LinkedView
from playground.model import Encoder, EncoderDecoder
from playground.presets import PRESETS
from playground.text.wording import count_noun
from playground.views.parameters_bought import show_by_parameters
from playground.views.scenes import MOST_NAMED, list_differences, name_sides, without_changes

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

COUNTED = dict.fromkeys(("each", "total", "pinned", "now", "now − pinned"), "localized")
"""Formats of counts in tables."""


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
    """The sum of `numel()` over the parameters of an encoder, or of an encoder–decoder where it has a target.

    The model is built as shapes alone. A table of sines holds no parameters but would take its memory: it gets one row.
    """
    if config.positions != "learned":
        config = replace(config, max_len=1)
    model = Encoder(config, seed=None) if tgt_vocab_size is None else EncoderDecoder(config, tgt_vocab_size, seed=None)
    return sum(parameter.numel() for parameter in model.parameters())


def show_parameters(scene: Costs, options: Options) -> Iterator[Item]:
    """The page: where most parameters sit, then formulas, a sentence's costs and other models."""
    now, pinned = scene.now, scene.pinned
    yield Paragraph(describe_parts(now), "answer")
    yield Widget("model_to_count")
    if pinned is not None:
        yield Paragraph(escape_markdown(describe_costs(pinned, now)))
    elif scene.pinned_name:
        yield Paragraph("What is pinned is compared with the sidebar's model alone.", "caption")
    yield Control("parameters_view", "Show as")
    yield BREAKDOWNS[options["parameters_view"]](scene, options["parameters_model"] == "sidebar")
    for key, title, icon, show in (
        (
            "parameters_formulas",
            "Every formula with its numbers",
            "functions",
            partial(show_formulas, scene),
        ),
        ("parameters_costs", "What a sentence costs", "timer", partial(show_costs, scene)),
        ("parameters_bought", "What parameters buy", "scatter_plot", lambda: [show_by_parameters(now.config)]),
        ("parameters_models", "How large other models are", "bar_chart", partial(compare_models, scene)),
    ):
        yield fill_panel(options, key, title, show, f":material/{icon}:")


COMPONENT_NAMES: Mapping[Component, str] = {
    "embeddings": "the embeddings",
    "attention": "attention",
    "feed_forward": "the feed-forward networks",
    "norms": "the norms",
}


def describe_parts(costs: ModelCosts) -> str:
    """The model's size and its two largest components, in one sentence."""
    sums, total = costs.parameters.by(lambda term: term.component), costs.parameters.total
    largest = sorted(sums, key=sums.__getitem__, reverse=True)[:2]
    first, second = (f"**{in_millions(sums[component])}** ({share(sums[component], total)})" for component in largest)
    told = f"Of {total:,} parameters, {first} sit in {COMPONENT_NAMES[largest[0]]} and {second} in "
    told += f"{COMPONENT_NAMES[largest[1]]}."
    tokens = costs.parameters.by(lambda term: term.part).get("tokens", 0)
    if "embeddings" in largest and tokens:
        told += " Embeddings hold the *token table*: a vector for each token that the model knows."
    return told


def show_formulas(scene: Costs) -> Iterator[Item]:
    """Every part's formula, whether they add up to the `numel()` of the built model, and what heads cost."""
    now, pinned = scene.now, scene.pinned
    config, total = now.config, now.parameters.total
    n_built = count_built_parameters(config)
    if n_built != total:
        yield Paragraph(
            f"The formulas add up to {total:,} parameters, but the built model holds {n_built:,}: please report it.",
            "error",
        )
    else:
        yield Paragraph(f"✓ The formulas add up to {total:,}, and so does the built model's `numel()`.", "caption")
    yield Table(
        key="parameter_formulas",
        frame=lambda costs: readable.breakdown_table(costs.parameters, costs.config),
        formats=COUNTED | {"times": "× %d", "share, %": "%.2g"},
        fills={"share, %": 100},
        widths={"share, %": 100} | _fit_texts(readable.breakdown_table(now.parameters, config)),
        shows_index=False,
        compares=False,
    )
    if pinned is not None:
        yield Table(
            key="parameter_differences",
            frame=lambda costs: readable.component_table(costs.parameters),
            formats=COUNTED,
        )
    if not config.vocab_size:
        yield Paragraph(
            "This model has no token table. It takes raw vectors, which are input: no parameters.", "caption"
        )
    if config == PRESETS["minilm-l6"].config:
        pooler = config.d_model**2 + config.d_model
        yield Paragraph(
            f"Why do others write {in_millions(total + pooler)}? They count the pooler, a layer on top that no page "
            f"here needs: d_model² + d_model = {substitute('d_model² + d_model', config)} = {pooler:,}.",
            "caption",
        )
    yield explain_heads(config)


def _fit_texts(table: pd.DataFrame) -> dict[str, int]:
    """Pixels of a table's columns of texts, so that none is cut; a table that gets too wide is scrolled."""
    return {
        str(name): round(0.9 * text_width([*table[name], str(name)])) + 16
        for name in table.select_dtypes(exclude="number")
    }


def show_size(scene: Costs) -> Metrics:
    """The model's size, beside BERT base's, and the work for the sentence."""
    now, pinned = scene.now, scene.pinned
    total, n_tokens = now.parameters.total, now.n_tokens
    bert = accounting.count_parameters(PRESETS["bert-base"].config).total
    size = Metric("Parameters", f"{total:,}", help="The numbers that training adjusts.")
    work = Metric(
        f"Forward pass, {n_tokens} token{'' if n_tokens == 1 else 's'}",
        readable.in_units(now.flops.total, "FLOPs"),
        help="FLOPs are floating-point operations, a multiplication or an addition each: those of matrix products. "
        "Norms, softmax and the like are left out.",
    )
    if pinned is not None:
        size = replace(size, change=f"{total - pinned.parameters.total:+,} since pinned")
        work = replace(work, change=f"{signed(now.flops.total - pinned.flops.total)}FLOPs since pinned")
    return Metrics((size, Metric("Compared with BERT base", times(total / bert)), work))


def show_components(scene: Costs, has_focus: bool) -> Chart[ModelCosts]:
    """A row a component."""
    return component_bars(
        "parameter_breakdown",
        lambda costs: costs.parameters,
        "parameters",
        caption="A *parameter* is a number that training adjusts. Each bar is a component, summed over all layers; its "
        "pieces are weights with their biases. *Q, K, V*: the maps to queries, keys and values. *O*: the map behind "
        "the heads. *W₁, W₂*: the maps of the feed-forward network, to its hidden numbers and back.",
        alt=f"Parameters by component: {list_components(scene.now.parameters)}.",
        reading=_describe_largest,
        is_tabulated=False,
    )


LEAST_DIVIDED = 0.08
"""Of the longest bar: what a bar has to reach so that its pieces have room for their names, and are drawn."""


def component_bars(
    key: str, count: Callable[[S], Count], unit: str, *, caption: str, alt: str, **options: Any
) -> Bars[S]:
    """A row a component, a piece a part, summed over the blocks; `unit` is what is counted, options are the chart's."""

    def bars(subject: S) -> Mapping[str, Mapping[str, float]]:
        whole = sum_by_component(count(subject))
        short = {name for name, n in whole.items() if n < LEAST_DIVIDED * max(whole.values())}
        sums = count(subject).by(
            lambda term: (
                LABELS[term.component] if LABELS[term.component] in short else term.part,
                LABELS[term.component],
            )
        )
        return {part: {component: n} for (part, component), n in sums.items()}

    def notes(subject: S, pinned: S | None) -> Mapping[str, str]:
        sums, total = sum_by_component(count(subject)), count(subject).total
        if pinned is None:
            return {name: share(sums.get(name, 0), total) for name in COMPONENTS}
        before = sum_by_component(count(pinned))
        return {
            name: f"{share(sums.get(name, 0), total)} · {signed(sums.get(name, 0) - before.get(name, 0))}"
            for name in COMPONENTS
        }

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
    return listed(sum_by_component(count).items())


def _count_axis(unit: str) -> Mapping[str, Any]:
    """An axis of billions of parameters, but of GFLOPs."""
    return {"title": unit, "exponentformat": "B" if unit == "parameters" else "SI", "nticks": 6}


def _describe_largest(costs: ModelCosts) -> str:
    sums = sum_by_component(costs.parameters)
    largest = max(sums, key=sums.__getitem__)
    config, told = costs.config, f"The largest share: {largest}, {share(sums[largest], costs.parameters.total)}."
    last = 0 if config.share_layers else config.n_layers - 1
    block = sum(term.count for term in costs.parameters if term.layer == last)
    if config.share_layers:
        return f"{told} One block for {count_noun(config.n_layers, 'layer')}: {block:,} parameters."
    first = "; the first lacks a norm" if config.has_norm1(last) and not config.has_norm1(0) else ""
    return f"{told} Blocks: {config.n_layers} × {block:,} parameters{first}."


def show_layers(scene: Costs, has_focus: bool) -> Chart[ModelCosts]:
    """A bar a block, and one each for what stands before and after the blocks."""

    def bars(costs: ModelCosts) -> Mapping[str, Mapping[str, float]]:
        sums = costs.parameters.by(lambda term: (LABELS[term.component], _place(term)))
        places = dict.fromkeys(("embed", *(place for _, place in sums)))
        found = {component for component, _ in sums}
        return {
            component: {place: sums.get((component, place), 0) for place in places}
            for component in COMPONENTS
            if component in found
        }

    frame = f" The frame marks layer {scene.focus.layer}, which every page looks at; click another block to choose it."
    sides = [scene.now] if scene.pinned is None else [scene.now, scene.pinned]
    has_final = any(_place(term) == "final" for costs in sides for term in costs.parameters)
    return Bars(
        key="parameter_breakdown",
        alt=f"Parameters by component: {list_components(scene.now.parameters)}.",
        caption="Each numbered bar is a block; *embed* stands for what comes before the blocks"
        f"{', *final* for the norm that comes after' * has_final}.",
        reading=lambda costs: f"{_describe_largest(costs)}{frame * has_focus}",
        bars=bars,
        labels=Axis(
            "layer",
            place="layer",
            numbers=lambda costs: [None, *range(costs.config.n_layers)],
            options=_layer_ticks(max(costs.config.n_layers for costs in sides), has_final=has_final),
        ),
        value=_count_axis("parameters"),
        colours=COMPONENTS,
        number=",",
        unit="parameters",
        horizontal=False,
        stacked=True,
        order=lambda place: {"embed": -1, "final": math.inf}.get(place) or int(place),
        click="The chosen layer. Arrow keys choose its neighbours." if has_focus else "",
        is_tabulated=False,
    )


_MOST_LAYER_TICKS = 6
"""Layers that are named below their bars: on a phone no more have room beside `embed` and `final`."""


def _layer_ticks(n_layers: int, *, has_final: bool) -> dict[str, Any]:
    """Every bar's name; of many layers round numbers alone, and none of them near the names at both ends."""
    if n_layers <= _MOST_LAYER_TICKS:
        return {}
    step = figures.round_step(n_layers, _MOST_LAYER_TICKS)
    ticks = ["embed", *map(str, range(step, n_layers - step // 2, step)), *["final"] * has_final]
    return {"tickvals": ticks, "ticktext": ticks}


def _place(term: Term) -> str:
    if term.layer is not None:
        return str(term.layer)
    return "final" if term.name == "final_norm" else "embed"


def show_treemap(scene: Costs, has_focus: bool) -> Chart[ModelCosts]:
    """Areas: the model, its components, their parts, and each part's layers."""
    points = " Points are percentage points: how much larger a share is than the pinned model's."
    return Picture(
        key="parameter_breakdown",
        alt=f"Parameters by component: {list_components(scene.now.parameters)}.",
        caption="Areas are numbers of parameters. Click a part to see its layers, and the line above it to go back."
        f"{points * (scene.pinned is not None)}",
        reading=lambda costs: (
            f"The areas are shares of {in_millions(costs.parameters.total)} parameters. {_describe_largest(costs)}"
        ),
        figure=lambda costs: _treemap(
            costs.parameters, scene.pinned.parameters if scene.pinned is not None and costs is scene.now else None
        ),
    )


def _treemap(count: Count, pinned: Count | None) -> Figure:
    """Areas by size; beside another model's count, each names the change of its share, in percentage points."""
    areas = _sum_paths(count)
    text: dict[str, Any] = {"texttemplate": "%{label}<br>%{percentRoot:.1%}"}
    if pinned is not None:
        before = _sum_paths(pinned)
        points = [n / count.total - before.get(path, 0) / pinned.total for path, n in areas.items()]
        text = {
            "text": [f"{100 * point:+.1f} points" for point in points],
            "texttemplate": f"{text['texttemplate']}<br>%{{text}}",
        }
    colours = {"model": palette.MUTED, **COMPONENTS, **PARTS}
    tree = {
        "type": "treemap",
        "ids": ["/".join(path) for path in areas],
        "labels": [path[-1] for path in areas],
        "parents": ["/".join(path[:-1]) for path in areas],
        "values": np.array(list(areas.values()), np.float64),
        "branchvalues": "total",
        "maxdepth": 3,
        "marker": {"colors": [colours[path[:3][-1]] for path in areas]},
        "tiling": {"pad": 2},
        "hovertemplate": "%{label}<br>%{value:,} parameters, %{percentRoot:.2%} of the model<extra></extra>",
    }
    return figures.style([tree | text], {}, height=380)


def _sum_paths(count: Count) -> dict[tuple[str, ...], int]:
    """Numbers of the model, its components, their parts, and each part's layers, by the names that lead there."""
    sums: dict[tuple[str, ...], int] = {}
    for term in count:
        layer = () if term.layer is None else (f"layer {term.layer}",)
        path = ("model", LABELS[term.component], term.part, *layer)
        for depth in range(1, len(path) + 1):
            sums[path[:depth]] = sums.get(path[:depth], 0) + term.count
    return sums


BREAKDOWNS: Mapping[str, Callable[[Costs, bool], Chart[ModelCosts]]] = {
    "components": show_components,
    "treemap": show_treemap,
    "layers": show_layers,
}
"""By the value of `parameters_view`; whether the focus is one of the counted model's layers."""


def explain_heads(config: ModelConfig) -> Paragraph:
    """What n_heads does to the count, with counts for several n_heads."""
    d, h, width = config.d_model, config.n_heads, config.head_width
    question = "**Do more heads cost parameters?**"
    if config.kv_heads < h:
        return Paragraph(f"{question} {_explain_grouping(config)}")
    choices = sorted({max(1, h // 2), h, 2 * h} if config.d_head else {h, *nearest_divisors(d, h)})
    counts = [accounting.count_parameters(replace(config, n_heads=n, n_kv_heads=0)).total for n in choices]
    counted = (
        f"With {', '.join(map(str, choices))} heads, the model has {', '.join(f'{n:,}' for n in counts)} parameters"
    )
    if config.d_head:
        return Paragraph(
            f"{question} Here they do: each is d_head = {width:,} features wide, however many there are. So each of "
            f"the weights Q, K, V and O (query, key, value and output) has {d:,} × n_heads · d_head = {d:,} × "
            f"{h * width:,} numbers. {counted}."
        )
    return Paragraph(
        f"{question} Not in Q, K, V and O (query, key, value and output). A head works on d_head = d_model / n_heads "
        f"= {d:,} / {h} = {width:,} features. All heads "
        f"together are n_heads · d_head = {h} · {width:,} = {d:,} features wide: n_heads cancels. So these "
        f"weights stay {d:,} × {d:,}. {counted}."
    )


def _explain_grouping(config: ModelConfig) -> str:
    """What sharing heads of keys and values saves."""
    h, groups, whole = config.n_heads, config.kv_heads, replace(config, n_kv_heads=0)
    saved = accounting.count_parameters(whole).total - accounting.count_parameters(config).total
    return (
        f"Heads of keys and values do. There are only {groups} here, each read by {h // groups} of the {h} heads of "
        f"queries (*grouped queries*). With {h} of them, the model would have {saved:,} parameters more, and the keys "
        f"and values of a sentence would take {h // groups} times the memory."
    )


def show_costs(scene: Costs) -> Iterator[Item]:
    """The work for one sentence, how it grows with the sentence's length, and the memory."""
    now = scene.now
    sums = now.flops.by(lambda term: term.component)
    yield show_size(scene)
    yield component_bars(
        "flops_breakdown",
        lambda costs: costs.flops,
        "FLOPs",
        caption=f"The matrix products of one pass over T = {now.n_tokens} tokens ({now.length_from}); a multiply-add "
        "is 2 FLOPs. Scores and weighted sum grow with the pairs of tokens (T², fewer in a window), everything else "
        "with T. The feed-forward takes "
        f"{times(sums['feed_forward'] / sums['attention'])} the work of attention.",
        alt=f"FLOPs by component: {list_components(now.flops)}.",
        table=lambda costs: readable.breakdown_table(costs.flops, costs.config, B=1, T=costs.n_tokens).set_index(
            "part"
        ),
    )
    yield _flops_by_length(now)
    memory = readable.memory_table(now.config, now.n_tokens)
    widths = _fit_texts(memory)
    yield Table(key="parameter_memory", frame=lambda _: memory, widths=widths, shows_index=False, compares=False)
    yield Paragraph(
        "Training with Adam holds 4 bytes a weight, 4 a gradient, and 8 for Adam's two running means, the *moments*.",
        "caption",
    )


def _flops_by_length(now: ModelCosts) -> Chart[ModelCosts]:
    config, overtakes = now.config, accounting.attention_overtakes(now.config)
    where = (
        "at every length" if overtakes == 1 else "at no length" if overtakes is None else f"from T = {overtakes:,} on"
    )
    longest = max(256, 4 * (overtakes or config.window))
    lengths = np.unique(np.geomspace(1, longest, 64).round().astype(int)).tolist()
    x = np.array(lengths, np.float64)

    def curves(costs: ModelCosts) -> list[Curve]:
        return [
            Curve(
                LABELS[component], x, total / x, palette.COMPONENTS[component],
                hover="%{y:.3s}FLOPs a token", marker=0,
            )
            for component, total in accounting.flops_by_length(costs.config, lengths).items()
        ]  # fmt: skip

    length = "3 · d_ff / 2 − 2 · d_model" if config.gated else "d_ff − 2 · d_model"
    has_formula = not (config.d_head or config.window or config.kv_heads < config.n_heads)
    above = f"above {length} = {substitute(length, config)} = {(overtakes or 1) - 1:,} tokens: " if has_formula else ""
    return Curves(
        key="flops_by_length",
        alt=f"FLOPs a token by length; attention costs more than the feed-forward {where}.",
        caption="How does the work for one token grow with the sentence? The feed-forward's stays the same. "
        "Attention's rises with the number of tokens that each token meets. "
        f"Attention costs more {above}{where}.",
        curves=curves,
        x=Axis("length of the sentence T, in tokens", options={"type": "log", "exponentformat": "SI", "dtick": 1}),
        y=[lambda _: {"title": "FLOPs a token", "exponentformat": "SI", "nticks": 6, "rangemode": "tozero"}],
        marks=(
            Mark(now.n_tokens, f"this sentence: {now.n_tokens:,}"),
            *([] if overtakes is None else [Mark(overtakes, f"attention overtakes: {overtakes:,}", "dash")]),
        ),
        height=340,
        table=lambda costs: pd.DataFrame(
            accounting.flops_by_length(costs.config, lengths), index=pd.Index(lengths, name="T")
        ),
    )


def compare_models(scene: Costs) -> Iterator[Item]:
    """Parameters of every preset, beside the model that is counted."""
    now, pinned = scene.now, scene.pinned
    models = {now.name: now.parameters}
    models |= {name: accounting.count_parameters(preset.config) for name, preset in PRESETS.items()}
    if pinned is not None:
        models[scene.pinned_name] = pinned.parameters
    sizes = {name: count.total for name, count in models.items()}
    ratios = {name: sizes[now.name] / size for name, size in sizes.items()}
    compared = f"{escape_markdown(scene.pinned_name)}: {times(ratios[scene.pinned_name])}. " if pinned else ""
    table = pd.DataFrame({"parameters": sizes, "this one over it": ratios})
    yield Picture(
        key="named_models",
        alt=f"Parameters of named models: {listed(sizes.items())}.",
        caption="Each bar is a whole model, the smallest on top. Beside it stand its size and how many times as large "
        f"{now.name} is. {compared}BERT base: {times(ratios['bert-base'])}. GPT-3: {times(ratios['gpt-3'])}. "
        "GPT-2's and GPT-3's blocks are counted as an encoder's; poolers are left out.",
        figure=lambda _: _model_shares(models, now.name, scene.pinned_name if pinned else ""),
        table=lambda _: table,
        compares=False,
    )


def _model_shares(counts: Mapping[str, Count], this: str, pinned: str) -> Figure:
    """Each model's shares, the smallest model on top; beside each its size, and the model `this` over it.

    `this` and `pinned`, a name of the pinned settings that a stranger may have typed into, are bold.
    """
    by_size = sorted(counts, key=lambda name: counts[name].total)
    rows = [f"<b>{label(name, 26)}</b>" if name in (this, pinned) else name for name in by_size]
    sums = [sum_by_component(counts[name]) for name in by_size]
    totals = np.array([counts[name].total for name in by_size], np.float64)
    bars = []
    for component, colour in COMPONENTS.items():
        n = np.array([each.get(component, 0) for each in sums], np.float64)
        hover = f"%{{y}}<br>{component}: %{{x:.1%}}, %{{customdata:,}} parameters<extra></extra>"
        bars.append(
            {"type": "bar", "x": n / totals, "y": rows, "orientation": "h", "name": component, "customdata": n,
             "marker": {"color": colour}, "hovertemplate": hover}
        )  # fmt: skip
    sizes = []
    for name, row in zip(by_size, rows, strict=True):
        size, ratio = in_millions(counts[name].total), times(counts[this].total / counts[name].total)
        text = f"<b>{size}</b>" if name == this else f"{size} · {ratio}"
        sizes.append({"x": 1.02, "y": row, "text": text, "xanchor": "left", "showarrow": False})
    share_axis = {"title": "share of the parameters", "tickformat": ".0%", "tickvals": [0, 0.5, 1], "range": [0, 1.5]}
    layout = {"barmode": "stack", "bargap": 0.25, "annotations": sizes, "xaxis": share_axis,
              "yaxis": {"autorange": "reversed", "showgrid": False}}  # fmt: skip
    return figures.style(bars, layout, height=90 + 26 * len(rows), legend=True)

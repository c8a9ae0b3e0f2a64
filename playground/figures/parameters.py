"""Where parameters sit and what a sentence costs: bars, treemap, layers, cost by length, named models."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from playground.accounting import LABELS, Component, Count, Term
from playground.accounting.readable import in_millions, share, signed, times
from playground.figures import palette, theme

_PARTS = {"Q": palette.Q, "K": palette.K, "V": palette.V}
_EDGE = {"width": 1, "color": "rgba(255, 255, 255, 0.55)"}
_ROWS = {"autorange": "reversed", "showgrid": False}


def breakdown_bar(count: Count, unit: str, pinned: Count | None = None) -> go.Figure:
    """One bar a component, one piece a part, summed over the blocks; `unit` is what is counted.

    Beside another model's count, that one's bar is below each component's own, paler; the difference is by the name.
    """
    sums = count.by(lambda term: term.component)
    before = pinned.by(lambda term: term.component) if pinned is not None else {}
    rows, ghosts = {}, {}
    for name, title in _labels(Count((*count, *(pinned or ())))).items():
        n, m = sums.get(name, 0), before.get(name, 0)
        change = f" · {signed(n - m)}" if pinned is not None else ""
        rows[name] = f"{title}<br>{share(n, count.total)}{change}"
        if pinned is not None:
            ghosts[name] = f"{title}, pinned<br>{share(m, pinned.total)}"
    pieces = _pieces(count, unit, rows)
    if pinned is not None:
        pieces += [piece.update(opacity=theme.PALE, text=None) for piece in _pieces(pinned, unit, ghosts)]
    order = [row for name in rows for row in (rows[name], *([ghosts[name]] if ghosts else []))]
    y_axis = {"categoryorder": "array", "categoryarray": order, **_ROWS}
    text = {"minsize": 10, "mode": "hide"}
    return _stack(pieces, _count_axis(unit), y_axis, height=70 + 44 * len(order), uniformtext=text)


def _pieces(count: Count, unit: str, rows: Mapping[Component, str]) -> list[go.Bar]:
    """The parts of each component, one after the other in its row."""
    return [
        go.Bar(
            x=np.array([n], np.float64),
            y=[rows[component]],
            orientation="h",
            name=part,
            text=[part],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            marker={"color": _colour(component, part), "line": _EDGE},
            hovertemplate=f"{LABELS[component]}, {part}<br>{n:,} {unit}, {share(n, count.total)}<extra></extra>",
        )
        for (component, part), n in count.by(_part).items()
    ]


def breakdown_treemap(count: Count, unit: str, pinned: Count | None = None) -> go.Figure:
    """Areas: the model, its components, their parts, and each part's layers.

    Beside another model's count, each area names the change of its share, in percentage points.
    """
    nodes = {"model": ("model", "", count.total, palette.MUTED)}  # by id: label, the parent's id, count, colour
    for name, n in count.by(lambda term: term.component).items():
        nodes[name] = (LABELS[name], "model", n, palette.COMPONENTS[name])
    for (component, part), n in count.by(_part).items():
        nodes[f"{component}/{part}"] = (part, component, n, _colour(component, part))
    for term in count:
        if term.layer is not None:
            parent = f"{term.component}/{term.part}"
            nodes[term.name] = (f"layer {term.layer}", parent, term.count, nodes[parent][3])
    labels, parents, sizes, colours = zip(*nodes.values(), strict=True)
    changes: dict[str, Any] = {}
    if pinned is not None:
        before = {"model": pinned.total, **pinned.by(lambda term: term.name)}
        before |= pinned.by(lambda term: "/".join(_part(term))) | pinned.by(lambda term: str(term.component))
        points = [n / count.total - before.get(node, 0) / pinned.total for node, (_, _, n, _) in nodes.items()]
        texts = [f"{100 * point:+.1f} points" for point in points]
        changes = {"text": texts, "textinfo": "label+percent root+text"}
    figure = go.Figure(
        go.Treemap(
            ids=list(nodes),
            labels=labels,
            parents=parents,
            values=np.array(sizes, np.float64),
            branchvalues="total",
            maxdepth=3,
            marker={"colors": colours},
            tiling={"pad": 2},
            hovertemplate=f"%{{label}}<br>%{{value:,}} {unit}, %{{percentRoot:.2%}} of the model<extra></extra>",
            **{"textinfo": "label+percent root"} | changes,
        )
    )
    return theme.style(figure, height=380)


def breakdown_layers(count: Count, unit: str, pinned: Count | None = None) -> go.Figure:
    """One bar a block, and one each for what stands before and after the blocks.

    Beside another model's count, a ring stands at the height of each of that one's bars.
    """
    by_row = count.by(lambda term: (term.component, _row(term)))
    blocks = dict.fromkeys(str(term.layer) for term in (*count, *(pinned or ())) if term.layer is not None)
    bars: list[go.Bar | go.Scatter] = []
    for component, label in _labels(count).items():
        sums = {row: n for (owner, row), n in by_row.items() if owner == component}
        colour, hover = palette.COMPONENTS[component], f"%{{x}}<br>{label}: %{{y:,}} {unit}<extra></extra>"
        values = np.array(list(sums.values()), np.float64)
        bars.append(go.Bar(x=list(sums), y=values, name=label, marker={"color": colour}, hovertemplate=hover))
    if pinned is not None:
        heights = pinned.by(_row)
        rings = theme.line(
            np.array(list(heights)),
            np.array(list(heights.values()), np.float64),
            palette.RESIDUAL,
            f"%{{x}}<br>pinned: %{{y:,}} {unit}<extra></extra>",
            marker=9,
            symbol="circle-open",
            mode="markers",
            name="pinned, whole bars",
        )
        bars.append(rings)
    rows = {"categoryorder": "array", "categoryarray": ["embed", *blocks, "final"]}
    x_axis = {"title": "layer", "type": "category", "tickangle": 0, "showgrid": False, **rows}
    return _stack(bars, x_axis, _count_axis(unit), height=340, legend=True)


def flops_by_length(
    lengths: list[int],
    flops: Mapping[Component, list[int]],
    n_tokens: int,
    overtakes: int,
    pinned: Mapping[Component, list[int]] | None = None,
) -> go.Figure:
    """FLOPs a token by component against the sentence's length.

    Args:
        lengths: of sentences, in tokens.
        flops: of a whole sentence, by component, one for each length.
        n_tokens: this sentence's length, which is marked.
        overtakes: the first length at which attention costs more, marked too.
        pinned: another model's FLOPs, as `flops`: dotted lines.
    """
    x, curves = np.array(lengths, np.float64), []
    for component, costs in flops.items():
        label = LABELS[component]
        hover = f"{label}<br>%{{x:,}} tokens: %{{y:.3s}}FLOPs a token<extra></extra>"
        curves.append(theme.line(x, costs / x, palette.COMPONENTS[component], hover, name=label, width=2.5))
    for component, costs in (pinned or {}).items():
        name = f"{LABELS[component]}, pinned"
        hover = f"{name}<br>%{{x:,}} tokens: %{{y:.3s}}FLOPs a token<extra></extra>"
        curves.append(theme.line(x, costs / x, palette.COMPONENTS[component], hover, dash="dot", width=1.5, name=name))
    x_axis = {"title": "length of the sentence T, in tokens", "type": "log", "exponentformat": "SI", "dtick": 1}
    y_axis = {"title": "FLOPs a token", "exponentformat": "SI", "nticks": 6, "rangemode": "tozero"}
    figure = theme.draw_figure(curves, height=340, x_axis=x_axis, y_axis=y_axis, legend=True)
    middle = np.sqrt(lengths[0] * lengths[-1])
    for length, name, dash, y in (
        (n_tokens, "this sentence", "dot", 0.9),
        (overtakes, "attention overtakes", "dash", 1),
    ):
        figure.add_vline(length, line={"color": palette.RESIDUAL, "width": 1.5, "dash": dash})
        figure.add_annotation(
            x=np.log10(length),
            y=y,
            yref="paper",
            xanchor="left" if length < middle else "right",
            yanchor="top",
            text=f"{name}: {length:,}",
            showarrow=False,
        )
    return figure


def named_models(counts: Mapping[str, Count], this: str, pinned: str = "") -> go.Figure:
    """Each model's shares, the smallest model on top; beside each its size, and the model `this` over it.

    `this` and `pinned`, a name of the pinned settings that a stranger may have typed into, are bold.
    """
    by_size = sorted(counts, key=lambda name: counts[name].total)
    rows = [f"<b>{theme.label(name, 26)}</b>" if name in (this, pinned) else name for name in by_size]
    totals = np.array([counts[name].total for name in by_size], np.float64)
    sums = [counts[name].by(lambda term: str(term.component)) for name in by_size]
    bars = []
    for component, colour in palette.COMPONENTS.items():
        n = np.array([by_component.get(component, 0) for by_component in sums], np.float64)
        label = LABELS[component]
        hover = f"%{{y}}<br>{label}: %{{x:.1%}}, %{{customdata:,}} parameters<extra></extra>"
        look = {"orientation": "h", "marker": {"color": colour}, "hovertemplate": hover}
        bars.append(go.Bar(x=n / totals, y=rows, name=label, customdata=n, **look))
    x_axis = {"title": "share of the parameters", "tickformat": ".0%", "tickvals": [0, 0.5, 1], "range": [0, 1.5]}
    figure = _stack(bars, x_axis, _ROWS, height=90 + 26 * len(rows), legend=True)
    for name, row in zip(by_size, rows, strict=True):
        size, ratio = in_millions(counts[name].total), times(counts[this].total / counts[name].total)
        text = f"<b>{size}</b>" if name == this else f"{size} · {ratio}"
        figure.add_annotation(x=1.02, y=row, text=text, xanchor="left", showarrow=False)
    return figure


def _stack(
    bars: Sequence[go.Bar | go.Scatter], x_axis: Mapping[str, Any], y_axis: Mapping[str, Any], **layout: Any
) -> go.Figure:
    return theme.draw_figure(bars, x_axis=x_axis, y_axis=y_axis, barmode="stack", bargap=0.25, **layout)


def _labels(count: Count) -> dict[Component, str]:
    """The components that a count has, in the order of every page."""
    found = count.by(lambda term: term.component)
    return {name: LABELS[name] for name in sorted(found, key=list(palette.COMPONENTS).index)}


def _part(term: Term) -> tuple[Component, str]:
    return term.component, term.part


def _row(term: Term) -> str:
    if term.layer is not None:
        return str(term.layer)
    return "final" if term.name == "final_norm" else "embed"


def _colour(component: Component, part: str) -> str:
    return _PARTS.get(part, palette.COMPONENTS[component])


def _count_axis(unit: str) -> dict[str, object]:
    """An axis of billions of parameters, but of GFLOPs."""
    return {"title": unit, "exponentformat": "B" if unit == "parameters" else "SI", "nticks": 6}

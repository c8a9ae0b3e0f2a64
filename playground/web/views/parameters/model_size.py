"""How large a model is and what its parts are, beside the pinned one."""

from dataclasses import replace

import streamlit as st

from playground import accounting
from playground.accounting import readable
from playground.accounting.readable import in_millions, listed, share, substitute, times
from playground.charts.markdown import escape_markdown
from playground.config import ModelConfig, nearest_divisors
from playground.figures import parameters as figures
from playground.link.opening import Focus
from playground.presets import PRESETS
from playground.training.network import count_head
from playground.web.choices import widgets
from playground.web.choices.focus import current_layer
from playground.web.choices.setup import current_setup, current_value
from playground.web.components.charts import CellFrame
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.model_costs import (
    ModelCosts,
    count_built_parameters,
    describe_costs,
    model_costs,
    pinned_costs,
    sentence_length,
)
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.shared.pinning import pinned_side

VIEWS = {
    "components": (
        figures.breakdown_bar,
        "Each bar is a component. Its pieces are weights with their biases, summed over all layers.",
    ),
    "treemap": (
        figures.breakdown_treemap,
        "Areas are numbers of parameters. Click a part to see its layers, and the line above it to go back.",
    ),
    "layers": (
        figures.breakdown_layers,
        "Each numbered bar is a block; embed stands for what comes before the blocks, final for what comes after.",
    ),
}
COLUMNS = {
    "part": st.column_config.TextColumn(width=120),
    "each": st.column_config.NumberColumn(format="localized"),
    "times": st.column_config.NumberColumn(format="× %d"),
    "total": st.column_config.NumberColumn(format="localized"),
    "share, %": st.column_config.ProgressColumn(format="%.2g", max_value=100),
}


@as_one_element
def choose_model() -> tuple[str, ModelConfig]:
    """The model to count, with its name on this page: the sidebar's, or a preset."""
    chosen = st.selectbox(
        "Model to count",
        ("sidebar", *PRESETS),
        key="parameters_model",
        bind="query-params",
        width=280,
        help="sidebar: the model that you set there. The others are models of the tutorials and of papers.",
    )
    if chosen == "sidebar":
        return "this model", current_setup().config
    preset = PRESETS[chosen]
    st.caption(f"**{preset.title}**: {preset.source}.")
    return chosen, preset.config


@as_one_element
def draw_totals(config: ModelConfig) -> None:
    """The model's size in three numbers, and whether the formulas agree with the built model; what is pinned, too."""
    total = accounting.count_parameters(config).total
    bert = accounting.count_parameters(PRESETS["bert-base"].config).total
    built = count_built_parameters(config)
    n_tokens, _ = count_tokens(config)
    flops = accounting.count_flops(config, n_tokens).total
    before = counted_beside()
    with st.container(horizontal=True, gap="medium"):
        st.metric(
            "Parameters",
            f"{total:,}",
            delta=f"{total - before.parameters.total:+,} since pinned" if before else None,
            delta_color="off",
            width="content",
            help="The numbers that training adjusts.",
        )
        st.metric("Compared with BERT base", times(total / bert), width="content")
        st.metric(
            f"Forward pass, {n_tokens} token{'' if n_tokens == 1 else 's'}",
            readable.in_units(flops, "FLOPs"),
            delta=f"{readable.signed(flops - before.flops.total)}FLOPs since pinned" if before else None,
            delta_color="off",
            width="content",
            help="FLOPs are floating-point operations, a multiplication or an addition each: those of matrix products. "
            "Norms, softmax and the like are left out.",
        )
    if before:
        st.markdown(escape_markdown(describe_costs(before, model_costs(current_setup()))))
    elif pinned_side() is not None:
        st.caption("What is pinned is compared with the sidebar's model alone.")
    if built != total:
        st.error(f"The formulas add up to {total:,} parameters, but the built model holds {built:,}: please report it.")
        return
    st.caption(
        f":material/check: The formulas below add up to {total:,}. The model itself, built as shapes without memory, "
        f"has as many: its `numel()` is {built:,}."
    )
    if not config.vocab_size:
        st.caption("This model has no token table. It takes raw vectors, which are input: no parameters.")
    setup = current_setup()
    trained = setup.trained_network
    if trained is not None and config == setup.config:
        part = "a decoder" if trained.task.has_decoder else "an output head"
        head = count_head(config, trained.task, len(trained.labels))
        st.caption(f"The network that you trained also has {part}: {total:,} + {head:,} = {total + head:,} parameters.")
    if config == PRESETS["minilm-l6"].config:
        pooler = config.d_model**2 + config.d_model
        st.caption(
            f"Why do others write {in_millions(total + pooler)}? They count the pooler, a layer on top that no page "
            f"here needs: d_model² + d_model = {substitute('d_model² + d_model', config)} = {pooler:,}."
        )


@fragment
def draw_breakdown(config: ModelConfig) -> None:
    """Parameters by component, and every formula with its numbers."""
    count = accounting.count_parameters(config)
    view = widgets.choice("parameters_view", "Show as")
    figure, reading = VIEWS[view]
    before = counted_beside()
    drawn = figure(count, "parameters")
    if before and view == "components":
        drawn = figures.breakdown_bar(count, "parameters", before.parameters)
        reading += read_pairs()
    elif before and view == "treemap":
        drawn = figures.breakdown_treemap(count, "parameters", before.parameters)
        reading += " Points are percentage points: how much larger a share is than the pinned model's."
    elif before and view == "layers":
        drawn = figures.breakdown_layers(count, "parameters", before.parameters)
        reading += " A ring stands where the pinned model's bar ends."
    overlay, framed = _frame_layer(config) if view == "layers" else (None, "")
    sums = count.by(lambda term: term.component)
    largest = max(sums, key=sums.__getitem__)
    block = sum(term.count for term in count if term.layer == 0)
    panels.chart(
        "parameter_breakdown",
        drawn,
        caption=f"{reading} The largest share: {accounting.LABELS[largest]}, {share(sums[largest], count.total)}. "
        f"Blocks: {config.n_layers} × {block:,} parameters.{framed}",
        alt=f"Parameters by component: {listed(sums.items())}.",
        overlay=overlay,
    )
    if before and view == "treemap":
        _draw_pinned_treemap(before.parameters, count)
    table = readable.breakdown_table(count, config)
    panels.show_table("parameter_formulas", table, hide_index=True, column_config=COLUMNS, height="content")
    if before:
        panels.show_table(
            "parameter_differences",
            readable.comparison_table(before.parameters, count),
            hide_index=True,
            column_config=dict.fromkeys(("pinned", "now", "now − pinned"), COLUMNS["each"]),
            height="content",
        )


def _frame_layer(config: ModelConfig) -> tuple[CellFrame | None, str]:
    """What frames the layer that every page looks at, among the bars of the sidebar's model, and what it says."""
    if current_value("parameters_model") != "sidebar":
        return None, ""
    layer = current_layer(config.n_layers)
    overlay = frame_cell(
        "parameter_breakdown",
        Focus(layer, head=0, query=0, key=0),
        columns=Cells("layer", {1 + number: number for number in range(config.n_layers)}),
        label="The chosen layer. Arrow keys choose its neighbours.",
    )
    return overlay, f" The frame marks layer {layer}, which every page looks at; click another block to choose it."


def _draw_pinned_treemap(before: accounting.Count, now: accounting.Count) -> None:
    side, sums = pinned_side(), before.by(lambda term: term.component)
    panels.chart(
        "parameter_breakdown_pinned",
        figures.breakdown_treemap(before, "parameters"),
        caption=f"**{escape_markdown(side.name if side else '')}.** Each treemap fills its own frame: areas are shares "
        f"of {in_millions(before.total)} parameters here, and of {in_millions(now.total)} above.",
        alt=f"Parameters of the pinned model by component: {listed(sums.items())}.",
    )


def counted_beside() -> ModelCosts | None:
    """What the pinned model costs, where the page counts the sidebar's; None where it counts a named one."""
    return pinned_costs(pinned_side()) if current_value("parameters_model") == "sidebar" else None


def read_pairs() -> str:
    """What the caption of paired bars says of the second one, after a space."""
    side = pinned_side()
    return f" The paler bar below each: {escape_markdown(side.name)}." if side else ""


def explain_heads(config: ModelConfig) -> None:
    """Why n_heads leaves the count alone, with counts for several n_heads."""
    d, h = config.d_model, config.n_heads
    choices = sorted({h, *nearest_divisors(d, h)})
    counts = {accounting.count_parameters(replace(config, n_heads=n)).total for n in choices}
    st.markdown(
        f"**Do more heads cost parameters?** No. A head works on d_head = d_model / n_heads = {d:,} / {h} = "
        f"{config.d_head:,} features. All heads together are n_heads · d_head = {h} · {config.d_head:,} = {d:,} "
        f"features wide: n_heads cancels. So the weights Q, K, V and O (query, key, value and output) stay {d:,} × "
        f"{d:,}. With {', '.join(map(str, choices))} heads: {', '.join(f'{n:,}' for n in sorted(counts))} parameters "
        "each time."
    )


def count_tokens(config: ModelConfig) -> tuple[int, str]:
    """The number of tokens to count with, and where it comes from."""
    with panels.explain_errors():
        return sentence_length(current_setup(), config)

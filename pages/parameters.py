"""Where the parameters sit: counted by formula, at any size; nothing is run, and no weights are allocated."""

import streamlit as st

from playground import accounting
from playground.accounting.readable import breakdown_table, in_millions, in_units, listed, share, substitute, times
from playground.config import ModelConfig
from playground.figures import parameters as figures
from playground.model import Encoder
from playground.presets import PRESETS
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.views import parameters

EXAMPLE_TOKENS = 16  # the length to count with where there is no sentence

VIEWS = {
    "components": (figures.breakdown_bar, "One bar a component, one piece a weight with its bias, over all layers."),
    "treemap": (
        figures.breakdown_treemap,
        "Areas: parameters. Click a part for its layers, the line above it to go back.",
    ),
    "layers": (figures.breakdown_layers, "One bar a block; embed and final are what stands before and after."),
}
COLUMNS = {
    "part": st.column_config.TextColumn(width=120),
    "each": st.column_config.NumberColumn(format="localized"),
    "times": st.column_config.NumberColumn(format="× %d"),
    "total": st.column_config.NumberColumn(format="localized"),
    "share, %": st.column_config.ProgressColumn(format="%.2g", max_value=100),
}


def totals(config: ModelConfig, n_tokens: int) -> None:
    """The size at a glance, and the line in which formulas and built model have to agree."""
    total = accounting.count_parameters(config).total
    bert = accounting.count_parameters(PRESETS["bert-base"].config).total
    built = sum(parameter.numel() for parameter in Encoder(parameters.skeleton(config), seed=None).parameters())
    with st.container(horizontal=True, gap="medium"):
        st.metric("Parameters", f"{total:,}", width="content")
        st.metric("Next to BERT base", times(total / bert), width="content")
        flops = accounting.count_flops(config, n_tokens).total
        st.metric(f"Forward pass, {n_tokens} tokens", in_units(flops, "FLOPs"), width="content")
    if built != total:
        st.error(f"The formulas add up to {total:,} parameters, but the built model holds {built:,}: please report it.")
        return
    st.caption(
        f":material/check: formulas: {total:,} = the model's `numel()`, built as shapes without memory: {built:,}"
    )
    if config == PRESETS["minilm-l6"].config:
        pooler = config.d_model**2 + config.d_model
        st.caption(
            f"The {in_millions(total + pooler)} often quoted for it include a pooler that no page here needs, "
            f"d_model² + d_model = {substitute('d_model² + d_model', config)} = {pooler:,}."
        )


@fragment
def breakdown(config: ModelConfig) -> None:
    """The chart of the page's question, and every formula with its numbers."""
    count = accounting.count_parameters(config)
    figure, reading = VIEWS[widgets.choice("parameters_view", "Show as")]
    sums = count.by(lambda term: term.component)
    most = max(sums, key=sums.__getitem__)
    block = sum(term.count for term in count if term.layer == 0)
    panels.chart(
        "parameter_breakdown",
        figure(count, "parameters"),
        caption=f"{reading} Most sit in the {accounting.LABELS[most]}: {share(sums[most], count.total)}. "
        f"Blocks: {config.n_layers} × {block:,}.",
        alt=f"Parameters by component: {listed(sums.items())}.",
    )
    st.dataframe(
        breakdown_table(count, config),
        key="parameter_formulas",
        hide_index=True,
        column_config=COLUMNS,
        height="content",
    )


panels.heading("Where do the parameters sit?")
setup = current_setup()
chosen = st.selectbox("Model to count", ("sidebar", *PRESETS), key="parameters_model", bind="query-params", width=280)
model = setup.config if chosen == "sidebar" else PRESETS[chosen].config
if chosen != "sidebar":
    st.caption(f"**{PRESETS[chosen].title}**: {PRESETS[chosen].source}.")
n_tokens = setup.batch.ids.shape[1] if setup.text.sentences else 0
origin = "this sentence, with its padding" if n_tokens else "an example, as there is no sentence"
if n_tokens > model.max_len:
    origin += f", cut from {n_tokens} at max_len"
n_tokens = min(n_tokens or EXAMPLE_TOKENS, model.max_len)
totals(model, n_tokens)
breakdown(model)
parameters.heads(model)
st.subheader("What does a sentence cost?")
parameters.cost(model, n_tokens, origin)
st.subheader("Next to models with a name")
parameters.named(model, "this model" if chosen == "sidebar" else chosen)
panels.code_behind(
    "parameters",
    accounting.count_parameters,
    accounting.count_flops,
    accounting.attention_overtakes,
    accounting.count_memory,
)

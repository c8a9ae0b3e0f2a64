"""What a sentence costs, and how large other models are."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground import accounting
from playground.accounting import Component, readable
from playground.accounting.readable import listed, substitute, times
from playground.charts.markdown import escape_markdown
from playground.config import ModelConfig
from playground.figures import parameters as figures
from playground.presets import PRESETS
from playground.web.shared import panels
from playground.web.shared.pinning import pinned_side
from playground.web.views.parameters.model_size import count_tokens, counted_beside, read_pairs


def draw_cost(config: ModelConfig) -> None:
    """The work for one sentence, how it grows with the sentence's length, and the memory."""
    st.header("What does a sentence cost?")
    n_tokens, origin = count_tokens(config)
    flops, overtakes = accounting.count_flops(config, n_tokens), accounting.attention_overtakes(config)
    sums = flops.by(lambda term: term.component)
    before = counted_beside()
    panels.chart(
        "flops_breakdown",
        figures.breakdown_bar(flops, "FLOPs", before.flops if before else None),
        caption=f"The matrix products of one pass over T = {n_tokens} tokens ({origin}); a multiply-add is 2 FLOPs. "
        "Scores and weighted sum grow with T², everything else with T. "
        f"The feed-forward takes {times(sums['feed_forward'] / sums['attention'])} the work of attention."
        + (read_pairs() if before else ""),
        alt=f"FLOPs by component: {listed(sums.items())}.",
        table=lambda: readable.breakdown_table(flops, config, pinned=before.flops if before else None, B=1, T=n_tokens),
    )
    lengths = np.unique(np.geomspace(1, max(256, 4 * overtakes), 64).round().astype(int)).tolist()
    by_length = accounting.flops_by_length(config, lengths)
    others = accounting.flops_by_length(before.config, lengths) if before else None
    where = "at every length" if overtakes == 1 else f"from T = {overtakes:,} on"
    panels.chart(
        "flops_by_length",
        figures.flops_by_length(
            lengths,
            by_length,
            n_tokens,
            overtakes,
            others,
        ),
        caption="How does the work for one token grow with the sentence? The feed-forward's stays the same. "
        "Attention's rises, since each token meets all T tokens. Attention costs more above d_ff − 2 · d_model = "
        f"{substitute('d_ff − 2 · d_model', config)} = {config.d_ff - 2 * config.d_model:,} tokens: "
        f"{where}.{' Dotted lines: the pinned model.' * bool(before)}",
        alt=f"FLOPs a token by length; attention costs more than the feed-forward {where}.",
        table=lambda: _tabulate_lengths(lengths, by_length, others),
    )
    panels.show_table(
        "parameter_memory",
        readable.memory_table(config, n_tokens, (before.config, before.n_tokens) if before else None),
        hide_index=True,
        height="content",
    )


def _tabulate_lengths(
    lengths: list[int], flops: Mapping[Component, list[int]], pinned: Mapping[Component, list[int]] | None
) -> pd.DataFrame:
    """FLOPs of sentences of these lengths; beside the pinned model's, the differences too."""
    table = pd.DataFrame(flops, index=pd.Index(lengths, name="T"))
    if pinned is None:
        return table
    others = pd.DataFrame(pinned, index=table.index)
    return table.join([others.add_suffix(", pinned"), (table - others).add_suffix(", now − pinned")])


def compare_models(config: ModelConfig, name: str) -> None:
    """Draw the parameters of every preset, beside those of the model `name`."""
    st.header("How large are other models?")
    models = {name: config, **{preset_name: preset.config for preset_name, preset in PRESETS.items()}}
    side, before = pinned_side(), counted_beside()
    pinned = side.name if side and before else ""
    if before:
        models[pinned] = before.config
    counts = {model_name: accounting.count_parameters(model) for model_name, model in models.items()}
    sizes = {model_name: count.total for model_name, count in counts.items()}
    ratios = {model_name: sizes[name] / size for model_name, size in sizes.items()}
    compared = f"{escape_markdown(pinned)}: {times(ratios[pinned])}. " if pinned else ""
    panels.chart(
        "named_models",
        figures.named_models(counts, name, pinned),
        caption="Each bar is a whole model, the smallest on top. Beside it stand its size and how many times as large "
        f"{name} is. {compared}BERT base: {times(ratios['bert-base'])}. GPT-3: {times(ratios['gpt-3'])}. "
        "GPT-2's and GPT-3's blocks are counted as an encoder's; poolers are left out.",
        alt=f"Parameters of named models: {listed(sizes.items())}.",
        table=lambda: pd.DataFrame({"parameters": sizes, "this one over it": ratios}),
    )

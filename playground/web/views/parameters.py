"""What follows from an architecture's counts: heads that cost nothing, the work, the memory, and models with a name."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from playground import accounting
from playground.accounting.readable import breakdown_table, listed, memory_table, substitute, times
from playground.config import ModelConfig, nearest_divisors
from playground.figures import parameters as figures
from playground.presets import PRESETS
from playground.web.shared import panels


def skeleton(config: ModelConfig) -> ModelConfig:
    """The same parameters without a table of sines, which holds none but takes its memory even of a model of shapes."""
    return config if config.positions == "learned" else replace(config, max_len=1)


def heads(config: ModelConfig) -> None:
    """Why n_heads leaves the count alone, counted."""
    d, h = config.d_model, config.n_heads
    choices = sorted({h, *nearest_divisors(d, h)})
    counts = {accounting.count_parameters(replace(config, n_heads=n)).total for n in choices}
    st.markdown(
        f"**More heads cost no parameters.** A head works on d_head = d_model / n_heads = {d:,} / {h} = "
        f"{config.d_head:,} features, so the heads together are n_heads · d_head = {h} · {config.d_head:,} = {d:,} "
        f"wide: n_heads cancels, and Q, K, V and O stay {d:,} × {d:,}. With {', '.join(map(str, choices))} heads: "
        f"{', '.join(f'{n:,}' for n in sorted(counts))} parameters each time."
    )


def cost(config: ModelConfig, n_tokens: int, origin: str) -> None:
    """Arithmetic for one sentence, how it grows with length, and memory."""
    flops, overtakes = accounting.count_flops(config, n_tokens), accounting.attention_overtakes(config)
    sums = flops.by(lambda term: term.component)
    panels.chart(
        "flops_breakdown",
        figures.breakdown_bar(flops, "FLOPs"),
        caption=f"One forward pass at T = {n_tokens} tokens ({origin}), 2 FLOPs a multiply-add. Scores and weighted "
        "sum grow with T², all else with T. "
        f"Feed-forward over attention: {times(sums['feed_forward'] / sums['attention'])}.",
        alt=f"FLOPs by component: {listed(sums.items())}.",
    )
    panels.numbers("flops_breakdown", lambda: breakdown_table(flops, config, B=1, T=n_tokens))
    lengths = np.unique(np.geomspace(1, max(256, 4 * overtakes), 64).round().astype(int)).tolist()
    by_length = accounting.flops_by_length(config, lengths)
    panels.chart(
        "flops_by_length",
        figures.flops_by_length(lengths, by_length, n_tokens, overtakes),
        caption="Work for each token as the sentence grows: the feed-forward's stays, attention's rises, since each "
        f"token meets T others. It is ahead above d_ff − 2 · d_model = {substitute('d_ff − 2 · d_model', config)} = "
        f"{config.d_ff - 2 * config.d_model:,} tokens: from T = {overtakes:,}.",
        alt=f"FLOPs a token by length; attention costs more than the feed-forward from {overtakes:,} tokens.",
    )
    panels.numbers("flops_by_length", lambda: pd.DataFrame(by_length, index=pd.Index(lengths, name="T")))
    st.dataframe(memory_table(config, n_tokens), key="parameter_memory", hide_index=True, height="content")


def named(config: ModelConfig, this: str) -> None:
    """The same count of models that have a name."""
    models = {this: config, **{name: preset.config for name, preset in PRESETS.items()}}
    counts = {name: accounting.count_parameters(model) for name, model in models.items()}
    sizes = {name: count.total for name, count in counts.items()}
    ratios = {name: sizes[this] / size for name, size in sizes.items()}
    panels.chart(
        "named_models",
        figures.named_models(counts, this),
        caption="Each bar is a whole model, the smallest on top; beside it its size, and how many of it this one is: "
        f"{times(ratios['bert-base'])} BERT base, {times(ratios['gpt-3'])} GPT-3. "
        "GPT-2's and GPT-3's blocks are counted as an encoder's; poolers are left out.",
        alt=f"Parameters of named models: {listed(sizes.items())}.",
    )
    panels.numbers("named_models", lambda: pd.DataFrame({"parameters": sizes, "this one over it": ratios}))

"""What the charts of the Parameters page hold is what was counted."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from playground import ModelConfig, count_parameters
from playground.accounting import LABELS, attention_overtakes, count_flops, flops_by_length
from playground.accounting.readable import in_millions, share, times
from playground.figures import palette
from playground.figures import parameters as figures
from playground.presets import PRESETS

CONFIG = PRESETS["minilm-l6"].config
VARIANTS = {
    "trained": CONFIG,
    "no norms": replace(CONFIG, norm="none"),
    "one layer, fused": replace(CONFIG, n_layers=1, fused_qkv=True, final_norm=True),
    "raw vectors": ModelConfig(vocab_size=0, d_model=16, n_heads=1, n_layers=2, d_ff=8, positions="none"),
}


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_bar_has_one_piece_a_part_in_its_components_row(config: ModelConfig) -> None:
    count = count_parameters(config)
    figure = figures.breakdown_bar(count, "parameters")
    sums = count.by(lambda term: (term.component, term.part))
    components = count.by(lambda term: term.component)
    assert {(trace.y[0], trace.name): float(trace.x[0]) for trace in figure.data} == {
        (f"{LABELS[component]}<br>{share(components[component], count.total)}", part): n
        for (component, part), n in sums.items()
    }
    assert all(f"{n:,} parameters" in trace.hovertemplate for trace, n in zip(figure.data, sums.values(), strict=True))
    assert [row.split("<br>")[0] for row in figure.layout.yaxis.categoryarray] == [
        LABELS[name] for name in palette.COMPONENTS if name in components
    ]


def test_bar_colours_mean_what_they_mean_everywhere() -> None:
    figure = figures.breakdown_bar(count_flops(CONFIG, 7), "FLOPs")
    assert {trace.name: trace.marker.color for trace in figure.data} == {
        "Q": palette.Q, "K": palette.K, "V": palette.V, "O": palette.ATTENTION, "scores": palette.ATTENTION,
        "weighted sum": palette.ATTENTION, "W₁": palette.FEED_FORWARD, "W₂": palette.FEED_FORWARD,
    }  # fmt: skip


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_treemap_nodes_are_the_sums_of_their_children(config: ModelConfig) -> None:
    count = count_parameters(config)
    tree = figures.breakdown_treemap(count, "parameters").data[0]
    sizes = dict(zip(tree.ids, tree.values, strict=True))
    children: Counter[str] = Counter()
    for name, parent in zip(tree.ids, tree.parents, strict=True):
        children[parent] += sizes[name]
    assert len(sizes) == len(tree.ids)
    assert sizes["model"] == count.total == children.pop("")
    assert children == {name: sizes[name] for name in children}
    assert {term.name: term.count for term in count if term.layer is not None} == {
        name: n for name, n in sizes.items() if name.startswith("layers.")
    }


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_layers_hold_what_each_block_holds(config: ModelConfig) -> None:
    count = count_parameters(config)
    figure = figures.breakdown_layers(count, "parameters")
    rows: Counter[str] = Counter()
    for trace in figure.data:
        rows.update(dict(zip(trace.x, trace.y, strict=True)))
    block = sum(term.count for term in count if term.layer == 0)
    assert [rows[str(i)] for i in range(config.n_layers)] == [block] * config.n_layers
    assert sum(rows.values()) == count.total
    assert ("final" in rows) == config.final_norm
    assert set(rows) <= set(figure.layout.xaxis.categoryarray)


def test_flops_by_length_are_those_of_each_length() -> None:
    lengths = [1, 7, 100]
    by_length = flops_by_length(CONFIG, lengths)
    for i, n_tokens in enumerate(lengths):
        sums = count_flops(CONFIG, n_tokens).by(lambda term: term.component)
        assert {name: costs[i] for name, costs in by_length.items()} == sums


def test_length_chart_shows_flops_a_token_and_marks_both_lengths() -> None:
    lengths, overtakes = [1, 10, 769, 3_000], attention_overtakes(CONFIG)
    by_length = flops_by_length(CONFIG, lengths)
    figure = figures.flops_by_length(lengths, by_length, 16, overtakes)
    for trace, costs in zip(figure.data, by_length.values(), strict=True):
        np.testing.assert_array_equal(trace.x, lengths)
        np.testing.assert_allclose(trace.y, np.array(costs) / lengths)
    attention, feed_forward = (trace.y for trace in figure.data)
    assert list(attention > feed_forward) == [False, False, True, True]
    assert [line.x0 for line in figure.layout.shapes] == [16, overtakes]
    assert (figure.layout.xaxis.type, figure.layout.xaxis.title.text) == ("log", "length of the sentence T, in tokens")
    assert figure.layout.yaxis.title.text == "FLOPs a token"
    assert [note.text for note in figure.layout.annotations] == ["this sentence: 16", "attention overtakes: 769"]


def test_named_models_are_sorted_shares_with_size_and_ratio() -> None:
    counts = {"this model": count_parameters(CONFIG)} | {
        name: count_parameters(PRESETS[name].config) for name in ("gpt-3", "bert-base", "tutorial-b")
    }
    figure = figures.named_models(counts, "this model")
    order = ["tutorial-b", "this model", "bert-base", "gpt-3"]
    for trace, component in zip(figure.data, palette.COMPONENTS, strict=True):
        assert list(trace.y) == ["tutorial-b", "<b>this model</b>", "bert-base", "gpt-3"]
        expected = [sum(term.count for term in counts[name] if term.component == component) for name in order]
        np.testing.assert_array_equal(trace.customdata, expected)
    np.testing.assert_allclose(np.sum([trace.x for trace in figure.data], axis=0), 1)
    texts = {note.y: note.text for note in figure.layout.annotations}
    this, bert = counts["this model"].total, counts["bert-base"].total
    assert texts["<b>this model</b>"] == f"<b>{in_millions(this)}</b>"
    assert texts["bert-base"] == f"{in_millions(bert)} · {times(this / bert)}"


@pytest.mark.parametrize(("unit", "exponent"), [("parameters", "B"), ("FLOPs", "SI")])
def test_axes_name_what_they_count(unit: str, exponent: str) -> None:
    count = count_parameters(CONFIG)
    axes = figures.breakdown_bar(count, unit).layout.xaxis, figures.breakdown_layers(count, unit).layout.yaxis
    assert [(axis.title.text, axis.exponentformat) for axis in axes] == [(unit, exponent)] * 2

"""The view Parameters as a function on values: what its charts hold, against models that are built here."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import Encoder, ModelConfig, count_parameters
from playground.accounting import attention_overtakes, count_flops
from playground.accounting.readable import ModelCosts, in_millions, in_units, share, times
from playground.charts import palette
from playground.charts.chart import Chart, Paragraph, Table
from playground.charts.draw import Drawing, draw_chart, draw_table
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.presets import PRESETS
from playground.views import parameters as view
from tests.views.scenes import parts_of, words

CONFIG = PRESETS["minilm-l6"].config
RAW = ModelConfig(vocab_size=0, d_model=16, n_heads=1, n_layers=2, d_ff=8, positions="none")
VARIANTS = {
    "trained": CONFIG,
    "no norms": replace(CONFIG, norm="none"),
    "one layer, fused": replace(CONFIG, n_layers=1, fused_qkv=True, final_norm=True),
    "raw vectors": RAW,
}
OPTIONS = {"parameters_model": "sidebar", "parameters_formulas": True, "parameters_costs": True,
           "parameters_models": True, "parameters_bought": False}  # fmt: skip


def scene(config: ModelConfig, pinned: ModelConfig | None = None, *, n_tokens: int = 16) -> Scene[ModelCosts]:
    before = None if pinned is None else ModelCosts(pinned, 7)
    return Scene(ModelCosts(config, n_tokens), Focus(1, 0, 0, 0), before, "pinned: <b>" if pinned else "")


def items(looked_at: Scene[ModelCosts], breakdown: str = "components") -> dict[str, Any]:
    """The charts and tables of the whole page, by their keys."""
    shown = parts_of(view.show_parameters(looked_at, OPTIONS | {"parameters_view": breakdown}))
    return {item.key: item for item in shown if isinstance(item, Chart | Table)}


def drawing(looked_at: Scene[ModelCosts], key: str, breakdown: str = "components") -> Drawing:
    return draw_chart(items(looked_at, breakdown)[key], looked_at)


def traces(looked_at: Scene[ModelCosts], key: str, breakdown: str = "components") -> list[dict[str, Any]]:
    drawn = drawing(looked_at, key, breakdown).now
    go.Figure(drawn.figure)  # raises where a name or a value is none of Plotly's
    return list(drawn.figure["data"])


def built(config: ModelConfig) -> int:
    return sum(parameter.numel() for parameter in Encoder(config, seed=None).parameters())


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_every_breakdown_adds_up_to_the_built_model(config: ModelConfig) -> None:
    looked_at, total = scene(config), built(config)
    pieces = traces(looked_at, "parameter_breakdown")
    assert sum(piece["x"].sum() for piece in pieces) == total
    parameters = dict(Encoder(config, seed=None).named_parameters())
    feed_forward = sum(piece["x"].sum() for piece in pieces if piece["name"] in ("W₁", "W₂"))
    assert feed_forward == sum(each.numel() for name, each in parameters.items() if ".ffn." in name)
    layers = traces(looked_at, "parameter_breakdown", "layers")
    heights: Counter[str] = Counter()
    for bars in layers:
        heights.update(dict(zip(bars["x"], bars["y"], strict=True)))
    block = sum(each.numel() for name, each in parameters.items() if name.startswith("layers.0."))
    assert [heights[str(i)] for i in range(config.n_layers)] == [block] * config.n_layers
    assert (sum(heights.values()), "final" in heights) == (total, config.final_norm)
    (tree,) = traces(looked_at, "parameter_breakdown", "treemap")
    nodes, children = dict(zip(tree["ids"], tree["values"], strict=True)), Counter[str]()
    for node, parent in zip(tree["ids"], tree["parents"], strict=True):
        children[parent] += nodes[node]
    assert nodes["model"] == children.pop("") == total
    assert children == {node: nodes[node] for node in children}
    assert draw_table(items(looked_at)["parameter_formulas"], looked_at)["total"].sum() == total


@pytest.mark.parametrize("name", PRESETS)
def test_every_part_has_a_colour_that_means_what_it_means_everywhere(name: str) -> None:
    looked_at = scene(PRESETS[name].config)
    assert {term.part for count in (looked_at.now.parameters, looked_at.now.flops) for term in count} <= set(view.PARTS)
    colours = {piece["name"]: piece["marker"]["color"] for piece in traces(looked_at, "flops_breakdown")}
    assert (colours["K"], colours["scores"], colours["W₂"]) == (palette.K, palette.ATTENTION, palette.FEED_FORWARD)


def test_pinned_numbers_stand_in_every_breakdown() -> None:
    pinned = replace(CONFIG, n_layers=8, d_ff=512, norm="none", embedding_norm=False)
    looked_at = scene(CONFIG, pinned)
    total = built(pinned)
    pieces = traces(looked_at, "parameter_breakdown")
    assert sum(piece["x"].sum() for piece in pieces if piece.get("opacity")) == total
    layout = drawing(looked_at, "parameter_breakdown").now.figure["layout"]
    norms = [row for row in layout["yaxis"]["categoryarray"] if row.startswith("norms")]
    assert len(norms) == 2, "a component of one model alone has both rows"
    assert "+9.98 k" in norms[0]
    *_, rings = traces(looked_at, "parameter_breakdown", "layers")
    assert rings["y"].sum() == total
    axis = drawing(looked_at, "parameter_breakdown", "layers").now.figure["layout"]["xaxis"]
    assert axis["categoryarray"] == ["embed", *"01234567"]
    (tree,) = traces(looked_at, "parameter_breakdown", "treemap")
    texts = dict(zip(tree["ids"], tree["text"], strict=True))
    shares = [count_parameters(config).by(lambda term: term.component)["feed_forward"] / built(config)
              for config in (CONFIG, pinned)]  # fmt: skip
    assert texts["model/feed-forward"] == f"{100 * (shares[0] - shares[1]):+.1f} points"
    assert texts["model"] == "+0.0 points"
    assert "to go back. Points are" in drawing(looked_at, "parameter_breakdown", "treemap").now.caption
    (other,) = drawing(looked_at, "parameter_breakdown", "treemap").beside
    assert (other.key, other.figure["data"][0]["values"][0]) == ("parameter_breakdown_pinned", total)
    table = draw_table(items(looked_at)["parameter_differences"], looked_at)
    assert list(table.loc["all"]) == [total, built(CONFIG), built(CONFIG) - total]


def test_of_many_layers_a_few_are_named_and_the_norm_after_them_where_there_is_one() -> None:
    large = scene(PRESETS["gpt-3"].config)
    drawn = drawing(large, "parameter_breakdown", "layers").now
    assert drawn.figure["layout"]["xaxis"]["tickvals"] == ["embed", "20", "40", "60", "80", "final"]
    assert "*final*" in drawn.caption
    assert set(drawn.figure["layout"]["xaxis"]["tickvals"]) <= {
        name for trace in traces(large, "parameter_breakdown", "layers") for name in trace["x"]
    }
    few = drawing(scene(CONFIG), "parameter_breakdown", "layers").now
    assert "tickvals" not in few.figure["layout"]["xaxis"]
    assert "final" not in few.caption


def test_a_block_is_a_layer_of_the_sidebars_model_alone() -> None:
    drawn = drawing(scene(RAW), "parameter_breakdown", "layers").now
    assert drawn.cells is not None
    assert drawn.cells.columns == ("layer", {1: 0, 2: 1}), "the embeddings' place is kept where there are none"
    assert "The frame marks layer 1" in drawn.caption
    named = view.show_parameters(
        scene(CONFIG), OPTIONS | {"parameters_model": "bert-base", "parameters_view": "layers"}
    )
    chart = next(item for item in named if isinstance(item, Chart))
    assert draw_chart(chart, scene(CONFIG)).now.cells is None


def test_work_is_that_of_the_sentence_and_of_each_length() -> None:
    pinned = replace(CONFIG, n_layers=2, d_ff=512)
    looked_at = scene(CONFIG, pinned)
    pieces = traces(looked_at, "flops_breakdown")
    sums = [sum(piece["x"].sum() for piece in pieces if bool(piece.get("opacity")) == pale) for pale in (False, True)]
    d, ff = CONFIG.d_model, CONFIG.d_ff
    assert sums[0] == 6 * (8 * 16 * d * d + 4 * 16 * 16 * d + 4 * 16 * d * ff)
    assert sums[1] == count_flops(pinned, 7).total
    table = drawing(looked_at, "flops_breakdown").now.table
    assert table is not None
    assert (table()["total"].sum(), table()["total, pinned"].sum()) == tuple(sums)
    lines = {line["name"]: line for line in traces(looked_at, "flops_by_length")}
    at = lines["attention"]["x"]
    np.testing.assert_allclose(lines["attention"]["y"], 6 * (8 * d * d + 4 * at * d))
    np.testing.assert_allclose(lines["feed-forward"]["y"], 6 * 4 * d * ff)
    np.testing.assert_allclose(lines["feed-forward, pinned: &lt;b&gt;"]["y"], 2 * 4 * d * 512)
    crossed = at[lines["attention"]["y"] > lines["feed-forward"]["y"]][0]
    overtakes = attention_overtakes(CONFIG)
    assert crossed >= overtakes
    layout = drawing(looked_at, "flops_by_length").now.figure["layout"]
    assert [line["x0"] for line in layout["shapes"]] == [16, overtakes]
    for d_ff, where in ((8, "at every length"), (CONFIG.d_ff, "from T = 769 on")):
        assert where in drawing(scene(replace(CONFIG, d_ff=d_ff)), "flops_by_length").now.caption
    memory = draw_table(items(looked_at)["parameter_memory"], looked_at)
    assert memory["size"][0] == in_units(4 * built(CONFIG), "B")


def test_named_models_are_sorted_shares_with_size_and_ratio() -> None:
    pinned = replace(CONFIG, d_ff=8)
    bars = traces(scene(CONFIG, pinned), "named_models")
    np.testing.assert_allclose(np.sum([bar["x"] for bar in bars], axis=0), 1)
    totals = np.sum([bar["customdata"] for bar in bars], axis=0)
    assert (np.diff(totals) >= 0).all()
    rows = bars[0]["y"]
    assert totals[rows.index("<b>this model</b>")] == built(CONFIG)
    assert totals[rows.index("<b>pinned: &lt;b&gt;</b>")] == built(pinned)
    drawn = drawing(scene(CONFIG, pinned), "named_models").now
    texts = {note["y"]: note["text"] for note in drawn.figure["layout"]["annotations"]}
    bert = built(PRESETS["bert-base"].config)
    assert texts["<b>this model</b>"] == f"<b>{in_millions(built(CONFIG))}</b>"
    assert texts["bert-base"] == f"{in_millions(bert)} · {times(built(CONFIG) / bert)}"
    assert drawn.table is not None
    assert list(drawn.table()) == ["parameters", "this one over it"]


@pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS)
def test_totals_are_those_of_the_built_model(config: ModelConfig) -> None:
    total = built(config)
    metrics = view.show_size(scene(config))
    assert [metric.value for metric in metrics.metrics[:2]] == [
        f"{total:,}", times(total / built(PRESETS["bert-base"].config)),
    ]  # fmt: skip
    told = words(view.show_formulas(scene(config)))
    assert f"add up to {total:,}, and so does" in told
    assert ("takes raw vectors" in told) == (config is RAW)
    assert ("384² + 384 = 147,840" in told) == (config is CONFIG)


@pytest.mark.parametrize(
    ("config", "largest"),
    [
        (CONFIG, {"the embeddings": r"^embed\.(?!norm)", "the feed-forward networks": r"\.ffn\."}),
        (RAW, {"attention": r"\.attn\.", "the feed-forward networks": r"\.ffn\."}),
    ],
    ids=str,
)
def test_the_answer_names_the_two_largest_components_of_the_built_model(
    config: ModelConfig, largest: dict[str, str]
) -> None:
    answer = next(view.show_parameters(scene(config), OPTIONS | {"parameters_view": "components"}))
    assert isinstance(answer, Paragraph)
    assert (answer.kind, answer.text.startswith(f"Of {built(config):,} parameters, ")) == ("answer", True)
    parameters = dict(Encoder(config, seed=None).named_parameters())
    for part, names in largest.items():
        n = sum(each.numel() for name, each in parameters.items() if re.search(names, name))
        assert f"**{in_millions(n)}** ({share(n, built(config))}) sit in {part}".replace(
            " sit", ""
        ) in answer.text.replace(" sit", "")
    assert ("*token table*" in answer.text) == (config.vocab_size > 0)


def test_totals_have_the_change_from_the_pinned_model() -> None:
    pinned = replace(CONFIG, n_layers=7)
    looked_at = scene(CONFIG, pinned)
    assert view.show_size(looked_at).metrics[0].change == f"{built(CONFIG) - built(pinned):+,} since pinned"
    options = OPTIONS | {"parameters_view": "components"}
    assert r"24\.3 M → 22\.6 M" in words(view.show_parameters(looked_at, options))
    unread = Scene(looked_at.now, looked_at.focus, None, "pinned: text")
    assert "the sidebar's model alone" in words(view.show_parameters(unread, options))


def test_closed_panels_count_nothing() -> None:
    closed = dict.fromkeys(OPTIONS, False) | {"parameters_model": "sidebar", "parameters_view": "components"}
    shown = parts_of(view.show_parameters(scene(CONFIG), closed))
    assert [item.key for item in shown if isinstance(item, Chart | Table)] == ["parameter_breakdown"]


@pytest.mark.parametrize("fields", [{}, {"positions": "relative"}, {"qk_norm": True}, {"d_head": 10}])
def test_counts_stand_at_their_numbers_of_heads(fields: dict[str, Any]) -> None:
    config = replace(CONFIG, **fields)
    heads = (6, 12, 24) if config.d_head else (8, 12, 16)
    counts = [built(replace(config, n_heads=n)) for n in heads]
    text = view.explain_heads(config).text
    assert (len(set(counts)) == 1) == (not fields), "each of these fields makes heads cost or save something"
    assert ", ".join(map(str, heads)) in text
    assert ", ".join(f"{n:,}" for n in counts) in text
    assert ("each time" in text, "? No." in text) == (False, False)


@pytest.mark.parametrize("fields", [{}, {"window": 4}, {"window": 4, "global_every": 2}])
def test_captions_claim_no_growth_that_a_window_stops(fields: dict[str, Any]) -> None:
    looked_at = scene(replace(CONFIG, **fields))
    assert "(T², fewer in a window)" in drawing(looked_at, "flops_breakdown").now.caption
    assert "all T tokens" not in drawing(looked_at, "flops_by_length").now.caption


def test_captions_name_the_largest_share() -> None:
    drawn = drawing(scene(CONFIG), "parameter_breakdown").now
    embeddings = built(CONFIG) - 6 * 1_774_464 - 2 * 384
    assert f"embeddings, {share(embeddings, built(CONFIG))}. Blocks: 6 × 1,774,464 parameters." in drawn.caption
    assert drawn.alt.startswith(f"Parameters by component: embeddings {embeddings:,}")


def test_what_grouped_queries_save_is_told() -> None:
    config = replace(CONFIG, n_kv_heads=1)
    saved = count_parameters(CONFIG).total - count_parameters(config).total
    text = view.explain_heads(config).text
    assert f"{saved:,} parameters more" in text
    assert f"{CONFIG.n_heads} times the memory" in text


def test_heads_of_a_width_of_their_own_cost_parameters() -> None:
    config = replace(CONFIG, d_head=10)
    text = view.explain_heads(config).text
    assert f"{count_parameters(replace(config, n_heads=2 * CONFIG.n_heads)).total:,}" in text
    assert "Here they do" in text


def test_no_text_of_the_formulas_is_cut() -> None:
    for config in (CONFIG, PRESETS["gpt-3"].config):
        items = parts_of(view.show_parameters(scene(config), OPTIONS | {"parameters_view": "components"}))
        tables = {each.key: each for each in items if isinstance(each, Table)}
        for key in ("parameter_formulas", "parameter_memory"):
            frame = tables[key].frame(scene(config).now)
            for name in map(str, frame.select_dtypes(exclude="number")):
                assert tables[key].widths[name] > 6 * max(len(text) for text in (name, *frame[name])) * 0.8

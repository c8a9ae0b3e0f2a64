"""The view Parameters as a function on values: what its charts hold, against models that are built here."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from playground import Encoder, ModelConfig
from playground.accounting import attention_overtakes, count_flops
from playground.accounting.readable import ModelCosts, in_millions, in_units
from playground.charts import palette
from playground.charts.chart import Chart, Table
from playground.charts.draw import Drawing, draw_chart, draw_table
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.presets import PRESETS
from playground.views import parameters as view
from tests.views.scenes import parts_of

CONFIG = PRESETS["minilm-l6"].config
RAW = ModelConfig(vocab_size=0, d_model=16, n_heads=1, n_layers=2, d_ff=8, positions="none")
VARIANTS = {
    "trained": CONFIG,
    "no norms": replace(CONFIG, norm="none"),
    "one layer, fused": replace(CONFIG, n_layers=1, fused_qkv=True, final_norm=True),
    "shared Q and K": replace(CONFIG, tied="shared"),
    "raw vectors": RAW,
}
OPTIONS = {"parameters_model": "sidebar", "parameters_formulas": True, "parameters_costs": True,
           "parameters_bought": False}  # fmt: skip


def scene(config: ModelConfig, pinned: ModelConfig | None = None) -> Scene[ModelCosts]:
    before = None if pinned is None else ModelCosts(pinned, 7)
    return Scene(ModelCosts(config, 16), Focus(1, 0, 0, 0), before, "pinned: <b>" if pinned else "")


def items(looked_at: Scene[ModelCosts], breakdown: str = "components", **options: object) -> dict[str, Any]:
    """The charts and tables of the whole page, by their keys."""
    shown = parts_of(view.show_parameters(looked_at, OPTIONS | {"parameters_view": breakdown} | options))
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
    heights: Counter[str] = Counter()
    for bars in traces(looked_at, "parameter_breakdown", "layers"):
        heights.update(dict(zip(bars["x"], bars["y"], strict=True)))
    block = sum(each.numel() for name, each in parameters.items() if name.startswith("layers.0."))
    assert [heights[str(i)] for i in range(config.n_layers)] == [block] * config.n_layers
    assert (sum(heights.values()), "final" in heights) == (total, config.final_norm)
    assert f"{config.n_layers} × {block:,} parameters" in drawing(looked_at, "parameter_breakdown").now.caption
    assert draw_table(items(looked_at)["parameter_formulas"], looked_at)["total"].sum() == total


@pytest.mark.parametrize("name", ["vaswani-base", "bert-base"])
def test_every_part_has_a_colour_that_means_what_it_means_everywhere(name: str) -> None:
    looked_at = scene(PRESETS[name].config)
    assert {term.part for count in (looked_at.now.parameters, looked_at.now.flops) for term in count} <= set(view.PARTS)
    colours = {piece["name"]: piece["marker"]["color"] for piece in traces(looked_at, "flops_breakdown")}
    assert (colours["K"], colours["scores"], colours["W₂"]) == (palette.K, palette.ATTENTION, palette.FEED_FORWARD)


@pytest.mark.parametrize(
    ("config", "largest"),
    [
        (CONFIG, {"embeddings": r"^embed\.(?!norm)", "feed-forward": r"\.ffn\."}),
        (RAW, {"attention": r"\.attn\.", "feed-forward": r"\.ffn\."}),
    ],
    ids=str,
)
def test_the_answer_names_the_two_largest_components(config: ModelConfig, largest: dict[str, str]) -> None:
    numbers = view.find_largest(ModelCosts(config, 1).parameters)
    assert numbers["total"] == f"{built(config):,}"
    parameters = dict(Encoder(config, seed=None).named_parameters())
    for place, (part, names) in zip(("first", "second"), largest.items(), strict=True):
        n = sum(each.numel() for name, each in parameters.items() if re.search(names, name))
        assert numbers[place] == part
        assert numbers[f"{place}_size"] == in_millions(n)
        assert numbers[f"{place}_share"] == pytest.approx(n / built(config))


def test_pinned_numbers_stand_in_every_breakdown() -> None:
    pinned = replace(CONFIG, n_layers=8, d_ff=512, norm="none", embedding_norm=False)
    looked_at, total = scene(CONFIG, pinned), built(pinned)
    pieces = traces(looked_at, "parameter_breakdown")
    assert sum(piece["x"].sum() for piece in pieces if piece.get("opacity")) == total
    rows = drawing(looked_at, "parameter_breakdown").now.figure["layout"]["yaxis"]["categoryarray"]
    norms = [row for row in rows if row.startswith("norms")]
    assert len(norms) == 2, "a component of one model alone has both rows"
    assert "+9.98 k" in norms[0]


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
    layout = drawing(looked_at, "flops_by_length").now.figure["layout"]
    assert [line["x0"] for line in layout["shapes"]] == [16, attention_overtakes(CONFIG)]
    memory = draw_table(items(looked_at)["parameter_memory"], looked_at)
    assert memory["size"][0] == in_units(4 * built(CONFIG), "B")

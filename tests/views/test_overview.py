"""The view Overview as a function on values: tokens, previews, costs and shapes against torch's own."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.accounting.readable import ModelCosts
from playground.charts.chart import Chart, Item, Paragraph, Table, Widget
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.encoder_run import run
from playground.text import characters
from playground.views.overview import ReadSentence, list_chips, show_overview
from tests.views.scenes import SMALL, parts_of

FOCUS = Focus(1, 2, 2, 1)
OPTIONS = {"overview_shapes": True, "overview_more": True, "overview_batch": "this text"}


def read(*texts: str, causal: bool = False, **changes: Any) -> tuple[ReadSentence, Encoder]:
    """The first of these sentences, read by a small encoder."""
    encoder = Encoder(ModelConfig(**SMALL | changes), 0).requires_grad_(False)
    batch = characters().encode_batch(texts)
    return ReadSentence(run(encoder, batch, causal=causal), batch, 0, causal), encoder


def size_of(encoder: Encoder) -> int:
    return sum(parameter.numel() for parameter in encoder.parameters())


def show(now: ReadSentence, pinned: ReadSentence | None = None, **options: Any) -> list[Item]:
    return parts_of(show_overview(Scene(now, FOCUS, pinned, "before"), OPTIONS | options))


def charts_of(items: list[Item]) -> dict[str, Any]:
    return {each.key: each for each in items if isinstance(each, Chart)}


def data(items: list[Item], name: str) -> Any:
    return next(each.data for each in items if isinstance(each, Widget) and each.name == name)


def test_previews_show_the_numbers_of_their_pages() -> None:
    sentence, encoder = read("abcab", "abcabca")
    trace = Trace()
    encoder(sentence.batch.ids, sentence.batch.mask, trace)
    items = show(sentence)
    grid, curves, bars = (charts_of(items)[f"overview_{page}"] for page in ("attention", "norms", "parameters"))
    patterns = torch.stack([trace[f"layers.{layer}.attn.pattern"][0] for layer in range(2)])
    np.testing.assert_allclose(grid.thumbnails(sentence)[:, :, :5], patterns[:, :, :5], atol=1e-6)
    np.testing.assert_array_equal(grid.weights(sentence), grid.thumbnails(sentence))
    real = [trace[name][0, :5].double() for name in ("embed.out", "layers.0.out", "layers.1.out")]
    lengths = [float(torch.linalg.vector_norm(stream, dim=-1).mean()) for stream in real]
    np.testing.assert_allclose(curves.curves(sentence)[0].y, lengths, rtol=1e-5)
    assert sum(sum(part.values()) for part in bars.bars(sentence).values()) == size_of(encoder)
    pages = [each.data["page"] for each in items if isinstance(each, Widget) and each.name == "page_link"]
    assert pages == ["attention", "norms", "parameters"]


def test_beside_a_pinned_model_both_are_drawn_and_counted_also_where_it_cannot_be_run() -> None:
    (now, encoder), (pinned, other) = read("abcab"), read("abcab", n_layers=3)
    costs = ModelCosts(ModelConfig(**SMALL | {"n_layers": 3}), 5)
    sizes = [size_of(model) for model in (other, encoder)]
    for beside in (pinned, None):
        counted = replace(now, pinned_costs=costs)
        items = show(counted, beside)
        scene = Scene(counted, FOCUS, beside, "before")
        told = next(each.text for each in items if isinstance(each, Paragraph) and "**Before and now.**" in each.text)
        assert " → ".join(f"{size / 1e3:.3g} k" for size in sizes) in told.replace("\\", "")
        drawings = [draw_chart(each, scene) for each in charts_of(items).values()]
        assert not any(drawing.beside for drawing in drawings)
        dotted = [trace for trace in drawings[1].now.figure["data"] if trace["line"].get("dash") == "dot"]
        assert bool(dotted) == (beside is not None)
    assert not [each for each in show(now, pinned) if isinstance(each, Paragraph) and "Before and now" in each.text]


def test_a_chip_is_a_token_with_its_id_and_how_it_came_there() -> None:
    sentence, _ = read("a☃", "abc")
    ids = sentence.batch.ids[0].tolist()
    chips = list_chips(sentence)
    assert chips[:2] == [
        ("a", str(ids[0]), "plain", f"position 0, id {ids[0]}, characters 0 to 1: “a”"),
        ("[UNK]", str(ids[1]), "unknown", f"position 1, id {ids[1]}, not in the vocabulary: “☃”"),
    ]
    assert chips[2][1:3] == (str(ids[2]), "padding")
    shown = data(show(sentence), "sentence_chips")
    assert (shown["chips"], shown["query"], shown["key"]) == (chips, FOCUS.query, FOCUS.key)


def test_boxes_are_the_stages_and_the_whole_pass_stands_below_them() -> None:
    sentence, encoder = read("abcab")
    flow = next(each for each in show(sentence) if isinstance(each, Widget) and each.name == "data_flow")
    assert flow.data["n_layers"] == 2
    assert [stage.title for stage in flow.data["stages"]][:3] == ["tokens", "embed", "norm"]
    told = next(each.text for each in show(sentence) if isinstance(each, Paragraph) and "parameters" in each.text)
    assert f"{size_of(encoder):,} parameters" in told
    # Q, K, V and O; scores and weighted sum; both halves of the feed-forward: 2 for each multiply-add
    flops = 2 * 2 * (4 * 5 * 16 * 16 + 2 * 5 * 5 * 16 + 2 * 5 * 16 * 32)
    assert f"{flops / 1e6:,.1f} million" in told
    assert "*residual connection*" in flow.caption
    bare, _ = read("abcab", residual=False)
    assert "*residual connection*" not in str(show(bare))


def shapes(sentence: ReadSentence, **options: Any) -> tuple[dict[str, str], str, list[Item]]:
    """The table of shapes by intermediate, the text to copy, and all items."""
    items = show(sentence, **options)
    table = next(each for each in items if isinstance(each, Table)).frame(sentence).set_index("intermediate")
    text = next(each.text for each in items if isinstance(each, Paragraph) and each.kind == "code")
    return dict(table["shape"]), text, items


@pytest.mark.parametrize("causal", [False, True])
def test_every_shape_is_that_of_the_trace_of_the_whole_text_and_stands_in_the_text_to_copy(causal: bool) -> None:
    sentence, encoder = read("abc", "abcab", causal=causal)
    trace = Trace()
    encoder(sentence.batch.ids, sentence.batch.mask, trace)
    told, text, _ = shapes(sentence)
    known = {name: str(tuple(tensor.shape)) for name, tensor in trace.items() if not name.endswith(".in")}
    assert {name: told[name] for name in known} == known
    assert told["layers.0.attn.mask"] == ("(2, 1, 5, 5)" if causal else "(2, 1, 1, 5)")
    assert dict(line.split(maxsplit=1) for line in text.splitlines()) == told
    closed = show(sentence, overview_shapes=False)
    assert not [each for each in closed if isinstance(each, Table) or "code" in vars(each).values()]


@pytest.mark.parametrize(("positions", "n_tokens"), [("learned", 64), ("none", 200)])
def test_tutorial_cs_batch_is_cut_at_the_position_table_with_a_notice(positions: str, n_tokens: int) -> None:
    sentence, _ = read("abc", positions=positions, max_len=64)
    told, _, items = shapes(sentence, overview_batch="tutorial C: 30 × 200")
    assert told["final"] == f"(30, {n_tokens}, 16)"
    notices = [each for each in items if isinstance(each, Paragraph) and "(max_len)" in each.text]
    assert bool(notices) == (n_tokens == 64)

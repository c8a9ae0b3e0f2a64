"""The view Overview as a function on values: tokens, previews, costs and shapes against torch's own."""

from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import torch

from playground import Trace
from playground.charts.chart import Button, Chart, Item, Paragraph, Table, Widget
from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.link.lab import Lab
from playground.link.opening import open_link
from playground.views.overview import list_chips, overview_scene, show_overview
from tests.views.scenes import parts_of
from tests.web.app_test import SMALL

OPTIONS = {"overview_shapes": True, "overview_more": True, "overview_batch": "this text"}


def read(*texts: str, **query: Any) -> Scene[Lab]:
    """What the page shows of the first of these sentences, read by a small encoder."""
    link = SMALL | {"text": "\n".join(texts)} | {key: str(value).lower() for key, value in query.items()}
    return overview_scene(open_link(f"overview?{urlencode(link)}"))


def trace_of(scene: Scene[Lab]) -> Trace:
    trace, lab = Trace(), scene.now
    mask = lab.batch.mask
    with torch.inference_mode():
        n = mask.shape[1]
        lab.encoder(lab.batch.ids, mask[:, None] & torch.ones(n, n).tril().bool() if lab["causal"] else mask, trace)
    return trace


def size_of(lab: Lab) -> int:
    return sum(parameter.numel() for parameter in lab.encoder.parameters())


def show(scene: Scene[Lab], **options: Any) -> list[Item]:
    return parts_of(show_overview(scene, OPTIONS | options))


def charts_of(items: list[Item]) -> dict[str, Any]:
    return {each.key: each for each in items if isinstance(each, Chart)}


def test_previews_show_the_numbers_of_their_pages() -> None:
    scene = read("abcab", "abcabca")
    trace, items, lab = trace_of(scene), show(scene), scene.now
    grid, curves, bars = (charts_of(items)[f"overview_{page}"] for page in ("attention", "norms", "parameters"))
    patterns = torch.stack([trace[f"layers.{layer}.attn.pattern"][0] for layer in range(2)])
    np.testing.assert_allclose(grid.thumbnails(lab)[:, :, :5], patterns[:, :, :5], atol=1e-6)
    real = [trace[name][0, :5].double() for name in ("embed.out", "layers.0.out", "layers.1.out")]
    lengths = [float(torch.linalg.vector_norm(stream, dim=-1).quantile(0.5)) for stream in real]
    np.testing.assert_allclose(curves.curves(lab)[0].y, lengths, rtol=1e-5)
    assert sum(sum(part.values()) for part in bars.bars(lab).values()) == size_of(lab)
    opened = [each.opens for each in items if isinstance(each, Button)]
    assert opened == ["attention", "attention", "norms", "parameters"]
    told = next(each.text for each in items if isinstance(each, Paragraph) and "parameters" in each.text)
    assert f"{size_of(lab):,} parameters" in told
    # Q, K, V and O; scores and weighted sum; both halves of the feed-forward: 2 for each multiply-add
    n = len(lab.run.tokens)
    flops = 2 * 2 * (4 * n * 16 * 16 + 2 * n * n * 16 + 2 * n * 16 * 32)
    assert f"{flops / 1e6:,.1f} million" in told


def test_beside_a_pinned_model_both_are_drawn_and_counted() -> None:
    scene = read("abcab", b_n_layers=3)
    assert scene.pinned is not None
    items, sizes = show(scene), [size_of(lab) for lab in (scene.pinned, scene.now)]
    told = next(each.text for each in items if isinstance(each, Paragraph) and "**Before and now.**" in each.text)
    assert " → ".join(f"{size / 1e3:.3g} k" for size in sizes) in told.replace("\\", "")
    drawing = draw_chart(charts_of(items)["overview_norms"], scene)
    assert any(trace["line"].get("dash") == "dot" for trace in drawing.now.figure["data"])
    assert not [each for each in show(read("abcab")) if isinstance(each, Paragraph) and "Before and now" in each.text]


def test_a_chip_is_a_token_with_its_id_and_how_it_came_there_and_boxes_are_the_stages() -> None:
    scene = read("a☃", "abc")
    chips, ids = list_chips(scene.now), scene.now.batch.ids[0].tolist()
    assert chips[:2] == [
        ("a", str(ids[0]), "plain", f"position 0, id {ids[0]}, characters 0 to 1: “a”"),
        ("[UNK]", str(ids[1]), "unknown", f"position 1, id {ids[1]}, not in the vocabulary: “☃”"),
    ]
    assert chips[2][1:3] == (str(ids[2]), "padding")
    shown, flow = (each.data for each in show(scene) if isinstance(each, Widget))
    assert (shown["query"], shown["key"]) == (scene.focus.query, scene.focus.key)
    assert flow["n_layers"] == 2
    assert [stage.title for stage in flow["stages"]][:3] == ["tokens", "embed", "norm"]


def shapes(scene: Scene[Lab], **options: Any) -> tuple[dict[str, str], str, list[Item]]:
    """The table of shapes by intermediate, the text to copy, and all items."""
    items = show(scene, **options)
    table = next(each for each in items if isinstance(each, Table)).frame(scene.now).set_index("intermediate")
    text = next(each.text for each in items if isinstance(each, Paragraph) and each.kind == "code")
    return dict(table["shape"]), text, items


@pytest.mark.parametrize("causal", [False, True])
def test_every_shape_is_that_of_the_trace_of_the_whole_text_and_stands_in_the_text_to_copy(causal: bool) -> None:
    scene = read("abc", "abcab", causal=causal)
    told, text, _ = shapes(scene)
    known = {name: str(tuple(tensor.shape)) for name, tensor in trace_of(scene).items() if not name.endswith(".in")}
    assert {name: told[name] for name in known} == known
    assert told["layers.0.attn.mask"] == ("(2, 1, 5, 5)" if causal else "(2, 1, 1, 5)")
    assert dict(line.split(maxsplit=1) for line in text.splitlines()) == told
    closed = show(scene, overview_shapes=False)
    assert not [each for each in closed if isinstance(each, Table) or "code" in vars(each).values()]


@pytest.mark.parametrize(("positions", "n_tokens"), [("learned", 64), ("none", 200)])
def test_tutorial_cs_batch_is_cut_at_the_position_table_with_a_notice(positions: str, n_tokens: int) -> None:
    told, _, items = shapes(read("abc", positions=positions, max_len=64), overview_batch="tutorial C: 30 × 200")
    assert told["final"] == f"(30, {n_tokens}, 16)"
    notices = [each for each in items if isinstance(each, Paragraph) and "(max_len)" in each.text]
    assert bool(notices) == (n_tokens == 64)

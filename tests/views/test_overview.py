"""The view Overview as a function on values: tokens, costs and shapes against torch's own."""

from typing import Any
from urllib.parse import urlencode

import pytest
import torch

from playground import Trace
from playground.charts.chart import Item, Paragraph, Table, Widget
from playground.charts.scene import Scene
from playground.link.lab import Lab
from playground.link.opening import open_link
from playground.views.overview import list_chips, overview_scene, show_overview
from tests.views.scenes import parts_of
from tests.web.app_test import SMALL

OPTIONS = {"overview_shapes": True, "overview_batch": "this text"}


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


def paragraphs(items: list[Item]) -> str:
    return "\n".join(each.text for each in items if isinstance(each, Paragraph))


def test_parameters_and_work_are_counted_and_beside_a_pinned_model_both() -> None:
    scene = read("abcab", b_n_layers=3)
    pinned, lab = scene.both
    (flow,) = (each for each in show(scene) if isinstance(each, Widget) and each.name == "data_flow")
    assert f"{size_of(lab):,} parameters" in flow.caption
    # Q, K, V and O; scores and weighted sum; both halves of the feed-forward: 2 for each multiply-add
    n = len(lab.run.tokens)
    flops = 2 * 2 * (4 * n * 16 * 16 + 2 * n * n * 16 + 2 * n * 16 * 32)
    assert f"{flops / 1e6:,.1f} million" in flow.caption
    told = " → ".join(f"{size_of(each) / 1e3:.3g} k" for each in (pinned, lab))
    assert told in paragraphs(show(scene)).replace("\\", "")
    assert "Before and now" not in paragraphs(show(read("abcab")))


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


def shapes(scene: Scene[Lab], **options: Any) -> dict[str, str]:
    """The table of shapes by intermediate."""
    table = next(each for each in show(scene, **options) if isinstance(each, Table)).frame(scene.now)
    return dict(table.set_index("intermediate")["shape"])


@pytest.mark.parametrize("causal", [False, True])
def test_every_shape_is_that_of_the_trace_of_the_whole_text(causal: bool) -> None:
    scene = read("abc", "abcab", causal=causal)
    told = shapes(scene)
    known = {name: str(tuple(tensor.shape)) for name, tensor in trace_of(scene).items() if not name.endswith(".in")}
    assert {name: told[name] for name in known} == known
    assert told["layers.0.attn.mask"] == ("(2, 1, 5, 5)" if causal else "(2, 1, 1, 5)")
    assert not [each for each in show(scene, overview_shapes=False) if isinstance(each, Table)]


@pytest.mark.parametrize(("positions", "n_tokens"), [("learned", 64), ("none", 200)])
def test_tutorial_cs_batch_is_cut_at_the_position_table(positions: str, n_tokens: int) -> None:
    told = shapes(read("abc", positions=positions, max_len=64), overview_batch="tutorial C: 30 × 200")
    assert told["final"] == f"(30, {n_tokens}, 16)"

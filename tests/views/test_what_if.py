"""What if, on values: what followed is what two runs differ by."""

from typing import Any

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.charts.chart import Columns, Heatmap, Table
from playground.charts.draw import draw_chart, draw_table
from playground.charts.scene import Scene
from playground.figures import palette
from playground.link.opening import Focus
from playground.model.changes import Change
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.views import what_if
from playground.views.what_if import Followed
from tests.views.scenes import SMALL

TEXT = ["abcdefgh", "abc"]
FOCUS = Focus(1, 2, 3, 4)


def changed_run(*changes: Change, sentence: int = 0) -> Run:
    return run(Encoder(ModelConfig(**SMALL), 0), characters().encode_batch(TEXT), sentence, interventions=changes)


def follow(*changes: Change, sentence: int = 0) -> Scene[Followed]:
    similarity = np.array([[1, 0.5, 0.25], [0.5, 1, 0.75], [0.25, 0.75, 1]])
    after = similarity - np.array([[0, 0.1, 0], [0.1, 0, 0.5], [0, 0.5, 0]])
    runs = changed_run(*changes, sentence=sentence), changed_run(sentence=sentence)
    followed = Followed(*runs, 0, 3, lambda _: (similarity, after), pooled_in_training=False, causal=False)
    return Scene(followed, FOCUS)


def charts(items: Any) -> dict[str, Any]:
    """The charts of a view, by key, also of those in columns."""
    found: dict[str, Any] = {}
    for item in items:
        if isinstance(item, Columns):
            found |= charts([each for column in item.columns for each in column])
        else:
            found[getattr(item, "key", type(item).__name__)] = item
    return found


def cosine(one: Any, two: Any) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


@pytest.mark.parametrize("sentence", [0, 1])
def test_a_token_has_moved_by_the_difference_of_two_runs(sentence: int) -> None:
    scene = follow(Change("zero", 0, 1), sentence=sentence)
    before, after = (each.arrays["layers.1.out"][~each.padding] for each in (scene.now.untouched, scene.now.run))
    expected = {
        "length of the change": np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1),
        "cosine": [cosine(one, two) for one, two in zip(before, after, strict=True)],
    }
    for measure, numbers in expected.items():
        chart = charts(what_if.show_tokens(scene, {"whatif_measure": measure}))["whatif_vectors"]
        drawn = draw_chart(chart, scene).now
        np.testing.assert_allclose(drawn.figure["data"][0]["z"][2], numbers, atol=1e-5)
        assert drawn.cells is not None
        assert drawn.cells.rows == ("layer", {1: 0, 2: 1})
    ((shape),) = drawn.figure["layout"]["shapes"]
    assert (shape["y0"], shape["x1"], shape["line"]["color"]) == (0.5, len(before) - 0.5, palette.CHANGE)


def test_a_frame_around_one_cell_is_wide_enough_to_be_seen_around_the_focus() -> None:
    scene = follow(Change("uniform", 0, 1, (3,)), Change("zero", 1, 1))
    chart: Heatmap[Followed] = charts(what_if.show_tokens(scene, {"whatif_measure": "cosine"}))["whatif_vectors"]
    one, row = chart.frames(scene.now)
    assert (one.columns, one.width > 2 * 3) == ((3, 3), True), "the focus's frame is 3 pixels within the cell"
    assert (row.rows, row.columns, row.width) == ((2, 2), (0, 7), 3)


def test_maps_of_attention_are_the_difference_of_the_patterns() -> None:
    scene = follow(Change("zero", 0, 1))
    found = charts(what_if.show_attention(scene, {}))
    before, after = (each.pattern(1)[2] for each in (scene.now.untouched, scene.now.run))
    expected = {"whatif_before": before, "whatif_after": after, "whatif_difference": after - before}
    for key, numbers in expected.items():
        np.testing.assert_allclose(found[key].values(scene.now), numbers, atol=1e-6)
    shares = np.abs(scene.now.run.patterns() - scene.now.untouched.patterns()).sum(axis=-1).mean(axis=-1) / 2
    np.testing.assert_allclose(found["whatif_heads"].values(scene.now), shares, atol=1e-6)


def test_pairs_of_sentences_stand_by_the_size_of_their_change() -> None:
    *_, group = what_if.show_sentences(follow(Change("zero", 0, 1)), {"whatif_pooling": "mean"})
    (table,) = (item for item in group.items if isinstance(item, Table))  # type: ignore[union-attr]
    shown = draw_table(table, follow(Change("zero", 0, 1)))
    assert shown["sentences"].tolist() == ["2 and 3", "1 and 2", "1 and 3"]
    np.testing.assert_allclose(shown["after − before"], [-0.5, -0.1, 0])

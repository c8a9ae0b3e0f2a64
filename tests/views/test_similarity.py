"""The view Similarity as a function on values: cosines, their parts, words left out and the map, against NumPy's."""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from numpy.typing import NDArray

from playground import Encoder, ModelConfig
from playground.analysis.sentences import POOLINGS, Pair, Pooling, map_depths
from playground.charts import palette
from playground.charts.chart import Chart, Control, Heatmap, Item, LabelledBars, Paragraph, Picture, Table, Widget
from playground.charts.draw import Drawn, draw_chart
from playground.charts.draw.bars import MOST_BARS
from playground.charts.scene import Scene
from playground.limits import MAX_LISTED
from playground.link import params
from playground.link.changes import Changes, MadeChange
from playground.model.changes import Change
from playground.runs import variant_runs
from playground.views.similarity.page import (
    MOST_WRITTEN,
    VIEWS,
    answer_pairs,
    find_closest,
    find_pooling,
    show_similarity,
    signed_bars,
)
from playground.views.similarity.sentences import EXAMPLE, Sentences, leave_words_out, list_sentences
from tests.labs import lab_of
from tests.views.scenes import SMALL, parts_of, words

OPTIONS: dict[str, Any] = {key: param.default for key, param in params.PARAMS.items() if key.startswith("similarity_")}
TEXTS = ("a cat sat", "a dog", "<b>two cats")
I = TypeVar("I", bound=Item)  # noqa: E741


@cache
def compared(texts: tuple[str, ...] = TEXTS, weights: str = "minilm", **values: Any) -> Sentences:
    return list_sentences(lab_of(Encoder(ModelConfig(**SMALL), 0), texts, weights=weights, **values))


def show(subject: Sentences, view: str = "token by token", **options: Any) -> list[Item]:
    """What the view yields with its panels open."""
    options = {
        f"similarity_{key}": value for key, value in ({"closer": True, "ranking": True, "how": True} | options).items()
    }
    return parts_of(show_similarity(Scene(subject), OPTIONS | {"similarity_view": view} | options))


def pick(items: Sequence[Item], kind: type[I], key: str) -> I:
    (found,) = (each for each in items if isinstance(each, kind) and getattr(each, "key", "") == key)
    return found


def drawn(chart: Chart[Any], subject: Sentences) -> Drawn:
    return draw_chart(chart, Scene(subject)).now


def final_vectors(texts: tuple[str, ...]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the encoder itself makes of texts, (N, T, D), and their masks (N, T)."""
    batch = compared().lab.tokenizer.encode_batch(list(texts))
    with torch.inference_mode():
        vectors = compared().lab.encoder(batch.ids, batch.mask)
    return vectors.numpy().astype(np.float64), batch.mask.numpy()


def cosines(pooling: Pooling, texts: tuple[str, ...]) -> NDArray[Any]:
    vectors, mask = final_vectors(texts)
    counted = {"mean": mask, "mean with padding": np.ones_like(mask), "first token": np.arange(mask.shape[1]) == 0}
    weights = np.broadcast_to(counted[pooling], mask.shape)[..., None]
    pooled = (vectors * weights).sum(axis=1)
    unit = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    products: NDArray[Any] = unit @ unit.T
    return products


@pytest.mark.parametrize("pooling", POOLINGS)
def test_each_two_sentences_have_their_cosine_and_its_parts(pooling: Pooling) -> None:
    subject, expected = compared(), cosines(pooling, TEXTS)
    items = show(subject, pooling=pooling, first=1, second=3)
    matrix = pick(items, Heatmap, "similarity_matrix")
    np.testing.assert_allclose(matrix.values(subject), expected, atol=1e-5)
    pairs = pick(items, Table, "similarity_pairs")
    ranked = sorted(expected[np.triu_indices(3, 1)], reverse=True)
    np.testing.assert_allclose(pairs.frame(subject)["cosine"], ranked, atol=1e-5)
    best = np.unravel_index(np.triu(expected, 1).argmax(), expected.shape)
    assert pairs.on_row is not None
    assert pairs.on_row(0) == {"similarity_first": best[0] + 1, "similarity_second": best[1] + 1}
    parts = pick(items, Heatmap, "similarity_tokens").values(subject)
    assert parts.sum() == pytest.approx(expected[0, 2], abs=1e-5)
    for axis, which in ((1, "first"), (0, "second")):
        bars = pick(items, LabelledBars, f"similarity_tokens_{which}").bars(subject)
        np.testing.assert_allclose(bars.values, parts.sum(axis=axis), atol=1e-6)


def test_a_pooling_is_explained_with_the_numbers_on_the_screen() -> None:
    subject, chosen = compared(), Pair(1, 2, 0)
    padded, mean, first = (cosines(way, TEXTS) for way in ("mean with padding", "mean", "first token"))
    case, numbers = find_pooling(subject, "mean with padding", chosen)
    assert (case, numbers["width"]) == ("padding", len(TEXTS[2]))
    assert (numbers["cosine"], numbers["mean"]) == pytest.approx((padded[1, 2], mean[1, 2]), abs=1e-5)
    case, numbers = find_pooling(subject, "first token", chosen)
    apart = first[np.triu_indices(3, 1)]
    assert case == "first"
    assert (numbers["low"], numbers["high"]) == pytest.approx((apart.min(), apart.max()), abs=1e-5)
    assert find_pooling(subject, "mean", chosen) == ("mean", {})


def test_words_are_left_out_one_by_one_and_a_sentence_of_one_word_is_not() -> None:
    texts = ("a cat sat", "a cat", "snow")
    subject, pooled = compared(texts), cosines("mean", (*texts, "cat sat", "a sat", "x" * 9))
    bars = pick(show(subject, "leave a word out"), LabelledBars, "similarity_left_out_first").bars(subject)
    assert bars.labels == ["a₀", "cat₂", "sat₆"]
    np.testing.assert_allclose(bars.values, pooled[[3, 4, 1], 1] - pooled[0, 1], atol=2e-5)
    alone = show(subject, "leave a word out", second=3)
    assert [each.key for each in alone if isinstance(each, LabelledBars)] == ["similarity_left_out_first"]


def test_changes_that_name_a_token_are_not_made_in_shorter_texts() -> None:
    made = Changes((MadeChange(Change("zero", 0, 1)), MadeChange(Change("hide", 0, 1, (1,)))))
    subject, zeroed = compared(do=made), compared(do=Changes(made.made[:1]))
    assert [len(each) for each in subject.changes] == [2, 1, 1], "a token's change is made in the chosen sentence alone"
    assert subject.changes_for_any_text == zeroed.changes
    of_both = [leave_words_out(each.lab, zeroed.changes, 0, 1, "mean") for each in (subject, zeroed)]
    assert of_both[0].similarities == pytest.approx(of_both[1].similarities)
    cosine = zeroed.depths.similarity("mean")[0, 1]
    items = show(subject, "leave a word out")
    bars = pick(items, LabelledBars, "similarity_left_out_first").bars(subject)
    np.testing.assert_allclose(bars.values, np.array(of_both[1].similarities) - cosine, atol=1e-6)


def test_a_map_keeps_its_axes_at_every_depth_and_marks_the_pair() -> None:
    subject = compared()
    mapped, ranges = map_depths(subject.depths.pooled["mean"]), set()
    for depth in range(3):
        items = show(subject, "map by depth", depth=depth, second=3)
        figure = go.Figure(drawn(pick(items, Picture, "similarity_map"), subject).figure)
        *paths, _, dots = figure.data
        np.testing.assert_allclose(dots.x, mapped.points[depth, :, 0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(paths[1].y, mapped.points[:, 2, 1], rtol=1e-5, atol=1e-6)
        assert [i for i, colour in enumerate(dots.marker.color) if colour == palette.FOCUS] == [0, 2]
        assert dots.customdata[2] == "3 · &lt;b&gt;two cats"
        ranges.add((*figure.layout.xaxis.range, *figure.layout.yaxis.range))
    assert len(ranges) == 1
    assert pick(show(subject, "map by depth", depth=50), Control, "similarity_depth").high == 2
    assert not [each for each in show(compared(TEXTS[:2]), "map by depth") if isinstance(each, Picture)]


@pytest.mark.parametrize("n", [2, MOST_WRITTEN, MOST_WRITTEN + 1, 40])
def test_a_matrix_has_numbers_in_its_cells_while_there_is_room(n: int) -> None:
    subject = compared(("<b>bold</b> & <script>",) * n)
    figure = go.Figure(drawn(pick(show(subject), Heatmap, "similarity_matrix"), subject).figure)
    (cells,) = figure.data
    assert (cells.text is not None) == (n <= MOST_WRITTEN)
    assert (cells.zmin, cells.zmax) == (-1, 1)
    assert len(set(cells.y)) == len(set(cells.x)) == n
    assert all(row.startswith(f"{i} · &lt;b&gt;bold") for i, row in enumerate(cells.y, start=1))
    assert figure.layout.height <= 900, "a laptop's window"


def test_a_click_chooses_sentences_and_the_nearest_pair_is_framed() -> None:
    subject = compared()
    frame = drawn(pick(show(subject, first=40, second=2), Heatmap, "similarity_matrix"), subject)
    assert frame.cells is not None
    assert frame.cells.rows == ("similarity_first", {0: 1, 1: 2, 2: 3})
    assert frame.chart.chosen == {"similarity_first": 3, "similarity_second": 2}
    lists = [each.data for each in show(subject, first=40) if isinstance(each, Widget)]
    assert [each["number"] for each in lists] == [3, 2]


def test_the_answer_has_the_closest_pair_and_the_median_of_all() -> None:
    similarity = cosines("mean", TEXTS)
    pairs = similarity[np.triu_indices(3, 1)]
    row, column = (int(i) for i in np.unravel_index(np.triu(similarity, 1).argmax(), (3, 3)))
    case, numbers = find_closest(similarity, chosen := Pair(row, column, similarity[row, column]))
    assert (case, numbers["pairs"], numbers["median"]) == ("closest", 3, pytest.approx(np.median(pairs)))
    assert numbers["closest"] is numbers["framed"] is chosen
    numbers = find_closest(similarity, itself := Pair(1, 1, 1.0))[1]
    assert (numbers["closest"][:2], numbers["framed"]) == ((row, column), itself)
    assert find_closest(similarity[:2, :2], Pair(0, 1, similarity[0, 1]))[0] == "pair"
    assert find_closest(similarity[:1, :1], Pair(0, 0, 1.0)) == ("one", {})


def test_the_same_words_in_another_order_are_not_the_same_meaning() -> None:
    def told(*texts: str, weights: str = "minilm") -> str:
        subject = compared(texts, weights)
        return answer_pairs(subject, "mean", subject.pair("mean", (1, 2)))

    assert "another order" in told("abc", "bca")
    assert "another order" not in told("abc", "abd")
    assert "random" in told("abc", "bca", weights="random")


def test_one_sentence_stands_beside_the_example_if_the_tokenizer_knows_it() -> None:
    random = list_sentences(lab_of(Encoder(ModelConfig(**SMALL), 0), ["a cat"]))
    assert (random.texts, random.is_example) == (("a cat", *EXAMPLE), True)
    cosine_texts = words(show(random))
    assert "*The dog bit the man.* is at" in cosine_texts


def test_a_list_is_bounded_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = lab_of(Encoder(ModelConfig(**SMALL), 0), ["a cat", "b"])
    many = list_sentences(lab, "one two\n" * 60)
    assert (len(many.texts), len(many.notes)) == (MAX_LISTED, 1)
    long = list_sentences(lab, "many words " * 80)
    assert (len(long.texts), len(long.notes)) == (3, 1)
    monkeypatch.setattr(variant_runs, "MAX_VECTORS", 16 * 40)
    few = list_sentences(lab, "something longer\n" * 3)
    assert (len(few.texts), len(few.notes)) == (2, 1)


def test_bars_are_coloured_by_their_sign() -> None:
    bars = signed_bars(["a", "b", "c"], [-1, -0.0004, 0.5], "change")
    assert bars.texts == ["−1.000", "0.000", "+0.500"]
    assert bars.colours == [palette.FEED_FORWARD, palette.RESIDUAL, palette.ATTENTION]
    texts = ("abcdefgh" * 4, "short", "x")
    chart = pick(show(compared(texts)), LabelledBars, "similarity_tokens_first")
    assert chart.bars(compared(texts)).labels[-1] == f"{32 - (MOST_BARS - 1)} others"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("texts", [("one", "one"), ("x", "x", "x")])
def test_every_view_has_something_to_show_of_any_sentences_and_plotly_takes_it(
    texts: tuple[str, ...], view: str
) -> None:
    subject = compared(texts)
    for pooling in POOLINGS:
        items = show(subject, view, pooling=pooling)
        assert any(isinstance(each, Paragraph) for each in items)
        assert "nan" not in words(items).lower().split()
        for chart in (each for each in items if isinstance(each, Chart)):
            go.Figure(drawn(chart, subject).figure)

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
from playground.analysis.sentences import POOLINGS, Pooling
from playground.charts.chart import Chart, Curves, Heatmap, Item, LabelledBars, Menu, Paragraph, Table
from playground.charts.draw import Drawn, draw_chart
from playground.charts.scene import Scene
from playground.limits import MAX_LISTED
from playground.link import params
from playground.link.kinds import Changes, MadeChange
from playground.model.changes import Change
from playground.runs import variant_runs
from playground.text.wording import write_number
from playground.views.similarity import (
    EXAMPLE,
    VIEWS,
    Sentences,
    answer_pairs,
    leave_words_out,
    list_sentences,
    show_similarity,
)
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
        bars = pick(items, LabelledBars, f"similarity_tokens_{which}")
        np.testing.assert_allclose(bars.values, parts.sum(axis=axis), atol=1e-6)


def test_words_are_left_out_one_by_one_and_a_sentence_of_one_word_is_not() -> None:
    texts = ("a cat sat", "a cat", "snow")
    subject, pooled = compared(texts), cosines("mean", (*texts, "cat sat", "a sat", "x" * 9))
    bars = pick(show(subject, "leave a word out"), LabelledBars, "similarity_left_out_first")
    assert bars.labels == ["a₀", "cat₂", "sat₆"]
    np.testing.assert_allclose(bars.values, pooled[[3, 4, 1], 1] - pooled[0, 1], atol=2e-5)
    alone = show(subject, "leave a word out", second=3)
    assert [each.key for each in alone if isinstance(each, LabelledBars)] == ["similarity_left_out_first"]


def test_changes_that_name_a_token_are_not_made_in_shorter_texts() -> None:
    made = Changes((MadeChange(Change("zero", 0, 1)), MadeChange(Change("hide", 0, 1, (1,)))))
    subject, zeroed = compared(do=made), compared(do=Changes(made.made[:1]))
    assert [len(each) for each in subject.changes] == [2, 1, 1], "a token's change is made in the chosen sentence alone"
    one, other = (
        [similarity for *_, similarity in leave_words_out(each.lab, zeroed.changes, 0, 1, "mean")]
        for each in (subject, zeroed)
    )
    assert one == pytest.approx(other)
    cosine = zeroed.depths.similarity("mean")[0, 1]
    items = show(subject, "leave a word out")
    bars = pick(items, LabelledBars, "similarity_left_out_first")
    np.testing.assert_allclose(bars.values, np.array(other) - cosine, atol=1e-6)


def test_the_pairs_cosine_at_every_depth_stands_beside_the_median_of_all() -> None:
    subject = compared()
    chart = pick(show(subject, "by depth", second=3), Curves, "similarity_depths")
    chosen, median = chart.curves(subject)
    for depth, vectors in enumerate(subject.depths.pooled["mean"].astype(np.float64)):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        pairs = (unit @ unit.T)[np.triu_indices(3, 1)]
        assert (chosen.y[depth], median.y[depth]) == pytest.approx((pairs[1], np.median(pairs)), abs=1e-5)
    assert len(chosen.y) == 3


def test_one_word_is_followed_from_the_framed_sentence_beside_other_words() -> None:
    subject = compared(("a cat sat", "a dog", "two cats", "two dogs a"))
    items = show(subject, "one word", word="a", first=2)
    curves = pick(items, Curves, "similarity_word_depths").curves(subject)
    assert [curve.name for curve in curves] == ["in sentence 1", "in sentence 4", "other words"]
    assert list(pick(items, Menu, "similarity_word").names) == ["two", ""], "the framed sentences share no rarer word"
    for texts, word in ((("a cat", "a dog"), "<b>"), (("a cat", "two"), "")):
        last = show(compared(texts), "one word", word=word, how=False, ranking=False)[-1]
        assert isinstance(last, Paragraph)
        assert "two" in last.text


def test_the_answer_has_the_closest_pair_the_chosen_one_and_the_median_of_all() -> None:
    similarity = cosines("mean", TEXTS)
    pairs = similarity[np.triu_indices(3, 1)]
    row, column = (int(i) for i in np.unravel_index(np.triu(similarity, 1).argmax(), (3, 3)))

    def told(*numbers: int) -> str:
        return answer_pairs(compared(), "mean", compared().pair("mean", numbers))

    for number in (pairs.max(), np.median(pairs)):
        assert f"**{write_number(number)}**" in told(row + 1, column + 1)
    assert "red frame" not in told(row + 1, column + 1)
    assert "red frame" in told(2, 2)


def test_one_sentence_stands_beside_the_example() -> None:
    random = list_sentences(lab_of(Encoder(ModelConfig(**SMALL), 0), ["a cat"]))
    assert (random.texts, random.is_example) == (("a cat", *EXAMPLE), True)


def test_a_list_is_bounded_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = lab_of(Encoder(ModelConfig(**SMALL), 0), ["a cat", "b"])
    many = list_sentences(lab, "one two\n" * 60)
    assert (len(many.texts), len(many.notes)) == (MAX_LISTED, 1)
    monkeypatch.setattr(variant_runs, "MAX_VECTORS", 16 * 40)
    few = list_sentences(lab, "something longer\n" * 3)
    assert (len(few.texts), len(few.notes)) == (2, 1)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_something_to_show_of_equal_sentences_and_plotly_takes_it(view: str) -> None:
    subject = compared(("x", "x", "x"))
    for pooling in POOLINGS:
        items = show(subject, view, pooling=pooling)
        assert any(isinstance(each, Paragraph) for each in items)
        assert "nan" not in words(items).lower().split()
        for chart in (each for each in items if isinstance(each, Chart)):
            go.Figure(drawn(chart, subject).figure)

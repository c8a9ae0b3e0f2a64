"""The view Similarity as a function on values: cosines, their parts, words left out and the map, against NumPy's."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from numpy.typing import NDArray

from playground import Encoder, ModelConfig
from playground.analysis import sentences as analysis
from playground.analysis.sentences import LeftOutWords, Pooling, map_depths, read_depths
from playground.charts import palette
from playground.charts.bars import MOST_BARS
from playground.charts.chart import (
    Chart,
    Control,
    Heatmap,
    Item,
    LabelledBars,
    Panel,
    Paragraph,
    Picture,
    Table,
    Widget,
)
from playground.charts.draw import Drawn, draw_chart
from playground.charts.markdown import escape_markdown
from playground.charts.scene import Scene
from playground.link import params
from playground.text import characters
from playground.views.similarity.left_out import draw_word_changes, name_words
from playground.views.similarity.names import name_sentences
from playground.views.similarity.page import MOST_WRITTEN, show_pairs, show_similarity
from playground.views.similarity.pooling import how_to_read
from playground.views.similarity.sentences import EXAMPLE, Sentences
from playground.views.similarity.tokens import draw_token_sums
from tests.views.scenes import SMALL, parts_of, words

OPTIONS: dict[str, Any] = {key: param.default for key, param in params.PARAMS.items() if key.startswith("similarity_")}
TEXTS = ("a cat sat", "a dog", "<b>two cats")
HOSTILE = "<b>bold</b> & <script>"
POOLINGS: tuple[Pooling, ...] = ("mean", "first token", "mean with padding")
I = TypeVar("I", bound=Item)  # noqa: E741


@cache
def compared(texts: tuple[str, ...] = TEXTS, *, causal: bool = False, **changes: Any) -> Sentences:
    encoder, tokenizer = Encoder(ModelConfig(**SMALL | changes), 0), characters()
    batch = tokenizer.encode_batch(list(texts))
    depths = read_depths(encoder, batch, causal=causal)

    def leave_words_out(side: int, other: int, pooling: Pooling) -> LeftOutWords:
        vector = depths.pooled[pooling][-1, other]
        return analysis.leave_words_out(encoder, tokenizer, batch, side, vector, pooling, causal=causal)

    return Sentences(
        texts, batch, depths, encoder.config, "random", lambda pooling: map_depths(depths.pooled[pooling]),
        leave_words_out, causal=causal,
    )  # fmt: skip


def show(subject: Sentences, view: str = "token by token", **options: Any) -> list[Item]:
    """What the view yields with its panels open."""
    options = {f"similarity_{key}": value for key, value in ({"ranking": True, "how": True} | options).items()}
    return parts_of(show_similarity(scene(subject), OPTIONS | {"similarity_view": view} | options))


def answer(subject: Sentences, **options: Any) -> str:
    (found,) = (each.text for each in show(subject, **options) if isinstance(each, Paragraph) and each.kind == "answer")
    return found


def scene(subject: Sentences) -> Scene[Sentences]:
    return Scene(subject)


def pick(items: Sequence[Item], kind: type[I], key: str) -> I:
    (found,) = (each for each in items if isinstance(each, kind) and getattr(each, "key", "") == key)
    return found


def drawn(chart: Chart[Any], subject: Sentences) -> Drawn:
    return draw_chart(chart, scene(subject)).now


def final_vectors(texts: tuple[str, ...], *, causal: bool = False, **changes: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """What the encoder itself makes of texts, (N, T, D), and their masks (N, T)."""
    batch = characters().encode_batch(list(texts))
    mask = (
        batch.mask[:, None] & torch.ones(*(2 * batch.ids.shape[1:]), dtype=torch.bool).tril() if causal else batch.mask
    )
    with torch.inference_mode():
        vectors = Encoder(ModelConfig(**SMALL | changes), 0)(batch.ids, mask)
    return vectors.numpy().astype(np.float64), batch.mask.numpy()


def pool(pooling: Pooling, vectors: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    counted = {"mean": mask, "mean with padding": np.ones_like(mask), "first token": np.arange(mask.shape[1]) == 0}
    weights = np.broadcast_to(counted[pooling], mask.shape)[..., None]
    pooled: NDArray[Any] = (vectors * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled


def cosines(vectors: NDArray[Any]) -> NDArray[Any]:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    products: NDArray[Any] = unit @ unit.T
    return products


@pytest.mark.parametrize("pooling", POOLINGS)
def test_each_two_sentences_have_their_cosine_and_its_parts(pooling: Pooling) -> None:
    subject, (vectors, mask) = compared(), final_vectors(TEXTS)
    expected = cosines(pool(pooling, vectors, mask))
    items = show(subject, pooling=pooling, first=1, second=3)
    np.testing.assert_allclose(pick(items, Heatmap, "similarity_matrix").values(subject), expected, atol=1e-5)
    pairs = pick(items, Table, "similarity_pairs")
    frame = pairs.frame(subject)
    np.testing.assert_allclose(frame["cosine"], sorted(expected[np.triu_indices(3, 1)], reverse=True), atol=1e-5)
    best = np.unravel_index(np.triu(expected, 1).argmax(), expected.shape)
    assert [frame[side][0].split(" · ")[0] for side in ("first", "second")] == [str(place + 1) for place in best]
    assert pairs.on_row is not None
    assert pairs.on_row(0) == {"similarity_first": best[0] + 1, "similarity_second": best[1] + 1}
    assert f"**{expected[0, 2]:.3f}**" in words(items)
    parts = pick(items, Heatmap, "similarity_tokens").values(subject)
    assert parts.sum() == pytest.approx(expected[0, 2], abs=1e-5)
    sizes = {"mean": mask.sum(axis=1)[[0, 2]], "first token": (1, 1), "mean with padding": (mask.shape[1],) * 2}
    assert parts.shape == tuple(sizes[pooling])
    for axis, which in ((1, "first"), (0, "second")):
        bars = pick(items, LabelledBars, f"similarity_tokens_{which}").bars(subject)
        np.testing.assert_allclose(bars.values, parts.sum(axis=axis), atol=1e-6)


def test_what_a_pooling_does_is_said_with_the_numbers_on_the_screen() -> None:
    subject, (vectors, mask) = compared(), final_vectors(TEXTS)
    padded, mean, first = (cosines(pool(way, vectors, mask)) for way in ("mean with padding", "mean", "first token"))
    told = words(show(subject, pooling="mean with padding", first=2, second=3))
    assert f"{padded[1, 2]:.3f} instead of {mean[1, 2]:.3f}" in told
    assert f"sentence 2 has {int((~mask[1]).sum())} of them" in told
    apart = first[np.triu_indices(3, 1)]
    assert f"from {apart.min():.2f} to {apart.max():.2f}" in words(show(subject, pooling="first token"))
    assert "was made for this" in words(show(replace(subject, weights="minilm")))
    assert "the task reverse, and never" in words(show(replace(subject, weights="trained-1", task="reverse")))


def test_under_the_causal_mask_first_tokens_see_nothing_else_unless_heads_are_merged_by_a_reshape() -> None:
    texts, told = ("abc", "abd", "xyz"), "sees no other token"
    subject = compared(texts, causal=True)
    items = show(subject, pooling="first token")
    similarity = pick(items, Heatmap, "similarity_matrix").values(subject)
    vectors, mask = final_vectors(texts, causal=True)
    np.testing.assert_allclose(similarity, cosines(pool("first token", vectors, mask)), atol=1e-5)
    assert similarity[0, 1] == pytest.approx(1)
    assert told in words(items)
    assert told not in words(show(replace(subject, is_changed=True), pooling="first token"))
    mixed = compared(texts, causal=True, head_merge="reshape")
    assert told not in words(show(mixed, pooling="first token")), "the reshape merge mixes tokens all the same"
    assert mixed.depths.similarity("first token")[0, 1] < 0.9999


def test_words_are_left_out_one_by_one_and_a_sentence_of_one_word_is_not() -> None:
    texts = ("a cat sat", "a cat", "snow")
    subject, (vectors, mask) = compared(texts), final_vectors((*texts, "cat sat", "a sat", "x" * 9))
    pooled = cosines(pool("mean", vectors, mask))
    items = show(subject, "leave a word out")
    chart = pick(items, LabelledBars, "similarity_left_out_first")
    bars = chart.bars(subject)
    assert bars.labels == ["a₀", "cat₂", "sat₆"]
    expected = pooled[[3, 4, 1], 1] - pooled[0, 1]
    np.testing.assert_allclose(bars.values, expected, atol=2e-5)
    assert expected.argmax() == 2
    assert f"rises the most without `sat`₆, by {expected[2]:.3f}" in chart.caption
    alone = show(subject, "leave a word out", second=3)
    assert "Sentence 3 has only one word" in words(alone)
    assert [each.key for each in alone if isinstance(each, LabelledBars)] == ["similarity_left_out_first"]


def test_changes_that_name_a_token_are_not_made_in_shorter_texts() -> None:
    subject, other = compared(), compared(norm_placement="pre")
    changed = replace(subject, for_any_text=lambda: other.depths)
    cosine = other.depths.similarity("mean")[0, 1]
    items = show(changed, "leave a word out")
    assert f"Without them, the cosine is {cosine:.3f}." in words(items)
    assert f"from {cosine:.3f}" in pick(items, LabelledBars, "similarity_left_out_first").caption


def test_a_map_keeps_its_axes_at_every_depth_and_marks_the_pair() -> None:
    subject = compared()
    mapped = map_depths(subject.depths.pooled["mean"])
    ranges = set()
    for depth in range(3):
        items = show(subject, "map by depth", depth=depth, second=3)
        figure = go.Figure(drawn(pick(items, Picture, "similarity_map"), subject).figure)
        *ways, rings, dots = figure.data
        cosine = subject.depths.similarity("mean", depth)[0, 2]
        assert (
            f"at this depth their cosine is {cosine:.3f}".replace("-", "−")
            in pick(items, Picture, "similarity_map").caption
        )
        np.testing.assert_allclose(dots.x, mapped.points[depth, :, 0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(ways[1].y, mapped.points[:, 2, 1], rtol=1e-5, atol=1e-6)
        assert [i for i, colour in enumerate(dots.marker.color) if colour == palette.FOCUS] == [0, 2]
        assert {way.marker.symbol for way in ways} == {"arrow"}
        assert rings.text == ("depth 0", "")
        np.testing.assert_allclose(rings.x, mapped.points[0, [0, 2], 0], rtol=1e-5, atol=1e-6)
        assert dots.customdata[2] == "3 · &lt;b&gt;two cats"
        assert figure.layout.xaxis.title.text == f"axis 1: {100 * mapped.explained[0]:.1f}% of the variance"
        ranges.add((*figure.layout.xaxis.range, *figure.layout.yaxis.range))
    assert len(ranges) == 1
    assert figure.layout.xaxis.range[1] > np.abs(mapped.points).max()
    deepest = show(subject, "map by depth", depth=50)
    assert "after block 2 of 2" in pick(deepest, Picture, "similarity_map").caption
    assert pick(deepest, Control, "similarity_depth").high == 2
    assert "at least 3 sentences" in words(show(compared(("a", "b")), "map by depth"))


def test_numbers_of_sentences_that_lie_together_stand_on_different_sides_of_their_dots() -> None:
    def sides(*points: tuple[float, float]) -> list[str]:
        mapped = analysis.DepthMap(np.array([points]), (0.5, 0.5), np.ones((1, 2)))
        subject = replace(compared(("a",) * len(points)), map_depths=lambda _: mapped)
        items = show(subject, "map by depth", depth=0)
        return list(drawn(pick(items, Picture, "similarity_map"), subject).figure["data"][-1]["textposition"])

    assert len(set(sides(*[(0, 0)] * 4))) == 4
    assert set(sides((0, 1), (1, 0), (-1, 0))) == {"top center"}
    assert sides((0, 0), (0, 0.05), (1, -1))[:2] == ["bottom center", "top center"]


@pytest.mark.parametrize("n", [2, MOST_WRITTEN, MOST_WRITTEN + 1, 40])
def test_a_matrix_has_numbers_in_its_cells_while_there_is_room(n: int) -> None:
    subject = compared((HOSTILE,) * n)
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
    assert frame.chosen == {"similarity_first": 3, "similarity_second": 2}
    assert "compared with itself" in words(show(subject, first=40, second=40))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_answer_names_the_framed_pair_then_the_closest_and_the_median_of_all(pooling: Pooling) -> None:
    texts = (*TEXTS, "the $dog$ barked", "x")
    trained = replace(compared(texts), weights="minilm")
    similarity = cosines(pool(pooling, *final_vectors(texts)))
    pairs = similarity[np.triu_indices(5, 1)]
    row, column = np.unravel_index(np.triu(similarity, 1).argmax(), (5, 5))
    names = [f"*{escape_markdown(text)}* ({i})" for i, text in enumerate(texts, start=1)]
    told = answer(trained, pooling=pooling, first=row + 1, second=column + 1)
    assert told.startswith(f"{names[row]} and {names[column]} are the closest")
    assert f"is **{pairs.max():.2f}**, where 1 is the same direction; the median of all 10 pairs" in told
    assert f"is **{np.median(pairs):.2f}**." in told
    assert ("padding" in told, "first" in told) == (pooling == "mean with padding", pooling == "first token")
    assert "random" not in told
    far = np.unravel_index((similarity + 2 * np.tril(np.ones((5, 5)))).argmin(), (5, 5))
    told = answer(trained, pooling=pooling, first=far[0] + 1, second=far[1] + 1)
    assert told.startswith(f"{names[row]} and {names[column]} are the closest")
    cosine = f"{similarity[far]:.2f}".replace("-", "−")
    assert f"In the red frame are {names[far[0]]} and {names[far[1]]}: **{cosine}**." in told
    assert names[0] in (same := answer(trained, pooling=pooling, first=1, second=1))
    assert "with itself" in same


def test_the_answer_of_random_weights_means_nothing_and_says_whether_all_are_close() -> None:
    close = compared(("ab", "ab", "ab"))
    assert close.depths.similarity("mean").min() > 0.7
    assert "All are close, and it means nothing" in answer(close)
    final = np.eye(3, dtype=np.float32)[:, None].repeat(close.depths.final.shape[1], 1)
    apart = replace(close, depths=replace(close.depths, pooled={"mean": final[None, :, 0]}))
    told = words(show_pairs(scene(apart), OPTIONS))
    assert "3 equally close pairs" in told
    assert "It means nothing: these weights are **random**" in told
    assert "All are close" not in told


def test_the_answer_of_two_sentences_has_no_median_and_one_sentence_asks_for_another() -> None:
    cosine = cosines(pool("mean", *final_vectors(TEXTS[:2])))[0, 1]
    told = answer(compared(TEXTS[:2]))
    assert f"is **{cosine:.2f}**, where 1 is the same direction" in told
    assert "median" not in told
    assert "type a second one" in answer(compared(("x",)))


def test_the_chosen_pair_is_named_beside_the_closest_one() -> None:
    subject = compared()
    similarity = subject.depths.similarity("mean")
    first, second = (int(i) for i in np.unravel_index(np.triu(similarity, 1).argmax(), (3, 3)))
    other = next(pair for pair in ((1, 2), (1, 3)) if pair != (first + 1, second + 1))
    items = list(show(subject, first=other[0], second=other[1]))
    assert f"What makes sentences {other[0]} and {other[1]} alike, or unlike?" in words(items)
    assert f"The closest pair, {first + 1} and {second + 1}, has **{similarity[first, second]:.3f}**." in words(items)
    (button,) = (each for each in items if isinstance(each, Widget) and each.name == "closest_pair")
    assert button.data == {"chosen": {"similarity_first": first + 1, "similarity_second": second + 1}}
    assert "No other pair is closer." in words(show(subject, first=first + 1, second=second + 1))


def test_pooling_is_chosen_before_all_that_depends_on_it_and_no_control_is_in_a_panel() -> None:
    items = list(show_similarity(scene(compared()), OPTIONS | {"similarity_ranking": True, "similarity_how": True}))
    panels = {each.key: parts_of(each.items) for each in items if isinstance(each, Panel)}
    assert panels.keys() == {"similarity_ranking", "similarity_how"}
    for parts in panels.values():
        assert parts, "open"
        assert not any(isinstance(each, Control) for each in parts)
    said, control, matrix, *_ = items
    assert isinstance(said, Paragraph)
    assert isinstance(control, Control)
    assert (said.kind, control.key) == ("answer", "similarity_pooling")
    assert isinstance(matrix, Heatmap)


def test_a_long_sentence_is_cut_where_it_is_a_name_and_whole_in_the_lists_tooltip() -> None:
    long = "a *very* " + "long " * 20 + "sentence"
    items = show(compared((long, "short", "x")))
    lists = [each.data for each in items if isinstance(each, Widget) and each.name == "sentence_list"]
    assert [each["whole"] for each in lists] == [escape_markdown(long), ""]
    assert escape_markdown(long) not in words(items)
    names = pick(items, Table, "similarity_pairs").frame(compared((long, "short", "x")))["first"]
    assert max(map(len, names)) <= 44


def test_the_example_shows_negations_and_order_where_it_is_on_the_screen() -> None:
    similarity = np.random.default_rng(0).random((9, 9))
    told = how_to_read(EXAMPLE, similarity)
    for one, other in ((2, 3), (2, 4), (5, 6)):
        assert f"{similarity[one, other]:.2f}" in told
    assert "Here" not in how_to_read(EXAMPLE[:2], similarity)


def test_a_few_sentences_have_two_lines_beside_the_map() -> None:
    texts = ("the film was not very good at all", "the film <b>was</b> good", "short")
    subject = compared(texts)
    rows = drawn(pick(show(subject), Heatmap, "similarity_matrix"), subject).figure["layout"]["yaxis"]
    assert list(rows["tickvals"]) == [0, 1, 2]
    assert [text.count("<br>") for text in rows["ticktext"]] == [1, 1, 0]
    assert "&lt;b&gt;" in rows["ticktext"][1]


def test_sentences_that_begin_alike_are_named_by_the_words_in_which_they_differ() -> None:
    films = ["The film was good.", "The film was not good.", "The film was too long.", "A dog barked all night."]
    assert name_sentences(films, 14) == ["1 · … good.", "2 · … not good.", "3 · … too long.", "4 · A dog barked …"]
    assert name_sentences(films[3:] * 2, 14) == ["1 · A dog barked …", "2 · A dog barked …"], "the very same"
    assert name_sentences(["word " * 9, "word " * 9 + "more"], 14)[1] == "2 · … more"
    assert name_sentences(["one", "one"]) == ["1 · one", "2 · one"]


def test_token_sums_keep_their_sum_however_many_are_folded() -> None:
    for n in (3, MOST_BARS, MOST_BARS + 1, 100):
        sums = np.random.default_rng(n).standard_normal(n)
        bars = draw_token_sums(["x"] * n, sums)
        assert len(bars.values) == len(bars.labels) == len(bars.texts) == min(n, MOST_BARS)
        assert sum(bars.values) == pytest.approx(sums.sum())
        assert (bars.labels[-1] == f"{n - MOST_BARS + 1} others") == (n > MOST_BARS)


def test_the_caption_counts_the_tokens_that_the_last_bar_adds_up() -> None:
    texts = ("abcdefgh" * 4, "short", "x")
    chart = pick(show(compared(texts)), LabelledBars, "similarity_tokens_first")
    n_others = 32 - (MOST_BARS - 1)
    assert chart.bars(compared(texts)).labels[-1] == f"{n_others} others"
    assert f"The last bar is the sum of the {n_others} weakest." in chart.caption
    bars = chart.bars(compared(texts))
    strongest = int(np.abs(bars.values[:-1]).argmax())
    assert f"The strongest is `{bars.labels[strongest][0]}`{bars.labels[strongest][1:]} with" in chart.caption
    assert "The last bar" not in pick(show(compared()), LabelledBars, "similarity_tokens_first").caption


def test_a_way_of_many_depths_has_arrows_that_do_not_touch_and_one_at_its_end() -> None:
    mapped = analysis.DepthMap(np.random.default_rng(0).random((98, 3, 2)), (0.5, 0.5), np.ones((98, 2)))
    subject = replace(compared(), map_depths=lambda _: mapped)
    figure = drawn(pick(show(subject, "map by depth", depth=0), Picture, "similarity_map"), subject).figure
    sizes = figure["data"][0]["marker"]["size"]
    assert 1 < sum(size > 0 for size in sizes) <= 4
    assert sizes[-1] > 0


def test_changes_by_word_are_the_strongest_in_their_order_and_coloured_by_their_sign() -> None:
    changes = np.linspace(-1, 1, 41)
    bars = draw_word_changes([f"w{i}" for i in range(41)], changes)
    assert (len(bars.values), list(bars.values)) == (MOST_BARS, sorted(bars.values))
    assert min(np.abs(bars.values)) > 0.5
    assert {palette.FEED_FORWARD, palette.ATTENTION} == set(bars.colours)
    zero = draw_word_changes(["a"], np.array([-0.0004]))
    assert (zero.texts, zero.colours) == (["0.000"], [palette.RESIDUAL])
    assert (bars.labels[0], bars.texts[0]) == ("w0", "−1.000")


def test_no_two_words_have_one_name() -> None:
    left_out = LeftOutWords(("the", "the", "哈", "哈", "x", "x"), (1, 4, 6, 6, None, None), (0.0,) * 6, 0)
    assert name_words(left_out) == ["the₁", "the₄", "哈₆", "哈₆ (word 4)", "x", "x (word 6)"]


def test_overflow_ends_the_page_in_a_sentence() -> None:
    subject = compared()
    final = np.full_like(subject.depths.final, np.inf)
    items = show(replace(subject, depths=replace(subject.depths, final=final)))
    assert "**Overflow**" in words(items)
    assert not [each for each in items if isinstance(each, Chart)]


@pytest.mark.parametrize("view", ["token by token", "leave a word out", "map by depth"])
@pytest.mark.parametrize("texts", [("x",), ("one", "one"), ("x", "x", "x")])
def test_every_view_has_something_to_show_of_any_sentences_and_plotly_takes_it(
    texts: tuple[str, ...], view: str
) -> None:
    subject = compared(texts)
    for pooling in POOLINGS:
        items = show(subject, view, pooling=pooling)
        assert "nan" not in words(items).split()
        for chart in (each for each in items if isinstance(each, Chart)):
            go.Figure(drawn(chart, subject).figure)

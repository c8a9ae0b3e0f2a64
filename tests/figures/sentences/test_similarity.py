"""Pictures of sentences beside each other: what is written in them, what is folded, and axes that stay."""

import numpy as np
import pytest

from playground.figures import palette
from playground.figures.attribution import MOST_BARS
from playground.figures.similarity import (
    MOST_WRITTEN,
    contribution_map,
    depth_map,
    sentence_names,
    similarity_matrix,
    token_sums,
    word_changes,
    word_names,
)

HOSTILE = "<b>bold</b> & <script>"


def test_a_matrix_has_numbers_in_its_cells_while_there_is_room() -> None:
    for n in (2, MOST_WRITTEN, MOST_WRITTEN + 1, 40):
        cells = similarity_matrix(np.eye(n), [HOSTILE] * n)
        (drawn,) = cells.data
        assert (drawn.texttemplate == "%{z:.2f}") == (n <= MOST_WRITTEN)
        assert (drawn.zmin, drawn.zmax) == (-1, 1)
        assert len(set(drawn.y)) == len(set(drawn.x)) == n
        assert all(row.startswith(f"{i} · &lt;b&gt;bold") for i, row in enumerate(drawn.y, start=1))
        assert cells.layout.height <= 900, "a laptop's window"
    assert sentence_names(["one", "one"]) == ["1 · one", "2 · one"]


def test_sentences_that_begin_alike_are_named_by_the_words_in_which_they_differ() -> None:
    films = ["The film was good.", "The film was not good.", "The film was too long.", "A dog barked all night."]
    assert sentence_names(films, 14) == ["1 · … good.", "2 · … not good.", "3 · … too long.", "4 · A dog barked …"]
    assert sentence_names(films[3:] * 2, 14) == ["1 · A dog barked …", "2 · A dog barked …"], "the very same"
    assert sentence_names(["word " * 9, "word " * 9 + "more"], 14)[1] == "2 · … more"


def test_token_sums_keep_their_sum_however_many_are_folded() -> None:
    for n in (3, MOST_BARS, MOST_BARS + 1, 100):
        sums = np.random.default_rng(n).standard_normal(n)
        bars = token_sums(["x"] * n, sums)
        assert len(bars.values) == len(bars.labels) == len(bars.texts) == min(n, MOST_BARS)
        assert sum(bars.values) == pytest.approx(sums.sum())
        assert (bars.labels[-1] == f"{n - MOST_BARS + 1} others") == (n > MOST_BARS)


def test_changes_by_word_are_the_strongest_in_their_order_and_coloured_by_their_sign() -> None:
    changes = np.linspace(-1, 1, 41)
    bars = word_changes(word_names([f"w{i}" for i in range(41)], range(1, 42)), changes)
    assert len(bars.values) == MOST_BARS
    assert bars.values == sorted(bars.values)
    assert min(np.abs(bars.values)) > 0.5
    assert {palette.FEED_FORWARD, palette.ATTENTION} == set(bars.colours)
    assert bars.texts[0] == "-1.000"
    assert bars.labels[0] == "w0₁"


def test_a_map_keeps_its_axes_at_every_depth_and_marks_the_pair() -> None:
    points = np.random.default_rng(0).standard_normal((4, 5, 2))
    maps = [depth_map(points, depth, [HOSTILE] * 5, (1, 3), (0.5, 0.25)) for depth in range(4)]
    assert len({tuple(each.layout.xaxis.range) + tuple(each.layout.yaxis.range) for each in maps}) == 1
    assert maps[0].layout.xaxis.range[1] > np.abs(points).max()
    for depth, each in enumerate(maps):
        *ways, dots = each.data
        assert len(ways) == 2
        np.testing.assert_allclose(dots.x, points[depth, :, 0], rtol=1e-6)
        np.testing.assert_allclose(ways[1].y, points[:, 3, 1], rtol=1e-6)
        assert [i for i, colour in enumerate(dots.marker.color) if colour == palette.FOCUS] == [1, 3]
        assert "<b>" not in str(dots.customdata)
    assert maps[0].layout.xaxis.title.text == "axis 1: 50 % of the variance"
    assert maps[0].layout.annotations[0].text == "red: the chosen two"
    same = depth_map(np.zeros((1, 2, 2)), 0, ["a", "b"], (1, 1), (0.0, 0.0))
    assert len(same.data) == 2


def test_numbers_of_sentences_that_lie_together_stand_on_different_sides_of_their_dots() -> None:
    together = np.zeros((1, 4, 2))
    sides = depth_map(together, 0, ["a"] * 4, (0, 1), (0.0, 0.0)).data[-1].textposition
    assert len(set(sides)) == 4
    apart = np.array([[[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]])
    assert set(depth_map(apart, 0, ["a"] * 3, (0, 1), (0.5, 0.5)).data[-1].textposition) == {"top center"}
    above = np.array([[[0.0, 0.0], [0.0, 0.05], [1.0, -1.0]]])
    first, second, _ = depth_map(above, 0, ["a"] * 3, (0, 1), (0.5, 0.5)).data[-1].textposition
    assert (first, second) == ("bottom center", "top center")


def test_no_two_words_have_one_name() -> None:
    names = word_names(["the", "the", "哈", "哈", "x", "x"], [1, 4, 6, 6, None, None])
    assert names == ["the₁", "the₄", "哈₆", "哈₆ (word 4)", "x", "x (word 6)"]


def test_a_map_of_contributions_names_both_sides() -> None:
    drawn = contribution_map(np.array([[0.5, -0.25, 0.0]]), [HOSTILE], ["a", "a", "b"])
    assert drawn.data[0].zmax == 0.5
    assert (drawn.layout.xaxis.title.text, drawn.layout.yaxis.title.text) == ("second sentence", "first sentence")
    assert list(drawn.data[0].x) == ["a₀", "a₁", "b₂"]

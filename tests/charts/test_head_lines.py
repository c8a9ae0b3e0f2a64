"""A head's lines are its heaviest weights."""

import numpy as np
import pytest

from playground.charts.head_lines import MOST_TOKENS, Lines, choose_tokens, head_lines, strongest_keys
from playground.figures import palette
from playground.figures.theme import token_names

TOKENS = ["[CLS]", "<b>", "it", "it", "&lt;", "[SEP]"]
T = len(TOKENS)
EVERY = np.ones(T, dtype=bool)


def lines_of(drawn: Lines, *, chosen: bool = False) -> list[tuple[int, int]]:
    """Every line as its two ends, query and key: those of the weights, or the one between the chosen tokens."""
    return [edge for stroke in drawn.strokes for edge in stroke.edges if (stroke.colour == palette.FOCUS) == chosen]


def test_lines_lead_from_every_query_to_its_strongest_keys() -> None:
    pattern = np.zeros((T, T), dtype=np.float32)
    pattern[:, 0] = 0.6
    pattern[:, 5] = 0.4
    pattern[3, 0], pattern[3, 2] = 0.01, 0.59  # below what is drawn
    drawn = head_lines(pattern, TOKENS, 3, 0, shown=EVERY)
    expected = {(q, k) for q in range(T) for k in range(T) if pattern[q, k] > 0.02}
    assert sorted(lines_of(drawn)) == sorted(expected)
    assert drawn.names == token_names(TOKENS)


def test_a_line_is_as_thick_as_its_weight_is_heavy_and_the_chosen_querys_stand_out() -> None:
    pattern = np.diag(np.array([0.02, 0.1, 0.25, 0.5, 0.75, 1.0], dtype=np.float32))
    strokes = head_lines(pattern, TOKENS, 2, 0, shown=EVERY).strokes
    *strokes, chosen = strokes
    widths = {stroke.edges[0][0]: stroke.width for stroke in strokes if stroke.edges[0][0] != 5}
    assert widths == {0: 1, 1: 2, 2: 4, 3: 6, 4: 9}
    assert [stroke.edges for stroke in strokes if stroke.colour == palette.ATTENTION] == [[(2, 2)]]
    assert strokes[-1].colour == palette.ATTENTION  # above the others
    assert (chosen.edges, chosen.width) == ([(2, 0)], 1), "the chosen key has a line though its weight is 0"


def test_at_most_the_strongest_keys_are_drawn() -> None:
    pattern = np.full((8, 8), 1 / 8, dtype=np.float32)
    drawn = lines_of(head_lines(pattern, [f"t{i}" for i in range(8)], 0, 1, shown=np.ones(8, dtype=bool)))
    assert len(drawn) == 8 * strongest_keys(8)


def test_lines_leave_hidden_tokens_out() -> None:
    shown = np.array([False, True, True, True, True, False])
    drawn = head_lines(np.full((T, T), 1 / T, dtype=np.float32), TOKENS, 2, 3, shown=shown)
    assert {end for line in lines_of(drawn) for end in line} == {0, 1, 2, 3}
    assert drawn.names == token_names(TOKENS)[1:5]
    assert drawn.positions == [1, 2, 3, 4]
    assert lines_of(drawn, chosen=True) == [(1, 2)]
    hidden = head_lines(np.eye(T, dtype=np.float32), TOKENS, 2, 0, shown=shown)
    assert lines_of(hidden, chosen=True) == []
    empty = head_lines(np.eye(T, dtype=np.float32), TOKENS, 2, 3, shown=np.zeros(T, dtype=bool))
    assert lines_of(empty) == []


@pytest.mark.parametrize("n_tokens", [1, 16, 68, 100, 101, 256])
def test_names_never_overlap_and_all_lines_fit_two_screens(n_tokens: int) -> None:
    shown = choose_tokens(np.full(n_tokens, 1 / n_tokens), 0, 0, shown=np.ones(n_tokens, bool))
    drawn = head_lines(np.eye(n_tokens), ["token"] * n_tokens, 0, 0, shown=shown)
    assert len(drawn.names) == min(n_tokens, MOST_TOKENS)
    assert drawn.row_height >= 15, "as high as a name of 12 pixels needs"
    assert drawn.row_height * len(drawn.names) <= 1_500
    assert (drawn.row_height == 22) == (n_tokens <= 68)


def test_of_a_long_sentence_the_querys_neighbours_and_strongest_keys_are_drawn() -> None:
    weights = np.full(256, 1e-3)
    weights[[0, 255]] = 0.3, 0.2
    weights[7] = 0.9
    shown = np.ones(256, bool)
    shown[[7, 149]] = False
    drawn = np.flatnonzero(choose_tokens(weights, 150, 20, shown=shown))
    assert len(drawn) == MOST_TOKENS
    assert {0, 255, 150, 20} <= set(drawn.tolist())
    assert not {7, 149} & set(drawn.tolist()), "hidden tokens stay hidden"
    neighbours = drawn[(drawn > 20) & (drawn < 255)]
    assert np.ptp(neighbours) <= MOST_TOKENS
    assert abs(neighbours.mean() - 150) < 1


def test_a_short_sentence_is_drawn_whole_and_a_hidden_query_has_no_keys() -> None:
    shown = np.ones(MOST_TOKENS, bool)
    assert choose_tokens(np.zeros(MOST_TOKENS), 3, 0, shown=shown) is shown
    long = np.ones(256, bool)
    long[0] = False
    weights = np.zeros(256)
    weights[255] = 1
    assert np.flatnonzero(choose_tokens(weights, 0, 9, shown=long)).tolist() == list(range(1, MOST_TOKENS + 1))

"""Words as vectors: the same for the same seed and word, in every text and on every machine."""

import torch

from playground.text.batch import draw_vectors


def test_equal_words_have_equal_vectors_wherever_they_stand() -> None:
    one, other = draw_vectors(["a", "b", "a"], 16, 3), draw_vectors(["c", "b"], 16, 3)
    assert one.shape == (3, 16)
    assert torch.equal(one[0], one[2])
    assert torch.equal(one[1], other[1])


def test_another_word_or_seed_is_another_vector() -> None:
    rows = torch.cat([draw_vectors(["a", "A", "aa", "ab", "ñ", "🙂"], 16, seed) for seed in (0, 1, 2**31 - 1)])
    assert len(torch.unique(rows, dim=0)) == 18


def test_the_numbers_are_those_of_every_machine() -> None:
    expected = torch.tensor([-0.295837, 0.945925, -0.20522, 0.143648])
    torch.testing.assert_close(draw_vectors(["the"], 4, 7)[0], expected)


def test_the_numbers_are_standard_normal() -> None:
    numbers = draw_vectors([str(i) for i in range(100)], 200, 0).flatten()
    assert abs(float(numbers.mean())) < 0.02
    assert abs(float(numbers.std()) - 1) < 0.02
    within = float((numbers.abs() < 1).float().mean())
    assert abs(within - 0.6827) < 0.01


def test_no_words_are_no_vectors() -> None:
    assert draw_vectors([], 8, 0).shape == (0, 8)

"""Windows of text: cut and held back where they should be, and a clear word for a text that won't do."""

import pytest
import torch

from playground.errors import RecipeError
from playground.training.recipe import MASK, MASK_ID, Recipe
from playground.training.tasks import TASKS
from playground.training.tasks.text_tasks import MAX_KINDS, clean, cut_windows, help_topics, hide_characters

SPECIALS = ("[PAD]", "[UNK]", MASK)
PROSE = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife. However little known the feelings or views of such a man may be on his first entering a neighbourhood, "
    "this truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful "
    "property of some one or other of their daughters."
)


def cut(recipe: Recipe) -> tuple[tuple[str, ...], str, list[str], list[str], str]:
    """The vocabulary; as text, what training may see, both kinds of windows, and the first."""
    found = cut_windows(recipe, recipe.length + TASKS[recipe.task].predicts_next)
    vocabulary, seen, *windows, first = found
    train, validation = (["".join(vocabulary[i] for i in row) for row in ids.tolist()] for ids in windows)
    return vocabulary, "".join(vocabulary[i] for i in seen.tolist()), train, validation, first


@pytest.mark.parametrize(("task", "width"), [("characters", 9), ("masked", 8)])
@pytest.mark.parametrize("text", [PROSE, ""])
def test_windows_stand_in_their_own_part_of_the_text(task: str, width: int, text: str) -> None:
    recipe = Recipe(task=task, text=text, length=8, n_train=200, n_validation=20)
    (vocabulary, read, train, validation, example), whole = cut(recipe), text or help_topics()
    known = [c if c in vocabulary else "°" for c in whole]
    seen, unseen = ("".join(part) for part in (known[: -(len(whole) // 10)], known[-(len(whole) // 10) :]))
    for windows, part, n in ((train, seen, 200), (validation, unseen, 20)):
        assert len(windows) == n
        for window in (each.replace("[UNK]", "°") for each in windows):
            assert window in part
            assert len(window) == width
    assert len({window.replace("[UNK]", "°")[:8] for window in (*train, *validation)}) == 220
    assert example == validation[0][:8]
    assert read.replace("[UNK]", "°") == seen


def test_a_text_s_rarer_characters_are_unknown() -> None:
    common = [chr(0x4E00 + i) for i in range(MAX_KINDS)]
    rare = [chr(0x5E00 + i) for i in range(50)]
    vocabulary, _, _, validation, first = cut(Recipe(task="characters", text="".join(common * 3 + rare), length=4))
    assert list(vocabulary) == [*SPECIALS, *sorted(common)]
    assert any("[UNK]" in window for window in validation)
    assert set(first) <= {*common, *rare}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\u2028b\u00a0c\r\nd", "a b c d"),
        ("a\x00b\x1b\u202ec", "a b c"),
        ("a\ud800b", "a\ufffdb"),
        (f"[MA{MASK}SK]", "[MA SK]"),
    ],
)
def test_cleaning(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize("length", [2, 4, 7, 64])
def test_hiding_takes_a_fixed_share_anywhere(length: int) -> None:
    ids = torch.randint(3, 30, (3_000, length), generator=torch.Generator().manual_seed(0))
    examples = hide_characters(ids, torch.Generator().manual_seed(1))
    hidden = examples.ids == MASK_ID
    assert (hidden.sum(1) == max(1, round(0.15 * length))).all()
    assert torch.equal(examples.ids[~hidden], ids[~hidden])
    assert torch.equal(examples.targets[hidden], ids[hidden])
    expected = hidden.sum().item() / length
    assert (((hidden.sum(0) - expected) ** 2 / expected).sum() < length + 5 * (2 * length) ** 0.5).item()


@pytest.mark.parametrize(
    ("text", "length", "message"),
    [
        (" \n\t ", 8, "has 0 characters"),
        ("a" * 900, 2, "repeats itself"),
        ("too short", 2, "has 9 characters, too few .* at least 30 characters"),
        ("ab" * 100, 8, "repeats itself"),
    ],
)
def test_a_text_that_cannot_be_learnt_from_is_told_why(text: str, length: int, message: str) -> None:
    with pytest.raises(RecipeError, match=message) as caught:
        cut(Recipe(task="characters", text=text, length=length))
    assert len(str(caught.value)) < 250

"""Windows of text: cut and held back where they should be, and a clear word for a text that won't do."""

import pytest
import torch

from playground.errors import RecipeError
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.tasks.task import MASK, MASK_ID
from playground.training.tasks.text_tasks import MAX_KINDS, Windows, clean, cut_windows, help_topics, hide_characters

SPECIALS = ("[PAD]", "[UNK]", MASK)
PROSE = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife. However little known the feelings or views of such a man may be on his first entering a neighbourhood, "
    "this truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful "
    "property of some one or other of their daughters."
)


def cut(recipe: Recipe) -> Windows:
    width = recipe.length + TASKS[recipe.task].predicts_next
    return cut_windows(recipe, width)


def read(found: Windows, ids: torch.Tensor) -> list[str]:
    return ["".join(found.vocabulary[i] for i in row) for row in ids.tolist()]


@pytest.mark.parametrize(("task", "width"), [("characters", 9), ("masked", 8)])
@pytest.mark.parametrize("text", [PROSE, ""])
def test_windows_stand_in_their_own_part_of_the_text(task: str, width: int, text: str) -> None:
    recipe = Recipe(task=task, text=text, length=8, n_train=200, n_validation=20)
    found, whole = cut(recipe), text or help_topics()
    seen, unseen = whole[: -(len(whole) // 10)], whole[-(len(whole) // 10) :]
    train, validation = read(found, found.train), read(found, found.validation)
    assert found.train.shape == (200, width)
    assert found.validation.shape == (20, width)
    assert all(window.replace("[UNK]", "°") in seen.replace("ß", "°") for window in train)
    assert all(window.replace("[UNK]", "°") in unseen.replace("ß", "°") for window in validation)
    first = [window[:8] for window in (*train, *validation)]
    assert len(set(first)) == 220
    assert found.first == validation[0][:8]
    assert "".join(read(found, found.train_text[None])) == "".join(
        c if c in found.vocabulary else "[UNK]" for c in seen
    )


def test_a_text_s_rarer_characters_are_unknown() -> None:
    common = [chr(0x4E00 + i) for i in range(MAX_KINDS)]
    rare = [chr(0x5E00 + i) for i in range(50)]
    found = cut(Recipe(task="characters", text="".join(common * 3 + rare), length=4))
    assert set(found.vocabulary) == {*SPECIALS, *common}
    assert list(found.vocabulary[3:]) == sorted(common)
    tail = read(found, found.validation)
    assert any("[UNK]" in window for window in tail)
    assert set(found.first) <= {*common, *rare}
    assert set(found.train_text.tolist()) >= set(range(3, 3 + MAX_KINDS))


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  a\n\n b\t\tc  ", "a b c"),
        ("a\u2028b\u00a0c\r\nd", "a b c d"),
        ("a\x00b\x1b\u202ec", "a b c"),
        ("a\ud800b", "a\ufffdb"),
        (f"a{MASK}b", "a b"),
        (f"[MA{MASK}SK]", "[MA SK]"),
        (" \n\x00 ", ""),
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
        (" \n\t ", 8, "is blank"),
        ("a" * 900, 2, "one character only, 'a': there is nothing to learn"),
        ("too short", 2, "has 9 characters, too few .* at least 30 characters"),
        (PROSE, 256, "at least 2,570 characters"),
        ("ab" * 100, 8, "repeats itself"),
        (PROSE[:30] * 20, 8, "repeats itself"),
    ],
)
def test_a_text_that_cannot_be_learnt_from_is_told_why(text: str, length: int, message: str) -> None:
    with pytest.raises(RecipeError, match=message) as caught:
        cut(Recipe(task="characters", text=text, length=length))
    assert len(str(caught.value)) < 250

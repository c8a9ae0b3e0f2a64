"""A recipe's data: targets that fit what is read, the baseline of a plain count, a tokenizer that reads it all back."""

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.errors import RecipeError
from playground.training.recipe import BOS_ID, DATA_FIELDS, EOS_ID, IGNORE, MASK, Data, Examples, Recipe
from playground.training.tasks import MAX_TRAIN_TOKENS, TASKS, make_data
from playground.training.tasks.text_tasks import help_topics
from tests.training.tasks.test_made_up import MADE_UP, PLAIN

SMALL = {name: Recipe(task=name, length=10, n_train=400, n_validation=60) for name in TASKS}
DATA = {name: make_data(recipe) for name, recipe in SMALL.items()}
SEQ2SEQ = [name for name in TASKS if name.startswith("seq2seq")]


def same(one: Examples, other: Examples) -> bool:
    return torch.equal(one.ids, other.ids) and torch.equal(one.targets, other.targets)


def answers(examples: Examples) -> list[int]:
    return [target for target in examples.targets.flatten().tolist() if target != IGNORE]


@pytest.mark.parametrize("name", TASKS)
def test_shapes_types_classes_splits_and_the_example(name: str) -> None:
    data = DATA[name]
    for part, n in ((data.train, 400), (data.validation, 60)):
        assert len(part) == len(part.targets) == n
        assert part.ids.dtype == part.targets.dtype == torch.int64
        assert torch.equal(part.mask, part.ids > 0)
        assert int(part.ids.max()) < data.tokenizer.vocab_size == len(data.vocabulary)
        asked = part.targets[part.targets != IGNORE]
        assert int(asked.min()) >= 0
        assert int(asked.max()) < len(data.labels)
    train = {tuple(row) for row in data.train.ids.tolist()}
    assert train.isdisjoint(map(tuple, data.validation.ids.tolist()))
    assert data.tokenizer.encode_batch([data.example]).ids.tolist() == data.validation[slice(0, 1)].ids.tolist()
    assert data.text(data.validation[slice(0, 1)].ids[0].tolist()) == data.example
    assert (MASK in data.example) == (name == "masked")


@pytest.mark.parametrize("name", MADE_UP)
def test_targets_are_the_answers_and_a_decoder_reads_what_it_has_said(name: str) -> None:
    for part in (DATA[name].train, DATA[name].validation):
        for row, ids in enumerate(part.ids.tolist()):
            source = [token for token in ids if token]
            answer, padding = PLAIN[name](source), len(ids) - len(source)
            if name in SEQ2SEQ:
                assert part.decoder_ids[row].tolist() == [BOS_ID, *answer] + [0] * padding
                assert part.decoder_mask[row].tolist() == [True] * (len(answer) + 1) + [False] * padding
                answer.append(EOS_ID)
            assert part.targets[row].tolist() == answer + [IGNORE] * padding


@pytest.mark.parametrize("name", ["characters", "masked"])
@given(st.text(st.characters(exclude_categories=()), min_size=300, max_size=600))
@settings(max_examples=10)
def test_any_text_is_read_back(name: str, text: str) -> None:
    data = make_data(
        Recipe(
            task=name,
            text=f"[MASK [MASK] MASK] 🙂\x1f\u202e\u00a0{''.join(map(chr, range(0x300, 0x370)))}{text}",
            length=6,
        )
    )
    assert data.tokenizer.encode_batch([data.example]).ids.tolist() == data.validation.ids[:1].tolist()


@pytest.mark.parametrize("name", TASKS)
def test_data_depend_on_the_task_its_sizes_and_the_seed_alone(name: str) -> None:
    recipe = SMALL[name]
    again = make_data(Recipe(**{field: vars(recipe)[field] for field in DATA_FIELDS}, steps=7, token_masking=0.3))
    assert same(again.train, DATA[name].train)
    assert same(again.validation, DATA[name].validation)
    assert same(make_data(replace(recipe, n_train=50)).validation, DATA[name].validation)
    assert not same(make_data(replace(recipe, seed=1)).validation, DATA[name].validation)


@pytest.mark.parametrize("name", [name for name in TASKS if name != "characters"])
def test_the_baseline_is_the_commonest_answer_of_the_training_set(name: str) -> None:
    data = DATA[name]
    ((answer, _),) = Counter(answers(data.train)).most_common(1)
    assert name not in SEQ2SEQ or answer == EOS_ID
    asked = answers(data.validation)
    assert data.baseline == pytest.approx(asked.count(answer) / len(asked), abs=1e-12)


@pytest.mark.parametrize("text", ["", "abca" * 30 + "qaqbqaqcqaqbq"])
def test_the_baseline_of_text_is_the_commonest_follower(text: str) -> None:
    """In the second text, "q" comes for the first time in what is held back: the commonest character is the answer."""
    data = make_data(Recipe(task="characters", text=text, length=6, n_train=50, n_validation=40))
    whole = text or help_topics()
    seen = whole[: -(len(whole) // 10)]
    followers: dict[str, Counter[str]] = {}
    for character, following in pairwise(seen):
        followers.setdefault(character, Counter())[following] += 1
    overall = Counter(seen)
    right, n = 0, 0
    for ids, targets in zip(data.validation.ids.tolist(), data.validation.targets.tolist(), strict=True):
        for character, following in zip(data.text(ids), data.text(targets), strict=True):
            counts = followers.get(character, overall)
            best = min(counts, key=lambda c: (-counts[c], c))
            right, n = right + (best == following), n + 1
    assert data.baseline == pytest.approx(right / n, abs=1e-12)


def test_too_many_tokens_name_how_many_sequences_would_do() -> None:
    with pytest.raises(RecipeError, match=f"{100_000 * 256:,} tokens") as caught:
        make_data(Recipe(n_train=100_000, length=256))
    assert caught.value.works == (MAX_TRAIN_TOKENS // 256,)
    assert isinstance(make_data(Recipe(task="characters", n_train=MAX_TRAIN_TOKENS // 256, length=256)), Data)


DIGESTS = {
    "copy": "13ea44c7c665",
    "reverse": "d5c981d6c0ea",
    "sort": "ff9d85f69814",
    "count": "a4f8c45f21d5",
    "seq2seq-copy": "05d22e6391cd",
    "seq2seq-reverse": "77e4cd13cbda",
    "seq2seq-translate": "cf42861ec46a",
}


def test_made_up_data_stay_as_they_are_for_every_link() -> None:
    for name, digest in DIGESTS.items():
        parts = (DATA[name].train, DATA[name].validation)
        numbers = b"".join(each.numpy().tobytes() for part in parts for each in (part.ids, part.targets))
        assert hashlib.sha256(numbers).hexdigest()[:12] == digest
